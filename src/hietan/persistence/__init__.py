"""Models as files: our own format for our own classifiers, and what skops needs to store anything around them."""

from hietan.exceptions import ModelFileError
from hietan.persistence.files import CLASSIFIERS, is_model, load, read_metadata, save
from hietan.persistence.trusted_types import skops_types

__all__ = [
    "CLASSIFIERS",
    "ModelFileError",
    "is_model",
    "load",
    "read_metadata",
    "save",
    "skops_types",
]
