"""One way to run many jobs: the same function over chunks of rows, in threads where more than one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from hietan._runtime.warning_filters import steady_warnings

_T = TypeVar("_T")

# Rows of one chunk at most; a multiple of the 64 rows that the kernel handles together.
MAX_CHUNK_ROWS = 4096


def map_chunks(
    function: Callable[[int, int], _T], n_rows: int, n_jobs: int | None, *, chunks_per_job: int = 4
) -> list[_T]:
    """Call `function(start, stop)` for chunks that cover the rows, and return the results in order.

    Several chunks for each thread even out that some finish sooner than others; one is better where each chunk
    costs something of its own. The functions release the GIL; `n_jobs` is joblib's, and threads are used whatever
    its backend for processes.
    """
    jobs = effective_n_jobs(n_jobs)
    size = MAX_CHUNK_ROWS
    if jobs > 1:
        size = min(size, max(64, -(-n_rows // (chunks_per_job * jobs * 64)) * 64))
    chunks = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if jobs == 1 or len(chunks) == 1:
        return [function(start, stop) for start, stop in chunks]
    results: list[_T] = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(*c) for c in chunks)
    return results


def run_unordered(
    function: Callable[..., _T], calls: Iterable[tuple[Any, ...]], n_jobs: int | None, backend: str
) -> Iterator[_T]:
    """Call `function` with each tuple of arguments, and yield the results in the order in which they come.

    `backend` is "threads" or one of joblib's. Whoever stops listening, by an error or by Ctrl-C, waits for the calls
    under way: a thread that is still in the kernel while Python shuts down would abort the process.
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
