"""Work that several jobs would do alike is done once, by whichever of them comes first.

Whoever runs jobs says which of them have work in common, ``with sharing(label): ...``, and knows nothing of the work.
Whoever does the work wraps it, ``once(key, compute, n_bytes)``, and knows nothing of jobs. The key stands for all that
the result depends on, so a job gets the same result whether or not another has computed it. Outside of `sharing`,
`once` just computes.

A process keeps the work of one label, the latest, and at most `MOST_BYTES` of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 1 << 27
"""What a process keeps of the work of its jobs, at most."""

_T = TypeVar("_T")


class _Result:
    """The result of a piece of work, once it is there."""

    def __init__(self) -> None:
        self.lock = RLock()  # held by the thread that computes; others wait for it
        self.is_there = False
        self.value: Any = None
        self.seconds = 0.0  # how long it took


class _Results:
    """The results that jobs with the same label share."""

    def __init__(self, label: Hashable) -> None:
        self.label = label
        self.lock = Lock()
        self.by_key: dict[Hashable, _Result] = {}
        self.n_bytes = 0

    def result(self, key: Hashable, n_bytes: int) -> _Result | None:
        """The place of a result; None if there is no room for it."""
        with self.lock:
            found = self.by_key.get(key)
            if found is None and self.n_bytes + n_bytes <= MOST_BYTES:
                found = self.by_key[key] = _Result()
                self.n_bytes += n_bytes
            return found


class Arrays:
    """Copies of arrays, as a part of a key: equal if they have the same types, shapes and elements."""

    def __init__(self, arrays: Iterable[NDArray[Any] | None]) -> None:
        self.arrays = [None if array is None else array.copy() for array in arrays]
        self.kinds = tuple(None if array is None else (array.dtype.str, array.shape) for array in self.arrays)

    def __hash__(self) -> int:
        return hash(self.kinds)  # comparing a few arrays takes less time than hashing one

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arrays) or self.kinds != other.kinds:
            return False
        pairs = zip(self.arrays, other.arrays, strict=True)
        return all(a is None or b is None or np.array_equal(a, b) for a, b in pairs)


class Sharing:
    """What a job takes from others.

    Attributes
    ----------
    seconds : float
        How much longer the job would have taken by itself: the time that others spent on results that it took from
        them, less the time that it waited for these. What it uses several times, it would still compute once.
    """

    def __init__(self, results: _Results) -> None:
        self.results = results
        self.process = os.getpid()
        self.seconds = 0.0
        self.counted: set[Hashable] = set()  # what `seconds` has already

    def is_first(self, what: Hashable) -> bool:
        """Whether the job has not used something before."""
        first = what not in self.counted
        self.counted.add(what)
        return first

    def clock(self) -> float:
        """The time in seconds, as if the job had done by itself what it took from others."""
        return time.perf_counter() + self.seconds


_sharing: ContextVar[Sharing | None] = ContextVar("hietan_sharing", default=None)
# Not guarded by a lock: of two threads that begin at the same time, one may share with nobody, which does no harm.
_latest: _Results | None = None


@contextmanager
def sharing(label: Hashable) -> Iterator[Sharing]:
    """Share work with other jobs of this process that have the same label, while the block runs, in this thread.

    Results with another label are dropped; jobs that still use them keep them.
    """
    global _latest
    results = _latest
    if results is None or results.label != label:
        results = _latest = _Results(label)
    token = _sharing.set(own := Sharing(results))
    try:
        yield own
    finally:
        _sharing.reset(token)


@contextmanager
def forgetting_shared_work() -> Iterator[None]:
    """Drop all results of this process after the block, when no job follows that could use them."""
    global _latest
    try:
        yield
    finally:
        _latest = None


def once(key: Callable[[], Hashable], compute: Callable[[], _T], n_bytes: int) -> _T:
    """The result of a piece of work, which another job may have done already.

    Parameters
    ----------
    key : callable
        Returns all that the result depends on. It is called only where the result may be shared.
    compute : callable
        Does the work, without a call of `once`. The result must not be changed by anybody afterwards.
    n_bytes : int
        About how large the result is.
    """
    own = _sharing.get()
    # A process that was forked while a thread held a lock would wait for it forever.
    if own is None or own.process != os.getpid() or n_bytes > MOST_BYTES:
        return compute()
    start = time.perf_counter()
    result = own.results.result(key(), n_bytes)
    if result is None:
        return compute()
    with result.lock:
        if not result.is_there:  # if another thread has tried and failed, this one tries again
            begun = time.perf_counter()
            result.value = compute()
            result.seconds = time.perf_counter() - begun
            result.is_there = True
    if own.is_first(result):
        own.seconds += result.seconds - (time.perf_counter() - start)
    value: _T = result.value
    return value


def count_seconds(what: Hashable, seconds: Callable[[], float]) -> None:
    """Count for this job what others have spent so far on something that goes on being computed while it is used.

    Parameters
    ----------
    what : hashable
        What the job uses; only its first use counts.
    seconds : callable
        Returns the time that was spent on it before. It is called only where work is shared.
    """
    own = _sharing.get()
    if own is not None and own.is_first(what):
        own.seconds += seconds()
