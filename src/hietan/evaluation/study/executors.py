"""Many calls on an executor of `concurrent.futures`: a pool of threads or processes, loky, MPI, a Dask client's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from itertools import islice
from typing import Any, TypeVar

from hietan.exceptions import StudyError

AHEAD = 100
"""How many calls an executor has at a time, unless `n_jobs` says otherwise: nobody knows how many workers it has."""
LOOK_SECONDS = 0.2  # how often a Ctrl-C is looked for while no call ends

_T = TypeVar("_T")
Call = tuple[Any, ...]


def check_executor(executor: Any) -> None:
    """Refuse what cannot run calls."""
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor or another object with submit(), got "
            f"{type(executor).__name__}"
        )


def run_on_executor(
    executor: Executor,
    function: Callable[..., _T],
    calls: Iterable[Call],
    failed: Callable[[Call, str], _T],
    ahead: int = AHEAD,
) -> Generator[_T]:
    """Call a function with each tuple of arguments, and yield the results in the order in which the calls finish.

    Parameters
    ----------
    executor : Executor
        Where the calls are made; it is not shut down.
    function : callable
        The function; it must not raise.
    calls : iterable of tuple
        The arguments of each call; they are taken as they are needed.
    failed : callable
        Called as ``failed(call, error)`` for a call that cannot be sent or whose result cannot be received; it gives
        the result.
    ahead : int
        How many calls the executor has at a time.

    Raises
    ------
    StudyError
        If the executor has broken down or was shut down.

    Notes
    -----
    If the consumer stops early, calls that have not begun are cancelled. Those under way cannot be.
    """
    waiting = iter(calls)
    running: dict[Future[_T], Call] = {}
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


def _result_of(future: Future[_T], call: Call, failed: Callable[[Call, str], _T]) -> _T:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _broken(error) from error
    except (
        Exception
    ) as error:  # the function does not raise: the call could not be sent, or its result not received
        return failed(call, " ".join(f"{type(error).__name__}: {error}".split()))


def _broken(error: BaseException) -> StudyError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return StudyError(
        f"the executor takes no more jobs ({reason}); finished jobs are kept if the study has an output directory, "
        f"and the same call with a new executor resumes it"
    )
