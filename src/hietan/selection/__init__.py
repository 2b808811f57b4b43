"""Transformers with scikit-learn's API that make features from terms or select features."""

from hietan.selection._columns import MinSupport, SelectedColumns
from hietan.selection._eager import GTD, SHSEL, TSEL
from hietan.selection._hierarchy_encoder import HierarchyEncoder

__all__ = ["GTD", "SHSEL", "TSEL", "HierarchyEncoder", "MinSupport", "SelectedColumns"]
