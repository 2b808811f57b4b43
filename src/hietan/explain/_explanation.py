"""The explanation of one prediction, as an object, text and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._runtime.notebook import card, details
from hietan._runtime.optional import import_optional
from hietan.explain._branches import BranchSums, cut_branches, sum_by_branch
from hietan.hierarchy import Hierarchy

BY_BRANCH = 20
"""The number of contributions above which text, HTML and reports show branches of the hierarchy."""
STRONGEST = 15
"""The number of features that text and HTML list individually, if they do not show branches."""
ROUNDING = 1e-12
"""A share of a contribution below this is a rounding error."""
FEW_ROWS = 5
"""The number of training rows, with or without the value, below which a contribution is marked as weak."""
WEAK = "*"
DIVIDED = (
    "A branch sums the contributions of the features below it. If a feature has several parents, its "
    "contribution is divided equally among them, so it can count in several branches."
)


@dataclass(frozen=True, slots=True)
class Contribution:
    """One feature's contribution to the log-odds.

    Attributes
    ----------
    feature : str
        The feature.
    name : str
        The readable name; the feature itself if it has none.
    value : float
        The feature's value in the row.
    contribution : float
        The contribution to the log-odds.
    parent : str or None
        The feature it depends on in the tree, if any; the first of several in HieBAN, where all of them are 1.
    parent_value : float or None
        The parent's value in the row.
    probabilities : tuple of float or None
        The conditional probabilities used, P(value | parent's value, class), one for each class. None if the method has
        no such number (an average of estimators, a linear model).
    counts : tuple of (rows with the value, rows) or None
        The training rows behind the contribution, as a pair for each class: how many rows have the value, and among
        how many rows they were counted. These are the rows with all features in `given` (or, if `parent_value` is 0,
        without it), otherwise all rows. None if nothing was counted, as for a feature whose parents in the hierarchy
        are not all 1 in the row.
    given : tuple of str
        The features that the counts depend on: the parent in a tree, or all parents in the hierarchy.
    adjustment : float
        The regression's correction of the contribution from the counts.
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
        """Whether fewer than five of the training rows behind the contribution have the value, or fewer than
        five lack it.
        """
        if self.counts is None:
            return False
        have, among = map(sum, zip(*self.counts, strict=True))
        return min(have, among - have) < FEW_ROWS

    @property
    def is_adjusted(self) -> bool:
        """Whether the adjustment is more than half as large as the contribution from the counts."""
        return abs(self.adjustment) > abs(self.contribution - self.adjustment) / 2

    def behind(self, classes: Sequence[Any], noun: str) -> str:
        """Return a text with the counts behind the contribution and any large adjustment. Without counts, return ""."""
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
    """One row's feature contributions: a sequence of `Contribution` that is compared like a tuple.

    A row may have thousands of contributions, of which most readers look at a few.

    Attributes
    ----------
    features : tuple of str
        All column names.
    names : tuple of str
        The readable names of all columns.
    row : array of shape (n_features,)
        The values of all columns in the row.
    columns : array of shape (n,)
        The columns that are used.
    parents : array of shape (n,)
        The column that each of them depends on; below 0 if there is none.
    amounts : array of shape (n,)
        The contribution of each of them to the log-odds.
    probabilities : array of shape (n, n_classes) or None
        The conditional probabilities used, if the method has them.
    counts : array of shape (n, n_classes, 2) or None
        The training rows behind each of them; see `Contribution`.
    adjustments : array of shape (n,)
        The regression's corrections.
    above : CSR array of shape (n_features, n_features) or None
        The parents of each column in the hierarchy, if rows with all parents were counted; None if rows with the parent
        in a tree were counted.
    """

    features: tuple[str, ...]
    names: tuple[str, ...]
    row: NDArray[Any]
    columns: NDArray[np.intp]
    parents: NDArray[np.int32]
    amounts: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None
    counts: NDArray[Any] | None
    adjustments: NDArray[np.float64]
    above: Any

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
        """Return the contributions at these positions. Reading many contributions together is much faster."""
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
                counts=behind if self._is_counted(v) else None,
                given=self._given(v, p),
                adjustment=adjustment,
            )
            for v, value, amount, p, above, adjustment, each, behind in listed
        ]

    def _given(self, v: int, parent: int) -> tuple[str, ...]:
        columns = [parent] if parent >= 0 else []
        return tuple(self.features[u] for u in (columns if self.above is None else self._parents(v)))

    def _is_counted(self, v: int) -> bool:
        """Return whether rows were counted for this feature.

        If counting requires all parents, this row must have them.
        """
        return self.row[v] in (0, 1) if self.above is None else all(self.row[self._parents(v)])

    def _parents(self, v: int) -> Any:
        return self.above.indices[self.above.indptr[v] : self.above.indptr[v + 1]]

    def spread(
        self, columns: NDArray[np.intp], features: tuple[str, ...], names: tuple[str, ...], row: NDArray[Any]
    ) -> Self:
        """Return the contributions for a wider table. `columns` lists the positions of the classifier's features in
        that table.
        """
        above = None
        if self.above is not None:
            edges = self.above.tocoo()
            shape = (len(features), len(features))
            above = csr_array((edges.data, (columns[edges.row], columns[edges.col])), shape=shape)
        parents = np.where(self.parents >= 0, columns[self.parents], self.parents)
        options: dict[str, Any] = {"columns": columns[self.columns], "parents": parents, "above": above}
        return replace(self, features=features, names=names, row=row, **options)

    def by_size(self) -> Self:
        """Return the same contributions by decreasing size. Ties keep their order."""
        order = np.argsort(-np.abs(self.amounts), kind="stable")
        arrays = ("columns", "parents", "amounts", "probabilities", "counts", "adjustments")
        found = ((name, getattr(self, name)) for name in arrays)
        changes: dict[str, Any] = {name: None if array is None else array[order] for name, array in found}
        return replace(self, **changes)

    def __eq__(self, other: object) -> bool:
        return NotImplemented if not isinstance(other, tuple | Contributions) else tuple(self) == tuple(other)

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
        The readable name; the feature itself if it has none.
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
        The contribution of the branch to the log-odds.
    places : list of int
        The contributions that reach the branch, by their positions in `Explanation.contributions`, the largest first.
    amounts : list of float
        The amount of each of them that reaches the branch.
    explanation : Explanation
        The explanation that contains the branch.
    """

    feature: str | None
    name: str
    amount: float
    places: list[int] = field(repr=False)
    amounts: list[float] = field(repr=False)
    explanation: Explanation = field(repr=False)

    @property
    def parts(self) -> list[tuple[Contribution, float]]:
        """The contributions that reach the branch, each with the amount that reaches it, largest first."""
        return self.strongest(len(self.places))

    def strongest(self, n: int) -> list[tuple[Contribution, float]]:
        """Return the first `n` entries of `parts`."""
        return list(zip(self.explanation.contributions.at(self.places[:n]), self.amounts[:n], strict=True))

    @property
    def label(self) -> str:
        """The branch's name and number of features, as text."""
        named = self.name if self.feature in (None, self.name) else f"{self.name} ({self.feature})"
        return f"{named}: {len(self.places)} feature{'' if len(self.places) == 1 else 's'}"


@dataclass(frozen=True)
class Explanation:
    """The explanation of a classifier's prediction for one row.

    The log-odds of the class `target` against the others are `base` (the class prior, or an intercept) plus the
    contributions of the features plus the terms in `other`, which belong to no feature. They add up to the model's
    log-odds.

    Attributes
    ----------
    method : str
        The classifier's name.
    row : str
        The label of the row in a data frame, or its number.
    classes : tuple
        The class labels.
    probabilities : tuple of float
        The predicted probability of each class.
    target : label
        The class whose log-odds are explained.
    log_odds : float
        The log-odds of `target` against all other classes.
    base : float
        The start of the log-odds: the contribution of the class prior, or the intercept of a regression.
    contributions : Contributions
        The contributions of the features, in column order; `strongest` sorts them by size.
    other : tuple of (str, float)
        Other terms and their names.
    removed : tuple of Removal
        The features that were left out for this row.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    has_tree : bool
        Whether each feature may depend on another one (its parent).
    base_name : str
        The kind of `base`: "class prior", "intercept", or both.
    row_noun : str
        The word for a row, in the singular.
    calibrated : float or None
        The calibrated probability of `target`, if a trained model has one.
    counts_note : str
        How the contributions follow from the counts next to them, unless they are simply their logarithms.
    decision : int or None
        The position in `classes` of the class that a trained model predicts; None means the most probable one.
    verdict : str
        The text in place of the class and its probability, if a trained model has an unlabelled class.
    """

    method: str
    row: str
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    target: Any
    log_odds: float
    base: float
    contributions: Contributions
    other: tuple[tuple[str, float], ...] = ()
    removed: tuple[Removal, ...] = ()
    hierarchy: Hierarchy = field(default_factory=lambda: Hierarchy.unrelated([]), repr=False)
    has_tree: bool = False
    base_name: str = "class prior"
    row_noun: str = "row"
    calibrated: float | None = None
    counts_note: str = ""
    decision: int | None = None
    verdict: str = ""

    @property
    def predicted(self) -> Any:
        """The class that a trained model predicts, or the most probable class. If classes tie, the first wins."""
        if self.decision is not None:
            return self.classes[self.decision]
        return self.classes[max(range(len(self.classes)), key=lambda c: (self.probabilities[c], -c))]

    @property
    def probability(self) -> float:
        """The probability of `target`."""
        return self.probabilities[self.classes.index(self.target)]

    @property
    def base_label(self) -> str:
        """The name of the base value."""
        return f"base value ({self.base_name})"

    @cached_property
    def strongest(self) -> Sequence[Contribution]:
        """The contributions by decreasing size. Ties are in column order."""
        return self.contributions.by_size()

    @property
    def contributing(self) -> list[str]:
        """The features that contribute, in the order of `contributions`."""
        return [self.contributions.features[v] for v in self.contributions.columns.tolist()]

    @property
    def amounts(self) -> list[float]:
        """Each feature's contribution to the log-odds, in the order of `contributions`."""
        amounts: list[float] = self.contributions.amounts.tolist()
        return amounts

    def total(self) -> float:
        """Return the sum of base, contributions and other terms, which equals the log-odds up to rounding."""
        return self.base + sum(self.amounts) + sum(v for _, v in self.other)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The branches and the rest, which text, HTML and reports show instead of single features. The result may be
        empty.

        Branches are shown if there are more than 20 contributions and the hierarchy has a branch.
        """
        if len(self.contributions) <= BY_BRANCH or not self.hierarchy.adjacency.nnz:
            return ()
        found = self.by_branch()
        return found if len(found) > 1 else ()

    def by_branch(self, terms: str | Sequence[str] | None = None, limit: int = 8) -> tuple[Branch, ...]:
        """Sum the contributions along the hierarchy into branches and the rest.

        Each feature passes its contribution, and all that it receives, on to its direct parents in equal shares (edges
        that other edges imply are left out). A branch keeps everything that reaches it. So the amounts of the branches
        and of the rest, which comes last, add up with `base` and `other` to the log-odds.

        Parameters
        ----------
        terms : sequence of str or None
            The features at the top of the branches. None chooses them one by one: the feature that receives most,
            excluding the branches below it. A branch has at most a quarter of all features below it and at least 3%
            of the sum of all contributions' sizes. It is dropped if branches below it leave it with less.
        limit : int
            The largest number of branches to choose, at least 1.

        Returns
        -------
        tuple of Branch
            The branches, the largest amount first, and the rest.

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
        known = self.contributions
        amounts = known.amounts
        every = np.bincount(known.columns, amounts, len(known.features)).astype(np.float64)
        cut = cut_branches(self.hierarchy, every, terms, limit)
        reached = cut.shares[known.columns]
        reached = np.column_stack([reached, 1 - reached.sum(axis=1)])
        tops = [(known.features[v], known.names[v]) for v in cut.columns]
        found = []
        for (feature, name), shares in zip([*tops, (None, "the rest")], reached.T, strict=True):
            own = np.where(shares > ROUNDING, shares, 0.0) * amounts
            order = np.argsort(-np.abs(own), kind="stable")
            order = order[shares[order] > ROUNDING]
            found.append(Branch(feature, name, float(own.sum()), order.tolist(), own[order].tolist(), self))
        return tuple(found)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per contribution, strongest first."""
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
        """Return the explanation as plain numbers, strings, lists and dicts."""
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
        """Return a `networkx.DiGraph` of the kept features, with an edge from each parent to its child."""
        graph = import_optional("networkx", extra="frames", purpose="Explanation.to_networkx").DiGraph()
        for part in self.contributions:
            graph.add_node(part.feature, name=part.name, value=part.value, contribution=part.contribution)
        graph.add_edges_from((p.parent, p.feature) for p in self.contributions if p.parent is not None)
        return graph

    def text(self, limit: int | None = None) -> str:
        """Return the explanation as lines of plain text.

        With a `limit`, that many of the strongest features are listed individually. None lists 15 of them or, if there
        are more than 20 contributions, branches of the hierarchy with the strongest feature of each.
        """
        return _as_text(self, limit)

    def __str__(self) -> str:
        return self.text()

    def headline(self) -> str:
        """Return the method, the row, the predicted class and the log-odds in one line."""
        p, how = self.probability, ""
        if self.calibrated is not None:
            p, how = self.calibrated, " (calibrated)"
        verdict = self.verdict or f"{self.predicted}. P({self.target}) = {p:.4g}{how}"
        return (
            f"{self.method}, {self.row}: {verdict}, log-odds {self.log_odds:+.3f}, "
            f"from {len(self.contributions)} features"
        )

    def counts_legend(self, shown: Sequence[Contribution], by_branch: bool = False) -> list[str]:
        """Return sentences that explain the branches, counts and marks shown next to these contributions."""
        lines = [DIVIDED] * by_branch
        if not any(part.counts for part in shown):
            return lines
        what = "Behind" if by_branch else "Below"
        lines += [f"{what} a feature: the training {self.row_noun}s of each class with this value."]
        lines += [self.counts_note] if self.counts_note else []
        if any(part.is_adjusted for part in shown):
            lines.append(
                "Adjustment: the regression's correction to the contribution computed from the counts."
            )
        if any(part.is_weak for part in shown):
            lines.append(
                f"{WEAK} Weak: fewer than {FEW_ROWS} of these {self.row_noun}s have the value, "
                f"or fewer than {FEW_ROWS} do not."
            )
        return lines

    def to_html(self) -> str:
        """Return the explanation as a small HTML table. All names are escaped."""
        return _as_html(self)

    def renamed(self, row: str, name_of: Callable[[Any], Any], noun: str) -> Self:
        """Return a copy of the explanation with other names for the row and the classes, and another row noun."""
        classes = tuple(map(name_of, self.classes))
        return replace(self, row=row, classes=classes, target=name_of(self.target), row_noun=noun)

    def _repr_html_(self) -> str:
        return self.to_html()

    def plot_contributions(self, ax: Any = None, *, limit: int = 15) -> Any:
        """Draw a waterfall from the base value to the log-odds with the strongest features, and return the axes."""
        from hietan.explain import _plots

        return _plots.plot_contributions(self, ax, limit)

    def plot_tree(self, ax: Any = None, *, labels: int = 12) -> Any:
        """Draw the learned tree, layer by layer, over the hierarchy's edges, and return the axes.

        Colours show the contributions; the `labels` strongest features are named.
        """
        from hietan.explain import _plots

        return _plots.plot_tree(self, ax, labels)


class _Summand(NamedTuple):
    """A part of the sum, with its label and amount, and the contributions shown below it with their amounts."""

    label: str
    amount: float
    shown: tuple[tuple[Contribution, float], ...] = ()
    size: int = 0  # of a branch, the number of its features


def _summands(explanation: Explanation, limit: int | None, at_most: int = 1) -> list[_Summand]:
    """Return the parts of the log-odds. A branch shows at most this many contributions."""
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
    """Return the lines below a summand: its counts or, for a branch, its strongest features with their counts."""
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
    """Return the explanation as lines of plain text."""
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
    """Return a number of rows as text. Weights can make the number a fraction."""
    return f"{rows:,}" if isinstance(rows, int) else f"{round(rows, 1):,}"


def _as_html(explanation: Explanation) -> str:
    """Return a small table with bars. All names are escaped, and colours suit light and dark pages."""
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
    """A list of explanations, one per row. Notebooks show a folded section for each explanation."""

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one entry per contribution, including the name of the explained row."""
        pandas = import_optional("pandas", extra="frames", purpose="Explanations.to_frame")
        frames = [one.to_frame().assign(row=one.row) for one in self]
        if not frames:
            return pandas.DataFrame()
        whole = pandas.concat(frames, ignore_index=True)
        return whole[["row", *(name for name in whole.columns if name != "row")]]

    def to_shap(self) -> Any:
        """Return a `shap.Explanation` for shap's plots, with contributions, base values, rows and readable names.

        These are the model's own contributions, not Shapley values. Each row of values adds up to the log-odds with its
        base value, which includes the terms that belong to no feature.

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
        values, base = self._matrix()
        return shap.Explanation(
            values=values.toarray(),
            base_values=base,
            data=np.array([one.contributions.row for one in self], dtype=np.float64),
            feature_names=list(self[0].contributions.names) if self else [],
        )

    def by_branch(self, terms: str | Sequence[str] | None = None, limit: int = 8) -> BranchSums:
        """Sum all rows' contributions over a common set of branches.

        Contributions flow along the hierarchy as in `Explanation.by_branch`, and the branches are chosen by the same
        rule, from the mean contributions of all rows.

        Parameters
        ----------
        terms : str, sequence of str or None
            The features at the top of the branches; None chooses them.
        limit : int
            The largest number of branches to choose, at least 1.

        Examples
        --------
        >>> from hietan import HieLogistic
        >>> from hietan.datasets import load_ageing_genes
        >>> data = load_ageing_genes("worm", "BP")
        >>> model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
        >>> print(model.explain(data, ["daf-16", "daf-2", "age-1"]).by_branch(limit=3))
        Mean of 3 rows, by branch of the hierarchy
        <BLANKLINE>
          base value                                      -0.082
          regulation of cellular process (GO:0050794)     -0.645  above 0 in 0
          response to abiotic stimulus (GO:0009628)       +0.463  above 0 in 2
          metabolic process (GO:0008152)                  +0.413  above 0 in 3
          the rest                                        +0.170  above 0 in 1
          log-odds                                        +0.319
        """
        if not self:
            raise ValueError(
                "by_branch needs at least one explanation, but there is none; explain at least one row"
            )
        parts, (values, base) = self[0].contributions, self._matrix()
        labels = {"rows": [one.row for one in self], "features": parts.features, "names": parts.names}
        return sum_by_branch(self[0].hierarchy, values, base, **labels, terms=terms, limit=limit)

    def _matrix(self) -> tuple[Any, NDArray[np.float64]]:
        """Return the contributions as a sparse matrix, and the base values plus the terms that belong to no feature."""
        parts = [one.contributions for one in self]
        ends = np.cumsum([0, *(len(each) for each in parts)])
        shape = (len(parts), len(parts[0].features) if parts else 0)
        empty = np.empty(0, dtype=np.intp)
        columns = np.concatenate([empty, *(each.columns for each in parts)])
        amounts = np.concatenate([empty, *(each.amounts for each in parts)])
        base = np.array([one.base + sum(value for _, value in one.other) for one in self])
        return csr_array((amounts, columns, ends), shape=shape), base

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return self[0].to_html()
        parts = (details(one.headline(), one.to_html()) for one in self)
        return card("Explanations", {"rows": len(self)}, "".join(parts))
