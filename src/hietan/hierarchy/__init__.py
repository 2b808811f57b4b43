"""The hierarchy: an immutable DAG over the names of features."""

from hietan.hierarchy._hierarchy import Hierarchy, rebuild

__all__ = ["Hierarchy"]

_unpickle = rebuild  # pickles of version 0.1 look for it here
