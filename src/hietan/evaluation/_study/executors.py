"""Run jobs with a `concurrent.futures` executor, in threads, in processes or on a Dask cluster.

A job that dies or an executor that breaks costs only time. The journal contains every finished job, and the same call
resumes the study.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend.utils import kill_process_tree

from hietan._io.files import temporary_directory
from hietan._runtime.optional import import_optional
from hietan._runtime.parallel import MAX_JOBS, one_thread, stoppable_threads
from hietan.evaluation._study.fingerprint import versions
from hietan.exceptions import StudyError

BACKENDS = ("threads", "processes", "dask")
AHEAD = 100
"""The number of jobs to send to a cluster at a time, because the number of its workers is unknown."""
PATIENCE = 10.0
"""How many seconds to wait for a Dask scheduler to respond, and for its first worker to join."""
LOOK_SECONDS = 0.2  # how often to check for Ctrl-C while no job ends

_T = TypeVar("_T")
Call = tuple[Any, ...]
Failed = Callable[[Call, str], _T]


def run_jobs(
    executor: Executor,
    function: Callable[..., _T],
    calls: Iterable[Call],
    failed: Failed[_T],
    *,
    ahead: int,
) -> Generator[_T]:
    """Call a function with each tuple of arguments, and yield each result when its call finishes.

    Parameters
    ----------
    executor : Executor
        The executor for the calls; it is not shut down.
    function : callable
        The function; it must not raise.
    calls : iterable of tuple
        The arguments of each call; they are read as they are needed.
    failed : callable
        Called as ``failed(call, error)`` for a call that cannot be sent, or whose result is not received; it
        returns the result.
    ahead : int
        The number of calls to give the executor at a time.

    Raises
    ------
    StudyError
        If the executor has broken down or was shut down.
    """
    waiting = iter(calls)
    running: dict[Future[_T], Call] = {}
    # The warning filters belong to the process, and scikit-learn's forests change them in threads.
    with one_thread(), warnings.catch_warnings():
        try:
            for call in islice(waiting, ahead):
                running[_submitted(executor, function, call)] = call
            while running:
                done, _ = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    call = running.pop(future)
                    yield _result_of(future, call, failed)
                    for following in islice(waiting, 1):
                        running[_submitted(executor, function, following)] = following
        finally:
            for future in running:
                future.cancel()


def _submitted(executor: Executor, function: Callable[..., _T], call: Call) -> Future[_T]:
    try:
        return executor.submit(function, *call)
    except (BrokenExecutor, RuntimeError) as error:  # RuntimeError means that it was shut down
        raise _broken(error) from error


def _result_of(future: Future[_T], call: Call, failed: Failed[_T]) -> _T:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _broken(error) from error
    # The function does not raise: the call was not sent, or its result was not received.
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":  # its text names a random task
            return failed(call, f"{name}: the workers that ran the job died")
        return failed(call, " ".join(f"{name}: {error}".split()))


def _broken(error: BaseException) -> StudyError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return StudyError(
        f"the executor accepts no more jobs ({reason}). Finished jobs are kept if the study has an output "
        "directory; run the same study again to resume it"
    )


# ------------------------------------------------------------------ executors


def check_resources(
    n_jobs: int | None,
    backend: str,
    scheduler: str | None,
    executor: Executor | None,
) -> None:
    """Raise StudyError for an unknown backend, or for mutually exclusive options."""
    if n_jobs is not None and not (
        isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and 0 < abs(n_jobs) <= MAX_JOBS
    ):
        raise StudyError(
            f"n_jobs is {n_jobs!r:.40}; expected a whole number from 1 to {MAX_JOBS}, or -1 for every core"
        )
    if backend not in BACKENDS:
        raise StudyError(f"backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    if scheduler is not None and backend != "dask":
        raise StudyError(
            f"scheduler is {scheduler!r}, but backend is {backend!r}; with a scheduler, use backend='dask'"
        )
    if scheduler is not None and not scheduler.rpartition(":")[2].isdecimal():
        raise StudyError(f"scheduler is {scheduler!r}; expected an address such as tcp://host:8786")
    if executor is not None and backend != "threads":
        raise StudyError(f"pass backend={backend!r} or an executor, not both")
    if executor is not None and not hasattr(executor, "submit"):
        raise StudyError(
            f"executor is a {type(executor).__name__}; expected an object with submit, such as a "
            "concurrent.futures executor"
        )


def jobs_ahead(backend: str, n_jobs: int | None, executor: Executor | None = None) -> int:
    """Return how many jobs to send at a time: enough to keep all workers busy, but few enough to stop soon."""
    if backend == "dask" or (executor is not None and n_jobs is None):
        return AHEAD
    return int(effective_n_jobs(n_jobs)) * (1 if executor is not None else 2)


def open_executor(
    backend: str, n_jobs: int | None, scheduler: str | None = None
) -> AbstractContextManager[Executor]:
    """Return a context manager that opens and closes a backend's executor."""
    if backend == "dask":
        return _dask_executor(scheduler, n_jobs)
    return _processes(n_jobs) if backend == "processes" else stoppable_threads(effective_n_jobs(n_jobs))


@contextmanager
def _processes(n_jobs: int | None) -> Iterator[Executor]:
    processes = ProcessPoolExecutor(effective_n_jobs(n_jobs), initializer=_ignore_interrupts)
    try:
        yield processes
    except BaseException:
        # Loky's own kill_workers fails if jobs are cancelled or waiting; a broken pool cleans up after both.
        for process in list((processes._processes or {}).values()):
            kill_process_tree(process)
        processes.shutdown(wait=True)
        raise
    processes.shutdown()


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes. The parent process ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _dask_executor(scheduler: str | None, n_jobs: int | None) -> Iterator[Executor]:
    """Open the executor of a scheduler, of the active client, or of a new cluster with `n_jobs` processes."""
    distributed = import_optional("distributed", extra="dask", purpose='backend="dask"')
    config = import_module("dask").config
    # Dask would warn about each job with a dataset of 10 MB, and leave its own files behind.
    with ExitStack() as stack, config.set({"distributed.admin.large-graph-warning-threshold": 2**60}):
        if scheduler is not None:
            client = stack.enter_context(_connected(distributed, address=scheduler, timeout=PATIENCE))
        else:
            try:
                client = distributed.get_client()
            except ValueError:
                folder = stack.enter_context(temporary_directory())
                stack.enter_context(config.set({"temporary-directory": str(folder)}))
                own = {"threads_per_worker": 1, "dashboard_address": ":0"}
                client = _connected(distributed, n_workers=effective_n_jobs(n_jobs), **own)
                stack.enter_context(client).run(_ignore_interrupts)
        _check_workers(client)
        yield client.get_executor(pure=False)


def _connected(distributed: Any, **options: Any) -> Any:
    try:
        return distributed.Client(set_as_default=False, **options)
    except (OSError, ValueError, RuntimeError) as error:
        raise StudyError(
            f"cannot connect to a Dask cluster ({' '.join(str(error).split())}); check the scheduler's address "
            "and that it is running"
        ) from error


def _check_workers(client: Any) -> None:
    """Wait for the first worker. Raise StudyError if its versions differ, because its results might differ too."""
    address, ours = client.scheduler.address, versions()
    first = client.submit(versions, pure=False)  # an adaptive cluster starts workers only for work
    try:
        first.result(timeout=PATIENCE)
    except TimeoutError:
        raise StudyError(
            f"no worker joined the scheduler at {address} within {PATIENCE:g} s; start a worker with: dask worker "
            f"{address}"
        ) from None
    for worker, theirs in client.run(versions).items():
        for package, version in ours.items():
            if theirs[package] != version:
                raise StudyError(
                    f"worker {worker} uses {package} {theirs[package]}, but the study uses {version}, so the "
                    "results might differ; install the same version on the worker"
                )
