"""What a report shows about a dataset beyond the tables of a study: terms, ontology and explanations, in one file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io import atomic_write, safe_file_name
from hietan.evaluation.outputs.effects import class_counts
from hietan.evaluation.outputs.explanation_json import (
    Reasons,
    compact,
    compact_trace,
    decimal,
    ontology_parents,
)
from hietan.evaluation.study.plan import DatasetView
from hietan.exceptions import StudyError

FOLDER = "details"
NEIGHBOURS = 8


@dataclass(frozen=True)
class ExplainedRows:
    """What the models of one method say about rows of a dataset.

    Attributes
    ----------
    explanations, traces : dict of int to Any
        By row, its explanation, and how its tree was learned, if the method learns any.
    training : dict of int to array
        By row, the rows that its model was fitted to.
    flips : dict of int to dict or None
        By row, what would change its class, as by `find_counterfactuals`.
    effects : dict or None
        Which terms matter, as by `TermEffects.content`.
    """

    explanations: dict[int, Any] = field(default_factory=dict)
    traces: dict[int, Any] = field(default_factory=dict)
    training: dict[int, NDArray[np.intp]] = field(default_factory=dict)
    flips: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    effects: dict[str, Any] | None = None


@dataclass(frozen=True)
class MethodDetails:
    """What `details/DATASET.json` holds of one method, in plain values.

    Attributes
    ----------
    rows : dict of int to dict
        By row, its compact explanation and what a report shows beside it.
    reasons : list of str
        The sentences that the explanations refer to by number.
    effects : dict or None
        Which terms matter, as by `TermEffects.content`.
    """

    rows: dict[int, dict[str, Any]]
    reasons: list[str]
    effects: dict[str, Any] | None = None


def method_details(explained: ExplainedRows, view: DatasetView) -> MethodDetails:
    """What a method says about rows of a dataset, as arrays of few bytes."""
    reasons, rows = Reasons(), {}
    for i, explanation in explained.explanations.items():
        shown = rows[i] = compact(explanation, reasons)
        if i in explained.training and shown["probabilities"]:
            train, data = explained.training[i], view.data
            shown["counts"] = evidence_counts(shown, data.X[train], data.y[train], view.hierarchy)
        if explained.flips.get(i) is not None:
            shown["flip"] = explained.flips[i]
        if i in explained.traces:
            shown["trace"] = compact_trace(explained.traces[i])
    return MethodDetails(rows, reasons.texts, explained.effects)


class DatasetDetails:
    """The content of `details/DATASET.json`, to which the explanations are added method by method.

    Parameters
    ----------
    dataset : str
        The name of the dataset.
    view : DatasetView
        Its names and its hierarchy.
    chosen : mapping of int to str
        The rows that are explained, and why each was chosen.
    """

    def __init__(self, dataset: str, view: DatasetView, chosen: Mapping[int, str]) -> None:
        self.dataset = dataset
        self.view = view
        self.chosen = chosen
        self.reasons = Reasons()
        self.rows: dict[int, dict[str, Any]] = {i: {} for i in chosen}
        self.effects: dict[str, Any] = {}

    def add(self, key: str, found: MethodDetails) -> None:
        """Add what one method says about the chosen rows, how it learned their trees, and which terms matter to it."""
        number = [self.reasons.index(text) for text in found.reasons]
        for i, shown in found.rows.items():
            removed = [[by, number[reason], *others] for by, reason, *others in shown["removed"]]
            self.rows[i][key] = {**shown, "removed": removed}
        if found.effects is not None:
            self.effects[key] = found.effects

    def take_over(self, kept: Mapping[str, Any]) -> None:
        """Add what all methods said when the file was written before, given its content."""
        self.rows |= {entry["row"]: entry["methods"] for entry in kept["explained"]}
        self.effects = kept["effects"]
        self.reasons.texts = kept["reasons"]

    def content(self) -> dict[str, Any]:
        """The content of the file as plain values."""
        hierarchy, data = self.view.hierarchy, self.view.data
        similar = similar_rows(data.X, list(self.chosen)) if self.chosen else {}
        return {
            "dataset": self.dataset,
            "features": self.view.feature_names,
            "names": self.view.term_names,
            "ontology": [] if hierarchy is None else ontology_parents(hierarchy),
            "classes": self.view.class_names,
            "labels": [str(label) for label in np.unique(data.y).tolist()],
            "symbols": self.view.symbols,
            "account": self.view.account,
            "present": class_counts(data.X, data.y),
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
        """Write the file into the directory of a study, with the mark of its recipe; see `kept_details`."""
        text = json.dumps(self.content(), separators=(",", ":"))
        if recipe is not None:
            text = f'{text[:-1]}{_MARK}{_mark(text[:-1], recipe)}"}}'
        path = _path(folder, self.dataset)
        atomic_write(path, text)
        return path


_MARK = ',"mark":"'


def kept_details(folder: Path, dataset: str, recipe: bytes) -> dict[str, Any] | None:
    """The details of a dataset if they are in the directory of a study, and were made by the same recipe.

    The file ends with a mark: a hash of everything before it, which depends on the recipe, that is, on all that the
    explanations depend on. A file that was changed, or comes from another study, does not have the right one.
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
    """Return the details of a dataset in the directory of a study; an empty dict if it has none."""
    path = _path(folder, dataset)
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        message = f"{path} is damaged: {error}; run the study again to write it, or remove it"
        raise StudyError(message) from None
    return content


def evidence_counts(shown: Mapping[str, Any], X: Any, y: Any, hierarchy: Any = None) -> list[list[list[int]]]:
    """The training rows behind each probability of a compact explanation, class by class.

    For each listed feature: [how many rows have its value and that of its parent, how many have that of its parent],
    each a list with a number per class, in sorted order. A feature without a parent is compared with all rows. In a
    tree, a feature has one parent; otherwise, one stands for all of its parents in the `hierarchy`, which are all 1.

    >>> shown = {"features": [0, 1], "parents": [-1, 0], "values": [1, 0]}
    >>> evidence_counts(shown, np.array([[1, 0], [1, 1], [0, 0], [1, 0]]), np.array([0, 0, 1, 1]))
    [[[2, 1], [2, 2]], [[1, 1], [2, 1]]]
    """
    if not shown["features"]:
        return []
    same = (_dense(X[:, shown["features"]]) > 0) == (np.array(shown["values"]) > 0)
    parents = np.array(shown["parents"])
    given = np.where(parents >= 0, same[:, parents], True)
    if not shown.get("tree", True) and hierarchy is not None:
        column = {name: j for j, name in enumerate(hierarchy.features)}
        for place in np.flatnonzero(parents >= 0):
            above = [column[p] for p in hierarchy.parents(hierarchy.features[shown["features"][place]])]
            given[:, place] = (_dense(X[:, above]) > 0).all(axis=1)
    classes = [y == label for label in np.unique(y)]
    both = np.array([(same & given)[rows].sum(axis=0) for rows in classes]).T
    total = np.array([given[rows].sum(axis=0) for rows in classes]).T
    return [[b.tolist(), t.tolist()] for b, t in zip(both, total, strict=True)]


def similar_rows(
    X: Any, rows: Sequence[int], n: int = NEIGHBOURS, *, among: Sequence[int] | None = None
) -> dict[int, list[list[float]]]:
    """For each of some rows, the `n` most similar others: [row, simGIC], the most similar first.

    The others are all rows, or those `among` which they are looked for.

    simGIC is the information content of the terms that two rows share, divided by that of all terms that either has;
    the information content of a term is -ln of the share of rows that have it. The rows must be closed: a row that has
    a term has the more general ones too. Rows without any informative term are similar to none.

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
