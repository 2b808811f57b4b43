"""Choosing features within the training rows: selections and transformers for a pipeline."""

from hietan.selection.min_support import MinSupport

__all__ = ["MinSupport"]
