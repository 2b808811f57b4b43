"""Model files: hietan's format for its own classifiers, and the types that skops needs to load wrappers around them."""

from hietan.persistence._files import is_model, load, read_metadata, save
from hietan.persistence._skops_types import skops_types

__all__ = ["is_model", "load", "read_metadata", "save", "skops_types"]
