"""Zip archives whose members are stored as they are, byte for byte as `zipfile` writes them.

`zipfile` takes longer for the account of a small member than for its content. What is written here, any tool reads;
what is read here is what was written here, and `zipfile` is left everything else, damage included.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from typing import IO, Any, NamedTuple

Piece = bytes | memoryview
"""A part of a member."""
MAX_STORED = (1 << 31) - 1 - (1 << 20)
"""Archives of more bytes need another layout; some are left for the headers."""
_MAX_MEMBERS = 1 << 10
_COPIED = 1 << 20  # bytes that are copied before they are written, so that their checksum fits
_VERSION, _SYSTEM, _MODE = 20, 3, 0o644 << 16  # what reads it, Unix, and how a file is unpacked there
_MIDNIGHT, _DAY = 0, 1 << 5 | 1  # 1 January 1980, the earliest time that a zip archive can hold
_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_CENTRAL = struct.Struct("<4sBBHHHHHLLLHHHHHLL")
_END = struct.Struct("<4sHHHHLLH")


def can_store(names: Sequence[str], n_bytes: int) -> bool:
    """Whether an archive of these members has the layout of this module; `n_bytes` are those of their content."""
    return n_bytes <= MAX_STORED and len(names) <= _MAX_MEMBERS and all(map(_is_simple, names))


def _is_simple(name: str) -> bool:
    return name.isascii() and name.isprintable() and len(name) <= 100


def write_stored(file: IO[bytes], members: Iterable[tuple[str, Sequence[Piece]]]) -> None:
    """Write an archive of members, each of which is given by its pieces, from the beginning of a file.

    The checksum is that of the bytes that are written, even if somebody changes the pieces meanwhile.
    """
    position, directory = 0, list[bytes]()
    for name, pieces in members:
        size = sum(map(len, pieces))
        if size <= _COPIED:
            content = b"".join(pieces)
            crc = zlib.crc32(content)
            file.write(_local_header(name, crc, size) + content)
        else:
            crc = _write_in_place(file, name, size, pieces)
        directory.append(_entry(name, crc, size, position))
        position += _LOCAL.size + len(name) + size
    table = b"".join(directory)
    file.write(table + _end(len(directory), len(table), position))


def _write_in_place(file: IO[bytes], name: str, size: int, pieces: Sequence[Piece]) -> int:
    """Write a member whose pieces are too large to copy, a part at a time, and then its header; its checksum."""
    start, crc = file.tell(), 0
    file.write(_local_header(name, crc, size))
    for piece in pieces:
        for at in range(0, len(piece), _COPIED):
            part = bytes(piece[at : at + _COPIED])
            crc = zlib.crc32(part, crc)
            file.write(part)
    end = file.tell()
    file.seek(start)
    file.write(_local_header(name, crc, size))
    file.seek(end)
    return crc


def _local_header(name: str, crc: int, size: int) -> bytes:
    fields = (_VERSION, 0, 0, _MIDNIGHT, _DAY, crc, size, size, len(name), 0)
    return _LOCAL.pack(b"PK\3\4", *fields) + name.encode("ascii")


def _entry(name: str, crc: int, size: int, position: int) -> bytes:
    """The line of the directory for a member whose local header is at a position."""
    fields = (_VERSION, 0, 0, _MIDNIGHT, _DAY, crc, size, size, len(name), 0, 0, 0, 0, _MODE, position)
    return _CENTRAL.pack(b"PK\1\2", _VERSION, _SYSTEM, *fields) + name.encode("ascii")


class StoredInfo(NamedTuple):
    """What the directory says about a member that is stored as it is, by the names of `zipfile.ZipInfo`."""

    filename: str
    CRC: int
    file_size: int
    compress_size: int
    header_offset: int


def read_directory(file: IO[bytes], length: int) -> dict[str, StoredInfo] | None:
    """The members of an archive of `length` bytes; None unless its directory is as `write_stored` writes it."""
    file.seek(max(length - _END.size, 0))
    end = file.read(_END.size)
    if len(end) < _END.size:
        return None
    *_, n, size, position, _ = _END.unpack(end)
    if _end(n, size, position) != end or position + size + len(end) != length or n > _MAX_MEMBERS:
        return None
    file.seek(position)
    table, at, members = file.read(size), 0, dict[str, StoredInfo]()
    expected = 0  # where the next member begins: they neither overlap nor leave gaps
    for _ in range(n):
        if at + _CENTRAL.size > len(table):
            return None
        *_, crc, packed, unpacked, of_name, _, _, _, _, _, start = _CENTRAL.unpack_from(table, at)
        name = table[at + _CENTRAL.size : at + _CENTRAL.size + of_name].decode("latin-1")
        if not _is_simple(name) or name in members:
            return None
        entry = _entry(name, crc, unpacked, start)
        if table[at : at + len(entry)] != entry or start != expected:
            return None
        members[name], at = StoredInfo(name, crc, unpacked, packed, start), at + len(entry)
        expected += _LOCAL.size + of_name + unpacked
    return members if at == len(table) and expected == position else None


def _end(n: int, size: int, position: int) -> bytes:
    return _END.pack(b"PK\5\6", 0, 0, n, n, size, position, 0)


class StoredMember(io.BufferedIOBase):
    """Reads a member that is stored as it is; when its last byte is read, the checksum must fit.

    Parameters
    ----------
    file : binary file
        The archive.
    info : StoredInfo
        What the directory of the archive says about the member.
    start : int
        Where its content begins. The file stays open when the member is closed: others are read from it.
    """

    def __init__(self, file: IO[bytes], info: StoredInfo, start: int) -> None:
        self._file, self._info, self._start, self._size = file, info, start, info.file_size
        self.seek(0)

    def tell(self) -> int:
        """The number of bytes that have been read."""
        return self._position

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        """Begin again; the content can only be read from its beginning to its end."""
        if position or whence:
            raise ValueError(f"a member is read from its beginning, not from {position}")
        self._file.seek(self._start)
        self._position = self._crc = 0
        if self._size == 0:
            self._count(b"")
        return 0

    def read(self, n: int | None = -1) -> bytes:
        """At most `n` bytes, or all that are left."""
        left = self._size - self._position
        wanted = left if n is None or n < 0 else min(n, left)
        data = self._file.read(wanted)
        if len(data) < wanted:  # the file has become shorter
            raise EOFError(f"{self._info.filename} ends early")
        self._count(data)
        return data

    def readinto(self, target: Any) -> int:
        """Fill an array of bytes as far as there are any; how many there were."""
        view = memoryview(target)[: self._size - self._position]
        n = self._file.readinto(view)  # type: ignore[attr-defined]
        self._count(view[:n])
        return int(n)

    def _count(self, data: bytes | memoryview) -> None:
        self._position += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._position == self._size and self._crc != self._info.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {self._info.filename!r}")


def open_stored(file: IO[bytes], length: int, info: StoredInfo) -> StoredMember | None:
    """A member that `write_stored` wrote; None if what is before its content is not to the byte what it writes.

    Its bytes are all there: an archive of `length` bytes cannot claim more.
    """
    expected = _local_header(info.filename, info.CRC, info.file_size)
    file.seek(info.header_offset)
    start = info.header_offset + len(expected)
    if file.read(len(expected)) != expected or start + info.file_size > length:
        return None
    return StoredMember(file, info, start)
