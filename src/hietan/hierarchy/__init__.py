"""The hierarchy: an immutable DAG over the names of features."""

from hietan.hierarchy._hierarchy import Hierarchy as Hierarchy

__all__ = ["Hierarchy"]
