"""One way to run many jobs: `map_chunks` over chunks of rows, `run_ordered` and `run_unordered` over any calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from hietan import _kernel
from hietan._runtime.interrupts import EndsWithCaller
from hietan._runtime.warning_filters import steady_warnings

_T = TypeVar("_T")

MAX_CHUNK_ROWS = 4096
"""The largest number of rows in a chunk; a multiple of the 64 rows that the kernel handles together."""

MAX_JOBS = 4096
"""The largest `n_jobs` that is accepted: more threads or processes than that are a mistake."""

PATIENCE = 2.0
"""How many seconds calls under way may take to end when nobody wants their results any more."""


_NAME = "hietan-worker"


def threads_left_behind() -> bool:
    """Whether threads are still making calls that nobody waits for any more.

    If Python is shut down in the usual way while they run compiled code, it may crash.
    """
    return any(thread.name == _NAME for thread in threading.enumerate())


def map_chunks(
    function: Callable[[int, int], _T], n_rows: int, n_jobs: int | None, *, chunks_per_job: int = 4
) -> list[_T]:
    """Call a function for chunks of rows that cover all rows, in threads, and return the results in order.

    Parameters
    ----------
    function : callable
        The function, called as ``function(start, stop)``; it should release the GIL.
    n_rows : int
        The number of rows.
    n_jobs : int or None
        The number of threads, as in joblib.
    chunks_per_job : int
        The number of chunks for each thread. Several balance the load; one is better if each chunk has a fixed cost.

    Returns
    -------
    list
        The result of each chunk, in the order of the rows.
    """
    jobs = effective_n_jobs(n_jobs)
    size = MAX_CHUNK_ROWS
    if jobs > 1:
        size = min(size, max(64, -(-n_rows // (chunks_per_job * jobs * 64)) * 64))
    chunks = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    return run_ordered(function, chunks, n_jobs)


def run_ordered(
    function: Callable[..., _T], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> list[_T]:
    """Call a function with each tuple of arguments, in threads, and return the results in the order of the calls.

    Parameters
    ----------
    function : callable
        The function; it should release the GIL.
    calls : sequence of tuple
        The arguments of each call.
    n_jobs : int or None
        The number of threads, as in joblib. With one, or for a single call, no thread is started. Threads are used even
        if joblib is configured to use another backend.

    Returns
    -------
    list
        The result of each call.
    """
    if len(calls) <= 1 or effective_n_jobs(n_jobs) == 1:
        return [function(*call) for call in calls]
    results: dict[int, _T] = {}

    def run(k: int) -> tuple[int, _T]:
        return k, function(*calls[k])

    n_threads = min(effective_n_jobs(n_jobs), len(calls))
    with closing(_run_in_threads(run, ((k,) for k in range(len(calls))), n_threads)) as found:
        results.update(found)
    return [results[k] for k in range(len(calls))]


def number_of_parts(n_jobs: int | None, *, per_job: int = 4) -> int:
    """How many parts a piece of work is divided into for `n_jobs` threads: one, or enough to balance the load.

    Parameters
    ----------
    n_jobs : int or None
        The number of threads, as in joblib.
    per_job : int
        The number of parts for each thread, unless there is one thread only. A part may have a fixed cost.
    """
    jobs = effective_n_jobs(n_jobs)
    return 1 if jobs == 1 else per_job * jobs


def run_unordered(
    function: Callable[..., _T], calls: Iterable[tuple[Any, ...]], n_jobs: int | None, backend: str
) -> Iterator[_T]:
    """Call a function with each tuple of arguments, and yield the results in the order in which the calls finish.

    If the consumer stops early, because of an error or Ctrl-C, pending calls are cancelled, and running ones are told
    to stop: the kernel obeys at once. Those that do not end within `PATIENCE` seconds are left behind: a thread cannot
    be ended from outside. Processes are.

    Parameters
    ----------
    function : callable
        The function.
    calls : iterable of tuple
        The arguments of each call; they are taken as they are needed.
    n_jobs : int or None
        The number of calls to run at a time, as in joblib.
    backend : str
        "threads", or the name of a joblib backend.
    """
    jobs = effective_n_jobs(n_jobs)
    if jobs == 1:
        yield from (function(*call) for call in calls)
    elif backend != "threads":
        remote = EndsWithCaller(function)
        tasks = (delayed(remote)(*call) for call in calls)
        yield from Parallel(n_jobs=n_jobs, backend=backend, return_as="generator_unordered")(tasks)
    else:
        with steady_warnings(), closing(_run_in_threads(function, calls, jobs)) as results:
            yield from results


def _run_in_threads(
    function: Callable[..., _T], calls: Iterable[tuple[Any, ...]], n_threads: int
) -> Generator[_T]:
    # Two calls per thread are submitted: enough that no thread waits, and few enough to stop soon.
    pending: set[Future[_T]] = set()
    with _Threads(n_threads) as threads:
        for call in calls:
            if len(pending) >= 2 * n_threads:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            pending.add(threads.submit(function, call))
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


class _Threads:
    """Threads that make calls, until the block ends.

    Unlike those of `concurrent.futures`, they are told to stop if the block ends early, and Python does not wait for
    one that does not hear it: nobody could end such a program with Ctrl-C.
    """

    def __init__(self, n_threads: int) -> None:
        self.stop = _kernel.Stop()
        self.inbox: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = (
            SimpleQueue()
        )
        self.n_threads = n_threads
        # Started as calls come in. Each sets its event at its end: Ctrl-C may come while a thread is being started,
        # and Python does not join a thread that it does not know to be running yet.
        self.threads: dict[threading.Thread, threading.Event] = {}

    def __enter__(self) -> _Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop.set()
            while not self.inbox.empty():
                self.inbox.get()
        for _ in self.threads:
            self.inbox.put(None)
        until = time.monotonic() + PATIENCE
        for thread, ended in self.threads.items():
            left = None if kind is None else max(until - time.monotonic(), 0)
            if ended.wait(left):
                thread.join(left)

    def submit(self, function: Callable[..., _T], call: tuple[Any, ...]) -> Future[_T]:
        """The future result of a call, which one of the threads makes."""
        future: Future[_T] = Future()
        self.inbox.put((future, function, call))
        if len(self.threads) < self.n_threads:
            self._start_thread()
        return future

    def _start_thread(self) -> None:
        ended = threading.Event()
        thread = threading.Thread(target=self._work, args=(ended,), name=_NAME, daemon=True)
        self.threads[thread] = ended
        try:
            thread.start()
        except RuntimeError:  # the system allows no more threads
            del self.threads[thread]
            if not self.threads:
                raise
            self.n_threads = len(self.threads)

    def _work(self, ended: threading.Event) -> None:
        self.stop.obey()
        for future, function, call in iter(self.inbox.get, None):
            try:
                future.set_result(function(*call))
            except BaseException as error:
                future.set_exception(error)
            del future, function, call  # while it waits, it keeps nothing alive
        ended.set()
