"""One way to run many jobs: `map_chunks` over chunks of rows, `run_ordered` and `run_unordered` over any calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from hietan._runtime.warning_filters import steady_warnings

_T = TypeVar("_T")

MAX_CHUNK_ROWS = 4096
"""The largest number of rows in a chunk; a multiple of the 64 rows that the kernel handles together."""


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
    results: list[_T] = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(*c) for c in calls)
    return results


def run_unordered(
    function: Callable[..., _T], calls: Iterable[tuple[Any, ...]], n_jobs: int | None, backend: str
) -> Iterator[_T]:
    """Call a function with each tuple of arguments, and yield the results in the order in which the calls finish.

    If the consumer stops early, because of an error or Ctrl-C, running calls are waited for and pending ones are
    cancelled: a thread that is still in the kernel while Python shuts down would abort the process.

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
        tasks = (delayed(function)(*call) for call in calls)
        yield from Parallel(n_jobs=n_jobs, backend=backend, return_as="generator_unordered")(tasks)
    else:
        yield from _run_in_threads(function, calls, jobs)


def _run_in_threads(
    function: Callable[..., _T], calls: Iterable[tuple[Any, ...]], n_threads: int
) -> Iterator[_T]:
    # Two calls per thread are submitted: enough that no thread waits, and few enough to stop soon.
    pending: set[Future[_T]] = set()
    with steady_warnings(), ThreadPoolExecutor(n_threads) as pool:
        try:
            for call in calls:
                if len(pending) >= 2 * n_threads:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
                pending.add(pool.submit(function, *call))
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in pending:
                future.cancel()
