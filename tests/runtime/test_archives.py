"""Archives that are stored as they are: the bytes of zipfile, and nothing read from them that zipfile would refuse."""

import io
import zipfile

import numpy as np
import pytest

from hietan._io import ArchiveReader, _zip, archives, write_archive
from hietan._io._zip import open_stored, read_directory, write_stored


def with_zipfile(path, members):
    """The archive as `zipfile` writes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            with archive.open(info, "w") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    np.save(file, content)


MEMBERS = {
    "about.json": b'{"a": [1, 2]}',
    "empty.json": b"",
    "a.npy": np.arange(6.0).reshape(2, 3),
    "long.npy": np.arange(70_000, dtype=np.int32),
    "none.npy": np.zeros((2, 0), dtype=np.int32),
    "fortran.npy": np.arange(6.0).reshape(2, 3).T,
    "texts.npy": np.array(["a", "bc"]),
    "number.npy": np.array(3.5),
    "flags.npy": np.array([True, False]),
    "huge shape.npy": np.zeros((123_456_789_012, 0), dtype=np.float32),
}


@pytest.mark.parametrize(
    "names", [[], *([name] for name in MEMBERS), list(MEMBERS)], ids=lambda names: "-".join(names)
)
def test_archives_are_to_the_byte_those_of_zipfile(tmp_path, names):
    members = {name: MEMBERS[name] for name in names}
    write_archive(tmp_path / "ours", members, compressed=False)
    with_zipfile(tmp_path / "theirs", members)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("name", ["é.json", "a" * 101, "a\x7f"])
def test_members_of_other_names_are_left_to_zipfile(tmp_path, name):
    write_archive(tmp_path / "a.zip", {name: b"[1]"}, compressed=False)
    with open(tmp_path / "a.zip", "rb") as file:
        reader = ArchiveReader(file)
        assert reader.read_json(name) == [1]


def outcome(data, name):
    """The content of a member, or None if it is refused."""
    try:
        reader = ArchiveReader(io.BytesIO(data))
        return reader.read_array(name).tolist() if name.endswith(".npy") else reader.read_text(name)
    except Exception:
        return None


def test_damaged_archives_are_read_as_by_zipfile(tmp_path, monkeypatch):
    """Every byte around the contents is changed, and bytes are cut away: no damage is accepted that zipfile refuses."""
    members = {name: MEMBERS[name] for name in ("about.json", "a.npy", "number.npy")}
    write_archive(tmp_path / "a.zip", members, compressed=False)
    content = (tmp_path / "a.zip").read_bytes()
    files = [
        content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :]
        for at in range(len(content))
        for flip in (1, 64)
    ]
    files += [content[:at] + content[at + n :] for at in range(0, len(content), 3) for n in (1, 30)]
    files += [content + b"x", b"x" + content, content * 2, b"", content[:21]]
    found = [[outcome(data, name) for name in members] for data in files]
    right = [outcome(content, name) for name in members]
    assert None not in right
    monkeypatch.setattr(archives, "read_directory", lambda file, length: None)
    for data, ours in zip(files, found, strict=True):
        for name, value, expected in zip(members, ours, right, strict=True):
            assert value in (None, expected)
            assert value == outcome(data, name)


def test_a_member_is_read_again_from_its_beginning_only(tmp_path):
    write_archive(tmp_path / "a.zip", {"a.json": b"[1]"}, compressed=False)
    with open(tmp_path / "a.zip", "rb") as file:
        length = file.seek(0, 2)
        with open_stored(file, length, read_directory(file, length)["a.json"]) as member:
            assert member.read(1) == b"[" and member.tell() == 1
            member.seek(0)
            assert member.read() == b"[1]" and member.read() == b""
            with pytest.raises(ValueError, match="from its beginning"):
                member.seek(2)


@pytest.mark.parametrize("copied", [1, 1 << 20])
def test_the_checksum_is_that_of_what_was_written(monkeypatch, copied):
    """Somebody may change an array while it is saved: the file has one state or another, but it can be read."""
    monkeypatch.setattr(_zip, "_COPIED", copied)

    class Meddling(io.BytesIO):
        def write(self, data):
            array[:] = array + 1
            return super().write(data)

    array = np.zeros(100, dtype=np.uint8)
    file = Meddling()
    write_stored(file, [("a", [b"head", memoryview(array)]), ("b", [b"tail"])])
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert archive.read("b") == b"tail"


def test_members_that_overlap_are_left_to_zipfile():
    """Each member of such a file may be as long as the whole: unpacked, it would be many times as large."""
    inner, first, second = b"1234", io.BytesIO(), io.BytesIO()
    write_stored(first, [("b", [inner])])
    inside = first.getvalue()[
        : _zip._LOCAL.size + 1 + len(inner)
    ]  # the second member is the content of the first
    write_stored(second, [("a", [inside])])
    start = _zip._LOCAL.size + 1
    data = second.getvalue()[: start + len(inside)]
    a = read_directory(second, len(second.getvalue()))["a"]
    b = read_directory(first, len(first.getvalue()))["b"]
    table = _zip._entry("a", a.CRC, a.file_size, 0) + _zip._entry("b", b.CRC, b.file_size, start)
    data += table + _zip._end(2, len(table), len(data))
    assert zipfile.ZipFile(io.BytesIO(data)).namelist() == ["a", "b"]
    assert read_directory(io.BytesIO(data), len(data)) is None


def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "archive"
    write_archive(path, {"a.json": b"[1, 2, 3]"}, compressed=False)
    with open(path, "r+b") as file:
        archive = ArchiveReader(file)
        file.truncate(_zip._LOCAL.size + len("a.json") + 4)
        with pytest.raises(EOFError, match=r"a\.json ends early"):
            archive.read_json("a.json")
