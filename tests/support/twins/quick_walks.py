"""The walks of `trees.py` again, with sets that are joined instead of graphs that are searched.

Still one edge after the other and one row at a time, but quick enough for hundreds of features, where the kernel sorts
its edges in several blocks. `test_twins.py` compares them with the literal ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from support.twins import ABSENT, ROOT, Ancestors, Edge


def walk(
    edges: Iterable[Edge],
    ancestors: Ancestors,
    root_order: Sequence[int],
    *,
    directed: bool,
    x: Sequence[int] | None = None,
    lone: int = 0,
) -> list[int]:
    """Hie-TAN (no x), Hie-TAN-Lite (x) or, not `directed`, HRE-TAN (x): the parent of each feature."""
    d = len(ancestors)
    related = [set(above) for above in ancestors]
    for v, above in enumerate(ancestors):
        for u in above:
            related[u].add(v)
    group = [{v} for v in range(d)]  # the component of each vertex, one set shared by its members
    rootless = [{v} for v in range(d)]  # likewise, vertices joined by edges that have no direction yet
    child = [False] * d
    removed: set[int] = set()
    neighbours: list[list[int]] = [[] for _ in range(d)]

    def join(sets: list[set[int]], i: int, j: int) -> None:
        small, large = sorted((sets[i], sets[j]), key=len)
        large |= small
        for v in small:
            sets[v] = large

    def adopt(v: int) -> None:
        for u in rootless[v]:
            child[u] = True

    for i, j in edges:
        if i in removed or j in removed or group[i] is group[j]:
            continue
        kin = j in related[i]
        if kin and x is not None and x[i] == x[j]:
            continue
        if directed:
            below = (j if i in ancestors[j] else i) if kin else None
            if (below is not None and child[below]) or (child[i] and child[j]):
                continue
            if below is not None:
                adopt(below)
            elif child[i]:
                adopt(j)
            elif child[j]:
                adopt(i)
            else:
                join(rootless, i, j)
        join(group, i, j)
        neighbours[i].append(j)
        neighbours[j].append(i)
        if x is not None:
            removed |= {u for v in (i, j) for u in related[v] if x[u] == x[v]}

    parent = [ABSENT] * d
    if not any(neighbours):
        parent[lone] = ROOT
        return parent
    root = next(v for v in root_order if v not in removed and not child[v])
    parent[root] = ROOT
    reached = [root]
    for v in reached:
        for u in neighbours[v]:
            if u != parent[v]:
                parent[u] = v
                reached.append(u)
    return parent
