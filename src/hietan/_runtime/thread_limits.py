"""One thread for each job: sums of floats must not depend on how many cores happen to be available."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from threadpoolctl import ThreadpoolController


def thread_pools() -> Any:
    """The controller of the thread pools in the libraries that are loaded (BLAS, OpenMP)."""
    return _pools(len(sys.modules))


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> Any:
    # Searching for libraries takes longer than many jobs do, and new libraries appear only with new modules.
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP at one thread while a job runs, in any thread of a process.

    The limit of OpenMP holds for the calling thread, but that of BLAS for the whole process. If each job set and
    restored the latter, the first job to end would lift it while others still run. So the first job to begin sets it,
    and the last one to end restores it.
    """
    pools = thread_pools()
    _blas.enter(pools)
    try:
        with pools.limit(limits=1, user_api="openmp"):
            yield
    finally:
        _blas.leave()


@contextmanager
def one_thread_for_all_jobs() -> Iterator[None]:
    """Hold the limit of `one_thread` from the first of many jobs to the last.

    Two limits are needed. The calling thread limits its own pools, because threadpoolctl lets the limits of the thread
    that came first override those that the jobs set in their threads. It also counts as a job, so that the limit on
    BLAS is set only once, not set and restored around every job.
    """
    with thread_pools().limit(limits=1), one_thread():
        yield


class _ProcessLimit:
    """One thread for BLAS, from the first job that enters to the last one that leaves.

    Jobs enter and leave in any order and in any thread, but threadpoolctl lets a single thread control OpenBLAS: the
    first that sets a limit, for as long as it lives; it ignores all others, even one that only restores. So a dedicated
    thread, the holder, sets the limit when the first job enters, waits, and restores it when the last job leaves. If
    libraries were loaded between two jobs, the holder adds their limits to those that it keeps.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.jobs = 0
        self.limited: Any = None
        self.inbox: SimpleQueue[tuple[Any, Event] | None] = SimpleQueue()
        self.holder: Thread | None = None

    def enter(self, pools: Any) -> None:
        """Begin a job; on return, the pools have one thread each."""
        with self.lock:
            if self.holder is None:
                self.holder = Thread(target=self._hold, name="hietan-one-thread", daemon=True)
                self.holder.start()
            if self.limited is not pools:
                done = Event()
                self.inbox.put((pools, done))
                done.wait()
                self.limited = pools
            self.jobs += 1

    def leave(self) -> None:
        """End a job; with the last one, the limits are restored."""
        with self.lock:
            self.jobs -= 1
            if not self.jobs and self.holder is not None:
                self.inbox.put(None)
                self.holder.join()
                self.holder = self.limited = None

    def _hold(self) -> None:
        """Set the limits that arrive, until None arrives; then all of them are restored, the last one first."""
        with ExitStack() as limits:
            for pools, done in iter(self.inbox.get, None):
                try:
                    limits.enter_context(pools.limit(limits=1, user_api="blas"))
                finally:
                    done.set()


_blas = _ProcessLimit()
