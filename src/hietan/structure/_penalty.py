"""The hierarchical max-norm penalty in proximalGraph. Each feature and its descendants form a group."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan._runtime.number_checks import check_number
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import kernel_lists


def graph_penalty(hierarchy: Hierarchy) -> _kernel.GraphPenalty:
    """Return the penalty over a hierarchy for the kernel, with its value, proximal operator and dual norm."""
    return _kernel.GraphPenalty(*kernel_lists(hierarchy.adjacency))


def prox_graph(u: ArrayLike, hierarchy: Hierarchy, lam: float) -> NDArray[np.float64]:
    """Return the proximal operator of ``lam * sum over v of max |w|`` over v and its descendants (Mairal et al. 2010).

    The w that minimises ``||u - w||^2 / 2`` plus that penalty, by network flow along the edges of the
    hierarchy: exact for any DAG up to rounding. A feature keeps a weight only if its ancestors do, unless their own u
    is exactly 0.

    Parameters
    ----------
    u : array of shape (n_features,)
        A vector in the order of `hierarchy.features`.
    hierarchy : Hierarchy
        The hierarchy over the features.
    lam : float
        The penalty weight, 0 or more.

    Returns
    -------
    w : array of shape (n_features,)
        Has the signs of u, is nowhere larger than u, and for generic u is exactly 0 on a union of groups.

    Examples
    --------
    >>> from hietan import Hierarchy
    >>> from hietan.structure import prox_graph
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl"), ("animal", "cat")])
    >>> prox_graph([3.0, -0.5, 2.5, 0.25], hierarchy, lam=1.0)
    array([ 2. , -0.5,  0.5,  0. ])
    """
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(f"hierarchy must be a hietan.Hierarchy, got {type(hierarchy).__name__}")
    values = np.ascontiguousarray(u, dtype=np.float64)
    if values.shape != (len(hierarchy),):
        raise ValueError(
            f"u must have one entry for each of the {len(hierarchy)} features, got shape {values.shape}"
        )
    check_number("lam", lam, 0, sys.float_info.max)
    return graph_penalty(hierarchy).prox(values, float(lam))
