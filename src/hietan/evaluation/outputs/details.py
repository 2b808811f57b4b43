"""What a report shows about a dataset beyond the tables of a study: terms, ontology and explanations, in one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hietan._io import atomic_write, safe_file_name
from hietan.evaluation.dataset_view import DatasetView
from hietan.evaluation.outputs.compact import Reasons, compact, compact_trace, ontology_parents
from hietan.exceptions import StudyError

FOLDER = "details"


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

    def add(self, key: str, explanations: Mapping[int, Any], traces: Mapping[int, Any]) -> None:
        """Add what one method says about the chosen rows, and how it learned their trees, if it learns any."""
        for i, explanation in explanations.items():
            self.rows[i][key] = compact(explanation, self.reasons)
            if i in traces:
                self.rows[i][key]["trace"] = compact_trace(traces[i])

    def content(self) -> dict[str, Any]:
        """The content of the file as plain values."""
        hierarchy = self.view.hierarchy
        return {
            "dataset": self.dataset,
            "features": self.view.feature_names,
            "names": self.view.term_names,
            "ontology": [] if hierarchy is None else ontology_parents(hierarchy),
            "classes": self.view.class_names,
            "symbols": self.view.symbols,
            "account": self.view.account,
            "explained": [
                {"row": i, "why": why, "methods": self.rows[i]}
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
