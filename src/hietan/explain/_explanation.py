"""The explanation of one prediction as a result object, and as text and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.notebook import card, details
from hietan._runtime.optional import import_optional
from hietan.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to the log-odds.

    Attributes
    ----------
    feature : str
        The feature.
    name : str
        Its readable name; the feature again if it has none.
    value : float
        Its value in the row.
    contribution : float
        What it adds to the log-odds.
    parent : str or None
        The feature it depends on in the tree, if any; the first of them if there are several (HieBAN, where all of
        them are 1).
    parent_value : float or None
        The value of the parent in the row.
    probabilities : tuple of float or None
        The conditional probabilities that were used, P(value | parent's value, class), one for each class. None if
        the method has no such number (an average of estimators, a linear model).
    """

    feature: str
    name: str
    value: float
    contribution: float
    parent: str | None = None
    parent_value: float | None = None
    probabilities: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Sequence[Contribution]):
    """The contributions of the features of one row: a sequence of `Contribution` that compares like a tuple.

    A row may have thousands of them, of which most readers look at a few.

    Attributes
    ----------
    features : tuple of str
        The names of all columns.
    names : tuple of str
        Their readable names.
    row : array of shape (n_features,)
        Their values in the row.
    columns : array of shape (n,)
        The columns that take part.
    parents : array of shape (n,)
        The column that each of them depends on; below 0 if there is none.
    amounts : array of shape (n,)
        What each of them adds to the log-odds.
    probabilities : array of shape (n, n_classes) or None
        The conditional probabilities that were used, if the method has such numbers.
    """

    features: tuple[str, ...]
    names: tuple[str, ...]
    row: NDArray[np.uint8]
    columns: NDArray[np.intp]
    parents: NDArray[np.int32]
    amounts: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, k: int) -> Contribution: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Contribution, ...]: ...
    def __getitem__(self, k: int | slice) -> Contribution | tuple[Contribution, ...]:
        return tuple(self.at(k)) if isinstance(k, slice) else self.at([range(len(self))[k]])[0]

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.at(slice(None)))

    def at(self, places: slice | list[int]) -> list[Contribution]:
        """The contributions at some places, made together, which takes far less time than one by one."""
        features, names = self.features, self.names
        columns, parents = self.columns[places], self.parents[places]
        used: list[Any] = [None] * len(columns)
        if self.probabilities is not None:
            used = list(map(tuple, self.probabilities[places].tolist()))
        found = (columns, self.row[columns], self.amounts[places], parents, self.row[parents])
        return [
            Contribution(features[v], names[v], value, amount, features[p], above, each)
            if p >= 0
            else Contribution(features[v], names[v], value, amount, None, None, each)
            for v, value, amount, p, above, each in zip(*(part.tolist() for part in found), used, strict=True)
        ]

    def by_size(self) -> Self:
        """The same contributions from the largest to the smallest in size; ties in their order."""
        order = np.argsort(-np.abs(self.amounts), kind="stable")
        return type(self)(
            self.features,
            self.names,
            self.row,
            self.columns[order],
            self.parents[order],
            self.amounts[order],
            None if self.probabilities is None else self.probabilities[order],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | Contributions):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Removal:
    """A feature that was left out for a row.

    Attributes
    ----------
    feature : str
        The feature.
    name : str
        Its readable name; the feature again if it has none.
    value : int
        Its value in the row.
    by : str
        The feature that made it redundant.
    reason : str
        Why, in words.
    """

    feature: str
    name: str
    value: int
    by: str
    reason: str

    def __str__(self) -> str:
        return f"{self.feature} removed: {self.reason}"


@dataclass(frozen=True)
class Explanation:
    """Why a classifier classifies one row as it does.

    The log-odds of the class `target` against the others are `base` (the class prior, or an intercept) plus the
    contributions of the features plus the terms in `other`, which belong to no feature. They add up to the model's own
    log-odds.

    Attributes
    ----------
    method : str
        The name of the classifier.
    row : str
        The label of the row in a data frame, or its number.
    classes : tuple
        The labels of the classes.
    probabilities : tuple of float
        The predicted probability of each class.
    target : label
        The class whose log-odds are explained.
    log_odds : float
        The log-odds of `target` against all other classes.
    base : float
        What the log-odds start from: the contribution of the class prior, or the intercept of a regression.
    contributions : sequence of Contribution
        The contributions of the features, in the order of the columns; `strongest` has them by size.
    other : tuple of (str, float)
        Further terms and their names.
    removed : tuple of Removal
        The features that were left out for this row.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    has_tree : bool
        Whether each feature may depend on another one (its parent).
    base_name : str
        What `base` is: "class prior" or "intercept".
    """

    method: str
    row: str
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    target: Any
    log_odds: float
    base: float
    contributions: Sequence[Contribution]
    other: tuple[tuple[str, float], ...] = ()
    removed: tuple[Removal, ...] = ()
    hierarchy: Hierarchy = field(default_factory=lambda: Hierarchy.unrelated([]), repr=False)
    has_tree: bool = False
    base_name: str = "class prior"

    @property
    def predicted(self) -> Any:
        """The most probable class; ties go to the first."""
        return self.classes[max(range(len(self.classes)), key=lambda c: (self.probabilities[c], -c))]

    @property
    def probability(self) -> float:
        """The probability of `target`."""
        return self.probabilities[self.classes.index(self.target)]

    @property
    def base_label(self) -> str:
        """What the base value is called where it is shown."""
        return f"base value ({self.base_name})"

    @cached_property
    def strongest(self) -> Sequence[Contribution]:
        """The contributions from the largest to the smallest in size; ties in the order of the columns."""
        if isinstance(self.contributions, Contributions):
            return self.contributions.by_size()
        return tuple(sorted(self.contributions, key=lambda part: -abs(part.contribution)))

    @property
    def contributing(self) -> list[str]:
        """The features that contribute, in the order of `contributions`."""
        if isinstance(self.contributions, Contributions):
            return [self.contributions.features[v] for v in self.contributions.columns.tolist()]
        return [part.feature for part in self.contributions]

    @property
    def amounts(self) -> list[float]:
        """What each feature adds to the log-odds, in the order of `contributions`."""
        if isinstance(self.contributions, Contributions):
            amounts: list[float] = self.contributions.amounts.tolist()
            return amounts
        return [part.contribution for part in self.contributions]

    def contributions_at(self, places: list[int]) -> list[Contribution]:
        """The contributions at some places."""
        if isinstance(self.contributions, Contributions):
            return self.contributions.at(places)
        return [self.contributions[k] for k in places]

    def total(self) -> float:
        """The sum of base, contributions and other terms: the log-odds, up to rounding."""
        return self.base + sum(self.amounts) + sum(v for _, v in self.other)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per contribution, the strongest first."""
        pandas = import_optional("pandas", extra="frames", purpose="Explanation.to_frame")
        columns = ["feature", "name", "value", "parent", "parent_value", "contribution"]
        frame = pandas.DataFrame(
            [[getattr(part, c) for c in columns] for part in self.strongest], columns=columns
        )
        for c, label in enumerate(self.classes):
            frame[f"p({label})"] = [p.probabilities[c] if p.probabilities else None for p in self.strongest]
        return frame

    def to_dict(self) -> dict[str, Any]:
        """The explanation as numbers, strings, lists and dicts that JSON can hold."""
        return {
            "method": self.method,
            "row": self.row,
            "classes": [str(label) for label in self.classes],
            "probabilities": list(self.probabilities),
            "predicted": str(self.predicted),
            "target": str(self.target),
            "log_odds": self.log_odds,
            "base": self.base,
            "contributions": [
                {
                    "feature": part.feature,
                    "name": part.name,
                    "value": part.value,
                    "parent": part.parent,
                    "parent_value": part.parent_value,
                    "probabilities": None if part.probabilities is None else list(part.probabilities),
                    "contribution": part.contribution,
                }
                for part in self.contributions
            ],
            "other": [{"what": what, "contribution": value} for what, value in self.other],
            "removed": [
                {"feature": r.feature, "name": r.name, "value": r.value, "by": r.by, "reason": r.reason}
                for r in self.removed
            ],
        }

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` of the kept features, an edge from each parent to its child."""
        networkx = import_optional("networkx", extra="frames", purpose="Explanation.to_networkx")
        graph = networkx.DiGraph()
        for part in self.contributions:
            graph.add_node(part.feature, name=part.name, value=part.value, contribution=part.contribution)
        graph.add_edges_from((p.parent, p.feature) for p in self.contributions if p.parent is not None)
        return graph

    def text(self, limit: int = 15) -> str:
        """The explanation in lines of plain text, with the `limit` strongest features listed individually."""
        return _as_text(self, limit)

    def __str__(self) -> str:
        return self.text()

    def headline(self) -> str:
        """The method, the row, the predicted class and the log-odds in one line."""
        return (
            f"{self.method}, {self.row}: {self.predicted}. P({self.target}) = {self.probability:.4g}, "
            f"log-odds {self.log_odds:+.3f}, from {len(self.contributions)} features"
        )

    def to_html(self) -> str:
        """The explanation as a small table in HTML; all names are escaped."""
        return _as_html(self)

    def renamed(self, row: str, name_of: Callable[[Any], Any]) -> Self:
        """The same explanation with another name of the row, and `name_of(label)` for each label of a class."""
        return replace(self, row=row, classes=tuple(map(name_of, self.classes)), target=name_of(self.target))

    def _repr_html_(self) -> str:
        return self.to_html()

    def plot_contributions(self, ax: Any = None, *, limit: int = 15) -> Any:
        """A waterfall from the base value to the log-odds, showing the strongest features; returns the axes."""
        from hietan.explain import _plots

        return _plots.plot_contributions(self, ax, limit)

    def plot_tree(self, ax: Any = None, *, labels: int = 12) -> Any:
        """The learned tree, layer by layer, over the hierarchy's own edges; returns the axes.

        Colours show the contributions; the features with the `labels` strongest ones are named.
        """
        from hietan.explain import _plots

        return _plots.plot_tree(self, ax, labels)


def _as_text(explanation: Explanation, limit: int) -> str:
    """Lines of plain text, with the `limit` strongest features listed individually."""
    shown, rest = explanation.strongest[:limit], explanation.strongest[limit:]
    lines = [(explanation.base_label, explanation.base, "")]
    lines += [(_label(part), part.contribution, _probabilities(part)) for part in shown]
    if rest:
        lines.append((f"{len(rest)} weaker features", sum(part.contribution for part in rest), ""))
    lines += [(what, value, "") for what, value in explanation.other]
    lines.append(("log-odds", explanation.log_odds, ""))
    width = max(len(label) for label, _, _ in lines)
    text = [explanation.headline(), ""]
    text += [f"  {label:<{width}}  {value:+9.3f}  {note}".rstrip() for label, value, note in lines]
    if any(part.probabilities for part in shown):
        text += ["", "  In brackets: P(value | class) for " + ", ".join(map(str, explanation.classes))]
    if explanation.removed:
        text += [
            "",
            f"{len(explanation.removed)} features were left out as redundant in this row, for example:",
        ]
        text += [f"  {removal}" for removal in explanation.removed[:5]]
    return "\n".join(text)


def _label(part: Contribution) -> str:
    given = "" if part.parent is None else f" given {part.parent} = {part.parent_value:g}"
    name = "" if part.name == part.feature else f" ({part.name})"
    return f"{part.feature} = {part.value:g}{name}{given}"


def _probabilities(part: Contribution) -> str:
    if part.probabilities is None:
        return ""
    return "[" + ", ".join(f"{p:.3f}" for p in part.probabilities) + "]"


def _as_html(explanation: Explanation, limit: int = 15) -> str:
    """A small table with bars; all names are escaped, colours work on light and dark pages."""
    shown, rest = explanation.strongest[:limit], explanation.strongest[limit:]
    lines = [(explanation.base_label, explanation.base)]
    lines += [(_label(part), part.contribution) for part in shown]
    if rest:
        lines.append((f"{len(rest)} weaker features", sum(part.contribution for part in rest)))
    lines += list(explanation.other)
    largest = max(abs(value) for _, value in lines) or 1.0
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(label)}</td><td style="text-align:right">{value:+.3f}</td>'
        f'<td style="width:12em"><div style="height:.8em;width:{50 * abs(value) / largest:.1f}%;'
        f"margin-left:{50 if value >= 0 else 50 - 50 * abs(value) / largest:.1f}%;"
        f'background:{"#4393c3" if value >= 0 else "#d6604d"}"></div></td></tr>'
        for label, value in lines
    )
    removed = ""
    if explanation.removed:
        items = "".join(f"<li>{escape(str(removal))}</li>" for removal in explanation.removed)
        removed = f"<details><summary>{len(explanation.removed)} features left out</summary><ul>{items}</ul></details>"
    return (
        f"<div><p><strong>{escape(explanation.headline())}</strong></p><table><thead><tr>"
        f'<th style="text-align:left">feature</th><th>contribution</th><th></th></tr></thead><tbody>{rows}'
        f'<tr><th style="text-align:left">log-odds</th><th style="text-align:right">{explanation.log_odds:+.3f}</th>'
        f"<th></th></tr></tbody></table>{removed}</div>"
    )


class Explanations(list["Explanation"]):
    """The explanations of some rows: a list that a notebook shows row by row, each to be unfolded."""

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per contribution; the columns of `Explanation.to_frame`, after the row."""
        pandas = import_optional("pandas", extra="frames", purpose="Explanations.to_frame")
        frames = [one.to_frame().assign(row=one.row) for one in self]
        if not frames:
            return pandas.DataFrame()
        whole = pandas.concat(frames, ignore_index=True)
        return whole[["row", *(name for name in whole.columns if name != "row")]]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return self[0].to_html()
        parts = (details(one.headline(), one.to_html()) for one in self)
        return card("Explanations", {"rows": len(self)}, "".join(parts))
