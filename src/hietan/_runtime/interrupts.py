"""Ctrl-C: whether it was pressed, whoever took the exception; and processes that end with the one that started them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

_SECONDS_BETWEEN_LOOKS = 0.5


@contextmanager
def noting_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed within the block, even if the exception was swallowed.

    Signals are handled in the main thread; in any other, the answer is always no.
    """
    pressed = threading.Event()
    handler: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield pressed.is_set
        return

    def note(number: int, frame: Any) -> None:
        pressed.set()
        handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, handler)


class EndsWithCaller:
    """A function to be called in another process, which then ends when the process that made this object does.

    It also ignores Ctrl-C, which a terminal sends to all its processes: the caller decides what ends.

    Parameters
    ----------
    function : callable
        The function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.caller = os.getpid()

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if os.getpid() != self.caller:
            _end_with(self.caller)
        return self.function(*arguments)


@lru_cache(maxsize=1)
def _end_with(parent: int) -> None:
    """Have this process end soon after its parent does, even in the middle of a call; once is enough."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
