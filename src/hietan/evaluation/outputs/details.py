"""What a report shows beyond the tables of a study: terms, ontology and explanations, a file for each dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from hietan._io import atomic_write
from hietan.evaluation import PooledPredictions, StudyResults
from hietan.evaluation.cross_validation import configure
from hietan.evaluation.outputs.compact import Reasons, compact, ontology_parents
from hietan.evaluation.outputs.tables import file_name

FOLDER = "details"
# Rows that are explained in a dataset, at most and at least, and explanations in a study all together.
MOST, LEAST, TOGETHER = 20, 2, 1000


def write_details(results: StudyResults, folder: Path, *, wanted: Sequence[str] = ()) -> list[Path]:
    """Write `details/DATASET.json` for every dataset of a study, for the first seed.

    A row is explained by every method that offers `explain`, so that methods can be compared; each time by the model
    of the fold in which the row was set aside, fitted anew.
    """
    study = results.study
    assert study is not None
    explaining = [key for key, method in study.methods.items() if hasattr(method.estimator, "explain")]
    n = max(LEAST, min(MOST, TOGETHER // (len(study.datasets) * max(1, len(explaining)))))
    written = []
    for dataset, data in study.datasets.items():
        pooled = {
            key: predictions
            for (name, key, seed), predictions in results.predictions.items()
            if name == dataset and seed == study.seeds[0] and key in explaining
        }
        hierarchy = getattr(data, "hierarchy", None)
        models = {key: configure(study.methods[key].estimator, hierarchy, study.seeds[0]) for key in pooled}
        content = {**_terms(data), **_explained(data, models, pooled, wanted, n)}
        written.append(folder / FOLDER / f"{file_name(dataset)}.json")
        atomic_write(written[-1], json.dumps({"dataset": dataset, **content}, separators=(",", ":")))
    return written


def read_details(folder: Path, dataset: str) -> dict[str, Any]:
    """What `write_details` wrote of a dataset; an empty dict if nothing was."""
    path = folder / FOLDER / f"{file_name(dataset)}.json"
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return dict(content) if content.get("dataset") == dataset else {}


def select_rows(
    pooled: Sequence[PooledPredictions], names: Sequence[str], wanted: Sequence[str], n: int
) -> dict[int, str]:
    """Which rows to explain, and why: half of `n` surest right, half surest wrong, and those of the wanted names.

    How sure the methods are together is the mean, over the methods, of a row's rank by the log-odds of its true class;
    right is what most methods get right. Ties in the order of the rows.
    """
    known = [p for p in pooled if p.log_proba is not None]
    chosen: dict[int, str] = {}
    if known:
        sure = np.mean([rankdata(_margin(p)) for p in known], axis=0)
        right = np.mean([p.y_pred == p.y_true for p in known], axis=0) > 0.5
        for kind, order in (
            ("right", np.argsort(-sure, kind="stable")),
            ("wrong", np.argsort(sure, kind="stable")),
        ):
            rows = order[right[order] == (kind == "right")]
            chosen |= {int(i): f"sure and {kind}" for i in rows[: n // 2]}
    return chosen | {i: "asked for" for i, name in enumerate(names) if name in set(wanted)}


def _margin(pooled: PooledPredictions) -> Any:
    """ln P(true class) - ln P(the likeliest other one)."""
    assert pooled.log_proba is not None
    truth = np.searchsorted(np.unique(pooled.y_true), pooled.y_true)
    logs = np.maximum(pooled.log_proba, -1e9)
    rows = np.arange(len(truth))
    others = logs.copy()
    others[rows, truth] = -np.inf
    return logs[rows, truth] - others.max(axis=1)


def _terms(data: Any) -> dict[str, Any]:
    features = list(getattr(data, "feature_names", None) or [f"x{j}" for j in range(data.X.shape[1])])
    hierarchy = getattr(data, "hierarchy", None)
    return {
        "features": features,
        "names": list(getattr(data, "term_names", None) or features),
        "ontology": [] if hierarchy is None else ontology_parents(hierarchy),
        "classes": [str(name) for name in getattr(data, "target_names", ())],
        "symbols": list(getattr(data, "symbols", ())),
    }


def _explained(
    data: Any,
    models: Mapping[str, Any],
    pooled: Mapping[str, PooledPredictions],
    wanted: Sequence[str],
    n: int,
) -> dict[str, Any]:
    names = list(getattr(data, "instance_names", None) or map(str, range(len(data.y))))
    chosen = select_rows(list(pooled.values()), names, wanted, n)
    reasons = Reasons()
    rows: dict[int, dict[str, Any]] = {i: {} for i in chosen}
    for key, model in models.items():
        for i, explanation in _explain(model, data, pooled[key], list(chosen)):
            rows[i][key] = compact(explanation, reasons)
    entries = [{"row": i, "why": chosen[i], "methods": rows[i]} for i in chosen if rows[i]]
    return {"explained": entries, "reasons": reasons.texts}


def _explain(model: Any, data: Any, pooled: PooledPredictions, rows: list[int]) -> Iterator[tuple[int, Any]]:
    for fold in sorted({int(pooled.fold[i]) for i in rows}):
        train = np.flatnonzero(pooled.fold != fold)
        fitted = clone(model).fit(data.X[train], data.y[train])
        here = [i for i in rows if pooled.fold[i] == fold]
        yield from zip(
            here, fitted.explain(data.X[here], term_names=getattr(data, "term_names", None)), strict=True
        )
