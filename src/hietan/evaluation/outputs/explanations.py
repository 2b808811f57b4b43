"""Explanations of a stated selection of test rows: the surest right ones, the surest wrong ones, and any asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from hietan._io import atomic_write, to_json
from hietan.evaluation.cross_validation import PooledPredictions, configure
from hietan.evaluation.outputs.tables import file_name
from hietan.evaluation.study.results import StudyResults
from hietan.exceptions import StudyError

ROWS_OF_A_KIND = 10
STRONGEST = 20


def select_rows(
    pooled: PooledPredictions,
    names: Sequence[str] = (),
    wanted: Sequence[str] = (),
    *,
    n: int = ROWS_OF_A_KIND,
) -> dict[int, str]:
    """Which rows to explain, and why: the `n` surest right, the `n` surest wrong, and those of the wanted names.

    Sure is a high probability of the predicted class; ties in the order of the rows.
    """
    if pooled.log_proba is None:
        return {}
    order = np.argsort(-pooled.log_proba.max(axis=1), kind="stable")
    right = pooled.y_pred == pooled.y_true
    chosen = {int(i): "sure and right" for i in order[right[order]][:n]}
    chosen |= {int(i): "sure and wrong" for i in order[~right[order]][:n]}
    return chosen | {i: "asked for" for i, name in enumerate(names) if name in set(wanted)}


def write_explanations(results: StudyResults, folder: Path, *, wanted: Sequence[str] = ()) -> list[Path]:
    """Write `explanations/DATASET/METHOD.json` for every method that offers `explain`, for the first seed.

    A row is explained by the model of the fold in which it was set aside, fitted anew; of the contributions the
    strongest are kept, and the sum of the others.
    """
    study = results.study
    assert study is not None
    everyone = {name for data in study.datasets.values() for name in getattr(data, "instance_names", ())}
    unknown = [name for name in wanted if name not in everyone]
    if unknown:
        raise StudyError(f"no dataset of the study has a row {unknown[0]!r}")
    written = []
    for (dataset, key, seed), pooled in results.predictions.items():
        model = configure(
            study.methods[key].estimator, getattr(study.datasets[dataset], "hierarchy", None), seed
        )
        if seed == study.seeds[0] and hasattr(model, "explain"):
            explained = _explain(model, study.datasets[dataset], pooled, wanted)
            written.append(folder / "explanations" / file_name(dataset) / f"{file_name(key)}.json")
            atomic_write(written[-1], to_json(explained))
    return written


def _explain(model: Any, data: Any, pooled: PooledPredictions, wanted: Sequence[str]) -> list[dict[str, Any]]:
    names = list(getattr(data, "instance_names", None) or map(str, range(len(data.y))))
    chosen = select_rows(pooled, names, wanted)
    explained: dict[int, dict[str, Any]] = {}
    for fold in sorted({int(pooled.fold[i]) for i in chosen}):
        train = np.flatnonzero(pooled.fold != fold)
        fitted = clone(model).fit(data.X[train], data.y[train])
        rows = [i for i in chosen if pooled.fold[i] == fold]
        found = fitted.explain(data.X[rows], term_names=getattr(data, "term_names", None))
        for i, explanation in zip(rows, found, strict=True):
            which = {"instance": names[i], "why": chosen[i], "fold": fold, "y_true": pooled.y_true[i].item()}
            explained[i] = {**which, **_shortened(explanation.to_dict())}
    return [explained[i] for i in chosen]


def _shortened(content: dict[str, Any]) -> dict[str, Any]:
    parts = sorted(content.pop("contributions"), key=lambda part: -abs(part["contribution"]))
    rest = parts[STRONGEST:]
    content.pop("row", None)  # a number within the fold
    content["removed"] = len(content.get("removed", ()))
    content["contributions"] = parts[:STRONGEST]
    content["others"] = {"features": len(rest), "contribution": sum(part["contribution"] for part in rest)}
    return content
