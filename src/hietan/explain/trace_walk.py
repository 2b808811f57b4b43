"""The walk that learns a tree, made literally and recorded.

The kernel learns trees much faster, and keeps no record. Here the same walk down the ranking is made as the paper
describes it (Algorithms 1 to 5); the tree that it gives is the kernel's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from hietan.explain.trace import ConsideredEdge, Direction, Trace, Verdict
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree
from hietan.structure.tree import ABSENT, ROOT


def trace_tree(
    ranked: Iterable[tuple[int, int, int, float]],
    hierarchy: Hierarchy,
    root_order: Sequence[int],
    *,
    directed: bool,
    values: Sequence[int] | None = None,
    lone_feature: Callable[[], int] = lambda: 0,
    method: str = "",
    row: str = "",
    names: Mapping[str, str] | None = None,
) -> Trace:
    """Learn a tree by the letter of the paper, and record every step.

    Parameters
    ----------
    ranked : iterable of (rank, i, j, information)
        The pairs of columns, i < j, from the highest conditional mutual information down; read until the tree is
        complete. Pairs that are refused may be left out: nothing depends on them.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    root_order : sequence of int
        Where several features could be the root, the first of them in this order is taken.
    directed : bool
        Whether the hierarchy gives edges their directions.
    values : sequence of int, optional
        The row, whose redundant features are removed; nothing is removed if not given.
    lone_feature : callable
        Returns the column that is kept alone if all features are redundant to each other.
    method, row : str
        What the trace is of.
    names : mapping, optional
        Readable names of features.
    """
    walk = _Walk(hierarchy, directed, values)
    steps: list[_Step] = []
    for rank, i, j, information in ranked:
        if walk.is_complete:
            break
        steps.append(walk.consider(rank, i, j, information))
    features = hierarchy.features
    d = len(features)
    n_edges = d * (d - 1) // 2
    n_considered = (steps[-1].rank if steps else 0) if walk.is_complete else n_edges
    walk.finish(root_order, lone_feature)
    return Trace(
        method=method,
        row=row,
        tree=Tree(np.array(walk.parent), features),
        considered=tuple(walk.record(step) for step in steps),
        n_considered=n_considered,
        n_edges=n_edges,
        removed_by={features[u]: features[v] for u, v in sorted(walk.removed_by.items())},
        names=dict(names or {}),
    )


@dataclass
class _Step:
    """An edge when it was considered; its direction may follow later."""

    rank: int
    i: int
    j: int
    information: float
    verdict: Verdict
    words: dict[str, Any]
    removed: list[int] = field(default_factory=list)


class _Walk:
    """The walk of Algorithms 1 to 5 over the ranking, with directed and open edges kept apart."""

    def __init__(self, hierarchy: Hierarchy, directed: bool, values: Sequence[int] | None) -> None:
        self.features = hierarchy.features
        d = len(self.features)
        self.ancestors, self.descendants = _relatives(hierarchy)
        self.directed = directed
        self.values = values
        self.parent = [ROOT] * d
        self.direction: dict[int, Direction] = {}  # by the child of the edge
        self.open: list[set[int]] = [set() for _ in range(d)]
        self.component = list(range(d))
        self.members = [[v] for v in range(d)]
        self.removed_by: dict[int, int] = {}
        self.n_taken = 0

    @property
    def is_complete(self) -> bool:
        """Whether all features that are left are connected: every further edge would be refused."""
        return self.n_taken == len(self.features) - len(self.removed_by) - 1

    def consider(self, rank: int, i: int, j: int, information: float) -> _Step:
        """Take or refuse an edge."""
        verdict, words = self._judge(i, j)
        step = _Step(rank, i, j, information, verdict, words)
        if verdict.is_taken:
            self._take(i, j, verdict, words)
            step.removed = self._remove_redundant(i, j)
        return step

    def _judge(self, i: int, j: int) -> tuple[Verdict, dict[str, Any]]:
        gone = next((v for v in (i, j) if v in self.removed_by), None)
        if gone is not None:
            by = self.removed_by[gone]
            relation = "ancestor" if by in self.ancestors[gone] else "descendant"
            return Verdict.REMOVED, {"removed": gone, "by": by, "relation": relation}
        related = i in self.ancestors[j] or j in self.ancestors[i]
        parent, child = (i, j) if i in self.ancestors[j] else (j, i)
        if related and self.values is not None and self.values[i] == self.values[j]:
            return Verdict.REDUNDANT, {"parent": parent, "child": child, "value": int(self.values[i])}
        if self.component[i] == self.component[j]:
            return Verdict.CYCLE, {"first": i, "second": j}
        if not self.directed:
            return Verdict.OPEN, {}
        if related:
            verdict = Verdict.ALONG_HIERARCHY if self.parent[child] == ROOT else Verdict.HAS_PARENT
            return verdict, {"parent": parent, "child": child}
        has = [self.parent[v] != ROOT for v in (i, j)]
        if all(has):
            return Verdict.BOTH_HAVE_PARENTS, {}
        if any(has):
            parent, child = (i, j) if has[0] else (j, i)
            return Verdict.FROM_PARENT, {"parent": parent, "child": child}
        return Verdict.OPEN, {}

    def _take(self, i: int, j: int, verdict: Verdict, words: Mapping[str, Any]) -> None:
        self.n_taken += 1
        keep, join = self.component[i], self.component[j]
        for v in self.members[join]:
            self.component[v] = keep
        self.members[keep] += self.members[join]
        if verdict is Verdict.OPEN:
            self.open[i].add(j)
            self.open[j].add(i)
            return
        parent, child = words["parent"], words["child"]
        self.parent[child] = parent
        along = verdict is Verdict.ALONG_HIERARCHY
        self.direction[child] = Direction.HIERARCHY if along else Direction.PARENT
        self._propagate(child, Direction.PARENT)

    def _propagate(self, start: int, direction: Direction) -> None:
        """Point all open edges that hang together with a feature away from it."""
        waiting = [start]
        for v in waiting:
            for u in sorted(self.open[v]):
                self.open[u].discard(v)
                self.parent[u] = v
                self.direction[u] = direction
                waiting.append(u)
            self.open[v].clear()

    def _remove_redundant(self, i: int, j: int) -> list[int]:
        if self.values is None:
            return []
        removed = []
        related = {u for v in (i, j) for u in self.ancestors[v] | self.descendants[v]}
        for u in sorted(related - self.removed_by.keys()):
            same = [v for v in (i, j) if self.values[v] == self.values[u]]
            above = [v for v in same if v in self.ancestors[u]]
            found = above or [v for v in same if v in self.descendants[u]]
            if found:
                self.removed_by[u] = found[0]
                removed.append(u)
        return removed

    def finish(self, root_order: Sequence[int], lone_feature: Callable[[], int]) -> None:
        """Choose the root, point the open edges away from it, and leave out what was removed."""
        if not self.n_taken and not self.is_complete:
            alone = lone_feature()
            self.removed_by = {u: alone for u in range(len(self.features)) if u != alone}
        kept = [v for v in range(len(self.features)) if v not in self.removed_by]
        rootless = {v for v in kept if self.parent[v] == ROOT}
        root = next(int(v) for v in root_order if int(v) in rootless)
        self._propagate(root, Direction.ROOT)
        for u in self.removed_by:
            self.parent[u] = ABSENT

    def record(self, step: _Step) -> ConsideredEdge:
        """A step with names instead of columns, and with the direction that the edge has in the end."""
        named = {k: self.features[v] if k not in ("value", "relation") else v for k, v in step.words.items()}
        first, second = self.features[step.i], self.features[step.j]
        edge = (step.rank, first, second, step.information, step.verdict, step.verdict.value.format(**named))
        if not step.verdict.is_taken:
            return ConsideredEdge(*edge)
        parent, child = (step.i, step.j) if self.parent[step.j] == step.i else (step.j, step.i)
        removed = tuple(self.features[u] for u in step.removed)
        return ConsideredEdge(
            *edge, self.features[parent], self.features[child], self.direction[child], removed
        )


@lru_cache(maxsize=1)  # traces of several rows follow each other
def _relatives(hierarchy: Hierarchy) -> tuple[list[set[int]], list[set[int]]]:
    """The ancestors and the descendants of each feature."""
    return _columns_of_rows(hierarchy.ancestor_matrix), _columns_of_rows(hierarchy.descendant_matrix)


def _columns_of_rows(matrix: Any) -> list[set[int]]:
    """The columns that each row of a CSR matrix holds."""
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [set(matrix.indices[start:stop].tolist()) for start, stop in ends]
