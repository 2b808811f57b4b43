"""Is a download what it should be? A server may answer with an error page, with nothing, or with half of the file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hietan.datasets.readers.files import BROKEN, open_binary_or_text
from hietan.exceptions import DataError

_CHUNK = 1 << 18


class _Kind(NamedTuple):
    """A kind of text: how a name shows it, what to call it, and what its beginning must be like."""

    mark: str
    what: str
    fits: Callable[[bytes], bool]


_KINDS = (
    _Kind(".obo", "an ontology in OBO format", lambda text: b"format-version:" in text or b"[Term]" in text),
    _Kind(".gaf", "annotations in GAF format", lambda text: text[:1] == b"!" or b"\t" in _first_line(text)),
    _Kind("gene2go", "annotations of gene2go", lambda text: b"\t" in _first_line(text)),
    _Kind(
        ".csv",
        "a table in CSV format",
        lambda text: any(mark in _first_line(text) for mark in (b",", b";", b"\t")),
    ),
)


def check_kind(path: Path, name: str) -> None:
    """Refuse a download that is empty, a page of HTML, damaged, or not of the kind that its name shows.

    Parameters
    ----------
    path : Path
        The download: plain, gzipped or a zip archive.
    name : str
        The name that the file is to have.
    """
    try:
        if name.endswith(".zip"):
            _check_archive(path)
        else:
            _check_text(path, name)
    except BROKEN as error:
        raise DataError(f"the download is damaged or cut short: {error}") from error


def _check_archive(path: Path) -> None:
    if not path.stat().st_size:
        raise DataError("the download is empty")
    with path.open("rb") as file:
        _refuse_page(file.read(_CHUNK))
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise DataError(f"the download is damaged: {damaged} in the archive has a wrong checksum")


def _check_text(path: Path, name: str) -> None:
    start = last = b""
    with open_binary_or_text(path) as file:
        while piece := file.read(_CHUNK):  # up to the end: only there a checksum of gzip is checked
            start, last = start or piece, piece
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise DataError("the download is empty")
    _refuse_page(start)
    if b"\0" in start:
        raise DataError("the download is binary data where text was expected")
    kind = next((kind for kind in _KINDS if kind.mark in name), None)
    if kind is not None and not kind.fits(start):
        raise DataError(f"the download begins with {_first_line(start)[:60]!r}; expected {kind.what}")
    if kind is not None and kind.mark == ".obo" and not last.endswith(b"\n"):
        raise DataError("the download ends within a line; it is cut short")


def _refuse_page(start: bytes) -> None:
    if start.lstrip()[:1] == b"<":
        raise DataError("the download is a page of HTML or XML, not the file")


def _first_line(text: bytes) -> bytes:
    return text.partition(b"\n")[0]
