"""Choose which rows of a study to explain, and write their explanations to files.

All methods explain the same rows of a dataset, so that they can be compared. Each row is explained by the model of the
fold that held it out, fitted again, for the first seed.
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
from hietan.evaluation._outputs.report_data import (
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
from hietan.scores.cross_validation import Label
from hietan.scores.scores import Scores

FOLDER = "explanations"
# How many rows of a dataset are explained, at most and at least, and how many explanations a study has.
MOST_ROWS, LEAST_ROWS, MOST_EXPLANATIONS = 20, 2, 1000


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """The dataset rows to explain.

    Attributes
    ----------
    study : Study
        The study, with its data and methods.
    dataset : str
        The dataset's name.
    why : dict of int to str
        The rows, and why each was chosen.
    predictions : mapping of str to Scores
        The scores of each method with `explain`, by key, in the first seed.
    """

    study: Study
    dataset: str
    why: dict[int, str]
    predictions: Mapping[str, Scores]

    @property
    def view(self) -> DatasetView:
        """The names of the dataset's rows, columns and classes."""
        return self.study.view(self.dataset)

    def explain(self, key: str, *, in_detail: bool = False) -> ExplainedRows:
        """Fit the necessary models, and return a method's explanations of the rows.

        If `in_detail`, also return the term effects, if the method has any.
        """
        return explain_rows(self.job(key, in_detail=in_detail))

    def job(self, key: str, *, in_detail: bool, readable: bool = False) -> ExplainJob:
        """Return the job in which a method explains the rows."""
        model = self.study.model(self.dataset, key, self.study.seeds[0])
        names = self.study.class_names[self.dataset]
        return ExplainJob(
            self.dataset, key, model, self.view, names, self.predictions[key], self.why, in_detail, readable
        )

    @property
    def recipe(self) -> bytes:
        """A hash of everything that affects the dataset's details, except the readable names."""
        manifest = self.study.manifest
        parts = [manifest["versions"], manifest["cv"], self.study.seeds[0], self.dataset]
        parts += [manifest["datasets"][self.dataset]]
        parts += [[key, manifest["methods"][key]] for key in self.predictions]
        parts += [list(self.why.items()), manifest["classes"][self.dataset]]
        return hashlib.sha256(json.dumps(parts).encode()).digest()


def write_explanations(
    results: StudyResults,
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    readable: bool = True,
    details: bool = False,
    n_jobs: int | None = None,
    backend: str = "threads",
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Explain the most confident correct and incorrect predictions, and any requested rows.

    Every method on every dataset is a job. Without `readable`, details written by an earlier call are reused if nothing
    they depend on has changed, so an interrupted call resumes with the next dataset.

    Parameters
    ----------
    results : StudyResults
        A study's results.
    folder : Path
        The study's directory.
    wanted : sequence of str
        The names of other rows to explain, in every dataset that has them.
    readable : bool
        Whether to write `explanations/DATASET/METHOD.json` for every method with `explain`: the strongest
        contributions and the sum of the others, in readable JSON.
    details : bool
        Whether to write `details/DATASET.json`, the report's data, for every dataset. Each model is fitted only once
        for both.
    n_jobs : int or None
        The number of parallel jobs, as in joblib. The files do not depend on it.
    backend : {"threads", "processes"}
        Where the jobs run.
    progress : callable, optional
        Called with the number of finished jobs and the number of all jobs.

    Returns
    -------
    list of Path
        The written files.

    Warns
    -----
    RuntimeWarning
        If a method fails to explain its predictions; it is left out.
    """
    if backend not in ("threads", "processes"):
        raise ValueError(f"backend is {backend!r}; expected 'threads' or 'processes'")
    chosen = {rows.dataset: rows for rows in choose_study_rows(results, wanted)}
    total = sum(len(rows.predictions) for rows in chosen.values())
    # Readable explanations are not kept in the details.
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
    with open_executor(backend, n_jobs) as executor:
        ahead = jobs_ahead(backend, n_jobs)
        for outcome in run_jobs(executor, run_explain_job, jobs, _ended, ahead=ahead):
            rows, said = chosen[outcome.dataset], found[outcome.dataset]
            said[outcome.key] = outcome
            if len(said) == len(rows.predictions):
                written[rows.dataset] = _write_dataset(rows, found.pop(rows.dataset), folder, details)
            done += 1
            if progress is not None:
                progress(done, total)
    return [path for dataset in chosen for path in written[dataset]]


def count_explain_jobs(datasets: Sequence[Any], methods: Iterable[Any]) -> int:
    """Return how many explanation jobs a study has if no prediction job fails."""
    return len(datasets) * sum(hasattr(method.estimator, "explain") for method in methods)


def _kept(chosen: Iterable[ChosenRows], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the details from earlier runs, by dataset."""
    found = {rows.dataset: kept_details(folder, rows.dataset, rows.recipe) for rows in chosen}
    return {dataset: content for dataset, content in found.items() if content is not None}


def _ended(call: tuple[ExplainJob], error: str) -> ExplainedMethod:
    """Return the outcome of a job that was not sent, or whose result was not received."""
    (job,) = call
    return ExplainedMethod(job.dataset, job.key, failure=error)


def _write_dataset(
    rows: ChosenRows,
    found: Mapping[str, ExplainedMethod],
    folder: Path,
    details: bool,
    kept: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write a dataset's files. A method that fails to explain its predictions is left out with a warning."""
    written = []
    shown = DatasetDetails(rows.dataset, rows.view, rows.study.class_names[rows.dataset], rows.why)
    if kept is not None:
        shown.take_over(kept)
    for key in rows.predictions if kept is None else ():
        method = found[key]
        if method.failure is not None:
            warnings.warn(
                f"dataset {rows.dataset}: method {key!r} has no explanations, because it failed to explain its "
                f"predictions ({method.failure}); all other results are written",
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
        # A failed job is tried again in the next call, with a warning if it fails again.
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
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write `details/DATASET.json` for every dataset in a study. It contains the report data that the tables lack.

    The parameters are the same as for `write_explanations`.
    """
    return write_explanations(
        results,
        folder,
        wanted=wanted,
        readable=False,
        details=True,
        n_jobs=n_jobs,
        backend=backend,
        progress=progress,
    )


def refuse_unknown_rows(datasets: Iterable[Any], wanted: Sequence[str]) -> None:
    """Raise StudyError if a requested row name occurs in none of the datasets."""
    everyone = {name for data in datasets for name in DatasetView(data).instance_names}
    unknown = [name for name in wanted if name not in everyone]
    if unknown:
        raise StudyError(
            f"no dataset in the study contains row {unknown[0]!r}; use a row id from one of the study's "
            "datasets"
        )


def choose_study_rows(results: StudyResults, wanted: Sequence[str] = ()) -> list[ChosenRows]:
    """Choose the rows to explain in every dataset of a study.

    Raise StudyError if no dataset contains a requested row.
    """
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
    pooled: Sequence[Scores], names: Sequence[str], wanted: Sequence[str], n: int
) -> dict[int, str]:
    """Choose the rows to explain: the most confident correct and incorrect predictions, and the requested rows.

    Half of the `n` rows are correct and half incorrect predictions. The methods' confidence in a row is the mean,
    over the methods, of the row's rank by the log-odds of its true class. A row counts as correct if most methods
    predict it correctly. Ties are broken by row order.
    """
    known = [p for p in pooled if p.log_proba is not None]
    chosen: dict[int, str] = {}
    if known:
        sure = np.mean([rankdata(_margin(p)) for p in known], axis=0)
        right = np.mean([p.predicted == p.truth for p in known], axis=0) > 0.5
        for kind, order in (
            ("right", np.argsort(-sure, kind="stable")),
            ("wrong", np.argsort(sure, kind="stable")),
        ):
            rows = order[right[order] == (kind == "right")]
            chosen |= {int(i): f"sure and {kind}" for i in rows[: n // 2]}
    return chosen | {i: "asked for" for i, name in enumerate(names) if name in set(wanted)}


def _margin(scores: Scores) -> Any:
    """Return ln P(true class) - ln P(most probable other class)."""
    truth = scores.truth
    logs = np.maximum(np.asarray(scores.log_proba), -1e9)
    rows = np.arange(len(scores))
    others = logs.copy()
    others[rows, truth] = -np.inf
    return logs[rows, truth] - others.max(axis=1)


STRONGEST = 20


@dataclass(frozen=True, eq=False)
class ExplainJob:
    """A job in which one method explains rows of a dataset.

    Attributes
    ----------
    dataset, key : str
        The dataset's name and the method's key.
    model : classifier
        The unfitted classifier, with the hierarchy of the dataset.
    view : DatasetView
        The dataset.
    names : mapping of label to str
        The dataset's classes, the positive one of two last.
    pooled : Scores
        The method's scores, with their folds.
    why : mapping of int to str
        The rows to explain, and why each was chosen.
    in_detail : bool
        Whether to compute term effects for a report.
    readable : bool
        Whether to make readable explanations.
    """

    dataset: str
    key: str
    model: Any
    view: DatasetView
    names: Mapping[Label, str]
    pooled: Scores
    why: Mapping[int, str]
    in_detail: bool = False
    readable: bool = False


@dataclass(frozen=True)
class ExplainedMethod:
    """The explanations from an `ExplainJob`, or the reason why the method has no explanations.

    Attributes
    ----------
    dataset, key : str
        The dataset's name and the method's key.
    details : MethodDetails or None
        The data for a report; None if not requested.
    readable : list of dict or None
        Readable explanations; None if not requested.
    failure : str or None
        Why the method has no explanations, in one line; None if it has them.
    """

    dataset: str
    key: str
    details: MethodDetails | None = None
    readable: list[dict[str, Any]] | None = None
    failure: str | None = None


def run_explain_job(job: ExplainJob) -> ExplainedMethod:
    """Explain rows with one method. If the method cannot explain its predictions, return the reason."""
    done = ExplainedMethod(job.dataset, job.key)
    try:
        with one_thread():
            found = explain_rows(job)
            readable = _readable(job, found.explanations) if job.readable else None
            details = method_details(found) if job.in_detail else None
    except Exception as error:
        return replace(done, failure=" ".join(f"{type(error).__name__}: {error}".split()))
    return replace(done, details=details, readable=readable)


def explain_rows(job: ExplainJob) -> ExplainedRows:
    """Explain each row with its fold's model.

    Term effects are computed from all rows of these folds. If these are at least half of the folds, all folds are
    used, because only a few more models must be fitted.
    """
    found, data, fold_of_row = ExplainedRows(), job.view.data, job.pooled.fold
    folds, every_fold = sorted({int(fold_of_row[i]) for i in job.why}), np.unique(fold_of_row).tolist()
    labels: list[Any] = list(job.names)
    # By default, the second of two classes is explained; not every classifier can explain another one.
    is_default = len(labels) != 2 or labels == sorted(labels)
    target = {} if is_default else {"target": labels[-1]}
    effects = None
    if job.in_detail and folds and len(labels) == 2 and hasattr(job.model, "contributions"):
        folds = every_fold if 2 * len(folds) >= len(every_fold) else folds
        effects = TermEffects(data.X.shape[1], len(folds), target)
    for fold in folds:
        train = np.flatnonzero(fold_of_row != fold)
        fitted = clone(job.model).fit(data.X[train], data.y[train])
        here = [i for i in job.why if fold_of_row[i] == fold]
        if here:
            names = getattr(data, "term_names", None)
            explanations = fitted.explain(data.X[here], term_names=names, **target)
            found.explanations.update(zip(here, explanations, strict=True))
        if effects is not None:
            effects.add_fold(fitted, data.X[np.flatnonzero(fold_of_row == fold)])
    return found if effects is None else replace(found, effects=effects.content())


def _readable(job: ExplainJob, explanations: Mapping[int, Any]) -> list[dict[str, Any]]:
    """Return the explanations in the order in which the rows were chosen."""
    names, pooled = job.view.instance_names, job.pooled
    return [
        {
            "instance": names[i],
            "why": why,
            "fold": int(pooled.fold[i]),
            "y_true": list(job.names)[pooled.truth[i]],
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
