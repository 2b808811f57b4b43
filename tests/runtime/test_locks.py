"""Locks on files, where the system has `fcntl`, where it has `msvcrt` instead, and where it has neither."""

import errno
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hietan._io import TEMPORARY, atomic_write, files, remove_leftovers, replacing
from hietan._runtime import locks
from hietan._runtime.locks import lock_file
from hietan.evaluation.study.journal import locked
from hietan.exceptions import StudyError


class FakeMsvcrt(SimpleNamespace):
    """Locks the byte at the current position, as the module of Windows does: a second descriptor is refused."""

    LK_LOCK, LK_NBLCK = 1, 2

    def __init__(self, code=errno.EACCES):
        super().__init__(owners={}, calls=[], code=code)

    def locking(self, file, mode, n_bytes):
        key = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR))
        self.calls.append((mode, n_bytes, key[1]))
        owner = self.owners.get(key)
        if owner is not None and owner != file and _is_open(owner, key[0]):
            raise OSError(self.code, "locked")
        self.owners[key] = file


def _is_open(file, inode):
    try:
        return os.fstat(file).st_ino == inode
    except OSError:
        return False


@pytest.fixture
def windows(monkeypatch):
    """A system without `fcntl`, where open files can be neither renamed nor removed."""
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(files, "MOVES_OPEN_FILES", False)
    monkeypatch.setattr(files, "_swept", set())
    replace, unlink = os.replace, Path.unlink

    def refusing(act):
        def checked(path, *more, **options):
            if str(Path(path).resolve()) in open_files():
                raise PermissionError(errno.EACCES, "the file is open", str(path))
            return act(path, *more, **options)

        return checked

    monkeypatch.setattr(os, "replace", refusing(replace))
    monkeypatch.setattr(Path, "unlink", refusing(unlink))
    return fake


def open_files():
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            found.add(os.readlink(link))
        except OSError:
            continue
    return found


has_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are looked up in /proc")


def open_twice(path):
    path.touch()
    return [os.open(path, os.O_RDWR) for _ in range(2)]


def close(files):
    for file in files:
        os.close(file)


@pytest.mark.parametrize("system", ["this one", "windows"])
def test_a_second_lock_is_refused_until_the_first_ends(system, request, tmp_path):
    if system == "windows":
        request.getfixturevalue("windows")
    first, second = open_twice(tmp_path / "file")
    assert lock_file(first)
    with pytest.raises(BlockingIOError):
        lock_file(second)
    os.close(first)
    assert lock_file(second)
    os.close(second)


def test_the_locked_byte_is_beyond_every_file_and_the_position_stays(windows, tmp_path):
    first, second = open_twice(tmp_path / "file")
    os.write(first, b"text")
    lock_file(first, wait=True)
    assert windows.calls == [(windows.LK_LOCK, 1, 2**31 - 2)]
    assert os.lseek(first, 0, os.SEEK_CUR) == 4
    close([first, second])


def test_other_errors_of_the_system_are_passed_on(monkeypatch, windows, tmp_path):
    first, second = open_twice(tmp_path / "file")
    windows.code = errno.EIO
    lock_file(first)
    with pytest.raises(OSError, match="locked") as caught:
        lock_file(second)
    assert caught.value.errno == errno.EIO and not isinstance(caught.value, BlockingIOError)
    close([first, second])


def test_without_any_locks_nobody_is_kept_out(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with locked(tmp_path), locked(tmp_path), open(tmp_path / ".lock", "r+") as file:
        assert not lock_file(file.fileno())


@pytest.mark.parametrize("system", ["this one", "windows"])
def test_a_study_is_written_by_one_run_at_a_time(system, request, tmp_path):
    if system == "windows":
        request.getfixturevalue("windows")
    with locked(tmp_path), pytest.raises(StudyError, match="another run is writing to"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


@has_proc
def test_files_are_written_where_open_ones_cannot_be_moved(windows, tmp_path):
    path = tmp_path / "file.txt"
    atomic_write(path, "old")
    atomic_write(path, "new")
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["file.txt"]
    with pytest.raises(UnicodeEncodeError):
        atomic_write(path, "half\ud800")
    with pytest.raises(FileNotFoundError), replacing(path):
        pass  # nothing is written
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["file.txt"]


@has_proc
def test_what_is_being_written_there_is_left_and_what_was_left_is_removed(windows, tmp_path):
    left = tmp_path / f"{TEMPORARY}1-{files._host()}-0"
    left.write_text("of a killed process")
    with replacing(tmp_path / "file.txt") as temporary:
        temporary.write_text("whole")
        remove_leftovers(tmp_path)
        assert temporary.exists() and not left.exists()
    assert os.listdir(tmp_path) == ["file.txt"]


def test_this_system_moves_open_files():
    assert locks.MOVES_OPEN_FILES == (os.name != "nt")
