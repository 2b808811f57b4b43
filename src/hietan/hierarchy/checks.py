"""Checks of names, edges and adjacency matrices; every error shows the offending value and what is accepted."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan.exceptions import HierarchyWarning

_PAIR_TYPES = (tuple, list, np.ndarray)


def check_name(name: object, advice: str = "convert it with str(...)") -> str:
    """The name as a plain string; anything but a string, and the empty string, is refused."""
    if not isinstance(name, str):
        raise TypeError(f"a feature name must be a string, got {name!r} ({type(name).__name__}); {advice}")
    if not name:
        raise ValueError("a feature name must not be empty, got ''; name every feature")
    return str(name)  # strings of numpy become plain ones


def check_names(
    features: Iterable[object], what: str = "features", advice: str = "convert it with str(...)"
) -> tuple[str, ...]:
    """The names as a tuple of plain strings, each of which occurs once."""
    check_listing(features, what, "names")
    if isinstance(features, set | frozenset):
        raise TypeError(
            f"{what} must have an order, got the set {clip(features)}; pass a list, such as sorted(...)"
        )
    names: tuple[Any, ...] = tuple(features)
    if not set(map(type, names)) <= {str} or "" in names:
        names = tuple(check_name(name, advice) for name in names)
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"{what} must name each feature once, but repeats {first_few(repeated)}")
    return names


def check_pair(edge: object) -> tuple[str, str]:
    """The names of the parent and the child of an edge."""
    if not isinstance(edge, _PAIR_TYPES) or len(edge) != 2:
        raise ValueError(f"an edge must be a pair (parent, child), got {edge!r}")
    return check_name(edge[0]), check_name(edge[1])


def check_listing(values: object, what: str, of: str) -> None:
    """Refuse anything that cannot be iterated over, and strings, whose items are letters."""
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


def check_parents(parents: object) -> tuple[list[tuple[str, str]], list[str]]:
    """The edges of a mapping of features to their parents, and all names in order of appearance."""
    if not isinstance(parents, Mapping):
        kind = type(parents).__name__
        raise TypeError(f"parents must map features to their parents, got the {kind} {clip(parents)}")
    pairs, seen = [], dict[str, None]()
    for child, above in parents.items():
        check_listing(above, f"the parents of {child!r}", "names")
        listed = [check_name(parent) for parent in above]
        if isinstance(above, set | frozenset):
            listed.sort()  # the order of a set differs from run to run
        seen.update(dict.fromkeys([check_name(child), *listed]))
        pairs += [(parent, child) for parent in listed]
    return pairs, list(seen)


def edges_of_frame(frame: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """The (parent, child) pairs of a frame, and all names in order of appearance, those of lone roots included."""
    labels = list(frame.columns)
    plain = [str(label).strip().lower() for label in labels]
    if plain.count("parent") == 1 and plain.count("child") == 1:
        parent_at, child_at = plain.index("parent"), plain.index("child")
    elif len(labels) == 2 and not {"parent", "child"} & set(plain):
        parent_at, child_at = 0, 1
    else:
        shown = ", ".join(map(repr, labels[:8]))
        raise ValueError(
            f"edges is a frame with the columns {shown}; expected two, (parent, child), or columns of these names"
        )
    pairs, names = list[tuple[Any, Any]](), list[Any]()
    columns = (frame[labels[at]].to_list() for at in (parent_at, child_at))
    for parent, child in zip(*columns, strict=True):
        if parent is None or parent == "" or parent != parent:  # NaN differs from itself
            names.append(child)
        else:
            pairs.append((parent, child))
            names += (parent, child)
    if "parent" not in plain:
        _warn_of_order(pairs, labels)
    return pairs, names


def _warn_of_order(pairs: Iterable[tuple[Any, Any]], labels: Sequence[Any]) -> None:
    """Warn if the first column, which is taken as the parent, rather seems to be the child."""
    named = [
        pair for pair in pairs if all(isinstance(name, str) for name in pair)
    ]  # others are refused later
    parents, children = ({pair[k] for pair in named} for k in (0, 1))
    roots, leaves = len(parents - children), len(children - parents)
    if roots > leaves:
        warnings.warn(
            f"the column {labels[0]!r} was taken as the parent and {labels[1]!r} as the child, but then there are more "
            f"roots ({roots}) than leaves ({leaves}); name the columns 'parent' and 'child'",
            HierarchyWarning,
            stacklevel=4,
        )


def check_graph(graph: Any) -> None:
    """Refuse anything that is not a directed graph of networkx."""
    if not hasattr(graph, "is_directed"):
        raise TypeError(f"graph must be a networkx.DiGraph, got a {type(graph).__name__}")
    if not graph.is_directed():
        raise ValueError(
            f"graph must be directed, from parent to child; a {type(graph).__name__} does not say which "
            "end of an edge is the parent"
        )


def refuse_unknown(names: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse names that are not among the known ones; the error message begins with `where`."""
    unknown = list(dict.fromkeys(name for name in names if name not in known))
    if unknown:
        listed = first_few(list(known)) or "there are none"
        raise ValueError(f"{where} {first_few(unknown)}, not among the features ({listed})")


def refuse_cycle(cycle: Sequence[str]) -> NoReturn:
    """Refuse edges that form a cycle, whose names are given from parent to child."""
    if len(cycle) == 1:
        raise ValueError(f"{cycle[0]!r} is its own parent; remove that edge")
    shown = cycle if len(cycle) <= 12 else [*cycle[:6], f"({len(cycle) - 8} more)", *cycle[-2:]]
    raise ValueError(f"the edges form a cycle: {' -> '.join([*shown, cycle[0]])}")


def first_few(names: Sequence[str], at_most: int = 3) -> str:
    """The first few names, and how many more there are.

    >>> first_few(["a", "b", "c", "d"], at_most=2)
    "'a', 'b' and 2 more"
    """
    more = len(names) - at_most
    return ", ".join(map(repr, names[:at_most])) + (f" and {more:,} more" if more > 0 else "")


def clip(value: object, width: int = 60) -> str:
    """The representation of a value, cut to a width."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
