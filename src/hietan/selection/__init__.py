"""Selecting features along the hierarchy, with scikit-learn's API, and terms of a list."""

from hietan.selection.eager import GTD, SHSEL, TSEL
from hietan.selection.min_support import MinSupport
from hietan.selection.selected_columns import SelectedColumns
from hietan.selection.terms import HierarchyFilter

__all__ = ["GTD", "SHSEL", "TSEL", "HierarchyFilter", "MinSupport", "SelectedColumns"]
