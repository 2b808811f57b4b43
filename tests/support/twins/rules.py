"""Every decision of the tree builders, one function each: `Rules` holds the right ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from support.twins.counts import Counts, mi_key
from support.twins.graphs import Ancestors, Edge, has_parent, related


def smaller_pair_first(edge: Edge) -> Edge:
    """Among edges of equal key."""
    return edge


def ancestor_is_parent(ancestor: int, descendant: int) -> Edge:
    """(parent, child) of an edge between related features."""
    return ancestor, descendant


def propagate(directed: set[Edge], undirected: set[Edge]) -> None:
    """While an undirected edge has exactly one endpoint with a parent, make that one the other's parent."""
    while propagate_once(directed, undirected):
        pass


def propagate_once(directed: set[Edge], undirected: set[Edge]) -> bool:
    for i, j in sorted(undirected):
        if has_parent(i, directed) != has_parent(j, directed):
            undirected.remove((i, j))
            directed.add((i, j) if has_parent(i, directed) else (j, i))
            return True
    return False


def redundant_to(v: int, x: Sequence[int], ancestors: Ancestors) -> set[int]:
    """Ancestors and descendants of v with v's value in x: what v removes once it is in the tree."""
    return {u for u in range(len(x)) if related(u, v, ancestors) and x[u] == x[v]}


def both_endpoints(edge: Edge, is_undirected: bool) -> Iterable[int]:
    """Which endpoints of an edge just added remove what is redundant to them."""
    return edge


def redundant_edge_is_skipped(i: int, j: int, x: Sequence[int], ancestors: Ancestors) -> bool:
    return related(i, j, ancestors) and x[i] == x[j]


def first_in_order(candidates: set[int], root_order: Sequence[int]) -> int:
    return min(candidates, key=list(root_order).index)


def largest_mi_then_smallest_index(counts: Counts) -> int:
    """The feature kept alone where no edge can be added."""
    return min(range(counts.n_features), key=lambda i: (-mi_key(i, counts), i))


@dataclass(frozen=True)
class Rules:
    """Every decision of the tree builders; the defaults are the right ones."""

    tie: Callable[[Edge], Edge] = smaller_pair_first
    orient: Callable[[int, int], Edge] = ancestor_is_parent
    propagate: Callable[[set[Edge], set[Edge]], object] = propagate
    redundant_to: Callable[[int, Sequence[int], Ancestors], set[int]] = redundant_to
    removers: Callable[[Edge, bool], Iterable[int]] = both_endpoints
    skip: Callable[[int, int, Sequence[int], Ancestors], bool] = redundant_edge_is_skipped
    root: Callable[[set[int], Sequence[int]], int] = first_in_order
    alone: Callable[[Counts], int] = largest_mi_then_smallest_index


RULES = Rules()
