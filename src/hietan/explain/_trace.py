"""How a tree was learned, edge by edge: which edges were taken or refused, why, and what gave them directions.

The kernel learns trees much faster and keeps no record: `HierarchicalSearch` in kernel/trees/eager_trees.hpp learns one
tree for all rows (Algorithms 1 and 2), `LazyBatch` in kernel/trees/lazy_trees.hpp one for each row (Algorithms 3 to 5).
`trace_tree` makes the same walk down the ranking to the letter of the paper and records it; the tree is the kernel's.
The tests compare all of them with the reference implementation `hie_walk` in tests/support/twins/trees.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np

from hietan._runtime.notebook import card, details
from hietan._runtime.optional import import_optional
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree
from hietan.structure._tree import ABSENT, ROOT

# How many of the features that an edge removes are named.
_NAMED = 3


class Verdict(Enum):
    """What became of an edge when it was considered; the value says it in words."""

    ALONG_HIERARCHY = "taken: {parent} is an ancestor of {child}"
    FROM_PARENT = "taken: {parent} has a parent already, {child} has none"
    OPEN = "taken, without a direction yet"
    CYCLE = "refused: {first} and {second} are connected already"
    HAS_PARENT = "refused: {child} is a descendant of {parent}, and has a parent already"
    BOTH_HAVE_PARENTS = "refused: both have a parent already"
    REDUNDANT = "refused: {parent} is an ancestor of {child}, and both are {value}"
    REMOVED = "refused: {removed} was removed, with the same value as its {relation} {by}"

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
            more = f" and {len(self.removed) - _NAMED:,} more" if len(self.removed) > _NAMED else ""
            words = f"{words}; removes {', '.join(self.removed[:_NAMED])}{more}"
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
        The edges in the order in which they were considered: from the highest conditional mutual information down. If
        the record was limited, only those that were taken follow the first ones.
    n_considered : int
        The number of edges that were considered, recorded or not.
    n_edges : int
        The number of all pairs of features. After the first `n_considered`, the tree was complete.
    removed_by : mapping of str to str
        For each feature that was removed, the one that it is redundant to.
    names : mapping of str to str
        Readable names of features.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, HieTANLite
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> rows = [[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> X = pd.DataFrame(rows, columns=["animal", "bird", "owl"])
    >>> clf = HieTANLite(hierarchy=hierarchy, random_state=0).fit(X, [1, 0, 1, 0, 1, 0, 1, 0])
    >>> print(clf.trace(X.iloc[[3]]))
    HieTANLite, 3: a tree of 2 of 3 features; 2 of 3 edges considered
    <BLANKLINE>
      1  bird - owl     0.3890  refused: bird is an ancestor of owl, and both are 0
      2  animal - bird  0.2158  taken: animal is an ancestor of bird; removes owl
    <BLANKLINE>
    1 further edge was not considered: the tree was complete.
    Directions: 1 by the hierarchy; the root is animal.
    """

    method: str
    row: str
    tree: Tree
    considered: tuple[ConsideredEdge, ...]
    n_considered: int
    n_edges: int
    removed_by: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def taken(self) -> tuple[ConsideredEdge, ...]:
        """The edges that became part of the tree, in the order in which they were taken."""
        return tuple(edge for edge in self.considered if edge.verdict.is_taken)

    @property
    def directions(self) -> dict[tuple[str, str], Direction]:
        """What gave each edge (parent, child) of the tree its direction, from the root down."""
        found = {(edge.parent, edge.child): edge.direction for edge in self.taken}
        return {edge: direction for edge in self.tree.edges if (direction := found[edge]) is not None}

    def text(self, limit: int = 40) -> str:
        """Lines of plain text, with the first `limit` of the considered edges."""
        return _as_text(self, limit)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per considered edge."""
        pandas = import_optional("pandas", extra="frames", purpose="Trace.to_frame")
        columns = ["first", "second", "information", "verdict", "reason", "parent", "child", "direction"]
        rows = [[getattr(edge, name) for name in columns] for edge in self.considered]
        frame = pandas.DataFrame(rows, columns=columns)
        for name in ("verdict", "direction"):
            frame[name] = [None if value is None else value.name.lower() for value in frame[name]]
        return frame

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return _as_html(self)


def _as_text(trace: Trace, limit: int) -> str:
    """Lines of plain text, with the first `limit` of the considered edges."""
    shown = trace.considered[:limit]
    lines = [_headline(trace), ""]
    width = max((len(_pair(trace, edge)) for edge in shown), default=0)
    digits = max((len(f"{edge.rank:,}") for edge in shown), default=0)
    for edge in shown:
        pair = f"{_pair(trace, edge):<{width}}"
        lines.append(f"  {edge.rank:>{digits},}  {pair}  {edge.information:.4f}  {edge.outcome}")
    lines += [""] * bool(shown)
    return "\n".join([*lines, *_notes(trace, limit)])


def _as_html(trace: Trace, limit: int = 100) -> str:
    """A card with a table of the first `limit` considered edges; all names are escaped."""
    rows = "".join(
        f'<tr style="opacity:{1 if edge.verdict.is_taken else 0.6}"><td style="text-align:right">{edge.rank:,}</td>'
        f'<td style="text-align:left">{escape(_pair(trace, edge))}</td><td>{edge.information:.4f}</td>'
        f'<td style="text-align:left">{escape(edge.outcome)}</td></tr>'
        for edge in trace.considered[:limit]
    )
    head = (
        '<th></th><th style="text-align:left">edge</th><th>CMI</th><th style="text-align:left">outcome</th>'
    )
    items = "".join(
        f"<li>{escape(_label(trace, parent))} → {escape(_label(trace, child))}: {direction.value}</li>"
        for (parent, child), direction in list(trace.directions.items())[:limit]
    )
    notes = "".join(f"<p>{escape(line)}</p>" for line in _notes(trace, limit))
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"
    counts = {
        "features in the tree": len(trace.tree),
        "edges considered": trace.n_considered,
        "features removed": len(trace.removed_by),
    }
    more = details("Directions of the edges", f"<ul>{items}</ul>") if items else ""
    return card(f"{trace.method}, {trace.row}", counts, body + more)


def _headline(trace: Trace) -> str:
    return (
        f"{trace.method}, {trace.row}: a tree of {len(trace.tree):,} of {len(trace.tree.feature_names):,} features; "
        f"{trace.n_considered:,} of {trace.n_edges:,} edges considered"
    )


def _notes(trace: Trace, limit: int) -> list[str]:
    """What the listed edges leave out, and what gave the edges of the tree their directions."""
    notes = []
    rest = trace.considered[limit:]
    if rest:
        kinds = Counter(edge.verdict.name.lower().replace("_", " ") for edge in rest)
        listed = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
        notes.append(f"{len(rest):,} further edges were considered: {listed}.")
    unrecorded = trace.n_considered - len(trace.considered)
    if unrecorded:
        were = "edge was" if unrecorded == 1 else "edges were"
        notes.append(f"{unrecorded:,} further {were} considered and refused.")
    after = trace.n_edges - trace.n_considered
    if after:
        were = "edge was" if after == 1 else "edges were"
        notes.append(f"{after:,} further {were} not considered: the tree was complete.")
    root = _label(trace, trace.tree.root)
    if not trace.taken:
        notes.append(f"No edge was taken: {root} is kept alone.")
        return notes
    kinds = Counter(direction.value for direction in trace.directions.values())
    listed = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    return [*notes, f"Directions: {listed}; the root is {root}."]


def _pair(trace: Trace, edge: ConsideredEdge) -> str:
    return f"{_label(trace, edge.first)} - {_label(trace, edge.second)}"


def _label(trace: Trace, feature: str) -> str:
    name = trace.names.get(feature, feature)
    return feature if name == feature else f"{feature} ({name})"


# ------------------------------------------------------------------------------------------ the walk


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
