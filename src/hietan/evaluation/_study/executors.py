"""One way to run jobs: an executor of `concurrent.futures`, in threads, processes or on a Dask cluster.

A job that dies, or an executor that breaks, costs nothing but time: the journal has every finished job, and the same
call resumes the study.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from numbers import Integral, Real
from queue import SimpleQueue
from typing import Any, TypeVar

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend.reduction import dumps  # it can also send what a script defines
from joblib.externals.loky.backend.utils import kill_process_tree

from hietan._io.files import temporary_directory
from hietan._runtime.optional import import_optional
from hietan._runtime.parallel import MAX_JOBS, one_thread, stoppable_threads
from hietan.evaluation._study.fingerprint import versions
from hietan.exceptions import StudyError

BACKENDS = ("threads", "processes", "dask")
MOST_SECONDS = 2_000_000
"""The longest time limit of a job, 23 days."""
AHEAD = 100
"""How many jobs a cluster has at a time: nobody knows how many workers will join it."""
PATIENCE = 10.0
"""How many seconds a Dask scheduler may take to answer, and its first worker to join."""
LOOK_SECONDS = 0.2  # how often a Ctrl-C is looked for while no job ends

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
    seconds: float | None = None,
) -> Generator[_T]:
    """Call a function with each tuple of arguments, and yield the results in the order in which the calls finish.

    Parameters
    ----------
    executor : Executor
        Where the calls are made; it is not shut down.
    function : callable
        The function; it must not raise.
    calls : iterable of tuple
        The arguments of each call; they are read as they are needed.
    failed : callable
        Called as ``failed(call, error)`` for a call that cannot be sent, whose process dies or that takes too long; it
        returns the result.
    ahead : int
        How many calls the executor has at a time.
    seconds : float or None
        How long a call may take. With a limit, each call is made in another process, wherever the executor makes it.

    Raises
    ------
    StudyError
        If the executor has broken down or was shut down.
    """
    if seconds is not None:
        function = partial(run_limited, seconds, failed, function)
    waiting = iter(calls)
    running: dict[Future[_T], Call] = {}
    # The warning filters belong to the process, and forests of scikit-learn in threads change them.
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
    except (BrokenExecutor, RuntimeError) as error:  # a RuntimeError: it was shut down
        raise _broken(error) from error


def _result_of(future: Future[_T], call: Call, failed: Failed[_T]) -> _T:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _broken(error) from error
    # The function does not raise: the call was not sent, or its result not received.
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":  # its text names a random task
            return failed(call, f"{name}: the workers that ran the job died")
        return failed(call, " ".join(f"{name}: {error}".split()))


def _broken(error: BaseException) -> StudyError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return StudyError(
        f"the executor accepts no more jobs ({reason}); finished jobs are kept if the study has an output directory: "
        f"run the same study again to resume it, with job_timeout if a job kills its process: then it fails alone"
    )


# ------------------------------------------------------------------ executors


def check_resources(
    n_jobs: int | None,
    backend: str,
    scheduler: str | None,
    executor: Executor | None,
    job_timeout: float | None,
) -> None:
    """Refuse an unknown backend, a time limit that is not positive, and options that exclude each other."""
    if n_jobs is not None and not (
        isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and 0 < abs(n_jobs) <= MAX_JOBS
    ):
        raise StudyError(
            f"n_jobs is {n_jobs!r:.40}; expected a whole number from 1 to {MAX_JOBS}, or -1 for every core"
        )
    if backend not in BACKENDS:
        raise StudyError(f"backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    if scheduler is not None and backend != "dask":
        raise StudyError(f"scheduler is {scheduler!r}, but backend is {backend!r}; a scheduler needs 'dask'")
    if scheduler is not None and not scheduler.rpartition(":")[2].isdecimal():
        raise StudyError(f"scheduler is {scheduler!r}; expected an address such as tcp://host:8786")
    if executor is not None and backend != "threads":
        raise StudyError(f"give backend={backend!r} or an executor, not both")
    if executor is not None and not hasattr(executor, "submit"):
        raise StudyError(f"executor is a {type(executor).__name__}; expected one of concurrent.futures")
    if job_timeout is not None and not (isinstance(job_timeout, Real) and 0 < job_timeout <= MOST_SECONDS):
        raise StudyError(
            f"job_timeout is {job_timeout!r}; expected a number of seconds above 0 and at most {MOST_SECONDS}"
        )


def jobs_ahead(backend: str, n_jobs: int | None, executor: Executor | None = None) -> int:
    """Return how many jobs an executor has at a time: enough that no worker waits, and few enough to stop soon."""
    if backend == "dask" or (executor is not None and n_jobs is None):
        return AHEAD
    return int(effective_n_jobs(n_jobs)) * (1 if executor is not None else 2)


def open_executor(
    backend: str, n_jobs: int | None, scheduler: str | None = None, seconds: float | None = None
) -> AbstractContextManager[Executor]:
    """Return a context manager that opens the executor of a backend and closes it at the end.

    With a time limit, jobs are in processes of their own anyway, so threads wait for them.
    """
    if backend == "dask":
        return _dask_executor(scheduler, n_jobs)
    if backend == "processes" and seconds is None:
        return _processes(n_jobs)
    return stoppable_threads(effective_n_jobs(n_jobs))


@contextmanager
def _processes(n_jobs: int | None) -> Iterator[Executor]:
    processes = ProcessPoolExecutor(effective_n_jobs(n_jobs), initializer=_ignore_interrupts)
    try:
        yield processes
    except BaseException:
        # Loky's own kill_workers fails if jobs are cancelled or wait; a pool that broke down cleans up after both.
        for process in list((processes._processes or {}).values()):
            kill_process_tree(process)
        processes.shutdown(wait=True)
        raise
    processes.shutdown()


def _ignore_interrupts() -> None:
    """Ctrl-C in a terminal reaches all processes; the one that started this one ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _dask_executor(scheduler: str | None, n_jobs: int | None) -> Iterator[Executor]:
    """Open the executor of a scheduler, of the active client, or of a new cluster of `n_jobs` processes."""
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
        raise StudyError(f"no connection to a Dask cluster: {' '.join(str(error).split())}") from error


def _check_workers(client: Any) -> None:
    """Wait for the first worker, and refuse workers whose versions differ: their results might, too."""
    address, ours = client.scheduler.address, versions()
    first = client.submit(versions, pure=False)  # an adaptive cluster starts workers only for work
    try:
        first.result(timeout=PATIENCE)
    except TimeoutError:
        raise StudyError(
            f"no worker joined the scheduler at {address} within {PATIENCE:g} s; start one: dask worker {address}"
        ) from None
    for worker, theirs in client.run(versions).items():
        for package, version in ours.items():
            if theirs[package] != version:
                raise StudyError(
                    f"worker {worker} has {package} {theirs[package]} but the study has {version}; the results might "
                    f"differ"
                )


# ------------------------------------------------------------------ time limit

_of_thread = threading.local()


def run_limited(seconds: float, failed: Failed[_T], function: Callable[..., _T], *call: Any) -> _T:
    """Make a call in another process, which is killed if the call takes longer than this.

    A thread cannot be ended from outside, so a limit needs a process. Each thread keeps one for its next call; starting
    it, and its imports, do not count.
    """
    process = getattr(_of_thread, "process", None)
    if process is None or process.has_ended():
        process = _of_thread.process = _JobProcess()
    try:
        result: _T = process.call(seconds, function, call)
        return result
    except (EOFError, OSError, pickle.UnpicklingError):  # it has ended
        _of_thread.process = None
    if process.was_late:
        return failed(call, f"TimeoutError: the job took longer than {seconds:g} s and was ended")
    return failed(call, "BrokenProcessPool: the process of the job died")


class _JobProcess:
    """A process that reads calls from its standard input, one after another, and answers on its standard output.

    It leads a session, so that it is killed together with whatever it has started. It kills itself when its input ends,
    because nobody waits for its answers any more.
    """

    def __init__(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _serve; _serve()"
        command = [sys.executable, "-c", code]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, **pipes, start_new_session=True)
        self.was_late = False

    def call(self, seconds: float, function: Callable[..., Any], arguments: Call) -> Any:
        """Return the result of a call; raises EOFError or OSError if the process ends."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(dumps((function, arguments)))
        self._process.stdin.flush()
        if not self._process.stdout.read(1):  # the call begins
            raise EOFError
        timer = threading.Timer(seconds, self._end_late)
        timer.daemon = True
        timer.start()
        try:
            return pickle.load(self._process.stdout)
        finally:
            timer.cancel()

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def _end_late(self) -> None:
        self.was_late = True
        self.kill()

    def kill(self) -> None:
        """End the process, and whatever it has started."""
        if not self.has_ended():
            _kill_session(self._process.pid)

    def __del__(self) -> None:
        self.kill()
        self._process.communicate()


def _kill_session(leader: int) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)
    else:
        os.kill(leader, signal.SIGTERM)


def _serve() -> None:
    """Make the calls that arrive; this is all that the process of a limited job does."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a call prints is not an answer
    received: SimpleQueue[tuple[Callable[..., Any], Call]] = SimpleQueue()

    def receive() -> None:
        try:
            while True:
                received.put(pickle.load(calls))
        finally:
            _kill_session(os.getpid())

    def answer(data: bytes) -> None:
        try:
            answers.write(data)
            answers.flush()
        except OSError:  # nobody waits for it any more
            _kill_session(os.getpid())

    threading.Thread(target=receive, daemon=True).start()
    while True:
        function, arguments = received.get()
        answer(b"\n")
        answer(dumps(function(*arguments)))
