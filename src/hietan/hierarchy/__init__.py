"""The hierarchy: an immutable DAG over feature names."""

from hietan.hierarchy._hierarchy import Hierarchy as Hierarchy

__all__ = ["Hierarchy"]
