"""Rows of a dataset ranked by a model, with reasons: the page of a report with this one part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io import atomic_write
from hietan.candidates import Candidates
from hietan.evaluation.outputs import Reasons, compact, decimals, ontology_parents, significant
from hietan.report.html import render
from hietan.report.links import TERM_URLS

FORMAT = 1
EXPLAINED = 50
_BATCH = 10


def write_candidates(
    candidates: Candidates,
    output: str | Path,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    term_urls: Mapping[str, str] = TERM_URLS,
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
        How many candidates are explained at each end of the list.
    term_urls : mapping of str to str
        Where terms are described, by the prefix of their identifiers; see `hietan.report.parse_term_urls`.

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
    content = candidates_summary(candidates, command=command, explained=explained, term_urls=term_urls)
    atomic_write(path, render(content))
    return path


def candidates_summary(
    candidates: Candidates,
    *,
    command: str = "",
    explained: int = EXPLAINED,
    term_urls: Mapping[str, str] = TERM_URLS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """What the page of ranked candidates shows, as plain values; see `write_candidates` for the parameters.

    `progress` is called with the number of rows that are explained and the number of all that will be.
    """
    trained, data = candidates.trained, candidates.data
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    names = [terms[feature] for feature in trained.feature_names]
    noun = data.row_noun if data.row_noun != "row" else trained.row_noun
    about = (
        f"{candidates.n_new:,} candidates among {len(data.instance_names):,} {noun}s of {data.name or 'a dataset'}, "
        f"ranked by {trained.description}."
    )
    reasons = Reasons()
    return {
        "format": FORMAT,
        "kind": "candidates",
        "title": "Ranked candidates",
        "about": {"model": about, "caution": trained.caution, "command": command},
        "methods": [{"key": "model", "name": type(trained.classifier).__name__, "description": about}],
        "quality": None if trained.validation is None else trained.validation.as_dict(),
        "term_urls": dict(term_urls),
        "datasets": [
            {
                "name": "",
                "group": "",
                "row_noun": noun,
                **_rows(candidates),
                "features": list(trained.feature_names),
                "names": names,
                "ontology": ontology_parents(trained.classifier.hierarchy_),
                "usage": {},
                "class_sizes": list(trained.class_sizes),
                "term_counts": list(map(list, trained.term_counts)),
                "explained": _explained(candidates, names, explained, reasons, progress),
                "reasons": reasons.texts,
            }
        ],
    }


def _rows(candidates: Candidates) -> dict[str, Any]:
    """The rows as they are listed: the candidates first, then the rows that the model was trained on."""
    trained, data, order = candidates.trained, candidates.data, candidates.order.tolist()
    classes = trained.classifier.classes_
    predicted = np.searchsorted(classes, candidates.labels)
    scores = {
        "predicted": predicted[order].tolist(),
        "log_odds": decimals(candidates.log_odds[order].tolist(), 3),
    }
    if trained.calibration is not None:
        probabilities = candidates.calibrated_probabilities()[order]
        scores["calibrated"] = [significant(p) for p in probabilities.tolist()]
    known = candidates.rows[candidates.n_new :]
    return {
        "classes": list(trained.class_names),
        "labels": [str(label) for label in classes.tolist()],
        "genes": [data.instance_names[i] for i in order],
        "symbols": [data.symbols[i] for i in order] if data.symbols else [],
        "in_training": list(range(candidates.n_new, len(order))),
        "training": [[row.training_name, row.shared_name, row.training_class] for row in known],
        "predictions": {0: scores},
    }


def _explained(
    candidates: Candidates,
    names: list[str],
    n_rows: int,
    reasons: Reasons,
    progress: Callable[[int, int], None] | None,
) -> list[dict[str, Any]]:
    """The explanations of the first and of the last candidates; `reasons` collects the texts that they share."""
    model, n_new = candidates.trained.classifier, candidates.n_new
    ranks = sorted({*range(min(n_rows, n_new)), *range(max(n_new - n_rows, 0), n_new)})
    if not n_new:  # all rows are known: the first of them stand for the others
        ranks = list(range(min(n_rows, len(candidates.matches))))
    if not ranks or not hasattr(model, "explain"):
        return []
    found = []
    for start in range(0, len(ranks), _BATCH):
        batch = ranks[start : start + _BATCH]
        X = candidates.X[candidates.order[batch].tolist()]
        for rank, explanation in zip(batch, model.explain(X, term_names=names), strict=True):
            why = "ranked high" if rank < n_rows else "ranked low"
            found.append({"row": rank, "why": why, "methods": {0: compact(explanation, reasons)}})
        if progress is not None:
            progress(len(found), len(ranks))
    return found
