"""Calls that may hang: each runs in another process, which is killed when its time is up.

A thread cannot be ended from outside, so a limit needs processes. There is one for each thread that waits for results;
it is used for one call after another, and replaced after a call that it did not survive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from hietan._runtime.parallel import run_unordered
from hietan.evaluation.study.job_process import JobProcess, ProcessDied

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
    If the consumer stops early, the processes of running calls are ended.
    """
    processes = Processes()
    try:
        yield from run_unordered(
            lambda *call: processes.run(function, call, seconds, failed), calls, n_jobs, "threads"
        )
    finally:
        processes.close()


class Processes:
    """A process for each thread that makes calls."""

    def __init__(self) -> None:
        self._of_thread: dict[int, JobProcess] = {}
        self._lock = threading.Lock()
        self._closed = False

    def run(
        self,
        function: Callable[..., _T],
        call: tuple[Any, ...],
        seconds: float,
        failed: Callable[[tuple[Any, ...], str], _T],
    ) -> _T:
        """The result of a call in the process of this thread; see `run_limited`."""
        try:
            result: _T = self._mine(call).call(function, call, seconds)
            return result
        except TimeoutError:
            self._end_mine()
            return failed(call, f"TimeoutError: the job took longer than {seconds:g} s and was ended")
        except ProcessDied:
            self._end_mine()
            if self._closed:
                raise
            return failed(call, "BrokenProcessPool: the process of the job died")

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
            processes = list(self._of_thread.values())
            self._of_thread.clear()
        for process in processes:
            process.end()

    def _mine(self, call: tuple[Any, ...]) -> JobProcess:
        """The process of this thread, which has imported whatever a call like this needs."""
        me = threading.get_ident()
        if me not in self._of_thread:
            with self._lock:
                if self._closed:
                    raise ProcessDied
                process = self._of_thread[me] = JobProcess()
            process.call(_get_ready, call, None)
        return self._of_thread[me]

    def _end_mine(self) -> None:
        with self._lock:
            process = self._of_thread.pop(threading.get_ident(), None)
        if process is not None:
            process.end()


def _get_ready(*call: Any) -> None:
    """Do nothing: where the arguments have arrived, their modules have been imported."""
