"""Hierarchies as they are stored: names, and the positions of the ends of the edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.hierarchy._hierarchy import Hierarchy, rebuild, take_apart
from hietan.hierarchy._names import ListedNames, names_as_json
from hietan.hierarchy.checks import check_names

__all__ = ["ListedNames", "from_positions", "to_positions"]


def to_positions(hierarchy: Hierarchy) -> tuple[bytes, NDArray[np.int64]]:
    """What is stored of a hierarchy: its names as JSON; the positions of the parents and, below, of the children."""
    names, parent, child = take_apart(hierarchy)
    ends = np.empty((2, len(parent)), dtype=np.int64)
    ends[0], ends[1] = parent, child
    return names_as_json(names), ends


def from_positions(
    features: Iterable[Any] | ListedNames, parent: NDArray[Any], child: NDArray[Any]
) -> Hierarchy:
    """Build a hierarchy from what is stored of it, all of which may come from a stranger.

    Parameters
    ----------
    features : iterable of str, or ListedNames
        The names, in the order of the columns.
    parent, child : arrays of integers of shape (n_edges,)
        The positions of both ends of each edge among the features.
    """
    names = features if isinstance(features, ListedNames) else check_names(features)
    for ends in (parent, child):
        if ends.ndim != 1 or ends.dtype.kind not in "iu" or ends.shape != parent.shape:
            raise ValueError("the ends of the edges must be two lists of positions of the same length")
        if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < len(names):
            raise ValueError(f"an edge ends at a position that is not among the {len(names)} features")
    return rebuild(names, parent, child)
