"""Checks of names, edges and adjacency matrices; every complaint shows what came and says what would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_PAIR_TYPES = (tuple, list, np.ndarray)


def check_name(name: object, advice: str = "pass str(...) of it") -> str:
    if not isinstance(name, str):
        raise TypeError(f"a feature name must be a string, got {name!r} ({type(name).__name__}); {advice}")
    if not name:
        raise ValueError("a feature name must not be empty, got ''; name every feature")
    return str(name)  # numpy's strings too become plain ones


def check_names(
    features: Iterable[object], what: str = "features", advice: str = "pass str(...) of it"
) -> tuple[str, ...]:
    """The names as a tuple: strings, none empty, none twice."""
    check_listing(features, what, "names")
    if isinstance(features, set | frozenset):
        raise TypeError(f"{what} must have an order, got the set {clip(features)}; sorted(...) gives it one")
    names = tuple(check_name(name, advice) for name in features)
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"{what} must name each feature once, but repeats {some(repeated)}")
    return names


def check_pair(edge: object) -> tuple[str, str]:
    if not isinstance(edge, _PAIR_TYPES) or len(edge) != 2:
        raise ValueError(f"an edge must be a pair (parent, child), got {edge!r}")
    return check_name(edge[0]), check_name(edge[1])


def check_listing(values: object, what: str, of: str) -> None:
    """Refuse what cannot be gone through, and a string, whose items are mere letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a list of {of}, got the {type(values).__name__} {clip(values)}")


def check_adjacency(A: Any) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The number of vertices and the ends of the edges, parents and children, of a square matrix."""
    if hasattr(A, "columns"):
        raise TypeError("A is a data frame; pass A.to_numpy() and features=list(A.columns)")
    matrix: Any = A if sp.issparse(A) else np.asarray(A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {matrix.shape}")
    if matrix.dtype.kind not in "buif":
        raise TypeError(f"A must hold numbers, got dtype {matrix.dtype}")
    entries: Any = sp.coo_array(matrix)
    parent, child = entries.row.astype(np.int64), entries.col.astype(np.int64)
    wrong = np.flatnonzero(~np.isfinite(entries.data))
    if wrong.size:
        k = wrong[0]
        raise ValueError(f"A must be finite, but A[{parent[k]}, {child[k]}] is {entries.data[k]}")
    edge = entries.data != 0
    return matrix.shape[0], parent[edge], child[edge]


def refuse_unknown(names: Iterable[str], known: Collection[str], where: str) -> None:
    unknown = list(dict.fromkeys(name for name in names if name not in known))
    if unknown:
        listed = some(list(known)) or "there are none"
        raise ValueError(f"{where} {some(unknown)}, not among the features ({listed})")


def some(names: Sequence[str], at_most: int = 3) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - at_most
    return ", ".join(map(repr, names[:at_most])) + (f" and {more:,} more" if more > 0 else "")


def clip(value: object, width: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
