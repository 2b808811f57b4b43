"""Explanations in few bytes: columns by number, arrays instead of records, repeated sentences only once.

An explanation is any object with the attributes of `hietan.explain.Explanation`, and a hierarchy any object with the
methods of `hietan.hierarchy.Hierarchy`: evaluation does not import the rooms in which they are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

# How many features are listed individually, besides those between them and the root; the others are summed.
SHOWN = 150
# How many of the edges that were considered for a tree are listed.
SHOWN_EDGES = 15
INFINITE = 1e9  # JSON has no infinity


class Reasons:
    """The sentences that say why features were left out, each once, in the order in which they first appear."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def index(self, text: str) -> int:
        """The number of a sentence, which is added if it is new."""
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)


def compact(explanation: Any, reasons: Reasons, shown: int = SHOWN) -> dict[str, Any]:
    """An explanation as arrays; features are columns, parents are places in `features` (-1: none).

    The contributions of the features that are not listed are summed in `rest`, so that the total stays the same.
    """
    column = {name: j for j, name in enumerate(explanation.hierarchy.features)}
    kept = _with_ancestors(explanation, shown)
    place = {part.feature: i for i, part in enumerate(kept)}
    listed = zip(explanation.contributing, explanation.amounts, strict=True)
    rest = [amount for feature, amount in listed if feature not in place]
    has_probabilities = bool(kept) and all(part.probabilities is not None for part in kept)
    return {
        "target": str(explanation.target),
        "classes": [str(label) for label in explanation.classes],
        "probability": significant(explanation.probability),
        "log_odds": decimal(explanation.log_odds),
        "base": decimal(explanation.base),
        "tree": explanation.has_tree,
        "features": [column[part.feature] for part in kept],
        "parents": [-1 if part.parent is None else place[part.parent] for part in kept],
        "values": [int(part.value) if part.value == int(part.value) else part.value for part in kept],
        "contributions": [decimal(part.contribution) for part in kept],
        "probabilities": [
            [significant(part.probabilities[c]) for part in kept if part.probabilities]
            for c in range(len(explanation.classes))
        ]
        if has_probabilities
        else None,
        "rest": [len(rest), decimal(sum(rest))],
        "other": [[what, decimal(value)] for what, value in explanation.other],
        "removed": _removed(explanation, column, reasons),
    }


def compact_trace(trace: Any, shown: int = SHOWN_EDGES) -> dict[str, Any]:
    """How a tree was learned, as arrays: [rank, one column, the other, CMI, taken (1) or refused (0), outcome].

    A trace is any object with the attributes of `hietan.explain.Trace`. The first `shown` edges are listed; of the
    others, it says how many were considered. `directions` has how many edges of the tree each rule directed.
    """
    column = {name: j for j, name in enumerate(trace.tree.feature_names)}
    return {
        "edges": [
            [
                edge.rank,
                column[edge.first],
                column[edge.second],
                decimal(edge.information),
                int(edge.verdict.is_taken),
                edge.outcome,
            ]
            for edge in trace.considered
            if edge.rank <= shown
        ],
        "considered": trace.n_considered,
        "all": trace.n_edges,
        "directions": Counter(direction.value for direction in trace.directions.values()),
    }


def _with_ancestors(explanation: Any, shown: int) -> list[Any]:
    """The strongest contributions and all those between them and the roots: what is drawn is connected."""
    place = {name: k for k, name in enumerate(explanation.contributing)}
    kept: set[int] = set()
    found = explanation.strongest[:shown]
    while found:
        kept.update(place[part.feature] for part in found)
        above = {place[part.parent] for part in found if part.parent is not None}
        found = explanation.contributions_at(sorted(above - kept))
    return list(explanation.contributions_at(sorted(kept)))


def _removed(explanation: Any, column: Mapping[str, int], reasons: Reasons) -> list[list[Any]]:
    """Lists of [the feature that made others redundant, the reason's number, their value, their columns].

    In the text of a reason, {} is a placeholder for the feature that made others redundant.
    """
    groups: dict[tuple[int, int, int], list[int]] = {}
    number_of: dict[tuple[str, str], int] = {}  # one feature removes many others
    for removal in explanation.removed:
        number = number_of.get((removal.by, removal.reason))
        if number is None:
            number = reasons.index(removal.reason.replace(removal.by, "{}", 1))
            number_of[removal.by, removal.reason] = number
        groups.setdefault((column[removal.by], number, removal.value), []).append(column[removal.feature])
    return [[*key, columns] for key, columns in groups.items()]


def ontology_parents(hierarchy: Any) -> list[list[int]]:
    """For each column, the columns directly above it."""
    return [[hierarchy.index(p) for p in hierarchy.parents(name)] for name in hierarchy.features]


def decimal(value: float, digits: int = 4) -> float | None:
    """A number rounded for display; None for NaN, and a very large number for infinity."""
    if value != value:
        return None
    return round(min(max(float(value), -INFINITE), INFINITE), digits)


def significant(value: float) -> float:
    """A number rounded to four significant digits."""
    return float(f"{value:.4g}")


def decimals(values: Iterable[float], digits: int = 4) -> list[float | None]:
    """Numbers rounded for display, as by `decimal`."""
    return [decimal(value, digits) for value in values]
