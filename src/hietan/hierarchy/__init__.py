"""The hierarchy: an immutable DAG over the names of features."""

from hietan.hierarchy._hierarchy import Hierarchy as Hierarchy
from hietan.hierarchy._hierarchy import rebuild as rebuild

__all__ = ["Hierarchy"]
