"""Calls that may hang: each runs in another process, which is killed when its time is up.

A thread cannot be ended from outside, so a limit needs processes. There is one for each thread that waits for results;
it is used for one call after another, and replaced after a call that it did not survive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor
from typing import Any, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

from hietan._runtime.parallel import run_unordered

_T = TypeVar("_T")


def run_limited(
    function: Callable[..., _T],
    calls: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    seconds: float,
    failed: Callable[[tuple[Any, ...], str], _T],
) -> Generator[_T]:
    """Call a function with each tuple of arguments, and yield the results in the order in which the calls finish.

    Parameters
    ----------
    function : callable
        The function; it must not raise.
    calls : iterable of tuple
        The arguments of each call; they are taken as they are needed.
    n_jobs : int or None
        The number of calls at a time, in the sense of joblib.
    seconds : float
        How long a call may take. Starting a process and its imports do not count, but sending the arguments does.
    failed : callable
        Called as ``failed(call, error)`` for a call that took too long, or whose process died; it gives the result.

    Notes
    -----
    If the consumer stops early, running calls are waited for, as in `run_unordered`, but not longer than `seconds`.
    """
    processes = _Processes()

    def run(*call: Any) -> _T:
        try:
            result: _T = processes.mine(call).submit(function, *call).result(timeout=seconds)
            return result
        except TimeoutError:
            processes.kill_mine()
            return failed(call, f"TimeoutError: the job took longer than {seconds:g} s and was ended")
        except BrokenExecutor:
            processes.kill_mine()
            if processes.closed:
                raise
            return failed(call, "BrokenProcessPool: the process of the job died")

    try:
        yield from run_unordered(run, calls, n_jobs, "threads")
    finally:
        processes.close()


class _Processes:
    """A process for each thread."""

    def __init__(self) -> None:
        self.of_thread: dict[int, ProcessPoolExecutor] = {}
        self.lock = threading.Lock()
        self.closed = False

    def mine(self, call: tuple[Any, ...]) -> ProcessPoolExecutor:
        """The process of this thread, which has imported whatever a call like this needs."""
        me = threading.get_ident()
        if me not in self.of_thread:
            executor = ProcessPoolExecutor(max_workers=1)
            with self.lock:
                self.of_thread[me] = executor
            executor.submit(_get_ready, *call).result()
        return self.of_thread[me]

    def kill_mine(self) -> None:
        """End the process of this thread, and whatever it has started."""
        with self.lock:
            executor = self.of_thread.pop(threading.get_ident(), None)
        if executor is not None:
            executor.shutdown(kill_workers=True)

    def close(self) -> None:
        """End all processes."""
        self.closed = True
        with self.lock:
            executors = list(self.of_thread.values())
            self.of_thread.clear()
        for executor in executors:
            executor.shutdown(kill_workers=True)


def _get_ready(*call: Any) -> None:
    """Do nothing: where the arguments have arrived, their modules have been imported."""
