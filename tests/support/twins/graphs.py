"""Hierarchies, edges and trees as sets and lists, searched by walking through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ROOT = -1
ABSENT = -2

Edge = tuple[int, int]
Ancestors = Sequence[set[int]]


def related(i: int, j: int, ancestors: Ancestors) -> bool:
    return i in ancestors[j] or j in ancestors[i]


def descendants_of(ancestors: Ancestors) -> list[set[int]]:
    d = len(ancestors)
    return [{u for u in range(d) if v in ancestors[u]} for v in range(d)]


def has_parent(v: int, directed: set[Edge]) -> bool:
    return any(child == v for _, child in directed)


def neighbours(v: int, edges: Iterable[Edge]) -> set[int]:
    return {b for a, b in edges if a == v} | {a for a, b in edges if b == v}


def reachable(v: int, edges: Iterable[Edge]) -> set[int]:
    """v and all that can be reached from it, edges taken both ways."""
    edges = list(edges)
    seen: set[int] = set()
    waiting = [v]
    while waiting:
        u = waiting.pop()
        if u not in seen:
            seen.add(u)
            waiting.extend(neighbours(u, edges))
    return seen


def connected(i: int, j: int, edges: Iterable[Edge]) -> bool:
    return j in reachable(i, edges)


def away_from(root: int, edges: Iterable[Edge]) -> set[Edge]:
    """The edges of root's tree as (parent, child), pointing away from root."""
    edges = list(edges)
    directed: set[Edge] = set()
    waiting = [(ROOT, root)]
    while waiting:
        before, v = waiting.pop()
        for u in neighbours(v, edges) - {before}:
            directed.add((v, u))
            waiting.append((v, u))
    return directed


def parent_list(d: int, kept: set[int], directed: set[Edge]) -> list[int]:
    parent = [ROOT if v in kept else ABSENT for v in range(d)]
    for p, v in sorted(directed):
        parent[v] = p
    return parent
