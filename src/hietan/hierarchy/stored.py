"""Hierarchies as they are stored: names, and the positions of the ends of the edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from hietan.hierarchy._hierarchy import Hierarchy, rebuild
from hietan.hierarchy.checks import check_names


def from_positions(features: Iterable[Any], parent: NDArray[Any], child: NDArray[Any]) -> Hierarchy:
    """Build a hierarchy from what is stored of it, all of which may come from a stranger.

    Parameters
    ----------
    features : iterable of str
        The names, in the order of the columns.
    parent, child : arrays of integers of shape (n_edges,)
        The positions of both ends of each edge among the features.
    """
    names = check_names(features)
    for ends in (parent, child):
        if ends.ndim != 1 or ends.dtype.kind not in "iu" or ends.shape != parent.shape:
            raise ValueError("the ends of the edges must be two lists of positions of the same length")
        if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < len(names):
            raise ValueError(f"an edge ends at a position that is not among the {len(names)} features")
    return rebuild(names, parent, child)
