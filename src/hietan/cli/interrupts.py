"""Two Ctrl-C at most end any command.

The first raises KeyboardInterrupt, and the command ends in order. The second ends the process at once, even while it is
in compiled code that hears nothing, or waits for a thread that does not end.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTED = 130
_MOMENT = 0.7  # seconds: a command that ends as fast says only how it ended


@contextmanager
def ending_on_second_interrupt() -> Iterator[None]:
    """End the process on the second Ctrl-C within the block, and after it; the first raises KeyboardInterrupt."""
    signalled, heard = socket.socketpair()
    heard.setblocking(False)
    # Python writes the number of each signal there as it arrives, whatever the main thread is doing.
    signal.set_wakeup_fd(heard.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(signalled, heard), name="hietan-interrupts", daemon=True).start()
    interrupt = _FirstInterrupt()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # or else interrupts are ignored
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        _write("interrupted\n")
        _finish()
        raise SystemExit(INTERRUPTED) from None
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _finish()
        raise
    finally:
        interrupt.raises = False  # what is left to do is to end


class _FirstInterrupt:
    """A handler that raises KeyboardInterrupt once: an exception while that is handled would end in a traceback."""

    def __init__(self) -> None:
        self.raises = True

    def __call__(self, number: int, frame: Any) -> None:
        if self.raises:
            self.raises = False
            raise KeyboardInterrupt


def _listen(signalled: socket.socket, heard: socket.socket) -> None:
    """Wait for two interrupts; `heard` is kept open."""
    interrupts = 0
    while interrupts < 2:
        signalled.settimeout(_MOMENT if interrupts else None)
        try:
            interrupts += signalled.recv(64).count(signal.SIGINT)
        except TimeoutError:
            _write("stopping; press Ctrl-C again to end at once\n")
            signalled.settimeout(None)
            while not signalled.recv(64).count(signal.SIGINT):
                pass
            break
    _write("interrupted; ended at once\n")
    _end_now()


def _finish() -> None:
    """Do not wait for threads that have not stopped."""
    from hietan._runtime.parallel import threads_left_behind

    if threads_left_behind():
        _end_now()


def _end_now() -> None:
    """End the process without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(INTERRUPTED)


def _write(line: str) -> None:
    with suppress(OSError):
        os.write(2, line.encode())
