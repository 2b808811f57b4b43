"""Lines of text from plain or compressed files, and the names of these files in errors.

The content determines how a file is unpacked, not its name: browsers drop the `.gz` of a download, or unpack the file
and keep the name.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import lzma
import os
import struct
import warnings
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias, TypeGuard

from hietan.exceptions import DataError, DataWarning

TextSource: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]

_CHUNK = 1 << 18
LONGEST_LINE = 1 << 25
"""The length limit of a line in characters, because a small archive can unpack to a line that fills the memory."""
# `zipfile` raises RuntimeError for encrypted members and, as NotImplementedError, for unknown compressions; wrong
# offsets make it seek before the beginning of a file, which is an OSError or a ValueError.
BROKEN = (
    *(OSError, EOFError, ValueError, OverflowError, RuntimeError),
    *(zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile),
)
"""The exceptions that a damaged file or archive can raise while it is read."""
_BINARY = {
    b"PAR1\x15": "Parquet file",  # in a text file, PAR1 is a gene; here, a Thrift record with an integer follows
    b"ARROW1\0\0": "Arrow file",
    b"\xd0\xcf\x11\xe0": "old Excel workbook",
}
"""Kinds of tables that are not text, by their first bytes."""
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".obo", ".gaf", ".json", ".owl")


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether the source is a path instead of an open file or a value."""
    return isinstance(source, (str, os.PathLike))


def source_name(source: Any) -> str:
    """Return the name of `source` for error messages."""
    return os.fspath(source) if is_path(source) else str(getattr(source, "name", "<open file>"))


def split_archive(source: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the file on disk and, if the path points into a zip archive, the member's name.

    >>> path, member = split_archive("genage.csv")
    >>> path.name, member
    ('genage.csv', '')
    """
    path = Path(source)
    if not path.exists():
        for archive in path.parents:
            if archive.suffix == ".zip" and archive.is_file():
                return archive, path.relative_to(archive).as_posix()
    return path, ""


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file on disk, before decompression."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def numbered_lines(source: TextSource, *, whole: bool = False) -> Generator[tuple[int, str], None, None]:
    """Yield (number, line) for each line, counted from 1. Line endings of every kind are removed.

    `source` is a path to a plain file, a `.gz`, a `.zip` or a member of one (``"genage.zip/worm.tsv"``), or an open
    file, which is left open. Lines that are not UTF-8 are read as Latin-1, and a warning counts them; binary or damaged
    content is an error. With `whole`, a last line without a line break causes a warning, because truncated files mostly
    end within a line. A table in Parquet, Arrow or Excel becomes lines of cells separated by tabs.
    """
    if kind := binary_kind(source):
        from hietan.datasets._readers.binary_tables import binary_rows

        for number, row in binary_rows(source, kind):
            yield number, "\t".join(" ".join(cell.split()) for cell in row)
        return
    name, start, rest, n_latin, first_latin = source_name(source), 1, "", 0, 0
    for text, broken in _texts(source):
        if "\0" in text:
            at = start + (rest + text).split("\0", 1)[0].count("\n")
            raise DataError(
                "expected text, but this is binary data (it contains a NUL byte); decompress it, or save it as "
                "UTF-8 text (`hietan build` also reads Parquet, Arrow and Excel files)",
                name,
                at,
            )
        known = rest + text
        lines = known.split("\n")
        rest = lines.pop()
        if len(rest) > LONGEST_LINE:
            raise DataError(
                f"the line is longer than {LONGEST_LINE:,} characters; check the file's line breaks",
                name,
                start + len(lines),
            )
        if not known.isascii():
            for k, line in enumerate(map(_as_latin1, lines)):
                if line != lines[k]:
                    lines[k], n_latin, first_latin = line, n_latin + 1, first_latin or start + k
        yield from enumerate(lines, start)
        start += len(lines)
        if broken:
            raise DataError(
                f"the file is damaged or truncated at this line ({broken}); download it again", name, start
            )
    if rest:
        if whole:
            warnings.warn(
                f"{name}: the last line, {start}, has no line break; the file may be truncated, so check its "
                "end",
                DataWarning,
                stacklevel=2,
            )
        line = _as_latin1(rest)
        n_latin, first_latin = n_latin + (line != rest), first_latin or start
        yield start, line
    if n_latin:
        warnings.warn(
            f"{name}: {n_latin} lines are not UTF-8 (first: line {first_latin}) and were read as Latin-1; if "
            "names look wrong, save the file as UTF-8",
            DataWarning,
            stacklevel=2,
        )


def first_lines(source: TextSource, count: int) -> list[str]:
    """Return the first lines that are not blank. The source can still be read from the beginning.

    Return no lines if the source is an open file that cannot be rewound.
    """
    file: Any = None if is_path(source) else source
    if file is not None and not (hasattr(file, "seekable") and file.seekable()):
        return []
    position = 0 if file is None else file.tell()
    lines = numbered_lines(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the same warnings follow when the file is read
        found = list(islice((line for _, line in lines if line.strip()), count))
    lines.close()
    if file is not None:
        file.seek(position)
    return found


def _as_latin1(line: str) -> str:
    """Return a line as Latin-1 if it is not UTF-8. The decoder keeps invalid bytes as surrogates."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogateescape").decode("latin-1")
    return line


def _texts(source: TextSource) -> Iterator[tuple[str, str]]:
    """Yield pieces of decoded text with all line endings as "\\n" and, after the last one, the damage, if any."""
    with open_binary_or_text(source) as file:
        # `read1` makes one call to the underlying file, so everything before a damaged place is still delivered.
        read, newlines = getattr(file, "read1", file.read), None
        while True:
            first = newlines is None
            try:
                piece = read(_CHUNK)
                if newlines is None:
                    decoder = None if isinstance(piece, str) else _decoder(piece)
                    newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
                text: str = newlines.decode(piece, final=not piece)
            except BROKEN as error:
                yield "", str(error) or type(error).__name__
                return
            yield text.removeprefix("\ufeff") if first else text, ""
            if not piece:
                return


def _decoder(start: bytes) -> codecs.IncrementalDecoder:
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):  # Excel's "Unicode text"
        return codecs.getincrementaldecoder("utf-16")()
    return codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")


@contextmanager
def open_binary_or_text(source: TextSource) -> Iterator[Any]:
    """Open and decompress a file for reading. A file that the caller opened is not closed."""
    if not is_path(source) and not hasattr(source, "read"):
        raise TypeError(f"expected a path or an open file, got the {type(source).__name__} {source!r:.60}")
    name = source_name(source)
    with ExitStack() as stack:
        member = ""
        if is_path(source):
            path, member = split_archive(source)
            raw: Any = stack.enter_context(path.open("rb"))
        else:
            raw = source
        magic = _peek(raw)
        if magic[:2] == b"\x1f\x8b":
            raw = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
        elif magic[:4] == b"PK\x03\x04" or member:
            try:
                archive = stack.enter_context(zipfile.ZipFile(raw))
                raw = stack.enter_context(archive.open(_member(archive, name, member)))
            except DataError:
                raise
            except BROKEN as error:
                raise DataError(
                    f"the archive is damaged ({error}); download or create it again", name
                ) from error
        yield raw


def binary_kind(source: TextSource) -> str:
    """Return a binary table's kind, such as "Parquet file", or "" for text."""
    if is_path(source):
        if not Path(source).is_file():
            return ""
        with Path(source).open("rb") as file:
            return binary_kind(file)
    raw: Any = source
    magic = _peek(raw) if hasattr(raw, "read") else b""
    if magic[:4] != b"PK\x03\x04":
        return next((kind for start, kind in _BINARY.items() if magic.startswith(start)), "")
    position = raw.tell()
    try:
        with zipfile.ZipFile(raw) as archive:
            return "Excel workbook" if "xl/workbook.xml" in archive.namelist() else ""
    except BROKEN:
        return ""  # the error follows when the archive is read
    finally:
        raw.seek(position)


def _peek(raw: Any) -> bytes:
    """Return the first eight bytes, or an empty result if the file cannot be rewound afterwards."""
    if isinstance(raw.read(0), str) or not (hasattr(raw, "seekable") and raw.seekable()):
        return b""
    position = raw.tell()
    magic: bytes = raw.read(8)
    raw.seek(position)
    return magic


def _member(archive: zipfile.ZipFile, name: str, wanted: str) -> str:
    # Archives packed on a Mac carry a shadow tree of resource forks.
    members = [m for m in archive.namelist() if not m.endswith("/") and not m.startswith("__MACOSX/")]
    if wanted:
        if wanted not in members:
            raise DataError(
                f"the archive does not contain this file; choose one of its files: {', '.join(members[:8])}",
                name,
            )
        return wanted
    data = [m for m in members if PurePath(m).suffix.lower() in _TEXT_SUFFIXES]
    chosen = members if len(members) == 1 else data
    if len(chosen) != 1:
        raise DataError(
            f"expected an archive with one file, found {len(members)} ({', '.join(members[:5])}); to read one "
            f"of them, pass {name}/{(members or ['member'])[0]}",
            name,
        )
    return chosen[0]
