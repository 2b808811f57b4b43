"""How a tree was learned, edge by edge: which edges were taken or refused, why, and what gave them directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Any

from hietan._runtime.notebook import card, details
from hietan._runtime.optional import import_optional
from hietan.structure import Tree

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
