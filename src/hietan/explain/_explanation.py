"""The explanation of one prediction as a result object, and as text and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.notebook import card, details
from hietan._runtime.number_checks import check_integer
from hietan._runtime.optional import import_optional
from hietan.explain._branches import cut_branches
from hietan.hierarchy import Hierarchy

BY_BRANCH = 20
"""With more contributions than this, text, HTML and reports show branches of the hierarchy."""
STRONGEST = 15
"""How many features text and HTML list individually, if they do not show branches."""
ROUNDING = 1e-12
"""A share of a contribution below this is an error of rounding."""
FEW_ROWS = 5
"""A contribution that rests on fewer training rows than this, with or without the value, is marked."""
WEAK = "*"
DIVIDED = (
    "A branch sums up what flows to it from the features below. A feature with several parents is divided equally "
    "among them, so it can count in several branches."
)


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
    counts : tuple of (rows with the value, rows) or None
        The training rows behind the contribution, a pair for each class: how many have the value, and among how many
        they were counted: those with all features in `given` (or, if `parent_value` is 0, without it), else all. None
        if nothing was counted, as for a feature whose parents in the hierarchy are not all 1 in the row.
    given : tuple of str
        The features that the counts depend on: the parent in a tree, or all parents in the hierarchy.
    adjustment : float
        The part of the contribution that a regression added to what follows from the counts.
    """

    feature: str
    name: str
    value: float
    contribution: float
    parent: str | None = None
    parent_value: float | None = None
    probabilities: tuple[float, ...] | None = None
    counts: tuple[tuple[float, float], ...] | None = None
    given: tuple[str, ...] = ()
    adjustment: float = 0.0

    @property
    def is_weak(self) -> bool:
        """Whether fewer than five of the training rows behind it have the value, or fewer than five do not."""
        if self.counts is None:
            return False
        have, among = map(sum, zip(*self.counts, strict=True))
        return min(have, among - have) < FEW_ROWS

    @property
    def is_adjusted(self) -> bool:
        """Whether the adjustment is more than half as large as what follows from the counts."""
        return abs(self.adjustment) > abs(self.contribution - self.adjustment) / 2

    def behind(self, classes: Sequence[Any], noun: str) -> str:
        """The counts behind it in words, and the adjustment if it matters; "" if it has nothing to do with counts."""
        if self.counts is None:
            return f"a parent is absent in this {noun}, so nothing was counted" if self.given else ""
        among = sum(size for _, size in self.counts)
        words = f"of {_number(among)} {noun}{'' if among == 1 else 's'}"
        if self.given:
            *first, last = self.given
            named = " and ".join(filter(None, [", ".join(first), last]))
            named = named if len(self.given) < 4 else f"its {len(self.given)} parents"
            words += f" {'without' if self.parent_value == 0 else 'with'} {named}"
        shares = (
            f"{c} {_number(n)} of {_number(size)}" for c, (n, size) in zip(classes, self.counts, strict=True)
        )
        words += f": {', '.join(shares)}"
        if self.is_adjusted:
            words += f"; counts {self.contribution - self.adjustment:+.3f}, adjustment {self.adjustment:+.3f}"
        return f"{words} {WEAK}" if self.is_weak else words


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
    counts : array of shape (n, n_classes, 2) or None
        The training rows behind each of them; see `Contribution`.
    adjustments : array of shape (n,)
        The parts that a regression added.
    hierarchy : Hierarchy or None
        The hierarchy, if rows were counted among those with all parents in it; None if with the parent in a tree.
    """

    features: tuple[str, ...]
    names: tuple[str, ...]
    row: NDArray[np.uint8]
    columns: NDArray[np.intp]
    parents: NDArray[np.int32]
    amounts: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None
    counts: NDArray[Any] | None
    adjustments: NDArray[np.float64]
    hierarchy: Hierarchy | None

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
        counts = used
        if self.probabilities is not None:
            used = list(map(tuple, self.probabilities[places].tolist()))
        if self.counts is not None:
            counts = [tuple(map(tuple, each)) for each in self.counts[places].tolist()]
        found = (columns, self.row[columns], self.amounts[places], parents, self.row[parents])
        listed = zip(
            *(part.tolist() for part in (*found, self.adjustments[places])), used, counts, strict=True
        )
        return [
            Contribution(
                feature=features[v],
                name=names[v],
                value=value,
                contribution=amount,
                parent=features[p] if p >= 0 else None,
                parent_value=above if p >= 0 else None,
                probabilities=each,
                counts=behind if self._is_counted(given) else None,
                given=given,
                adjustment=adjustment,
            )
            for v, value, amount, p, above, adjustment, each, behind in listed
            for given in [self._given(v, p)]
        ]

    def _given(self, v: int, parent: int) -> tuple[str, ...]:
        if self.hierarchy is not None:
            return self.hierarchy.parents(self.features[v])
        return (self.features[parent],) if parent >= 0 else ()

    def _is_counted(self, given: tuple[str, ...]) -> bool:
        """Whether rows were counted: among those with all parents, only if this row has them."""
        return self.hierarchy is None or all(self.row[self.hierarchy.index(name)] for name in given)

    def by_size(self) -> Self:
        """The same contributions from the largest to the smallest in size; ties in their order."""
        order = np.argsort(-np.abs(self.amounts), kind="stable")
        arrays = ("columns", "parents", "amounts", "probabilities", "counts", "adjustments")
        found = ((name, getattr(self, name)) for name in arrays)
        changes: dict[str, Any] = {name: None if array is None else array[order] for name, array in found}
        return replace(self, **changes)

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


@dataclass(frozen=True, eq=False)
class Branch:
    """A feature of the hierarchy with the contributions that flow to it, or the rest that flows to no branch.

    Attributes
    ----------
    feature : str or None
        The feature at the top of the branch; None for the rest.
    name : str
        Its readable name.
    amount : float
        What the branch adds to the log-odds.
    places : list of int
        The contributions that reach the branch, by their places in `Explanation.contributions`, the largest first.
    amounts : list of float
        What reaches the branch of each of them.
    explanation : Explanation
        The explanation that the branch is part of.
    """

    feature: str | None
    name: str
    amount: float
    places: list[int] = field(repr=False)
    amounts: list[float] = field(repr=False)
    explanation: Explanation = field(repr=False)

    @property
    def parts(self) -> list[tuple[Contribution, float]]:
        """The contributions that reach the branch, each with the amount that does, from the largest to the smallest."""
        return self.strongest(len(self.places))

    def strongest(self, n: int) -> list[tuple[Contribution, float]]:
        """The first n of `parts`."""
        return list(zip(self.explanation.contributions_at(self.places[:n]), self.amounts[:n], strict=True))

    @property
    def label(self) -> str:
        """The branch and the number of features that it sums up, in words."""
        named = self.name if self.feature in (None, self.name) else f"{self.name} ({self.feature})"
        return f"{named}: {len(self.places)} feature{'' if len(self.places) == 1 else 's'}"


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
        What `base` is: "class prior", "intercept", or both.
    row_noun : str
        What a row is called, in the singular.
    calibrated : float or None
        The calibrated probability of `target`, if a trained model has one.
    counts_note : str
        How the contributions follow from the counts next to them, unless they are just their logarithms.
    decision : int or None
        The position in `classes` of the class that a trained model predicts; None means the most probable one.
    names : tuple of str
        The readable names of the hierarchy's features, if `contributions` does not hold them.
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
    row_noun: str = "row"
    calibrated: float | None = None
    counts_note: str = ""
    decision: int | None = None
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def predicted(self) -> Any:
        """The class that a trained model decides for, or else the most probable one; ties go to the first."""
        if self.decision is not None:
            return self.classes[self.decision]
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

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The branches that text, HTML and reports show instead of single features, and the rest; empty if they do not.

        Branches are shown if there are more than 20 contributions, and if a branch is found in the hierarchy.
        """
        if len(self.contributions) <= BY_BRANCH or not self.hierarchy.adjacency.nnz:
            return ()
        found = self.by_branch()
        return found if len(found) > 1 else ()

    def by_branch(self, terms: Sequence[str] | None = None, limit: int = 8) -> tuple[Branch, ...]:
        """Sum the contributions along the hierarchy, without remainder.

        Each feature passes its contribution, and all that it receives, on to its direct parents in equal shares (edges
        that other edges imply are left out). What reaches a branch stays there. So the amounts of the branches and of
        the rest, which comes last, add up with `base` and `other` to the log-odds.

        Parameters
        ----------
        terms : sequence of str or None
            The features at the top of the branches. None means that they are chosen: one by one, the feature that
            most flows to, past the branches below it. A branch has at most a quarter of all features below it and at
            least 3% of the sum of all contributions' sizes; it is given up if branches below it leave it with less.
        limit : int
            How many branches are chosen at most, from 1.

        Returns
        -------
        tuple of Branch
            The branches, from the largest amount to the smallest, and the rest.

        Examples
        --------
        >>> from hietan import HieLogistic
        >>> from hietan.datasets import load_ageing_genes
        >>> data = load_ageing_genes("worm", "BP")
        >>> model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
        >>> for branch in model.explain(data, "daf-16")[0].by_branch(limit=3):
        ...     print(f"{branch.amount:+.2f}  {branch.label}")
        +0.96  regulation of metabolic process (GO:0019222): 86 features
        +0.71  response to abiotic stimulus (GO:0009628): 12 features
        +0.70  response to stimulus (GO:0050896): 48 features
        +1.67  the rest: 307 features
        """
        if isinstance(terms, str):
            terms = [terms]
        check_integer("limit", limit, 1, 2**31 - 1)
        place = {name: j for j, name in enumerate(self.hierarchy.features)}
        columns = np.array([place.get(name, len(place)) for name in self.contributing], dtype=np.intp)
        amounts = np.asarray(self.amounts, dtype=np.float64)
        # A name that was made printable may be none of the hierarchy: it belongs to the rest.
        every = np.bincount(columns, amounts, len(place) + 1)[:-1].astype(np.float64)
        cut = cut_branches(self.hierarchy, every, terms, limit)
        reached = np.vstack([cut.shares, np.zeros((1, len(cut.columns)))])[columns]
        reached = np.column_stack([reached, 1 - reached.sum(axis=1)])
        known = self.contributions
        names = dict(
            zip(known.features, known.names, strict=True)
            if isinstance(known, Contributions)
            else zip(self.hierarchy.features, self.names, strict=False)
        )
        tops = [
            (name, names.get(name, name)) for name in map(self.hierarchy.features.__getitem__, cut.columns)
        ]
        found = []
        for (feature, name), shares in zip([*tops, (None, "the rest")], reached.T, strict=True):
            own = np.where(shares > ROUNDING, shares, 0.0) * amounts
            order = np.argsort(-np.abs(own), kind="stable")
            order = order[shares[order] > ROUNDING]
            found.append(Branch(feature, name, float(own.sum()), order.tolist(), own[order].tolist(), self))
        return tuple(found)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per contribution, the strongest first."""
        pandas = import_optional("pandas", extra="frames", purpose="Explanation.to_frame")
        columns = [
            "feature",
            "name",
            "value",
            "parent",
            "parent_value",
            "contribution",
            "adjustment",
            "given",
        ]
        frame = pandas.DataFrame(
            [[getattr(part, c) for c in columns] for part in self.strongest], columns=columns
        )
        for c, label in enumerate(self.classes):
            frame[f"p({label})"] = [p.probabilities[c] if p.probabilities else None for p in self.strongest]
            for k, what in enumerate(("rows", "of")):
                frame[f"{what}({label})"] = [p.counts[c][k] if p.counts else None for p in self.strongest]
        return frame

    def to_dict(self) -> dict[str, Any]:
        """The explanation as numbers, strings, lists and dicts that JSON can hold."""
        return {
            "method": self.method,
            "row": self.row,
            "classes": [str(label) for label in self.classes],
            "probabilities": list(self.probabilities),
            "calibrated": self.calibrated,
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
                    "counts": None if part.counts is None else list(map(list, part.counts)),
                    "given": list(part.given),
                    "adjustment": part.adjustment,
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

    def text(self, limit: int | None = None) -> str:
        """The explanation in lines of plain text.

        With a `limit`, that many of the strongest features are listed individually. None means 15 of them or, if there
        are more than 20 contributions, branches of the hierarchy with the strongest feature of each.
        """
        return _as_text(self, limit)

    def __str__(self) -> str:
        return self.text()

    def headline(self) -> str:
        """The method, the row, the predicted class and the log-odds in one line."""
        p, how = self.probability, ""
        if self.calibrated is not None:
            p, how = self.calibrated, " (calibrated)"
        return (
            f"{self.method}, {self.row}: {self.predicted}. P({self.target}) = {p:.4g}{how}, "
            f"log-odds {self.log_odds:+.3f}, from {len(self.contributions)} features"
        )

    def counts_legend(self, shown: Sequence[Contribution], by_branch: bool = False) -> list[str]:
        """What branches, counts and marks of these contributions mean, in sentences; empty if there are none."""
        lines = [DIVIDED] * by_branch
        if not any(part.counts for part in shown):
            return lines
        what = "Behind" if by_branch else "Below"
        lines += [f"{what} a feature: the training {self.row_noun}s of each class with this value."]
        lines += [self.counts_note] if self.counts_note else []
        if any(part.is_adjusted for part in shown):
            lines.append("Adjustment: what the regression adds to the part that follows from the counts.")
        if any(part.is_weak for part in shown):
            lines.append(
                f"{WEAK} Weak: fewer than {FEW_ROWS} of these {self.row_noun}s have the value, "
                f"or fewer than {FEW_ROWS} do not."
            )
        return lines

    def to_html(self) -> str:
        """The explanation as a small table in HTML; all names are escaped."""
        return _as_html(self)

    def renamed(self, row: str, name_of: Callable[[Any], Any], noun: str) -> Self:
        """The same explanation with other names of the row, of each class (`name_of(label)`) and of rows in general."""
        classes = tuple(map(name_of, self.classes))
        return replace(self, row=row, classes=classes, target=name_of(self.target), row_noun=noun)

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


class _Summand(NamedTuple):
    """A part of the sum: its label and amount, and the contributions shown below it with the amounts that count."""

    label: str
    amount: float
    shown: tuple[tuple[Contribution, float], ...] = ()
    size: int = 0  # of a branch, the number of its features


def _summands(explanation: Explanation, limit: int | None, at_most: int = 1) -> list[_Summand]:
    """What adds up to the log-odds; of a branch, at most so many contributions are shown."""
    lines = [_Summand(explanation.base_label, explanation.base)]
    if limit is None and explanation.branches:
        lines += [
            # The rest may have the strongest feature of all.
            _Summand(
                each.label,
                each.amount,
                tuple(each.strongest(at_most if each.feature else max(at_most, 3))),
                len(each.places),
            )
            for each in explanation.branches
            if each.places
        ]
    else:
        strongest, limit = explanation.strongest, STRONGEST if limit is None else limit
        lines += [
            _Summand(_label(part), part.contribution, ((part, part.contribution),))
            for part in strongest[:limit]
        ]
        if rest_of := strongest[limit:]:
            weaker = sum(part.contribution for part in rest_of)
            lines.append(_Summand(f"{len(rest_of)} weaker features", weaker))
    return lines + [_Summand(what, value) for what, value in explanation.other]


def _below(explanation: Explanation, line: _Summand) -> list[str]:
    """What stands below a summand: the counts behind it or, of a branch, its strongest features with theirs."""
    found = []
    for part, amount in line.shown:
        behind = part.behind(explanation.classes, explanation.row_noun)
        if line.size:
            whole = part.contribution
            share = f" of {whole:+.3f}" if abs(whole - amount) > ROUNDING else ""
            behind = f"{amount:+.3f}{share} {_label(part)}" + (f"; {behind}" if behind else "")
        found += [behind] if behind else []
    return found


def _legend(explanation: Explanation, lines: Sequence[_Summand]) -> list[str]:
    shown = [part for line in lines for part, _ in line.shown]
    return explanation.counts_legend(shown, any(line.size for line in lines))


def _as_text(explanation: Explanation, limit: int | None) -> str:
    """Lines of plain text."""
    lines = [*_summands(explanation, limit), _Summand("log-odds", explanation.log_odds)]
    width = max(len(line.label) for line in lines)
    text = [explanation.headline(), ""]
    for line in lines:
        text.append(f"  {line.label:<{width}}  {line.amount:+9.3f}")
        text += [f"      {below}" for below in _below(explanation, line)]
    if legend := _legend(explanation, lines):
        text += ["", *(f"  {line}" for line in legend)]
    if explanation.removed:
        text += [
            "",
            f"{len(explanation.removed)} features were left out as redundant in this row, for example:",
        ]
        text += [f"  {removal}" for removal in explanation.removed[:5]]
    return "\n".join(text)


def _html_label(explanation: Explanation, line: _Summand) -> str:
    below = "<br>".join(f"<small>{escape(text)}</small>" for text in _below(explanation, line))
    label = escape(line.label)
    if line.size:
        left = line.size - len(line.shown)
        more = f"<br><small>and {left} weaker feature{'' if left == 1 else 's'}</small>" if left else ""
        return f"<details><summary>{label}</summary>{below}{more}</details>"
    return f"{label}<br>{below}" if below else label


def _label(part: Contribution) -> str:
    given = "" if part.parent is None else f" given {part.parent} = {part.parent_value:g}"
    name = "" if part.name == part.feature else f" ({part.name})"
    return f"{part.feature} = {part.value:g}{name}{given}"


def _number(rows: float) -> str:
    """A number of rows; weights can make it a fraction."""
    return f"{rows:,}" if isinstance(rows, int) else f"{round(rows, 1):,}"


def _as_html(explanation: Explanation) -> str:
    """A small table with bars; all names are escaped, colours work on light and dark pages."""
    lines = _summands(explanation, None, at_most=STRONGEST)
    largest = max(abs(line.amount) for line in lines) or 1.0
    rows = "".join(
        f'<tr><td style="text-align:left">{_html_label(explanation, line)}</td>'
        f'<td style="text-align:right">{line.amount:+.3f}</td>'
        f'<td style="width:12em"><div style="height:.8em;width:{50 * abs(line.amount) / largest:.1f}%;'
        f"margin-left:{50 if line.amount >= 0 else 50 - 50 * abs(line.amount) / largest:.1f}%;"
        f'background:{"#4393c3" if line.amount >= 0 else "#d6604d"}"></div></td></tr>'
        for line in lines
    )
    legend = "".join(f"<p><small>{escape(line)}</small></p>" for line in _legend(explanation, lines))
    removed = ""
    if explanation.removed:
        items = "".join(f"<li>{escape(str(removal))}</li>" for removal in explanation.removed)
        removed = f"<details><summary>{len(explanation.removed)} features left out</summary><ul>{items}</ul></details>"
    return (
        f"<div><p><strong>{escape(explanation.headline())}</strong></p><table><thead><tr>"
        f'<th style="text-align:left">feature</th><th>contribution</th><th></th></tr></thead><tbody>{rows}'
        f'<tr><th style="text-align:left">log-odds</th><th style="text-align:right">{explanation.log_odds:+.3f}</th>'
        f"<th></th></tr></tbody></table>{legend}{removed}</div>"
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

    def to_shap(self) -> Any:
        """A `shap.Explanation` for the plots of shap: contributions, base values, the rows and readable names.

        These are the model's own contributions, not Shapley values. Each row of values adds up to the log-odds with its
        base value, which includes the terms that belong to no feature. A feature without a contribution in a linear
        model has NaN as its value.

        Examples
        --------
        >>> from hietan import HieLogistic
        >>> from hietan.datasets import load_ageing_genes
        >>> data = load_ageing_genes("worm", "CC")
        >>> model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
        >>> model.explain(data, ["daf-16", "age-1"]).to_shap().shape  # doctest: +SKIP
        (2, 263)
        """
        shap = import_optional("shap", extra="shap", purpose="Explanations.to_shap")
        features = self[0].hierarchy.features if self else ()
        place, names = {name: j for j, name in enumerate(features)}, list(features)
        values = np.zeros((len(self), len(features)))
        rows = np.full(values.shape, np.nan)
        for r, one in enumerate(self):
            if isinstance(one.contributions, Contributions):
                rows[r], names = one.contributions.row, list(one.contributions.names)
            for part in one.contributions:
                j = place[part.feature]
                values[r, j], rows[r, j], names[j] = part.contribution, part.value, part.name
        base = np.array([one.base + sum(value for _, value in one.other) for one in self])
        return shap.Explanation(values=values, base_values=base, data=rows, feature_names=names)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return self[0].to_html()
        parts = (details(one.headline(), one.to_html()) for one in self)
        return card("Explanations", {"rows": len(self)}, "".join(parts))
