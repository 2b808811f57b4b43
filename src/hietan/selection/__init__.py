"""Features for the classifiers, with scikit-learn's API: made from terms, or selected, and terms of a list."""

from hietan.selection._columns import MinSupport, SelectedColumns
from hietan.selection._eager import GTD, SHSEL, TSEL
from hietan.selection._hierarchy_encoder import HierarchyEncoder
from hietan.selection._terms import HierarchyFilter

__all__ = ["GTD", "SHSEL", "TSEL", "HierarchyEncoder", "HierarchyFilter", "MinSupport", "SelectedColumns"]
