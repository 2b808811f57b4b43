"""Rows of a dataset ranked by a model, with reasons: the page of a report with this one part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hietan._io import atomic_write
from hietan.candidates import Candidates
from hietan.evaluation.outputs import Reasons, compact, decimals, ontology_parents
from hietan.report.html import render

FORMAT = 1
EXPLAINED = 100


def write_candidates(
    candidates: Candidates, output: str | Path, *, command: str = "", explained: int = EXPLAINED
) -> Path:
    """Write the page of ranked candidates as one HTML file that needs no network and no server.

    Parameters
    ----------
    candidates : Candidates
        Ranked rows, from `hietan.candidates.rank_rows`.
    output : path
        The file to write.
    command : str
        The shell command that explains a row, without the row; shown with each row.
    explained : int
        How many of the first rows are explained.

    Examples
    --------
    >>> import tempfile
    >>> from hietan import HieTANLite
    >>> from hietan.candidates import rank_rows, train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(60, 20, random_state=0)
    >>> ranked = rank_rows(train_model(HieTANLite(), data), data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_candidates(ranked, f"{folder}/candidates.html").name
    'candidates.html'
    """
    path = Path(output)
    atomic_write(path, render(candidates_summary(candidates, command=command, explained=explained)))
    return path


def candidates_summary(
    candidates: Candidates, *, command: str = "", explained: int = EXPLAINED
) -> dict[str, Any]:
    """What the page of ranked candidates shows, as plain values; see `write_candidates` for the parameters."""
    trained, data, order = candidates.trained, candidates.data, candidates.order.tolist()
    model = trained.classifier
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    names = [terms[feature] for feature in trained.feature_names]
    known = set(trained.training_rows)
    about = (
        f"{len(data.instance_names):,} rows of {data.name or 'a dataset'}, ranked by {trained.description}."
    )
    predicted = np.searchsorted(model.classes_, candidates.labels)
    reasons = Reasons()
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": "Ranked candidates",
        "about": {"model": about, "caution": trained.caution, "command": command},
        "methods": [{"key": "model", "name": type(model).__name__, "description": about}],
        "datasets": [
            {
                "name": "",
                "group": "",
                "classes": list(trained.class_names),
                "labels": [str(label) for label in model.classes_.tolist()],
                "genes": [data.instance_names[i] for i in order],
                "symbols": [data.symbols[i] for i in order] if data.symbols else [],
                "in_training": [rank for rank, i in enumerate(order) if data.instance_names[i] in known],
                "predictions": {
                    0: {
                        "predicted": predicted[order].tolist(),
                        "log_odds": decimals(candidates.log_odds[order].tolist(), 3),
                    }
                },
                "features": list(trained.feature_names),
                "names": names,
                "ontology": ontology_parents(model.hierarchy_),
                "usage": {},
                "reasons": reasons.texts,
                "explained": _explained(candidates, names, explained, reasons),
            }
        ],
    }


def _explained(
    candidates: Candidates, names: list[str], n_rows: int, reasons: Reasons
) -> list[dict[str, Any]]:
    """The explanations of the first rows; `reasons` collects the texts that they share."""
    model, first = candidates.trained.classifier, candidates.order[:n_rows].tolist()
    if not first or not hasattr(model, "explain"):
        return []
    return [
        {"row": rank, "why": "ranked high", "methods": {0: compact(explanation, reasons)}}
        for rank, explanation in enumerate(model.explain(candidates.X[first], term_names=names))
    ]
