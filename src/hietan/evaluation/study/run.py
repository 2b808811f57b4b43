"""The whole experiment: every method on every dataset, seed after seed, fold after fold; resumable."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hietan._runtime.parallel import run_unordered
from hietan._runtime.thread_limits import one_thread, thread_pools
from hietan.evaluation.cross_validation import configure, fold_of_rows, predict_rows
from hietan.evaluation.study.cluster import (
    Call,
    Shared,
    check_address,
    check_workers,
    cluster_client,
    run_on_workers,
)
from hietan.evaluation.study.fingerprint import dataset_fingerprint, describe, method_fingerprint, versions
from hietan.evaluation.study.journal import FORMAT, Journal, claim, locked, refuse_other
from hietan.evaluation.study.results import StudyResults, collect, write_results
from hietan.evaluation.study.times import append_time, finish_times
from hietan.evaluation.usage import count_usage
from hietan.exceptions import StudyError

BACKENDS = {"threads": "threads", "processes": "loky", "dask": "dask"}


@dataclass(frozen=True)
class Method:
    """A classifier with a name.

    Attributes
    ----------
    name : str
    estimator : scikit-learn classifier
    setting : str
        What distinguishes it from other uses of the same method, as "alpha=1". Methods are ranked among those of the
        same setting; one without a setting is ranked in all of them.
    tuning : str
        What is tuned or chosen within the training rows; "none" if nothing is. Methods are ranked among those of
        the same tuning only.
    """

    name: str
    estimator: Any
    setting: str = ""
    tuning: str = "none"

    @property
    def key(self) -> str:
        """A name of its own in the study."""
        return " ".join(
            [self.name, *([f"@ {self.setting}"] if self.setting else []), f"@ tuned {self.tuning}"]
        )


@dataclass(frozen=True)
class Job:
    """One fold of one seed of one method on one dataset."""

    dataset: str
    method: str
    seed: int
    fold: int


Outcome = tuple[
    Job, dict[str, Any], tuple[float, float]
]  # what is written down, and seconds to fit and to predict


@dataclass(frozen=True)
class Progress:
    """How far a study is; `job` is the one just finished, `seconds` what it took, `failed` the failures so far."""

    done: int
    total: int
    resumed: int
    failed: int
    job: Job | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Study:
    """What to run: datasets, methods, splits. `manifest` says it in plain values."""

    datasets: Mapping[str, Any]
    methods: Mapping[str, Method]
    cv: int
    seeds: tuple[int, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    usage: bool = True
    command: str = ""

    @cached_property
    def manifest(self) -> dict[str, Any]:
        methods = self.methods.items()
        return {
            "format": FORMAT,
            "versions": versions(),
            "cv": self.cv,
            "seeds": list(self.seeds),
            "usage": self.usage,
            "datasets": {name: dataset_fingerprint(data) for name, data in self.datasets.items()},
            "methods": {key: method_fingerprint(method.estimator) for key, method in methods},
            "groups": dict(self.groups),
            "descriptions": {key: describe(method.estimator) for key, method in methods},
            "command": self.command,
        }

    @cached_property
    def folds(self) -> dict[tuple[str, int], NDArray[np.int64]]:
        """In which fold each row is set aside, by dataset and seed."""
        return {
            (name, seed): self._fold(name, data, seed)
            for name, data in self.datasets.items()
            for seed in self.seeds
        }

    def _fold(self, name: str, data: Any, seed: int) -> NDArray[np.int64]:
        try:
            return fold_of_rows(data.y, self.cv, seed)
        except ValueError as error:
            raise StudyError(f"dataset {name}: {error}") from error

    def jobs(self) -> Iterator[Job]:
        """All jobs, dataset by dataset."""
        for dataset in self.datasets:
            for method in self.methods:
                for seed in self.seeds:
                    yield from (Job(dataset, method, seed, fold) for fold in range(self.cv))


def run_study(
    datasets: Iterable[Any],
    methods: Mapping[str, Any] | Iterable[Method],
    *,
    cv: int = 10,
    seeds: int | Sequence[int] = 1,
    n_jobs: int | None = None,
    backend: str = "threads",
    scheduler: str | None = None,
    output: str | Path | None = None,
    groups: Mapping[str, str] | None = None,
    usage: bool = True,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    command: str = "",
) -> StudyResults:
    """Cross-validate every method on every dataset, rank the methods and test the ranks.

    Parameters
    ----------
    datasets : iterable of objects with X, y, name and, where methods ask for one, hierarchy
    methods : mapping of name to scikit-learn classifier, or iterable of Method
        Where a classifier, a step of a Pipeline or what it wraps has a parameter `hierarchy` that is None, the
        dataset's is set; likewise `random_state`, to the seed.
    cv : int
        Folds of ``StratifiedKFold(cv, shuffle=True, random_state=seed)``.
    seeds : int or sequence of int
        The seeds, or how many: 0, 1, ... Seeds are averaged before ranking; they are no replicates.
    n_jobs : int or None
        Jobs at a time, as in joblib; with a Dask cluster that is there already, as many as it has threads. Results
        do not depend on it.
    backend : {"threads", "processes", "dask"}
        The classifiers of this package release the GIL and do well in threads. "dask": every job goes to a worker of
        a Dask cluster, that of `scheduler` or of the active client or, without either, one of `n_jobs` processes
        that lasts as long as the study. Each dataset is sent once, and results are written here alone.
        A worker that dies is survived; a job that kills several on its own is one that failed. ConnectionError says
        that the cluster is lost; the same call goes on from there.
    scheduler : str, optional
        The address of a Dask scheduler, as "tcp://host:8786", for the backend "dask".
    output : path, optional
        The directory of the results. A run that was interrupted, however, goes on when called again with the same
        arguments. Without it nothing is kept on disk.
    groups : mapping of dataset name to group, optional
        Datasets that show the same rows in several ways; ranks are given per group, too, and a bootstrap draws a
        row in all datasets of its group together.
    usage : bool
        Count feature usage, in the first seed, of methods that offer `trees`.
    retry_failed : bool
        Run failed jobs again.
    progress : callable, optional
        Called with a `Progress` after every job.
    command : str
        How the study was asked for, to be written beside its tables.

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from hietan import TAN, HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> results = run_study([data], {"TAN": TAN(), "Hie-TAN": HieTAN()}, cv=5)
    >>> [(row.dataset, row.method, row.seed) for row in results.summary]
    [('synthetic', 'TAN', 0), ('synthetic', 'Hie-TAN', 0)]
    """
    study = _plan(datasets, methods, cv, seeds, groups, usage, command)
    if backend not in BACKENDS:
        raise StudyError(f"backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise StudyError(
            f"n_jobs is {n_jobs!r}; expected a whole number other than 0; -1 stands for every core"
        )
    if scheduler is not None:
        if backend != "dask":
            raise StudyError(f"scheduler is {scheduler!r}, but backend is {backend!r}; it needs 'dask'")
        check_address(scheduler)
    with _directory(output) as path, ExitStack() as stack:
        folder = Path(path)
        _ = study.folds, study.manifest  # all that can be refused is refused before anything is written
        refuse_other(folder, study.manifest)
        if backend == "dask":
            client = stack.enter_context(cluster_client(scheduler, n_jobs))
            check_workers(client, {f"method {key!r}": m.estimator for key, m in study.methods.items()})
            outcomes = partial(_outcomes_on_workers, client=client)
        else:
            outcomes = partial(_outcomes, n_jobs=n_jobs, backend=BACKENDS[backend])
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            claim(folder, study.manifest)
            _run_jobs(study, folder, outcomes, retry_failed, progress)
            stack.close()
            results = collect(study, folder)
            write_results(results, folder)
            finish_times(folder)
        return replace(results, directory=folder if output is not None else None)


def _directory(output: str | Path | None) -> AbstractContextManager[str | Path]:
    return tempfile.TemporaryDirectory() if output is None else nullcontext(output)


def _plan(
    datasets: Iterable[Any],
    methods: Mapping[str, Any] | Iterable[Method],
    cv: int,
    seeds: int | Sequence[int],
    groups: Mapping[str, str] | None,
    usage: bool,
    command: str,
) -> Study:
    if isinstance(methods, Mapping):
        methods = [Method(name, estimator) for name, estimator in methods.items()]
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(map(int, seeds))
    if not chosen or len(set(chosen)) < len(chosen) or min(chosen) < 0:
        raise StudyError(f"seeds is {seeds!r}; expected a number above 0, or different seeds of 0 or more")
    if cv < 2:
        raise StudyError(f"cv is {cv}; expected at least 2 folds")
    named = _by_name("dataset", [(data.name, data) for data in datasets])
    keyed = _by_name("method", [(method.key, method) for method in methods])
    return Study(named, keyed, cv, chosen, dict(groups or {}), usage, command)


def _by_name(what: str, items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if not items:
        raise StudyError(f"no {what}: a study needs at least one")
    names = [name for name, _ in items]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated or "" in names:
        raise StudyError(
            f"{what} {(repeated or [''])[0]!r} comes twice or has no name; each needs a name of its own"
        )
    return dict(items)


def _run_jobs(
    study: Study,
    folder: Path,
    outcomes: Callable[[Study, Sequence[Job]], Generator[Outcome]],
    retry_failed: bool,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Run what the journals do not hold yet, and write every job down as it comes."""
    journals = {(d, m): Journal(folder, d, m) for d in study.datasets for m in study.methods}
    done = {pair: journal.read() for pair, journal in journals.items()}
    todo = [
        job
        for job in study.jobs()
        if (kept := done[job.dataset, job.method].get((job.seed, job.fold))) is None
        or (retry_failed and "error" in kept)
    ]
    total = study.cv * len(study.seeds) * len(done)
    failed = (
        sum("error" in kept for jobs in done.values() for kept in jobs.values()) if not retry_failed else 0
    )
    state = Progress(total - len(todo), total, total - len(todo), failed)
    if progress is not None:
        progress(state)
    if not todo:
        return
    with closing(outcomes(study, todo)) as coming:  # whatever ends the loop, nothing goes on behind it
        for job, outcome, seconds in coming:
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


def _outcomes(study: Study, todo: Sequence[Job], *, n_jobs: int | None, backend: str) -> Generator[Outcome]:
    """Run jobs, and yield them in the order in which they finish."""

    @lru_cache(maxsize=1)
    def configured(dataset: str, method: str, seed: int) -> Any:
        hierarchy = getattr(study.datasets[dataset], "hierarchy", None)
        return configure(study.methods[method].estimator, hierarchy, seed)

    def calls() -> Iterator[tuple[Any, ...]]:
        for job in todo:
            data = study.datasets[job.dataset]
            model = configured(job.dataset, job.method, job.seed)
            yield job, model, data.X, data.y, *_rows_and_usage(study, job)

    # By the caller's thread, whose limits count for more than a job's; held, so that jobs need not set and restore it.
    with thread_pools().limit(limits=1), one_thread():
        yield from run_unordered(run_job, calls(), n_jobs, backend)


def _outcomes_on_workers(study: Study, todo: Sequence[Job], *, client: Any) -> Generator[Outcome]:
    """The same on the workers of a cluster. The hierarchy travels with the dataset, not with every model."""

    def calls() -> Iterator[Call]:
        for job in todo:
            data = study.datasets[job.dataset]
            table = (data.X, data.y, getattr(data, "hierarchy", None))
            shared = (
                Shared("data", job.dataset, table),
                Shared("method", job.method, study.methods[job.method]),
            )
            yield shared, (job, *_rows_and_usage(study, job))

    yield from run_on_workers(client, run_job_of, calls(), _killed)


def _rows_and_usage(study: Study, job: Job) -> tuple[NDArray[np.bool_], bool]:
    """The rows that a job sets aside, and whether it counts feature usage."""
    return study.folds[job.dataset, job.seed] == job.fold, study.usage and job.seed == study.seeds[0]


def _killed(call: Call, n_workers: int) -> Outcome:
    """The outcome of a job that no worker survives; it must be the same in every run."""
    job = call[1][0]
    dead = "the worker" if n_workers == 1 else f"{n_workers} workers, one after the other,"
    message = f"KilledWorker: {dead} died while nothing but this job was running"
    return job, {"error": message, "traceback": f"{message}\n"}, (0.0, 0.0)


def run_job_of(
    table: tuple[Any, Any, Any], method: Method, job: Job, test: NDArray[np.bool_], usage: bool
) -> Outcome:
    """Run a job with a method as it was given: hierarchy and seed are set here."""
    X, y, hierarchy = table
    return run_job(job, configure(method.estimator, hierarchy, job.seed), X, y, test, usage)


def run_job(job: Job, model: Any, X: Any, y: Any, test: NDArray[np.bool_], usage: bool) -> Outcome:
    """Fit and predict one fold. What it returns can be written as JSON; a failure is a result, too."""
    start = fitted_at = time.perf_counter()
    try:
        with one_thread():
            fitted = clone(model).fit(X[np.flatnonzero(~test)], y[~test])
            fitted_at = time.perf_counter()
            outcome = _predict(fitted, X[np.flatnonzero(test)], usage)
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        outcome = {"error": message, "traceback": traceback.format_exc()}
    return job, outcome, (fitted_at - start, time.perf_counter() - fitted_at)


def _predict(model: Any, X: Any, usage: bool) -> dict[str, Any]:
    rows = predict_rows(model, X)
    outcome: dict[str, Any] = {"y_pred": rows.y_pred.tolist()}
    if rows.log_proba is not None:
        outcome["log_proba"] = rows.log_proba.tolist()
    if usage and hasattr(model, "trees"):
        counted = count_usage(model.trees(X))
        outcome["usage"] = {"selected": counted.selected.tolist(), "in_edges": counted.in_edges.tolist()}
    return outcome
