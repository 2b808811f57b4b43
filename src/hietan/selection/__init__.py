"""Features for the classifiers, with scikit-learn's API: made from terms, and selected within the training rows."""

from hietan.selection.hierarchy_encoder import HierarchyEncoder
from hietan.selection.min_support import MinSupport

__all__ = ["HierarchyEncoder", "MinSupport"]
