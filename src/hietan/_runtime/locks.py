"""Locks on open files, by what the system has: `fcntl`, or `msvcrt` on Windows. They end with the process."""

from __future__ import annotations

import errno
import os
from importlib import import_module

MOVES_OPEN_FILES = os.name != "nt"
"""Whether a file can be renamed and removed while it is open."""
# On Windows, what is locked cannot be written by anybody else: so the locked byte is one that no file of ours reaches.
# The C library counts positions for locks in 31 bits.
_LOCKED_BYTE = 2**31 - 2


def lock_file(file: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process; the lock ends when the file is closed, or the process ends in any way.

    Parameters
    ----------
    file : int
        The descriptor of the file, which is open for writing.
    wait : bool
        Whether to wait for another process that has locked it.

    Returns
    -------
    bool
        True if the file is locked now; False if this system has no locks.

    Raises
    ------
    BlockingIOError
        If another process has locked the file.
    OSError
        If the file system cannot lock files.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        return _lock_byte(file, wait)
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    return True


def _lock_byte(file: int, wait: bool) -> bool:
    try:
        msvcrt = import_module("msvcrt")
    except ModuleNotFoundError:
        return False
    position = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EDEADLK, errno.EAGAIN):
            raise BlockingIOError(errno.EAGAIN, "another process has locked the file") from None
        raise
    finally:
        os.lseek(file, position, os.SEEK_SET)
    return True
