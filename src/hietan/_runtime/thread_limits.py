"""One thread for each job: sums of floats must not depend on how many cores happen to be free."""

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
    """The pools of threads in the libraries that are loaded."""
    return _pools(len(sys.modules))


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> Any:
    # Looking for libraries takes longer than many a job; new ones come with new modules.
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the pools of BLAS and OpenMP at one thread while a job runs, in whichever thread of a process it does.

    OpenMP's limit is that of the calling thread, BLAS's the whole process's. Were each job to set and restore that
    one, the first to end would lift it while others run. So the first to begin sets it, and the last one restores it.
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
    that came first override those that the jobs set in their threads. And it counts as a job, so that the limit on BLAS
    is set once and not set and restored in every gap between two jobs.
    """
    with thread_pools().limit(limits=1), one_thread():
        yield


class _ProcessLimit:
    """One thread for BLAS, from the first job that enters to the last one that leaves.

    The limit is set and restored by a thread of its own, since threadpoolctl listens to the thread that came first.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.jobs = 0
        self.limited: Any = None
        self.inbox: SimpleQueue[tuple[Any, Event] | None] = SimpleQueue()
        self.holder: Thread | None = None

    def enter(self, pools: Any) -> None:
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
        with self.lock:
            self.jobs -= 1
            if not self.jobs and self.holder is not None:
                self.inbox.put(None)
                self.holder.join()
                self.holder = self.limited = None

    def _hold(self) -> None:
        with ExitStack() as limits:
            for pools, done in iter(self.inbox.get, None):
                try:
                    limits.enter_context(pools.limit(limits=1, user_api="blas"))
                finally:
                    done.set()


_blas = _ProcessLimit()
