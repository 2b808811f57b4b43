"""Report data that a study's tables lack: a dataset's terms, ontology and explanations, in one file.

The file is compact: columns by number, arrays instead of records, each sentence only once. An explanation is any
object with the attributes of `hietan.explain.Explanation`, and a hierarchy any object with the methods of
`hietan.hierarchy.Hierarchy`: evaluation does not import the packages that define them.

Term effects need a method with `contributions`: an array, sparse or not, of each feature's contribution to the
log-odds of the second class in each row. Effects are shown for the positive class. A term's effect is how much its
contribution varies between the rows of a fold. A term that every row has contributes the same to all rows, so it does
not distinguish them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io.files import atomic_write, safe_file_name
from hietan.evaluation._study.plan import DatasetView
from hietan.exceptions import StudyError
from hietan.scores.cross_validation import Label

FOLDER = "details"
NEIGHBOURS = 8
# How many features are listed individually, in addition to features between them and the root; the others are summed.
SHOWN = 150
INFINITE = 1e9  # JSON has no infinity
# How many terms are listed, how many of them are shown row by row, and how many rows are used.
MOST_TERMS, SWARM_TERMS, MOST_ROWS, SWARM_ROWS = 200, 30, 5000, 400
STEPS = 40  # the largest contribution is this many steps from zero
_BATCH = 128


@dataclass(frozen=True)
class ExplainedRows:
    """One method's explanations and term effects on a dataset.

    Attributes
    ----------
    explanations : dict of int to Any
        Each row's explanation.
    effects : dict or None
        The term effects, as returned by `TermEffects.content`.
    """

    explanations: dict[int, Any] = field(default_factory=dict)
    effects: dict[str, Any] | None = None


@dataclass(frozen=True)
class MethodDetails:
    """One method's part of `details/DATASET.json`, as plain values.

    Attributes
    ----------
    rows : dict of int to dict
        The compact explanation of each row, with the report's additions.
    reasons : list of str
        The sentences that the explanations refer to by number.
    effects : dict or None
        The term effects, as returned by `TermEffects.content`.
    """

    rows: dict[int, dict[str, Any]]
    reasons: list[str]
    effects: dict[str, Any] | None = None


def method_details(explained: ExplainedRows) -> MethodDetails:
    """Return a method's explanations of dataset rows as compact arrays."""
    reasons = Reasons()
    rows = {i: compact(explanation, reasons) for i, explanation in explained.explanations.items()}
    return MethodDetails(rows, reasons.texts, explained.effects)


class DatasetDetails:
    """The content of `details/DATASET.json`, to which explanations are added method by method.

    Parameters
    ----------
    dataset : str
        The dataset's name.
    view : DatasetView
        Its names and its hierarchy.
    names : mapping of label to str
        Its classes, the positive one of two last.
    chosen : mapping of int to str
        The explained rows, and why each was chosen.
    """

    def __init__(
        self, dataset: str, view: DatasetView, names: Mapping[Label, str], chosen: Mapping[int, str]
    ) -> None:
        self.dataset = dataset
        self.view = view
        self.names = names
        self.chosen = chosen
        self.reasons = Reasons()
        self.rows: dict[int, dict[str, Any]] = {i: {} for i in chosen}
        self.effects: dict[str, Any] = {}

    def add(self, key: str, found: MethodDetails) -> None:
        """Add one method's explanations of the chosen rows, and its term effects."""
        number = [self.reasons.index(text) for text in found.reasons]
        for i, shown in found.rows.items():
            removed = [[by, number[reason], *others] for by, reason, *others in shown["removed"]]
            self.rows[i][key] = {**shown, "removed": removed}
        if found.effects is not None:
            self.effects[key] = found.effects

    def take_over(self, kept: Mapping[str, Any]) -> None:
        """Add all methods' explanations from an earlier file's content."""
        self.rows |= {entry["row"]: entry["methods"] for entry in kept["explained"]}
        self.effects = kept["effects"]
        self.reasons.texts = kept["reasons"]

    def content(self) -> dict[str, Any]:
        """Return the dataset's details as plain values."""
        hierarchy, data = self.view.hierarchy, self.view.data
        similar = similar_rows(data.X, list(self.chosen)) if self.chosen else {}
        return {
            "dataset": self.dataset,
            "features": self.view.feature_names,
            "names": self.view.term_names,
            "ontology": [] if hierarchy is None else ontology_parents(hierarchy),
            "classes": list(self.names.values()),
            "labels": list(map(str, self.names)),
            "symbols": self.view.symbols,
            "account": self.view.account,
            "date": data_date(getattr(data, "provenance", {})),
            "equal_rows": self.view.equal_rows,
            "present": class_counts(data.X, data.y, list(self.names)),
            "effects": self.effects,
            "row_noun": self.view.row_noun,
            "explained": [
                {"row": i, "why": why, "similar": similar[i], "methods": self.rows[i]}
                for i, why in self.chosen.items()
                if self.rows[i]
            ],
            "reasons": self.reasons.texts,
        }

    def write(self, folder: Path, recipe: bytes | None = None) -> Path:
        """Write the details to a study's directory, with the recipe that `kept_details` checks."""
        text = json.dumps(self.content(), separators=(",", ":"))
        if recipe is not None:
            text = f'{text[:-1]}{_MARK}{_mark(text[:-1], recipe)}"}}'
        path = _path(folder, self.dataset)
        atomic_write(path, text)
        return path


_MARK = ',"mark":"'


def kept_details(folder: Path, dataset: str, recipe: bytes) -> dict[str, Any] | None:
    """Return a dataset's details from a study's directory if the recipe has not changed, otherwise None.

    The file ends with a mark: a hash of everything before it and of the recipe, which stands for everything that the
    explanations depend on. A file that was changed or comes from another study has a different mark.
    """
    try:
        text = _path(folder, dataset).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    body, _, end = text.rpartition(_MARK)
    if end != f'{_mark(body, recipe)}"}}':
        return None
    content: dict[str, Any] = json.loads(text)
    return content


def _mark(text: str, recipe: bytes) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16, key=recipe).hexdigest()


def _path(folder: Path, dataset: str) -> Path:
    return folder / FOLDER / f"{safe_file_name(dataset)}.json"


def read_details(folder: Path, dataset: str) -> dict[str, Any]:
    """Return a dataset's details from a study's directory, or an empty dict if there are none."""
    path = _path(folder, dataset)
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        message = f"{path} is damaged ({error}); run the study again to write this file, or remove it"
        raise StudyError(message) from None
    return content


def data_date(provenance: Mapping[str, Any]) -> str:
    """Return the latest date in the versions of a dataset's source files, or "" if they have no dates.

    >>> data_date({"versions": {"ontology": "releases/2019-01-27", "annotations, generated": "2019-01-14 09:46"}})
    '2019-01-27'
    """
    versions = provenance.get("versions")
    found = versions.values() if isinstance(versions, Mapping) else ()
    return max(re.findall(r"\b\d{4}-\d{2}-\d{2}\b", " ".join(map(str, found))), default="")


def similar_rows(
    X: Any, rows: Sequence[int], n: int = NEIGHBOURS, *, among: Sequence[int] | None = None
) -> dict[int, list[list[float]]]:
    """Return the `n` most similar rows to each of the given rows, as [row, simGIC], most similar first.

    All rows are searched, or only the rows in `among`.

    simGIC is the information content of the terms that two rows share, divided by the information content of all
    terms of either row. A term's information content is -ln of the share of rows that have it. Rows must be closed: a
    row with a term also has its ancestors. A row without informative terms is similar to none.

    >>> similar_rows(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]), [0], n=2)
    {0: [[1, 1.0], [2, 0.0]]}
    """
    present = csr_array(X > 0).astype(np.float64)
    share = np.asarray(present.sum(axis=0)).ravel() / present.shape[0]
    information = -np.log(np.maximum(share, 1e-12)) * (share > 0)
    own = present @ information
    chosen, others = list(rows), np.arange(present.shape[0]) if among is None else np.array(among, dtype=int)
    shared = (present[chosen].multiply(information) @ present[others].T).toarray()
    found = {}
    for i, common in zip(chosen, shared, strict=True):
        either = own[i] + own[others] - common
        similarity = np.divide(common, either, out=np.zeros(len(others)), where=either > 1e-12)
        order = [k for k in np.argsort(-similarity, kind="stable")[: n + 1] if others[k] != i][:n]
        found[i] = [[int(others[k]), decimal(float(similarity[k]), 3) or 0.0] for k in order]
    return found


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


class Reasons:
    """The different sentences that explain why features were left out, in order of first appearance."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def index(self, text: str) -> int:
        """Return a sentence's number, and add the sentence to the list if it is new."""
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)


def compact(explanation: Any, reasons: Reasons, shown: int = SHOWN) -> dict[str, Any]:
    """Return an explanation as arrays. Features are columns, and parents are positions in `features` (-1: none).

    The contributions of unlisted features are summed in `rest`, so that the total stays the same.
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
        "counts": [part.counts for part in kept] if any(part.counts for part in kept) else None,
        "given": [[column[name] for name in part.given] for part in kept],
        "weak": [i for i, part in enumerate(kept) if part.is_weak],
        "adjusted": {i: decimal(part.adjustment) for i, part in enumerate(kept) if part.is_adjusted},
        "counts_note": explanation.counts_note,
        "rest": [len(rest), decimal(sum(rest))],
        "branches": _branches(explanation, column, place),
        "other": [[what, decimal(value)] for what, value in explanation.other],
        "removed": _removed(explanation, column, reasons),
    }


def _branches(
    explanation: Any, column: Mapping[str, int], place: Mapping[str, int]
) -> list[list[Any]] | None:
    """Return the branches as lists [column (-1: the rest), amount, number of features, listed features], if any."""
    features = explanation.contributing
    found = [
        [
            column.get(branch.feature, -1),
            decimal(branch.amount),
            len(branch.places),
            [
                [place[features[k]], decimal(amount)]
                for k, amount in zip(branch.places, branch.amounts, strict=True)
                if features[k] in place
            ],
        ]
        for branch in explanation.branches
        if branch.places
    ]
    return found or None


def _with_ancestors(explanation: Any, shown: int) -> list[Any]:
    """Return the strongest contributions, and all contributions on their paths to the roots."""
    place = {name: k for k, name in enumerate(explanation.contributing)}
    kept: set[int] = set()
    found = explanation.strongest[:shown]
    while found:
        kept.update(place[part.feature] for part in found)
        above = {place[part.parent] for part in found if part.parent is not None}
        found = explanation.contributions.at(sorted(above - kept))
    return list(explanation.contributions.at(sorted(kept)))


def _removed(explanation: Any, column: Mapping[str, int], reasons: Reasons) -> list[list[Any]]:
    """Return lists of [the feature that made others redundant, the reason's number, their value, their columns].

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
    """Return each feature's parents in the hierarchy."""
    return [[hierarchy.index(p) for p in hierarchy.parents(name)] for name in hierarchy.features]


def decimal(value: float, digits: int = 6) -> float | None:
    """Return a number rounded for display. NaN becomes None, and infinity becomes a very large number."""
    return None if value != value else round(min(max(float(value), -INFINITE), INFINITE), digits)


def significant(value: float) -> float:
    """Return a number rounded to four significant digits."""
    return float(f"{value:.4g}")


def decimals(values: Iterable[float], digits: int = 6) -> list[float | None]:
    """Return numbers rounded for display, like `decimal`."""
    return [decimal(value, digits) for value in values]


class TermEffects:
    """The effects of a dataset's terms in one method's models, added fold by fold.

    Parameters
    ----------
    n_features : int
        The number of columns.
    n_folds : int
        The number of folds that will be added; each is weighted by its share of the rows.
    target : mapping
        The positive class as the keyword `target` of `contributions`; empty for the default, the second of two.
    """

    def __init__(
        self, n_features: int, n_folds: int, target: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self.n_rows = 0
        self._target = target
        self._rows_of_fold = -(-MOST_ROWS // n_folds)
        self._shown_of_fold = -(-SWARM_ROWS // n_folds)
        self._absolute = np.zeros(n_features)
        self._within = np.zeros(n_features)  # squared deviations from the mean of the fold
        self._with = np.zeros((2, n_features))  # the sum over rows that have the term, and their number
        self._without = np.zeros((2, n_features))
        self._used = np.zeros(n_features, dtype=np.int64)
        self._directions: list[NDArray[np.float64]] = []
        self._shown: list[tuple[NDArray[np.float32], NDArray[np.bool_]]] = []

    def add_fold(self, model: Any, X: Any) -> None:
        """Add rows that the fitted model has not seen."""
        # Rows are spread over the fold, because rows are often sorted by class; the first of them are shown one by one.
        first, chosen = (_spread(X.shape[0], most) for most in (self._shown_of_fold, self._rows_of_fold))
        rows = X[np.concatenate([first, np.setdiff1d(chosen, first)])]
        total, squares = np.zeros(len(self._absolute)), np.zeros(len(self._absolute))
        with_before, without_before = self._with.copy(), self._without.copy()
        shown = []
        for start in range(0, rows.shape[0], _BATCH):
            batch = rows[start : start + _BATCH]
            has = _dense(batch) > 0
            found = _dense(model.contributions(batch, **self._target)).astype(np.float64)
            adds = np.clip(found, -1e6, 1e6)
            total += adds.sum(axis=0)
            squares += (adds**2).sum(axis=0)
            self._absolute += np.abs(adds).sum(axis=0)
            self._used += (adds != 0).sum(axis=0)
            self._with += [(adds * has).sum(axis=0), has.sum(axis=0)]
            self._without += [(adds * ~has).sum(axis=0), (~has).sum(axis=0)]
            if start < self._shown_of_fold:
                shown.append((adds[: self._shown_of_fold - start].astype(np.float32), has))
        n = rows.shape[0]
        self.n_rows += n
        self._within += np.maximum(squares - total**2 / max(n, 1), 0)
        self._directions.append(_gap(self._with - with_before, self._without - without_before))
        self._shown += [(adds, has[: len(adds)]) for adds, has in shown]

    def content(self) -> dict[str, Any] | None:
        """Return the most important terms as arrays, or None if no rows were added.

        `effect` is the standard deviation of the contribution within folds, and `absolute` its mean size. `gap` is
        the mean contribution with the term minus the mean without it. `compared` is the number of folds with both
        kinds of rows, and `agree` the number of these folds in which the gap has the same sign. `swarm` contains, for
        the first terms, [contribution in steps, 1 with the term or 0 without, rows].
        """
        if not self.n_rows:
            return None
        effect = np.sqrt(self._within / self.n_rows)
        order = np.argsort(-effect, kind="stable")[:MOST_TERMS]
        order = order[effect[order] > 1e-9]
        gap = np.nan_to_num(_gap(self._with, self._without))
        directions = np.array(self._directions)
        compared = np.isfinite(directions).sum(axis=0)
        same = (np.sign(directions) == np.sign(gap)).sum(axis=0)
        return {
            "rows": self.n_rows,
            "folds": len(self._directions),
            "columns": order.tolist(),
            "effect": decimals(effect[order].tolist(), 3),
            "absolute": decimals((self._absolute / self.n_rows)[order].tolist(), 3),
            "gap": decimals(gap[order].tolist(), 3),
            "agree": same[order].tolist(),
            "compared": compared[order].tolist(),
            "used": self._used[order].tolist(),
            **self._swarm(order[:SWARM_TERMS]),
        }

    def _swarm(self, columns: NDArray[np.intp]) -> dict[str, Any]:
        adds = np.concatenate([adds[:, columns] for adds, _ in self._shown])
        has = np.concatenate([has[:, columns] for _, has in self._shown])
        if not adds.size:
            return {"step": 1, "swarm": []}
        step = significant(max(float(np.abs(adds).max()), 1e-9) / STEPS)
        places = np.rint(adds / step).astype(int)
        swarm = []
        for place, value in zip(places.T, has.T, strict=True):
            found, rows = np.unique(np.column_stack([place, value]), axis=0, return_counts=True)
            swarm.append([[int(b), int(v), int(n)] for (b, v), n in zip(found, rows, strict=True)])
        return {"step": step, "swarm": swarm}


def class_counts(X: Any, y: Any, labels: Sequence[Any]) -> list[list[int]]:
    """Return the number of rows in each class that have each term.

    >>> class_counts(np.array([[1, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]), [0, 1])
    [[2, 1], [0, 1]]
    """
    of_class = [X[np.flatnonzero(y == label)] for label in labels]
    return [np.asarray((rows > 0).sum(axis=0)).ravel().tolist() for rows in of_class]


def _gap(present: NDArray[np.float64], absent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean contribution of rows with the term minus the mean of rows without it, or NaN if a group has no
    rows.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(present[0] / present[1] - absent[0] / absent[1])


def _spread(n_rows: int, most: int) -> NDArray[np.intp]:
    """Return at most this many evenly spaced numbers below `n_rows`.

    >>> _spread(10, 4).tolist(), _spread(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))
