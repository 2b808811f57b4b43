"""The hierarchy: an immutable DAG over the names of features."""

from hietan.hierarchy._hierarchy import Hierarchy
from hietan.hierarchy._hierarchy import _unpickle as _unpickle  # pickles written before name it here

__all__ = ["Hierarchy"]
