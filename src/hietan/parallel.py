"""One way to run many jobs: the same function over chunks of rows, in threads where more than one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

_T = TypeVar("_T")

# Rows of one chunk at most; a multiple of the 64 rows that the kernel handles together.
MAX_CHUNK_ROWS = 4096


def map_chunks(function: Callable[[int, int], _T], n_rows: int, n_jobs: int | None) -> list[_T]:
    """Call `function(start, stop)` for chunks that cover the rows, and return the results in order.

    The functions release the GIL; `n_jobs` is joblib's, threads are used whatever its backend for processes.
    """
    jobs = effective_n_jobs(n_jobs)
    size = MAX_CHUNK_ROWS
    if jobs > 1:  # some chunks for each thread, as some finish sooner than others
        size = min(size, max(64, -(-n_rows // (4 * jobs * 64)) * 64))
    chunks = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if jobs == 1 or len(chunks) == 1:
        return [function(start, stop) for start, stop in chunks]
    results: list[_T] = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(*c) for c in chunks)
    return results
