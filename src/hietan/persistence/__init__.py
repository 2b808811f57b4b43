"""Models as files: our own format for our own classifiers, and what skops needs to store anything around them."""

from hietan.persistence._files import is_model, load, read_metadata, save
from hietan.persistence._skops_types import skops_types

__all__ = ["is_model", "load", "read_metadata", "save", "skops_types"]
