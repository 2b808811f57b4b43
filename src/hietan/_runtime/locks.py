"""A lock on an open file, which ends with the process."""

from __future__ import annotations

from importlib import import_module


def lock_file(file: int) -> None:
    """Lock an open file until it is closed or the process ends; raise BlockingIOError if another process holds it."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        msvcrt = import_module("msvcrt")
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
