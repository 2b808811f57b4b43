"""Run functions in threads, over chunks of rows (`map_chunks`) or lists of arguments (`run_ordered`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from hietan import _kernel

_T = TypeVar("_T")

MAX_CHUNK_ROWS = 4096
"""The largest number of rows in a chunk, a multiple of 64 because the kernel handles 64 rows together."""

MAX_JOBS = 4096
"""The largest accepted value of `n_jobs`."""


def map_chunks(
    function: Callable[[int, int], _T], n_rows: int, n_jobs: int | None, *, chunks_per_job: int = 4
) -> list[_T]:
    """Call a function in threads for each chunk of rows, and return the results in order.

    Parameters
    ----------
    function : callable
        The function, called as ``function(start, stop)``; it should release the GIL.
    n_rows : int
        The number of rows.
    n_jobs : int or None
        The number of threads, as in joblib.
    chunks_per_job : int
        The number of chunks for each thread. Several chunks balance the load; one chunk is better if each has a fixed
        cost.

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
    """Call a function in threads with each tuple of arguments, and return the results in call order.

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
    n_threads = int(min(effective_n_jobs(n_jobs), len(calls)))
    if n_threads <= 1:
        return [function(*call) for call in calls]
    with stoppable_threads(n_threads) as threads:
        futures = [threads.submit(function, *call) for call in calls]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()  # an error does not wait for the calls before it
        return [future.result() for future in futures]


@contextmanager
def stoppable_threads(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a thread pool. After an error or Ctrl-C, kernel calls in its threads stop immediately.

    Other calls are not awaited, because a thread cannot be ended from outside.
    """
    stop = _kernel.Stop()
    threads = ThreadPoolExecutor(n_threads, "hietan", stop.obey)
    try:
        yield threads
    except BaseException:
        stop.set()
        threads.shutdown(wait=False, cancel_futures=True)
        raise
    threads.shutdown()


def number_of_parts(n_jobs: int | None, *, per_job: int = 4) -> int:
    """Return the number of parts into which to split work for `n_jobs` threads.

    Parameters
    ----------
    n_jobs : int or None
        The number of threads, as in joblib.
    per_job : int
        The number of parts for each thread, unless there is one thread only. A part may have a fixed cost.
    """
    jobs = effective_n_jobs(n_jobs)
    return 1 if jobs == 1 else per_job * jobs


# ------------------------------------------------------------------ one thread for BLAS and OpenMP

_lock = Lock()
_n_limiting = 0
_blas_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, so that sums of floats do not depend on the number of cores.

    OpenMP's limit applies to the calling thread, but BLAS's to the whole process. So the first of several
    blocks in different threads limits BLAS, and the last one restores it.
    """
    global _n_limiting, _blas_limit
    pools = _pools(len(sys.modules))
    with _lock:
        if not _n_limiting:
            _blas_limit = pools.limit(limits=1, user_api="blas")
        _n_limiting += 1
    try:
        with pools.limit(limits=1, user_api="openmp"):
            yield
    finally:
        with _lock:
            _n_limiting -= 1
            if not _n_limiting:
                _blas_limit.restore_original_limits()


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> ThreadpoolController:
    # Searching for libraries takes longer than many jobs do, and new libraries appear only with new modules.
    return ThreadpoolController()
