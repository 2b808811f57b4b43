"""Run a study, which can be resumed: every method on every dataset, for every seed and fold."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hietan._io.files import temporary_directory
from hietan._runtime.parallel import one_thread
from hietan.evaluation._study.executors import check_resources, jobs_ahead, open_executor, run_jobs
from hietan.evaluation._study.explaining import (
    RowsToExplain,
    explain_fold,
    explained_path,
    read_explained,
    write_explained,
)
from hietan.evaluation._study.journal import (
    Journal,
    append_time,
    claim,
    encode_outcome,
    locked,
    refuse_other,
    tidy_times,
    usage_problem,
)
from hietan.evaluation._study.plan import Job, Method, Progress, Study, plan_study
from hietan.evaluation._study.results import NOT_RUN, StudyResults, results_from_journals, write_results
from hietan.evaluation._usage import count_usage
from hietan.exceptions import FailedMethodWarning
from hietan.scores.cross_validation import Label, rows_for, score_checked

Outcome = tuple[Job, dict[str, Any], bytes | None, tuple[float, float]]
"""A job, its journal entry, its explanations, and its fitting and prediction times in seconds."""
LONGEST_ERROR = 10_000
"""The largest number of characters in a one-line error. The file `failures.txt` has the full text."""


def run_study(
    datasets: Iterable[Any],
    methods: Mapping[str, Any] | Iterable[Method],
    *,
    cv: Any = 10,
    seeds: int | Sequence[int] = 1,
    n_jobs: int | None = None,
    backend: str = "threads",
    scheduler: str | None = None,
    executor: Executor | None = None,
    output: str | Path | None = None,
    groups: Mapping[str, str] | None = None,
    row_groups: Mapping[str, str] | None = None,
    usage: bool = True,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    command: str = "",
    positive: str = "",
    lose: Sequence[float] = (),
    equal_rows: str = "keep",
    explain: bool = False,
    rows: Sequence[str] = (),
) -> StudyResults:
    """Cross-validate every method on every dataset, rank the methods and test the ranks.

    Parameters
    ----------
    datasets : iterable of objects with X, y, name and, if methods need one, hierarchy
        The datasets. Their names must be different.
    methods : mapping of name to scikit-learn classifier, or iterable of Method
        The classifiers to compare. In them, in Pipeline steps and in wrapped estimators, a parameter `hierarchy` that
        is None is set to the dataset's hierarchy, and a `random_state` that is None to the seed.
    cv : int or splitter of scikit-learn
        The number of folds of ``StratifiedKFold(cv, shuffle=True, random_state=seed)``, or a splitter that holds out
        each row exactly once, such as ``GroupKFold(5)`` or ``PredefinedSplit``. A random splitter without a
        `random_state` gets the seed. The folds are part of the study: a directory cannot be resumed with other folds.
    seeds : int or sequence of int
        The seeds, or the number of seeds to use: 0, 1, ... Scores are averaged over the seeds before ranking, because
        seeds are not independent replicates.
    n_jobs : int or None
        The number of parallel jobs, as in joblib; an existing Dask cluster runs as many as it has threads. The results
        do not depend on it.
    backend : {"threads", "processes", "dask"}
        Where jobs run. hietan's classifiers release the GIL, so threads suit them well. "dask" sends every job with its
        dataset to a worker of a Dask cluster: the cluster of `scheduler`, the active client's, or a temporary cluster
        of `n_jobs` processes. Scheduler and workers need the same packages as this process. Only this process writes
        results. If a worker dies, Dask runs its jobs elsewhere.
    scheduler : str, optional
        The address of a Dask scheduler, such as ``tcp://host:8786``, for the backend "dask".
    executor : concurrent.futures.Executor, optional
        An executor to use instead of a backend: a pool of processes, mpi4py's MPIPoolExecutor, loky's, a Dask client's
        `get_executor()`. It gets `n_jobs` jobs at a time (100 if that is None), each with its dataset, and is not shut
        down. If an executor or a pool of processes breaks down, a StudyError is raised, and the same call resumes the
        study.
    output : path, optional
        The results directory. An interrupted run resumes when it is called again with the same arguments. Without a
        directory nothing is written to disk.
    groups : mapping of dataset name to group, optional
        Datasets that describe the same rows in several ways form a group. Ranks are also given per group, and the
        bootstrap draws a row in all datasets of its group together.
    row_groups : mapping of row name to group, optional
        Rows that stay together, such as paralogous genes. They are held out in the same fold, by
        ``StratifiedGroupKFold`` if `cv` is a number. A splitter gets them as its groups. Each other row is a separate
        group.
    usage : bool
        Whether to count feature usage, in every seed, for methods that have `trees`.
    retry_failed : bool
        Whether to run failed jobs again.
    progress : callable, optional
        Called with a `Progress` after every job.
    command : str
        The command that runs the study, for the provenance lines of the tables.
    positive : str
        The name of the positive class, for sensitivity, specificity, average precision and explanations [default: each
        dataset's `positive`, or the last of its two classes in sorted order].
    lose : sequence of float
        Shares from 0 to 1. Each model also predicts its held-out rows after they have lost this share of their most
        specific annotations, by `Hierarchy.lose_annotations` with the seed of the split, so all methods predict the
        same incomplete rows. Training rows are not changed. `StudyResults.incomplete` contains the scores.
    equal_rows : {"keep", "same-fold", "not-tested"}
        How to treat identical rows: keep them; hold them out in the same fold; or compute all scores without rows
        that have an identical row, with the same models.
    explain : bool
        Whether to explain rows, for reports: the model of each fold of the first seed explains the rows of its fold
        that were drawn when the study was planned, the same ones for all methods.
    rows : sequence of str
        The names of further rows to explain, in every dataset that has them.

    Returns
    -------
    StudyResults
        Scores, rankings, tests, predictions and failures.

    Warns
    -----
    FailedMethodWarning
        For each method that failed, on how many datasets it failed, and with which error. A method that fails in every
        fold of the first dataset is not run on the others.

    Notes
    -----
    A classifier that does not accept sparse matrices, according to scikit-learn's tags, gets the rows of each fold as
    an array.

    Examples
    --------
    >>> from hietan import TAN, HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> results = run_study([data], {"TAN": TAN(), "Hie-TAN": HieTAN()}, cv=5)
    >>> [(row.dataset, row.method, row.seed) for row in results.summary]
    [('synthetic', 'TAN', 0), ('synthetic', 'Hie-TAN', 0)]
    """
    study = plan_study(
        datasets,
        methods,
        cv=cv,
        seeds=seeds,
        groups=groups,
        row_groups=row_groups,
        usage=usage,
        command=command,
        positive=positive,
        lose=lose,
        equal_rows=equal_rows,
        explain=explain or bool(rows),
        rows=rows,
    )
    check_resources(n_jobs, backend, scheduler, executor)
    with temporary_directory() if output is None else nullcontext(output) as path:
        folder = Path(path)
        # Folds and manifest are computed first, so that an impossible study fails before anything is written.
        _ = study.folds, study.tested
        refuse_other(folder, study.manifest)
        opened = nullcontext(executor) if executor else open_executor(backend, n_jobs, scheduler)
        ahead = jobs_ahead(backend, n_jobs, executor)
        with opened as where:
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder):
                claim(folder, study.manifest)
                run = partial(run_jobs, where, run_job, failed=_ended, ahead=ahead)
                _run_missing_jobs(study, folder, run, retry_failed, progress)
                results = results_from_journals(study, folder)
                write_results(results, folder)
                tidy_times(folder)
    for line in results.failure_lines:
        warnings.warn(line, FailedMethodWarning, stacklevel=2)
    return results if output is None else replace(results, directory=folder)


def _run_missing_jobs(
    study: Study,
    folder: Path,
    run: Callable[[Iterable[tuple[Any, ...]]], Generator[Outcome]],
    retry_failed: bool,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Run the jobs that the journals lack, and record each job when it finishes."""
    journals = {(d, m): Journal(folder, study.manifest, d, m) for d in study.datasets for m in study.methods}
    kept = {pair: journal.read() for pair, journal in journals.items()}
    found = {job: kept[job.dataset, job.method].get((job.seed, job.fold)) for job in study.jobs()}
    todo = [job for job, known in found.items() if _is_missing(study, folder, job, known, retry_failed)]
    n_done = len(found) - len(todo)
    failed = 0 if retry_failed else sum("error" in known for known in found.values() if known is not None)
    state = Progress(n_done, len(found), n_done, failed)
    if progress is not None:
        progress(state)
    # However the loop ends, no further job is started.
    with closing(_outcomes(study, todo, found, run)) as finished:
        for job, outcome, explained, seconds in finished:
            if explained is not None:
                write_explained(explained_path(folder, job.dataset, job.method, job.fold), explained)
            known = found[job]
            if known is not None and "error" not in known:  # only its explanations were missing
                outcome = {name: value for name, value in known.items() if name not in ("seed", "fold")}
            found[job] = outcome
            append_time(folder, study.methods[job.method], job, seconds)
            journals[job.dataset, job.method].append({"seed": job.seed, "fold": job.fold, **outcome})
            state = replace(
                state,
                done=state.done + 1,
                failed=state.failed + ("error" in outcome),
                job=job,
                seconds=sum(seconds),
            )
            if progress is not None:
                progress(state)


def _is_missing(
    study: Study, folder: Path, job: Job, known: Mapping[str, Any] | None, retry_failed: bool
) -> bool:
    """Return whether a job must run: it is not in the journal, or its explanations are not stored."""
    if known is None:
        return True
    if "error" in known:
        return retry_failed
    wanted = study.rows_to_explain(job)
    if wanted is None:
        return False
    explained = read_explained(explained_path(folder, job.dataset, job.method, job.fold), wanted)
    return explained is None or (retry_failed and bool(explained.failure))


def _outcomes(
    study: Study,
    todo: Sequence[Job],
    found: Mapping[Job, Mapping[str, Any] | None],
    run: Callable[[Iterable[tuple[Any, ...]]], Generator[Outcome]],
) -> Generator[Outcome]:
    """Run the first dataset's jobs, then the others, except for methods that failed in every fold of the first.

    `found` contains the outcomes of earlier runs; the caller adds each outcome to it.
    """
    first = next(iter(study.datasets))
    yield from run(_calls(study, [job for job in todo if job.dataset == first]))
    errors: dict[str, list[str]] = {}
    for job, outcome in found.items():
        if job.dataset == first:
            errors.setdefault(job.method, []).append((outcome or {}).get("error", ""))
    stopped = {method: texts[0] for method, texts in errors.items() if all(texts)}
    later = [job for job in todo if job.dataset != first]
    for job in later:
        if job.method in stopped:
            yield _ended((job,), f"{NOT_RUN}, because every fold of {first} failed: {stopped[job.method]}")
    yield from run(_calls(study, [job for job in later if job.method not in stopped]))


def _calls(study: Study, todo: Sequence[Job]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `run_job` for each job."""
    # The folds of a seed come one after the other.
    model_of, incomplete_of = lru_cache(len(study.methods))(study.model), lru_cache(1)(study.incomplete)
    for job in todo:
        data = study.datasets[job.dataset]
        model = model_of(job.dataset, job.method, job.seed)
        test = study.folds[job.dataset, job.seed] == job.fold
        incomplete = [X[np.flatnonzero(test)] for X in incomplete_of(job.dataset, job.seed)]
        wanted = study.rows_to_explain(job)
        names = study.class_names[job.dataset]
        yield job, model, data.X, data.y, test, names, study.usage, incomplete, wanted


def _ended(call: tuple[Any, ...], error: str) -> Outcome:
    """Return the outcome of a job that was ended or died. It must be the same in every run."""
    return call[0], {"error": error, "traceback": f"{error}\n"}, None, (0.0, 0.0)


def run_job(
    job: Job,
    model: Any,
    X: Any,
    y: Any,
    test: NDArray[np.bool_],
    names: Mapping[Label, str],
    usage: bool,
    incomplete: Sequence[Any] = (),
    wanted: RowsToExplain | None = None,
) -> Outcome:
    """Fit, score and explain one fold. The result, even for a failure, can be written as JSON.

    `incomplete` contains the held-out rows after the loss of annotations, for each share.
    """
    start = fitted_at = predicted_at = time.perf_counter()
    explained = None
    try:
        with one_thread():
            fitted = clone(model).fit(rows_for(model, X, ~test), y[~test])
            fitted_at = time.perf_counter()
            outcome = _score(job, fitted, rows_for(model, X, test), names, usage)
            predicted_at = time.perf_counter()
            lost = [rows_for(model, rows) for rows in incomplete]
            further = [_score(job, fitted, rows, names, usage=False) for rows in lost]
            outcome |= {"incomplete": further} if further else {}
            if wanted is not None:
                explained = explain_fold(fitted, X, test, wanted)
    # A classifier that raises SystemExit has failed; the study goes on.
    except BaseException as error:
        predicted_at = time.perf_counter()
        outcome = {"error": _error_line(error), "traceback": _writable(traceback.format_exc())}
    return job, outcome, explained, (fitted_at - start, predicted_at - fitted_at)


def _score(job: Job, model: Any, X: Any, names: Mapping[Label, str], usage: bool) -> dict[str, Any]:
    scores = score_checked(model, X, names, job.method)
    counted = count_usage(model.trees(X)) if usage and hasattr(model, "trees") else None
    problem = None if counted is None else usage_problem(counted, *X.shape)
    if problem is not None:
        raise ValueError(f"method {job.method!r}: {problem}")
    return encode_outcome(scores, counted)


def _error_line(error: BaseException) -> str:
    line = _writable(" ".join(f"{type(error).__name__}: {error}".split()))
    # Python's csv module does not read cells of more than 131,072 characters.
    return line if len(line) <= LONGEST_ERROR else f"{line[:LONGEST_ERROR]} ..."


def _writable(text: str) -> str:
    """Return the text in a form that UTF-8 can encode, because file names in messages may contain arbitrary bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
