"""Save and load hietan's classifiers, and list the types that skops needs to load wrappers around the classifiers."""

from hietan.persistence._files import is_model, load, read_metadata, save
from hietan.persistence._skops_types import skops_types

__all__ = ["is_model", "load", "read_metadata", "save", "skops_types"]
