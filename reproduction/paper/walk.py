"""How a tree is learned, edge by edge: which edges are taken or refused, why, and what gives them directions.

The kernel learns trees much faster and keeps no record: `HierarchicalSearch` in kernel/trees/eager_trees.hpp learns one
tree for all rows (Algorithms 1 and 2), `LazyBatch` in kernel/trees/lazy_trees.hpp one for each row (Algorithms 3 to 5).
`trace_tree` makes the same walk down the ranking to the letter of the paper and records it.
The tests compare all of them with the reference implementation `hie_walk` in tests/support/twins/trees.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from hietan import HRETAN, Hierarchy, HieTAN, HieTANLite, _kernel
from hietan.structure import Tree
from hietan.structure._tree import ABSENT, ROOT


class Verdict(Enum):
    """What became of an edge when it was considered; the value says it in words."""

    ALONG_HIERARCHY = "added: {parent} is an ancestor of {child}"
    FROM_PARENT = "added: {parent} already has a parent, and {child} has none"
    OPEN = "added without a direction"
    CYCLE = "skipped: {first} and {second} are already connected"
    HAS_PARENT = "skipped: {child} is a descendant of {parent} and already has a parent"
    BOTH_HAVE_PARENTS = "skipped: both already have a parent"
    REDUNDANT = "skipped: {parent} is an ancestor of {child}, and both are {value}"
    REMOVED = "skipped: {removed} was removed, because it has the same value as its {relation} {by}"

    @property
    def is_taken(self) -> bool:
        """Whether the edge became part of the tree."""
        return self in (Verdict.ALONG_HIERARCHY, Verdict.FROM_PARENT, Verdict.OPEN)


class Direction(Enum):
    """What gave an edge of the tree its direction; the value says it in words."""

    HIERARCHY = "by the hierarchy"
    PARENT = "by a parent"
    ROOT = "away from the random root"


@dataclass(frozen=True)
class ConsideredEdge:
    """An edge that was considered while a tree was learned.

    Attributes
    ----------
    rank : int
        Its place in the ranking of all edges, from 1.
    first, second : str
        The two features, in the order of the columns.
    information : float
        Their conditional mutual information given the class, by which edges are ranked.
    verdict : Verdict
        What became of the edge.
    reason : str
        The same in words, with the names of the features concerned.
    parent, child : str or None
        The direction that the edge has in the tree; None if it was refused.
    direction : Direction or None
        What gave the edge this direction; None if it was refused.
    removed : tuple of str
        The features that were removed when the edge was taken, as redundant to one of its two features.
    """

    rank: int
    first: str
    second: str
    information: float
    verdict: Verdict
    reason: str
    parent: str | None = None
    child: str | None = None
    direction: Direction | None = None
    removed: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """The reason, the direction that was left open at first, and the features that were removed, in words."""
        words = self.reason
        if self.verdict is Verdict.OPEN and self.direction is not None:
            words = f"{words}: in the end {self.parent} -> {self.child}, {self.direction.value}"
        if self.removed:
            words = f"{words}; removes {', '.join(self.removed)}"
        return words


@dataclass(frozen=True)
class Trace:
    """How the tree of a row was learned (the paper's Figures 2a and 3a).

    Attributes
    ----------
    method, row : str
        The classifier, and the label of the row.
    tree : Tree
        The tree, which is the one that scores the row.
    considered : tuple of ConsideredEdge
        The edges in the order in which they were considered: from the highest conditional mutual information down.
    n_edges : int
        The number of all pairs of features. When the considered ones had been read, the tree was complete.
    removed_by : mapping of str to str
        For each feature that was removed, the one that it is redundant to.
    """

    method: str
    row: str
    tree: Tree
    considered: tuple[ConsideredEdge, ...]
    n_edges: int
    removed_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_considered(self) -> int:
        """The number of edges that were considered."""
        return len(self.considered)

    @property
    def taken(self) -> tuple[ConsideredEdge, ...]:
        """The edges that became part of the tree, in the order in which they were taken."""
        return tuple(edge for edge in self.considered if edge.verdict.is_taken)

    @property
    def directions(self) -> dict[tuple[str, str], Direction]:
        """What gave each edge (parent, child) of the tree its direction, from the root down."""
        found = {(edge.parent, edge.child): edge.direction for edge in self.taken}
        return {edge: direction for edge in self.tree.edges if (direction := found[edge]) is not None}

    def __str__(self) -> str:
        n_features, after = len(self.tree.feature_names), self.n_edges - self.n_considered
        lines = [
            f"{self.method}, {self.row}: a tree of {len(self.tree)} of {n_features} features; "
            f"{self.n_considered} of {self.n_edges} edges considered",
            "",
            *(
                f"  {edge.rank}  {edge.first} - {edge.second}  {edge.information:.4f}  {edge.outcome}"
                for edge in self.considered
            ),
            "",
        ]
        if after:
            were = "edge was" if after == 1 else "edges were"
            lines.append(f"{after} further {were} not considered, because the tree was complete.")
        kinds = Counter(direction.value for direction in self.directions.values())
        listed = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        return "\n".join([*lines, f"Directions: {listed}; the root is {self.tree.root}."])


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
) -> Trace:
    """Learn a tree by the letter of the paper, and record every step.

    Parameters
    ----------
    ranked : iterable of (rank, i, j, information)
        The pairs of columns, i < j, from the highest conditional mutual information down; read until the tree is
        complete.
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
    """
    walk = _Walk(hierarchy, directed, values)
    steps: list[_Step] = []
    for rank, i, j, information in ranked:
        if walk.is_complete:
            break
        steps.append(walk.consider(rank, i, j, information))
    features = hierarchy.features
    walk.finish(root_order, lone_feature)
    return Trace(
        method=method,
        row=row,
        tree=Tree(np.array(walk.parent), features),
        considered=tuple(walk.record(step) for step in steps),
        n_edges=len(features) * (len(features) - 1) // 2,
        removed_by={features[u]: features[v] for u, v in sorted(walk.removed_by.items())},
    )


def trace_row(model: Any, X: Any, row: str = "") -> Trace:
    """How the tree of the only row of X was learned by a fitted classifier of the TAN family."""
    (values,) = np.asarray(X).tolist()
    ranking = model._ranking
    edges = ranking.edges().astype(np.int64)
    keys = _kernel.pair_keys(edges[:, 0].copy(), edges[:, 1].copy(), counts=ranking.counts.kernel)
    ranked = zip(range(1, len(edges) + 1), *edges.T.tolist(), (keys / 1e12).tolist(), strict=True)
    return trace_tree(
        ranked,
        model.hierarchy_,
        model.root_order_.tolist(),
        directed=isinstance(model, HieTAN | HieTANLite),
        values=values if isinstance(model, HieTANLite | HRETAN) else None,
        lone_feature=lambda: ranking.lone_feature,
        method=type(model).__name__,
        row=row,
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


def _relatives(hierarchy: Hierarchy) -> tuple[list[set[int]], list[set[int]]]:
    """The ancestors and the descendants of each feature."""
    return _columns_of_rows(hierarchy.ancestor_matrix), _columns_of_rows(hierarchy.descendant_matrix)


def _columns_of_rows(matrix: Any) -> list[set[int]]:
    """The columns that each row of a CSR matrix holds."""
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [set(matrix.indices[start:stop].tolist()) for start, stop in ends]
