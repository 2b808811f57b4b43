"""Which rows of a study are explained, and the files that hold their explanations.

All methods explain the same rows of a dataset, so that they can be compared. Each row is explained by the model of the
fold in which it was set aside, fitted again, for the first seed.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from hietan._io.files import atomic_write, safe_file_name, to_json
from hietan._runtime.parallel import one_thread
from hietan.evaluation._cross_validation import PooledPredictions
from hietan.evaluation._outputs.counterfactuals import (
    MOST_TRIES,
    TRIES_IN_ALL,
    find_counterfactuals,
    promising_columns,
    telling_columns,
)
from hietan.evaluation._outputs.report_data import (
    SHOWN_EDGES,
    DatasetDetails,
    ExplainedRows,
    MethodDetails,
    TermEffects,
    kept_details,
    method_details,
)
from hietan.evaluation._outputs.tables import method_stem
from hietan.evaluation._study.executors import jobs_ahead, open_executor, run_jobs
from hietan.evaluation._study.plan import DatasetView, Study
from hietan.evaluation._study.results import StudyResults
from hietan.exceptions import StudyError

FOLDER = "explanations"
# How many rows of a dataset are explained, at most and at least, and how many explanations there are in a study.
MOST_ROWS, LEAST_ROWS, MOST_EXPLANATIONS = 20, 2, 1000


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """The rows of a dataset that are explained.

    Attributes
    ----------
    study : Study
        The study, which holds the data and the methods.
    dataset : str
        The name of the dataset.
    why : dict of int to str
        The rows, and why each of them was chosen.
    predictions : mapping of str to PooledPredictions
        For each method that offers `explain`, by key: its predictions in the first seed.
    """

    study: Study
    dataset: str
    why: dict[int, str]
    predictions: Mapping[str, PooledPredictions]

    @property
    def view(self) -> DatasetView:
        """The names in the dataset."""
        return self.study.view(self.dataset)

    def explain(self, key: str, *, in_detail: bool = False) -> ExplainedRows:
        """What a method says about the rows; its models are fitted for it.

        If `in_detail`, also how the trees of the rows were learned and which terms matter, if the method can say so.
        """
        return explain_rows(self.job(key, in_detail=in_detail))

    def job(self, key: str, *, in_detail: bool, readable: bool = False) -> ExplainJob:
        """The job that finds out what a method says about the rows."""
        model = self.study.model(self.dataset, key, self.study.seeds[0])
        tries = self._tries if in_detail else None
        return ExplainJob(
            self.dataset, key, model, self.view, self.predictions[key], self.why, tries, readable
        )

    @property
    def recipe(self) -> bytes:
        """A hash of all that the details of the dataset depend on, besides its readable names."""
        manifest = self.study.manifest
        parts = [manifest["versions"], manifest["cv"], self.study.seeds[0], self.dataset]
        parts += [manifest["datasets"][self.dataset]]
        parts += [[key, manifest["methods"][key]] for key in self.predictions]
        parts += [list(self.why.items()), self._tries, manifest["classes"][self.dataset]]
        parts += [manifest["positive"].get(self.dataset)]
        return hashlib.sha256(json.dumps(parts).encode()).digest()

    @property
    def _tries(self) -> int:
        """How many changes may be tried for each row of each method."""
        n_explanations = len(self.study.datasets) * len(self.predictions) * len(self.why)
        return min(MOST_TRIES, TRIES_IN_ALL // max(1, n_explanations))


def write_explanations(
    results: StudyResults,
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    readable: bool = True,
    details: bool = False,
    n_jobs: int | None = None,
    backend: str = "threads",
    job_timeout: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Explain the rows that the methods are most confident about, correctly or not, and those that are requested.

    Every method on every dataset is a job. Without `readable`, details that an earlier call has written are taken over
    if nothing has changed on which they depend; so a call that was interrupted resumes with the next dataset.

    Parameters
    ----------
    results : StudyResults
        The results of a study.
    folder : Path
        The directory of the study.
    wanted : sequence of str
        The names of further rows to explain, in every dataset that has them.
    readable : bool
        Whether to write `explanations/DATASET/METHOD.json` for every method that offers `explain`: the strongest
        contributions and the sum of the others, in JSON that people can read.
    details : bool
        Whether to write `details/DATASET.json` for every dataset: what a report shows about it. Each model is fitted
        once for both.
    n_jobs : int or None
        The number of jobs to run at a time, as in joblib. The files do not depend on it.
    backend : {"threads", "processes"}
        Where the jobs run.
    job_timeout : float or None
        Jobs that take longer, in seconds, are ended and have failed; they run in processes, whatever the backend.
    progress : callable, optional
        Called with the number of jobs that are done and the number of all jobs.

    Returns
    -------
    list of Path
        The files.

    Warns
    -----
    RuntimeWarning
        If a method fails to explain its predictions; it is left out.
    """
    if backend not in ("threads", "processes"):
        raise ValueError(f"backend is {backend!r}; expected 'threads' or 'processes'")
    chosen = {rows.dataset: rows for rows in choose_study_rows(results, wanted)}
    total = sum(len(rows.predictions) for rows in chosen.values())
    # Explanations that people can read are not kept in the details.
    kept = {} if readable or not details else _kept(chosen.values(), folder)
    todo = [(rows, key) for name, rows in chosen.items() if name not in kept for key in rows.predictions]
    jobs = ((rows.job(key, in_detail=details, readable=readable),) for rows, key in todo)
    done = total - len(todo)
    written: dict[str, list[Path]] = {}
    found: dict[str, dict[str, ExplainedMethod]] = {name: {} for name in chosen}
    if progress is not None:
        progress(done, total)
    for dataset, rows in chosen.items():
        if dataset in kept or not rows.predictions:
            written[dataset] = _write_dataset(rows, {}, folder, details, kept.get(dataset))
    with open_executor(backend, n_jobs, seconds=job_timeout) as executor:
        ahead = jobs_ahead(backend, n_jobs)
        for outcome in run_jobs(executor, run_explain_job, jobs, _ended, ahead=ahead, seconds=job_timeout):
            rows, said = chosen[outcome.dataset], found[outcome.dataset]
            said[outcome.key] = outcome
            if len(said) == len(rows.predictions):
                written[rows.dataset] = _write_dataset(rows, found.pop(rows.dataset), folder, details)
            done += 1
            if progress is not None:
                progress(done, total)
    return [path for dataset in chosen for path in written[dataset]]


def count_explain_jobs(datasets: Sequence[Any], methods: Iterable[Any]) -> int:
    """How many jobs explain rows of a study, if none of the jobs that predict fails."""
    return len(datasets) * sum(hasattr(method.estimator, "explain") for method in methods)


def _kept(chosen: Iterable[ChosenRows], folder: Path) -> dict[str, dict[str, Any]]:
    """The details that were written before, by dataset."""
    found = {rows.dataset: kept_details(folder, rows.dataset, rows.recipe) for rows in chosen}
    return {dataset: content for dataset, content in found.items() if content is not None}


def _ended(call: tuple[ExplainJob], error: str) -> ExplainedMethod:
    """The outcome of a job that was ended or died."""
    (job,) = call
    return ExplainedMethod(job.dataset, job.key, failure=error)


def _write_dataset(
    rows: ChosenRows,
    found: Mapping[str, ExplainedMethod],
    folder: Path,
    details: bool,
    kept: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write the files of a dataset; a method that failed to explain what it predicted is left out with a warning."""
    written = []
    shown = DatasetDetails(rows.dataset, rows.view, rows.why)
    if kept is not None:
        shown.take_over(kept)
    for key in rows.predictions if kept is None else ():
        method = found[key]
        if method.failure is not None:
            warnings.warn(
                f"dataset {rows.dataset}: method {key!r} has no explanations, because it failed to explain its "
                f"predictions ({method.failure}); everything else is written",
                RuntimeWarning,
                stacklevel=3,
            )
        if method.readable is not None:
            name = f"{method_stem(rows.study.methods[key])}.json"
            written.append(folder / FOLDER / safe_file_name(rows.dataset) / name)
            atomic_write(written[-1], to_json(method.readable))
        if method.details is not None:
            shown.add(key, method.details)
    if details:
        # What failed is tried again in the next call, with a warning if it fails again.
        complete = all(method.failure is None for method in found.values())
        written.append(shown.write(folder, rows.recipe if complete else None))
    return written


def write_details(
    results: StudyResults,
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    n_jobs: int | None = None,
    backend: str = "threads",
    job_timeout: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write `details/DATASET.json` for every dataset of a study: what its report shows beyond the tables.

    The parameters are those of `write_explanations`.
    """
    options: dict[str, Any] = {"wanted": wanted, "n_jobs": n_jobs, "backend": backend, "progress": progress}
    options["job_timeout"] = job_timeout
    return write_explanations(results, folder, readable=False, details=True, **options)


def refuse_unknown_rows(datasets: Iterable[Any], wanted: Sequence[str]) -> None:
    """Raise StudyError if none of the datasets has a row of one of these names."""
    everyone = {name for data in datasets for name in DatasetView(data).instance_names}
    unknown = [name for name in wanted if name not in everyone]
    if unknown:
        raise StudyError(f"no dataset of the study has a row {unknown[0]!r}")


def choose_study_rows(results: StudyResults, wanted: Sequence[str] = ()) -> list[ChosenRows]:
    """Choose the rows to explain in every dataset of a study; raises StudyError if no dataset has a requested row."""
    study = results.study
    names = {name: study.view(name).instance_names for name in study.datasets}
    refuse_unknown_rows(study.datasets.values(), wanted)
    explaining = [key for key, method in study.methods.items() if hasattr(method.estimator, "explain")]
    n = max(LEAST_ROWS, min(MOST_ROWS, MOST_EXPLANATIONS // (len(study.datasets) * max(1, len(explaining)))))
    chosen = []
    for dataset in study.datasets:
        found = {key: results.predictions.get((dataset, key, study.seeds[0])) for key in explaining}
        pooled = {key: predictions for key, predictions in found.items() if predictions is not None}
        why = select_rows(list(pooled.values()), names[dataset], wanted, n)
        chosen.append(ChosenRows(study, dataset, why, pooled))
    return chosen


def select_rows(
    pooled: Sequence[PooledPredictions], names: Sequence[str], wanted: Sequence[str], n: int
) -> dict[int, str]:
    """Which rows to explain, and why: the most confident correct and incorrect predictions, and the requested rows.

    Half of the `n` rows are of each kind. The confidence of the methods in a row is the mean, over the methods, of the
    row's rank by the log-odds of its true class; a row is correct if most methods predict it correctly. Ties are broken
    by the order of the rows.
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
    """ln P(true class) - ln P(the most probable other class)."""
    truth = np.searchsorted(np.unique(pooled.y_true), pooled.y_true)
    logs = np.maximum(np.asarray(pooled.log_proba), -1e9)
    rows = np.arange(len(truth))
    others = logs.copy()
    others[rows, truth] = -np.inf
    return logs[rows, truth] - others.max(axis=1)


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
    labels = np.unique(data.y).tolist()
    # The second of two classes is explained anyway; not every classifier can be asked for another one.
    is_turned = len(labels) == 2 and job.pooled.positive == labels[0]
    target = {"target": labels[0]} if is_turned else {}
    effects = None
    if job.tries is not None and folds and len(labels) == 2 and hasattr(job.model, "contributions"):
        folds = every_fold if 2 * len(folds) >= len(every_fold) else folds
        effects = TermEffects(data.X.shape[1], len(folds), -1.0 if is_turned else 1.0)
    for fold in folds:
        train = np.flatnonzero(fold_of_row != fold)
        fitted = clone(job.model).fit(data.X[train], data.y[train])
        here = [i for i in job.why if fold_of_row[i] == fold]
        if here:
            names = getattr(data, "term_names", None)
            explanations = fitted.explain(data.X[here], term_names=names, **target)
            found.explanations.update(zip(here, explanations, strict=True))
        if job.tries is None:
            continue
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
    return find_counterfactuals(fitted, dense, hierarchy, orders, tries, predicted=predicted)


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
