"""What a report shows about a dataset beyond the tables of a study: terms, ontology and explanations, in one file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan._io import atomic_write, safe_file_name
from hietan.evaluation.dataset_view import DatasetView
from hietan.evaluation.outputs.compact import Reasons, compact, compact_trace, ontology_parents
from hietan.evaluation.outputs.effects import class_counts
from hietan.evaluation.outputs.one_row import evidence_counts, similar_rows
from hietan.exceptions import StudyError

FOLDER = "details"


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
        By row, what would change its class, as by `find_flips`.
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
