"""Files are written whole or not at all, with the same bytes for the same content, under safe names."""

import errno
import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hietan._io import (
    TEMPORARY,
    ArchiveReader,
    atomic_write,
    find_same_but_for_case,
    ignores_case,
    remove_leftovers,
    replacing,
    safe_file_name,
    to_json,
    write_archive,
)

NASTY = [
    "",
    ".",
    "..",
    "../a",
    "a/b",
    "a\\b",
    "a%2Fb",
    "%",
    "a b",
    "a:b",
    "C:\\x",
    "*?<>|\"'",
    "ä",
    "a\u0308",
    "\0",
    "\n",
]


# ------------------------------------------------------------------------------------------ whole or not at all


def test_a_file_is_written_and_its_directories_are_made(tmp_path):
    path = tmp_path / "new" / "directory" / "file.txt"
    atomic_write(path, "text with an ä\n")
    assert path.read_bytes() == b"text with an \xc3\xa4\n"
    atomic_write(path, b"\x00bytes")
    assert path.read_bytes() == b"\x00bytes"
    assert os.listdir(path.parent) == ["file.txt"]


def test_what_killed_processes_leave_is_removed_and_what_is_being_written_is_not(tmp_path):
    below = tmp_path / "jobs"
    below.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"{ended.pid}-0", "summary.csv", f"{ended.pid}-7"):  # the second is how 0.1 named them
        (below / f"{TEMPORARY}{name}").write_text("half")
    (below / "kept.csv").write_text("whole")
    with replacing(below / "file.txt") as temporary:
        temporary.write_text("being written")
        remove_leftovers(tmp_path)
        assert sorted(os.listdir(below)) == sorted([temporary.name, "kept.csv"])
    assert sorted(os.listdir(below)) == ["file.txt", "kept.csv"]


KILLED = """
import os, signal, sys
from pathlib import Path
from hietan._io import replacing

with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def leave_one_behind(directory):
    """Kill a process that is writing; the path of its temporary file."""
    before = set(os.listdir(directory))
    subprocess.run([sys.executable, "-c", KILLED, str(directory / "file.txt")])
    (name,) = set(os.listdir(directory)) - before
    return directory / name


def test_the_next_writer_removes_what_a_killed_one_left_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("hietan._io.files._swept", set())
    left = leave_one_behind(tmp_path)
    others = [f"{TEMPORARY}summary.csv", f"{TEMPORARY}1-0", f"x{left.name}", f"{left.name}x", ".tmp-x"]
    for name in others:
        (tmp_path / name).write_text("somebody else's")
    link, pipe = (left.with_name(f"{left.name}{digit}") for digit in "12")
    link.symlink_to(tmp_path / ".tmp-x")
    os.mkfifo(pipe)
    with replacing(tmp_path / "being-written") as temporary:
        temporary.write_text("whole")
        assert not left.exists()
        monkeypatch.setattr("hietan._io.files._swept", set())
        atomic_write(tmp_path / "new", "text")
        assert temporary.exists()
    assert sorted(os.listdir(tmp_path)) == sorted([*others, link.name, pipe.name, "being-written", "new"])


def test_what_another_machine_writes_is_left_for_a_day(tmp_path, monkeypatch):
    path = tmp_path / f"{TEMPORARY}17-00c0ffee-3"
    path.write_text("being written there")
    for later, is_left in ((0, True), (23 * 3600, True), (25 * 3600, False)):
        monkeypatch.setattr("hietan._io.files._swept", set())
        now = time.time() + later
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda now=now: now)
            atomic_write(tmp_path / "file", "text")
        assert path.exists() == is_left


def test_where_files_cannot_be_locked_they_are_written_and_left(tmp_path, monkeypatch):
    left = leave_one_behind(tmp_path)

    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    monkeypatch.setattr("hietan._io.files._swept", set())
    atomic_write(tmp_path / "file.txt", "")
    remove_leftovers(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([left.name, "file.txt"])


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """As by another process that finds it without a lock."""
    from hietan._io import files

    lock, seen = files._lock, []

    def remove_then_lock(file, *, wait=False):
        if not seen:
            seen.append([(tmp_path / name).unlink() for name in os.listdir(tmp_path)])
        return lock(file, wait=wait)

    monkeypatch.setattr(files, "_lock", remove_then_lock)
    atomic_write(tmp_path / "file.txt", "text")
    assert seen == [[None]] and os.listdir(tmp_path) == ["file.txt"]


def test_the_longest_name_that_a_file_may_have_can_be_written(tmp_path):
    path = tmp_path / ("m" * 255)
    atomic_write(path, "text")
    assert path.read_text() == "text"


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        atomic_write(tmp_path / "folder", "text")
    assert caught.value.filename == str(tmp_path / "folder")
    path = tmp_path / "file.txt"
    with pytest.raises(FileNotFoundError) as lost, replacing(path):
        pass  # nothing was written, so there is nothing to put in its place
    assert lost.value.filename == str(path)
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half():
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            assert os.listdir(tmp_path) != ["file.txt"]
            raise error("no more")

    with pytest.raises(error, match="no more"):
        write_half()
    assert os.listdir(tmp_path) == ["file.txt"]
    assert path.read_text() == "old"


def test_a_failing_archive_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "archive"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_archive(path, {"good": b"1", "bad": None})
    assert os.listdir(tmp_path) == ["archive"]
    assert path.read_text() == "old"


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        atomic_write(path, "\ud800")
    assert os.listdir(tmp_path) == ["file.txt"]
    assert path.read_text() == "old"


def test_a_writer_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file.txt"):
        pass
    assert os.listdir(tmp_path) == []


def test_unfinished_files_are_named_as_such(tmp_path):
    with replacing(tmp_path / "file.txt") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(f"{TEMPORARY}{os.getpid()}-")
        temporary.write_text("new")


def test_a_missing_directory_is_named(tmp_path):
    missing = tmp_path / "no" / "such"
    for write in (
        lambda: write_archive(missing / "file", {}),
        lambda: replacing(missing / "file").__enter__(),
    ):
        with pytest.raises(FileNotFoundError, match="No such file or directory") as caught:
            write()
        assert caught.value.filename == str(missing)
        assert str(caught.value).endswith(f": {str(missing)!r}")
    assert not missing.parent.exists()


def test_two_threads_that_write_the_same_file_at_once(tmp_path):
    """One of them wins, and a reader never sees a mixture."""
    path, both_inside = tmp_path / "file", threading.Barrier(2)
    contents = {letter * 200_000 for letter in ("a", "b")}

    def write(content):
        with replacing(path) as temporary:
            both_inside.wait(60)
            temporary.write_text(content)
            both_inside.wait(60)
        return path.read_text()

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(write, sorted(contents))) <= contents
    assert path.read_text() in contents
    assert os.listdir(tmp_path) == ["file"]


def test_a_reader_beside_many_writers_always_finds_a_whole_file(tmp_path):
    path, contents = tmp_path / "file", [letter * 50_000 for letter in "abcd"]
    atomic_write(path, contents[0])
    stop = time.monotonic() + 0.3

    def write(content):
        while time.monotonic() < stop:
            atomic_write(path, content)

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, content) for content in contents]
        while time.monotonic() < stop:
            assert path.read_text() in contents
        for writer in writers:
            writer.result()
    assert os.listdir(tmp_path) == ["file"]


def test_an_array_just_below_the_limit_of_a_zip_member_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 2**31 // 1000)
    array = np.arange((zipfile.ZIP64_LIMIT - 64) // 8)  # with the header, it is above
    write_archive(tmp_path / "file", {"a.npy": array}, compressed=False)
    with zipfile.ZipFile(tmp_path / "file") as archive, archive.open("a.npy") as member:
        assert np.array_equal(np.load(member), array)


# ------------------------------------------------------------------------------------------ the same bytes


@given(st.dictionaries(st.text("abc./", min_size=1, max_size=6), st.binary(max_size=200), max_size=4))
def test_the_bytes_of_an_archive_depend_on_its_members_alone(tmp_path_factory, members):
    directory = tmp_path_factory.mktemp("archives")
    with pytest.MonkeyPatch.context() as patch:
        for name, now in (("first", 1e9), ("second", 2e9)):
            patch.setattr(time, "time", lambda now=now: now)
            write_archive(directory / name, members)
    assert (directory / "first").read_bytes() == (directory / "second").read_bytes()
    with zipfile.ZipFile(directory / "first") as archive:
        assert archive.namelist() == list(members)
        assert {name: archive.read(name) for name in members} == members
        assert {member.date_time for member in archive.infolist()} <= {(1980, 1, 1, 0, 0, 0)}


def test_json_is_readable_and_ends_with_a_line():
    assert to_json({"ä": [1, None], "b": 0.1}) == '{\n "ä": [\n  1,\n  null\n ],\n "b": 0.1\n}\n'


# ------------------------------------------------------------------------------------------ safe names


def test_nasty_names_stay_different():
    assert len({safe_file_name(name) for name in NASTY}) == len(NASTY)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("a%2Fb")
@example("..")
def test_a_name_can_be_recovered_so_no_two_become_one(name):
    safe = safe_file_name(name)
    assert unquote(safe) == name
    assert re.fullmatch(r"[A-Za-z0-9_.~=,+ %-]*", safe)


@pytest.mark.parametrize("name", [".", "..", "..."])
def test_names_of_dots_are_not_those_of_directories(tmp_path, name):
    (tmp_path / "inner").mkdir()
    atomic_write(tmp_path / "inner" / safe_file_name(name) / "file", name)
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["%2E" * len(name)]


def test_names_that_differ_only_in_case():
    assert find_same_but_for_case(["a", "b", "a", "%41"]) is None
    assert find_same_but_for_case(["x", "a/B", "A/b"]) == ("a/B", "A/b")


def test_whether_case_is_ignored(tmp_path):
    path = tmp_path / "Name"
    path.touch()
    assert not ignores_case(path)  # on the systems that run this
    (tmp_path / "nAME").touch()
    assert ignores_case(path)


@pytest.mark.parametrize("name", [name for name in NASTY if name not in ("", ".", "..")])
def test_files_of_nasty_names_stay_in_their_directory(tmp_path, name):
    atomic_write(tmp_path / f"{safe_file_name(name)}.csv", name)
    assert [path.read_text() for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6.0).reshape(1, 2, 3),
        np.zeros((0, 3), dtype=np.int32),
        np.array([True, False]),
        np.array(["a", "bc"]),
        np.arange(5, dtype=">i2"),
        np.array(3.5),
        np.arange(3, dtype=np.uint8),
        np.arange(10**5, dtype=np.float32),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_of_all_kinds_come_back(array, compressed, tmp_path):
    write_archive(tmp_path / "a.zip", {"a.npy": array}, compressed=compressed)
    with open(tmp_path / "a.zip", "rb") as file:
        again = ArchiveReader(file).read_array("a.npy")
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype.newbyteorder("=") and again.shape == array.shape


@pytest.mark.parametrize("header", ["'descr': '<f1'", "'descr': '<b4'", "'descr': '<O8'", "'shape': (99,)"])
def test_headers_that_do_not_fit_are_refused(header, tmp_path):
    content = {
        "'descr'": "'descr': '<f8'",
        "'fortran_order'": "'fortran_order': False",
        "'shape'": "'shape': (2,)",
    }
    content[header.split(":")[0]] = header
    text = f"{{{', '.join(content.values())}, }}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00v\x00" + text.encode() + bytes(16)
    write_archive(tmp_path / "a.zip", {"a.npy": data})
    with open(tmp_path / "a.zip", "rb") as file, pytest.raises((TypeError, ValueError)):
        ArchiveReader(file).read_array("a.npy")
