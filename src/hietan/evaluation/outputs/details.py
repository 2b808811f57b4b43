"""What a report shows about a dataset beyond the tables of a study: terms, ontology and explanations, in one file."""

from __future__ import annotations

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
        By row, what would change its class, as by `find_flip`.
    effects : dict or None
        Which terms matter, as by `TermEffects.content`.
    """

    explanations: dict[int, Any] = field(default_factory=dict)
    traces: dict[int, Any] = field(default_factory=dict)
    training: dict[int, NDArray[np.intp]] = field(default_factory=dict)
    flips: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    effects: dict[str, Any] | None = None


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

    def add(self, key: str, explained: ExplainedRows) -> None:
        """Add what one method says about the chosen rows, how it learned their trees, and which terms matter to it."""
        for i, explanation in explained.explanations.items():
            shown = compact(explanation, self.reasons)
            if i in explained.training and shown["probabilities"]:
                train, data = explained.training[i], self.view.data
                shown["counts"] = evidence_counts(shown, data.X[train], data.y[train], self.view.hierarchy)
            if explained.flips.get(i) is not None:
                shown["flip"] = explained.flips[i]
            self.rows[i][key] = shown
            if i in explained.traces:
                self.rows[i][key]["trace"] = compact_trace(explained.traces[i])
        if explained.effects is not None:
            self.effects[key] = explained.effects

    def discard(self, key: str) -> None:
        """Remove what one method has added."""
        self.effects.pop(key, None)
        for methods in self.rows.values():
            methods.pop(key, None)

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

    def write(self, folder: Path) -> Path:
        """Write the file into the directory of a study."""
        path = folder / FOLDER / f"{safe_file_name(self.dataset)}.json"
        atomic_write(path, json.dumps(self.content(), separators=(",", ":")))
        return path


def read_details(folder: Path, dataset: str) -> dict[str, Any]:
    """The details of a dataset in the directory of a study; an empty dict if it has none.

    Earlier versions named the files differently, so what counts is the name of the dataset in the file.
    """
    expected = folder / FOLDER / f"{safe_file_name(dataset)}.json"
    paths = sorted((folder / FOLDER).glob("*.json"))
    for path in sorted(paths, key=lambda path: path != expected):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            message = f"{path} is damaged: {error}; run the study again to write it, or remove it"
            raise StudyError(message) from None
        if isinstance(content, dict) and content.get("dataset") == dataset:
            return content
    return {}
