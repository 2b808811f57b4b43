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

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io.files import atomic_write, safe_file_name
from hietan.exceptions import StudyError

FOLDER = "details"
NEIGHBOURS = 8
# How many features are listed individually, in addition to features between them and the root; the others are summed.
SHOWN = 150
INFINITE = 1e9  # JSON has no infinity
# How many terms are listed, how many of them are shown row by row, and how many rows are used.
MOST_TERMS, SWARM_TERMS, MOST_ROWS, SWARM_ROWS = 200, 30, 5000, 400
STEPS = 40  # the largest contribution is this many steps from zero
_BATCH = 128


def dataset_details(results: Any, dataset: str) -> dict[str, Any]:
    """Return a dataset's terms, hierarchy and explanations as plain values."""
    study = results.study
    view, names, chosen = study.view(dataset), study.class_names[dataset], study.explained_rows[dataset]
    reasons = Reasons()
    by_row: dict[int, dict[str, Any]] = {i: {} for i in chosen}
    effects: dict[str, Any] = {}
    for (of_dataset, key), folds in results.explained.items():
        if of_dataset != dataset:
            continue
        for part in folds:
            number = [reasons.index(text) for text in part.reasons]
            for i, shown in part.rows.items():
                removed = [[by, number[reason], *others] for by, reason, *others in shown["removed"]]
                by_row[i][key] = {**shown, "removed": removed}
        of_folds = [part.effects for part in folds if part.effects is not None]
        if of_folds:
            effects[key] = combine_effects(of_folds)
    hierarchy, data = view.hierarchy, view.data
    similar = similar_rows(data.X, list(chosen)) if chosen else {}
    return {
        "dataset": dataset,
        "features": view.feature_names,
        "names": view.term_names,
        "ontology": [] if hierarchy is None else ontology_parents(hierarchy),
        "classes": list(names.values()),
        "labels": list(map(str, names)),
        "symbols": view.symbols,
        "account": view.account,
        "date": data_date(getattr(data, "provenance", {})),
        "equal_rows": view.equal_rows,
        "present": class_counts(data.X, data.y, list(names)),
        "effects": effects,
        "row_noun": view.row_noun,
        "explained": [
            {"row": i, "why": why, "similar": similar[i], "methods": by_row[i]}
            for i, why in chosen.items()
            if by_row[i]
        ],
        "reasons": reasons.texts,
    }


def write_details(results: Any, folder: Path) -> None:
    """Write `details/DATASET.json` for every dataset of a study."""
    for dataset in results.study.datasets:
        text = json.dumps(dataset_details(results, dataset), separators=(",", ":"))
        atomic_write(_path(folder, dataset), text)


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


@dataclass(frozen=True, eq=False)
class FoldEffects:
    """The contributions of a fold's terms to the log-odds of the positive class, summed over rows of the fold.

    Attributes
    ----------
    n_rows : int array of shape ()
        The number of rows.
    absolute, within : arrays of shape (n_features,)
        The sums of the contributions' sizes, and of their squared deviations from the fold's mean.
    present, absent : arrays of shape (2, n_features)
        The sum of the contributions over rows with, and without, the term, and the number of these rows.
    used : int array of shape (n_features,)
        The number of rows with a contribution.
    shown, shown_present : arrays of shape (n_shown, n_features)
        The contributions of the rows that are shown one by one, and whether these rows have the term.
    """

    n_rows: Any
    absolute: NDArray[np.float64]
    within: NDArray[np.float64]
    present: NDArray[np.float64]
    absent: NDArray[np.float64]
    used: NDArray[np.int64]
    shown: NDArray[np.float32]
    shown_present: NDArray[np.bool_]


def fold_effects(model: Any, X: Any, n_folds: int, target: Mapping[str, Any]) -> FoldEffects:
    """Return the effects of terms in a fold's rows, which the fitted model has not seen.

    `target` is the positive class as a keyword of `contributions`; empty for the default, the second of two.
    """
    # Rows are spread over the fold, because rows are often sorted by class; the first of them are shown one by one.
    n_shown = -(-SWARM_ROWS // n_folds)
    first, chosen = (_spread(X.shape[0], most) for most in (n_shown, -(-MOST_ROWS // n_folds)))
    rows = X[np.concatenate([first, np.setdiff1d(chosen, first)])]
    n_rows, n_features = rows.shape
    total, squares, absolute = (np.zeros(n_features) for _ in range(3))
    present, absent = np.zeros((2, n_features)), np.zeros((2, n_features))
    used = np.zeros(n_features, dtype=np.int64)
    shown, shown_present = [np.empty((0, n_features), np.float32)], [np.empty((0, n_features), np.bool_)]
    for start in range(0, n_rows, _BATCH):
        batch = rows[start : start + _BATCH]
        has = _dense(batch) > 0
        found = _dense(model.contributions(batch, **target)).astype(np.float64)
        adds = np.clip(found, -1e6, 1e6)
        total += adds.sum(axis=0)
        squares += (adds**2).sum(axis=0)
        absolute += np.abs(adds).sum(axis=0)
        used += (adds != 0).sum(axis=0)
        present += [(adds * has).sum(axis=0), has.sum(axis=0)]
        absent += [(adds * ~has).sum(axis=0), (~has).sum(axis=0)]
        if start < n_shown:
            shown.append(adds[: n_shown - start].astype(np.float32))
            shown_present.append(has[: n_shown - start])
    within = np.maximum(squares - total**2 / max(n_rows, 1), 0)
    return FoldEffects(
        np.array(n_rows),
        absolute,
        within,
        present,
        absent,
        used,
        np.concatenate(shown),
        np.concatenate(shown_present),
    )


def combine_effects(folds: Sequence[FoldEffects]) -> dict[str, Any]:
    """Return the most important terms of a method's models as arrays.

    `effect` is the standard deviation of the contribution within folds, and `absolute` its mean size. `gap` is the mean
    contribution with the term minus the mean without it. `compared` is the number of folds with both kinds of rows, and
    `agree` the number of these folds in which the gap has the same sign. `swarm` contains, for the first terms,
    [contribution in steps, 1 with the term or 0 without, rows].
    """
    n_rows = sum(int(fold.n_rows) for fold in folds)
    within, absolute, used = (
        np.sum([getattr(fold, name) for fold in folds], axis=0) for name in ("within", "absolute", "used")
    )
    present, absent = (
        np.sum([getattr(fold, name) for fold in folds], axis=0) for name in ("present", "absent")
    )
    effect = np.sqrt(within / n_rows)
    order = np.argsort(-effect, kind="stable")[:MOST_TERMS]
    order = order[effect[order] > 1e-9]
    gap = np.nan_to_num(_gap(present, absent))
    directions = np.array([_gap(fold.present, fold.absent) for fold in folds])
    compared = np.isfinite(directions).sum(axis=0)
    same = (np.sign(directions) == np.sign(gap)).sum(axis=0)
    return {
        "rows": n_rows,
        "folds": len(folds),
        "columns": order.tolist(),
        "effect": decimals(effect[order].tolist(), 3),
        "absolute": decimals((absolute / n_rows)[order].tolist(), 3),
        "gap": decimals(gap[order].tolist(), 3),
        "agree": same[order].tolist(),
        "compared": compared[order].tolist(),
        "used": used[order].tolist(),
        **_swarm(folds, order[:SWARM_TERMS]),
    }


def _swarm(folds: Sequence[FoldEffects], columns: NDArray[np.intp]) -> dict[str, Any]:
    adds = np.concatenate([fold.shown[:, columns] for fold in folds])
    has = np.concatenate([fold.shown_present[:, columns] for fold in folds])
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
