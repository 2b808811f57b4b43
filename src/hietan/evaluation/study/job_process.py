"""Calls in a process of their own, which can be ended at any moment, whatever they do.

The process reads calls from its standard input and answers on its standard output. It ends when its input does: then
whoever started it is gone, however that came about, and nobody waits for an answer. It is the leader of a session of
its own, so that Ctrl-C in a terminal does not reach it, and so that whatever a call has started ends with it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from joblib.externals.loky.backend.reduction import dumps  # also what a script defines can be sent

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = 8  # bytes that say how long a message is


class ProcessDied(Exception):
    """The process of a call died, or was ended."""


class JobProcess:
    """A process that makes one call after another."""

    def __init__(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        Thread(target=_receive, args=(self._process.stdout, self._answers), daemon=True).start()

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float | None) -> Any:
        """The result of a call.

        Parameters
        ----------
        function : callable
            The function; it must not raise.
        arguments : tuple
            Its arguments.
        seconds : float or None
            How long to wait for the result. TimeoutError is raised after that, and the process should be ended.
        """
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, dumps((function, arguments)))
            answer = self._answers.get(timeout=seconds)
        except Empty:
            raise TimeoutError(f"there is no result after {seconds:g} s") from None
        except OSError:  # nobody reads what is sent
            answer = None
        if answer is None:
            raise ProcessDied
        return pickle.loads(answer)

    def end(self) -> None:
        """End the process, and whatever it has started."""
        _kill_session(self._process.pid)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent yet
                if stream is not None:
                    stream.close()


def serve() -> None:
    """Make the calls that arrive, until the process is ended; this is all that a process of a call does."""
    answers = os.fdopen(os.dup(1), "wb")
    calls = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what a call prints must not be taken for an answer
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    inbox: SimpleQueue[bytes | None] = SimpleQueue()
    Thread(target=_receive, args=(calls, inbox, _end_with_all), daemon=True).start()
    for packed in iter(inbox.get, None):
        function, arguments = pickle.loads(packed)
        _send(answers, dumps(function(*arguments)))


def _end_with_all() -> None:
    _kill_session(os.getpid())
    os._exit(1)


def _kill_session(leader: int) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def _send(file: IO[bytes], message: Any) -> None:
    file.write(len(message).to_bytes(_LENGTH, "little"))
    file.write(message)
    file.flush()


def _receive(
    file: IO[bytes], inbox: SimpleQueue[bytes | None], at_end: Callable[[], None] | None = None
) -> None:
    """Put the messages of a file into a queue; at its end None, after which nothing arrives."""
    with suppress(OSError, ValueError):  # ValueError: the file was closed in the meantime
        while len(head := file.read(_LENGTH)) == _LENGTH:
            length = int.from_bytes(head, "little")
            message = file.read(length)
            if len(message) < length:
                break
            inbox.put(message)
    if at_end is not None:
        at_end()
    inbox.put(None)
