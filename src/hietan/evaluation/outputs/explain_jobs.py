"""The jobs that explain rows: each fits the models of one method on one dataset again, and makes plain values of them.

Which rows are explained depends on the predictions of all methods, so these jobs come after those that predict. Like
them, they can run in other processes: a job holds all that it needs, and returns what the files of a study hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from hietan._runtime.parallel import one_thread
from hietan.evaluation.cross_validation import PooledPredictions
from hietan.evaluation.dataset_view import DatasetView
from hietan.evaluation.outputs.compact import SHOWN_EDGES
from hietan.evaluation.outputs.details import ExplainedRows, MethodDetails, method_details
from hietan.evaluation.outputs.effects import TermEffects
from hietan.evaluation.outputs.one_row import find_flips, promising_columns, telling_columns

STRONGEST = 20


@dataclass(frozen=True, eq=False)
class ExplainJob:
    """What a method says about rows of a dataset, still to be found out.

    Attributes
    ----------
    dataset, key : str
        The name of the dataset and the key of the method.
    model : classifier
        It is not fitted, and has the hierarchy of the dataset.
    view : DatasetView
        The dataset.
    pooled : PooledPredictions
        What the method predicted, in which folds.
    why : mapping of int to str
        The rows to explain, and why each of them was chosen.
    tries : int or None
        How many changes are tried for each row, to find those that change its class; None if only the explanations are
        needed, without what a report shows beside them.
    readable : bool
        Whether explanations that people can read are made as well.
    """

    dataset: str
    key: str
    model: Any
    view: DatasetView
    pooled: PooledPredictions
    why: Mapping[int, str]
    tries: int | None = None
    readable: bool = False


@dataclass(frozen=True)
class ExplainedMethod:
    """The outcome of an `ExplainJob`.

    Attributes
    ----------
    dataset, key : str
        The name of the dataset and the key of the method.
    details : MethodDetails or None
        What a report shows; None if it was not asked for.
    readable : list of dict or None
        Explanations that people can read; None if they were not asked for.
    failure : str or None
        Why the method has no explanations, in one line; None if it has.
    """

    dataset: str
    key: str
    details: MethodDetails | None = None
    readable: list[dict[str, Any]] | None = None
    failure: str | None = None


def run_explain_job(job: ExplainJob) -> ExplainedMethod:
    """Explain rows; a method that cannot explain what it predicted must not cost the others their explanations."""
    done = ExplainedMethod(job.dataset, job.key)
    try:
        with one_thread():
            found = explain_rows(job)
            readable = _readable(job, found.explanations) if job.readable else None
            details = None if job.tries is None else method_details(found, job.view)
    except Exception as error:
        return replace(done, failure=" ".join(f"{type(error).__name__}: {error}".split()))
    return replace(done, details=details, readable=readable)


def explain_rows(job: ExplainJob) -> ExplainedRows:
    """What the models of the folds of the rows say; in detail, unless `tries` is None.

    Terms are judged by all rows of these folds, and of the others if these are at least half of all: few models more
    are fitted then.
    """
    found, data, fold_of_row = ExplainedRows(), job.view.data, job.pooled.fold
    folds, every_fold = sorted({int(fold_of_row[i]) for i in job.why}), np.unique(fold_of_row).tolist()
    effects = None
    has_effects = len(np.unique(data.y)) == 2 and hasattr(job.model, "contributions")
    if job.tries is not None and folds and has_effects:
        folds = every_fold if 2 * len(folds) >= len(every_fold) else folds
        effects = TermEffects(data.X.shape[1], len(folds))
    for fold in folds:
        train = np.flatnonzero(fold_of_row != fold)
        fitted = clone(job.model).fit(data.X[train], data.y[train])
        here = [i for i in job.why if fold_of_row[i] == fold]
        if here:
            explanations = fitted.explain(data.X[here], term_names=getattr(data, "term_names", None))
            found.explanations.update(zip(here, explanations, strict=True))
        if job.tries is None:
            continue
        found.training.update(dict.fromkeys(here, train))
        if here:
            flips = _flips(
                fitted, job, here, found.explanations, telling_columns(data.X[train], data.y[train])
            )
            found.flips.update(zip(here, flips, strict=True))
        if hasattr(fitted, "trace"):
            found.traces.update({i: fitted.trace(data.X[[i]], limit=SHOWN_EDGES) for i in here})
        if effects is not None:
            effects.add_fold(fitted, data.X[np.flatnonzero(fold_of_row == fold)])
    return found if effects is None else replace(found, effects=effects.content())


def _flips(
    fitted: Any, job: ExplainJob, rows: list[int], explanations: Mapping[int, Any], telling: Sequence[int]
) -> list[dict[str, Any] | None]:
    """What would change the classes of rows."""
    hierarchy = explanations[rows[0]].hierarchy
    column_of = {name: j for j, name in enumerate(hierarchy.features)}
    tries = job.tries or 0
    orders = [promising_columns(explanations[i], column_of, telling, tries) for i in rows]
    values = job.view.data.X[rows]
    dense = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    predicted = [job.pooled.y_pred[i] for i in rows]
    return find_flips(fitted, dense, hierarchy, orders, tries, predicted=predicted)


def _readable(job: ExplainJob, explanations: Mapping[int, Any]) -> list[dict[str, Any]]:
    """The explanations in the order in which the rows were chosen."""
    names, pooled = job.view.instance_names, job.pooled
    return [
        {
            "instance": names[i],
            "why": why,
            "fold": int(pooled.fold[i]),
            "y_true": np.asarray(pooled.y_true[i]).item(),
            **_shortened(explanations[i].to_dict()),
        }
        for i, why in job.why.items()
    ]


def _shortened(content: dict[str, Any]) -> dict[str, Any]:
    parts = sorted(content.pop("contributions"), key=lambda part: -abs(part["contribution"]))
    rest = parts[STRONGEST:]
    content.pop("row", None)  # its number within the fold
    content["removed"] = len(content.get("removed", ()))
    content["contributions"] = parts[:STRONGEST]
    content["others"] = {"features": len(rest), "contribution": sum(part["contribution"] for part in rest)}
    return content
