"""Lazy selections: for each row to classify, features are chosen by its values, and a model of what is left."""

from hietan.classifiers.lazy.hip import HIPNB
from hietan.classifiers.lazy.selection import LazySelection

__all__ = ["HIPNB", "LazySelection"]
