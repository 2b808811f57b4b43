"""Lines of text from files, plain or packed, and what to call them in errors.

The content decides how a file is unpacked, not its name: browsers drop the `.gz` of a download, or unpack the file
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
"""The most characters of a line: a small archive may unpack to a line that fills the memory."""
# A RuntimeError is what `zipfile` raises for encrypted members and, as NotImplementedError, for unknown compressions;
# wrong offsets make it seek before the beginning of a file, which is an OSError or a ValueError.
BROKEN = (
    *(OSError, EOFError, ValueError, OverflowError, RuntimeError),
    *(zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile),
)
"""What reading a damaged file or archive raises."""
_EXCEL, _PARQUET = (
    f"this is {kind}, which hietan does not read; save the table as CSV or TSV"
    for kind in ("an Excel workbook", "a Parquet file")
)
_NOT_TEXT = {b"PAR1": _PARQUET, b"\xd0\xcf\x11\xe0": _EXCEL}  # by the first four bytes
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".obo", ".gaf", ".json", ".owl")


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether the source is a path, and not an open file or a value."""
    return isinstance(source, (str, os.PathLike))


def source_name(source: Any) -> str:
    """What to call `source` in an error."""
    if is_path(source):
        return os.fspath(source)
    return str(getattr(source, "name", "<open file>"))


def split_archive(source: str | os.PathLike[str]) -> tuple[Path, str]:
    """The file on disk and, if the path leads into a zip archive, the name of the member.

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
    """The SHA-256 of the file as it is on disk, not unpacked."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def numbered_lines(source: TextSource, *, whole: bool = False) -> Generator[tuple[int, str], None, None]:
    """(number, line) for each line, counted from 1, without its line ending, of whatever kind.

    `source` is a path to a plain file, a `.gz`, a `.zip` or a member of one (``"genage.zip/worm.tsv"``), or an open
    file, which is left open. Lines that are not UTF-8 are read as Latin-1, and a warning counts them; binary or
    damaged content is an error. With `whole`, a warning says if the last line has no end: a file that was cut short
    mostly ends within a line.
    """
    name, start, rest, n_latin, first_latin = source_name(source), 1, "", 0, 0
    for text, broken in _texts(source):
        if "\0" in text:
            at = start + (rest + text).split("\0", 1)[0].count("\n")
            raise DataError("binary data (a NUL byte) where text was expected", name, at)
        known = rest + text
        lines = known.split("\n")
        rest = lines.pop()
        if len(rest) > LONGEST_LINE:
            raise DataError(
                f"the line has no end within {LONGEST_LINE:,} characters", name, start + len(lines)
            )
        if not known.isascii():
            for k, line in enumerate(map(_as_latin1, lines)):
                if line != lines[k]:
                    lines[k], n_latin, first_latin = line, n_latin + 1, first_latin or start + k
        yield from enumerate(lines, start)
        start += len(lines)
        if broken:
            raise DataError(f"the file is damaged or cut short here: {broken}", name, start)
    if rest:
        if whole:
            message = (
                f"{name}: the last line, {start}, has no line break at its end; the file may be cut short"
            )
            warnings.warn(message, DataWarning, stacklevel=2)
        line = _as_latin1(rest)
        n_latin, first_latin = n_latin + (line != rest), first_latin or start
        yield start, line
    if n_latin:
        message = f"{name}: {n_latin} lines are not UTF-8 (first: line {first_latin}); read as Latin-1"
        warnings.warn(message, DataWarning, stacklevel=2)


def first_lines(source: TextSource, count: int) -> list[str]:
    """The first lines that are not blank, after which the source can be read from its beginning.

    There are none if the source is an open file that cannot be rewound.
    """
    file: Any = None if is_path(source) else source
    if file is not None and not (hasattr(file, "seekable") and file.seekable()):
        return []
    position = 0 if file is None else file.tell()
    lines = numbered_lines(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the same will be said when the file is read
        found = list(islice((line for _, line in lines if line.strip()), count))
    lines.close()
    if file is not None:
        file.seek(position)
    return found


def _as_latin1(line: str) -> str:
    """Return a line as Latin-1 if it is not UTF-8; the decoder left the bytes that are not as surrogates."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogateescape").decode("latin-1")
    return line


def _texts(source: TextSource) -> Iterator[tuple[str, str]]:
    """Pieces of decoded text with all line endings as "\\n" and, after the last one, what was damaged, if anything."""
    with open_binary_or_text(source) as file:
        # `read1` makes one call to the file below, so everything before a damaged place is still delivered.
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
    """Open and unpack a file to read from; one that the caller opened is not closed."""
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
        if magic in _NOT_TEXT:
            raise DataError(_NOT_TEXT[magic], name)
        if magic[:2] == b"\x1f\x8b":
            raw = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
        elif magic == b"PK\x03\x04" or member:
            try:
                archive = stack.enter_context(zipfile.ZipFile(raw))
                raw = stack.enter_context(archive.open(_member(archive, name, member)))
            except DataError:
                raise
            except BROKEN as error:
                raise DataError(f"the archive is damaged: {error}", name) from error
        yield raw


def _peek(raw: Any) -> bytes:
    """The first four bytes; none if the file cannot be rewound after reading them."""
    if isinstance(raw.read(0), str) or not (hasattr(raw, "seekable") and raw.seekable()):
        return b""
    position = raw.tell()
    magic: bytes = raw.read(4)
    raw.seek(position)
    return magic


def _member(archive: zipfile.ZipFile, name: str, wanted: str) -> str:
    # Archives packed on a Mac carry a shadow tree of resource forks.
    members = [m for m in archive.namelist() if not m.endswith("/") and not m.startswith("__MACOSX/")]
    if "xl/workbook.xml" in members:
        raise DataError(_EXCEL, name)
    if wanted:
        if wanted not in members:
            raise DataError(f"no such file in the archive, which holds {', '.join(members[:8])}", name)
        return wanted
    data = [m for m in members if PurePath(m).suffix.lower() in _TEXT_SUFFIXES]
    chosen = members if len(members) == 1 else data
    if len(chosen) != 1:
        raise DataError(
            f"expected an archive of one file, found {len(members)}: {', '.join(members[:5])}; "
            f"name one of them, such as {name}/{(members or ['member'])[0]}",
            name,
        )
    return chosen[0]
