"""Files are written whole or not at all, with the same bytes for the same content, under safe names."""

import os
import re
import time
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hietan
from hietan._io.archives import ArchiveReader, write_archive
from hietan._io.files import (
    TEMPORARY,
    atomic_write,
    find_same_but_for_case,
    ignores_case,
    replacing,
    safe_file_name,
    to_json,
)
from hietan.datasets import Dataset
from hietan.evaluation._study.journal import Journal, locked, read_manifest
from hietan.exceptions import StudyError

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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_links_that_a_person_names_are_not_replaced(tmp_path):
    pipe, link, target = (tmp_path / name for name in ("pipe", "link", "target"))
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text)
        atomic_write(pipe, "text", follow=True)
        assert read.result(10) == "text" and pipe.is_fifo()
    target.write_text("old")
    link.symlink_to(target)
    atomic_write(link, "new", follow=True)
    assert link.is_symlink() and target.read_text() == "new"
    for path in (link, pipe):  # in a directory of our own, nothing is written through either
        atomic_write(path, "newer")
        assert path.is_file() and not path.is_symlink() and target.read_text() == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "link", "target"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_devices_are_not_waited_for(tmp_path):
    (tmp_path / "jobs" / "d").mkdir(parents=True)
    for name in (".lock", "study.json", "jobs/d/m.jsonl", "data"):
        os.mkfifo(tmp_path / name)
    manifest = {
        key: {"d": 1, "m": 1} for key in ("versions", "cv", "usage", "datasets", "methods", "classes")
    } | {"seeds": [0]}
    for read in (
        lambda: locked(tmp_path).__enter__(),
        lambda: read_manifest(tmp_path),
        lambda: Journal(tmp_path, manifest, "d", "m").read(),
        lambda: Dataset.load(tmp_path / "data"),
        lambda: Dataset.load("/dev/zero"),
        lambda: hietan.load("/dev/zero"),
    ):
        with pytest.raises(OSError, match="not a regular file"):
            read()


def test_unfinished_files_are_named_as_such(tmp_path):
    with replacing(tmp_path / "file.txt") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(TEMPORARY)
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


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_no_more_is_unpacked_than_an_archive_declares(packed, tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("about.json", b" " * 50_000_000)
    size = (50_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (100).to_bytes(4, "little")))
    tracemalloc.start()
    with path.open("rb") as file, pytest.raises((ValueError, zipfile.BadZipFile)):
        ArchiveReader(file).read_json("about.json")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_study_is_written_by_one_run_at_a_time(tmp_path):
    with locked(tmp_path), pytest.raises(StudyError, match="another run is writing to"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_datasets_and_models_are_written_into_pipes(tmp_path):
    """As with `-o /dev/null`, which must stay a device."""
    data = hietan.datasets.load_ageing_genes("fly", "CC")
    model = hietan.HieBAN(hierarchy=data.hierarchy).fit(data.X, data.y)
    for number, write in enumerate((data.save, lambda path: hietan.save(model, path))):
        pipe = tmp_path / f"pipe{number}"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as reader:
            read = reader.submit(pipe.read_bytes)
            write(pipe)
            assert read.result(10)[:2] == b"PK" and pipe.is_fifo()
