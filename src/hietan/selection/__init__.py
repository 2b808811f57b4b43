"""Selecting features within the training rows, with scikit-learn's API."""

from hietan.selection.min_support import MinSupport

__all__ = ["MinSupport"]
