"""Finding a published file on disk, or else downloading it once and checking it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import hexdigits
from typing import Any
from urllib.parse import urlsplit

from hietan._io import atomic_write, replacing
from hietan._runtime.optional import import_optional
from hietan.datasets.fetching.kinds import check_kind
from hietan.datasets.fetching.registry import Remote
from hietan.datasets.fetching.transfer import Limits, transfer
from hietan.datasets.readers.files import sha256_of
from hietan.exceptions import DataError, DataWarning

_TIMEOUT = 30.0  # seconds without a single byte
_TIME_LIMIT = 3600.0  # seconds; the largest file, gene2go, has about a gigabyte
_SIZE_LIMIT = 4 << 30  # bytes
_ATTEMPTS = 2  # at each address that does not answer with a refusal

Directory = str | os.PathLike[str] | None


def obtain(
    remote: Remote,
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
    progress: bool = False,
    timeout: float = _TIMEOUT,
    time_limit: float = _TIME_LIMIT,
    size_limit: int = _SIZE_LIMIT,
) -> Path:
    """Find a published file on disk, or else download it.

    Parameters
    ----------
    remote : Remote
        The file.
    data_home, download, refresh, progress
        Where to look and what to do; `fetch_collection` documents them.
    timeout : float
        A download fails after this many seconds without a single byte.
    time_limit : float
        A download fails if it is not complete after this many seconds; an hour unless given.
    size_limit : int
        A download of more than this many bytes fails; 4 GiB unless given.

    Returns
    -------
    Path
        Where the file is.

    Raises
    ------
    FileNotFoundError
        If it is not on disk and cannot be downloaded; the message says how to put it there by hand.
    DataError
        If the file on disk does not have the expected hash, or the record of the hash is damaged.

    Warns
    -----
    DataWarning
        If the file on disk cannot be verified: its hash is neither published nor recorded next to it.
    """
    homes = list(_homes(data_home))
    if not refresh:
        for home in homes:
            if (home / remote.path).is_file():
                return _checked(home / remote.path, remote)
    if not download:
        raise FileNotFoundError(_advice(remote, homes, ["it is not on disk, and download=False"]))
    target = next(filter(_is_writable, homes), None)
    if target is None:
        raise FileNotFoundError(_advice(remote, homes, [_why_no_place(homes)]))
    limits = Limits(silence=timeout, time=time_limit, size=size_limit)
    return _download(remote, target, homes, progress, limits)


def _homes(data_home: Directory) -> Iterator[Path]:
    """Where to look: the given directory, or else HIETAN_DATA; then the platform's cache directory."""
    asked = data_home or os.environ.get("HIETAN_DATA")
    if asked:
        yield Path(asked).expanduser()
    try:
        yield Path(_pooch().os_cache("hietan"))
    except ImportError:
        return  # without pooch nothing can have been downloaded there


def _pooch() -> Any:
    return import_optional("pooch", extra="data", purpose="downloading")


def _is_writable(home: Path) -> bool:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(home, os.W_OK)


def _why_no_place(homes: list[Path]) -> str:
    if homes:
        return "none of these directories can be written to, and without pooch there is no cache directory"
    return 'HIETAN_DATA is not set, and downloading needs pooch: pip install "hietan[data]"'


def _checked(path: Path, remote: Remote) -> Path:
    expected = [remote.sha256] if remote.sha256 else _recorded(path)
    if not expected:
        warnings.warn(
            f"{path} was not verified: no hash of it is known, and there is no record {_record_of(path).name} of a "
            "download next to it. Remove it to fetch it again; if you trust it, write its hash there with sha256sum",
            DataWarning,
            stacklevel=4,
        )
    elif (found := sha256_of(path)) not in expected:
        message = f"the file has SHA-256 {found}, but {expected[0]} was expected; remove it to fetch it again"
        raise DataError(message, str(path))
    return path


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _recorded(path: Path) -> list[str]:
    """The hash of the download, which is kept next to it in the format of the program sha256sum; none without a record.

    If a second download was killed, there are two hashes: its own, and that of the file it was to replace.
    """
    record = _record_of(path)
    if not record.is_file():
        return []
    lines = record.read_bytes().splitlines() or [b""]
    digests = [line.partition(b" ")[0].decode("ascii", "replace").lower() for line in lines]
    if any(len(digest) != 64 or not set(digest) <= set(hexdigits) for digest in digests):
        raise DataError(
            f"the record of the hash of {path.name} is damaged; expected a SHA-256 of 64 digits. Remove both files to "
            "fetch them again, or only the record if you trust the file",
            str(record),
        )
    return digests


def _write_record(path: Path, digests: Iterable[str]) -> None:
    atomic_write(_record_of(path), "".join(f"{digest}  {path.name}\n" for digest in digests))


def _download(remote: Remote, home: Path, homes: list[Path], progress: bool, limits: Limits) -> Path:
    failures = [] if remote.urls else ["no address to download it from is known"]
    for url in remote.urls:
        for _ in range(_ATTEMPTS):
            try:
                return _download_from(url, remote, home / remote.path, progress, limits)
            except ImportError as error:
                raise FileNotFoundError(_advice(remote, homes, [str(error)])) from error
            except OSError as error:  # the errors of requests are OSErrors, too
                failure, refused = _failure(url, error), getattr(error, "response", None) is not None
            except DataError as error:
                failure, refused = f"{url}: {error}", True
            if refused:
                break
        failures.append(failure)
    raise FileNotFoundError(_advice(remote, homes, failures))


def _download_from(url: str, remote: Remote, path: Path, progress: bool, limits: Limits) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        transfer(url, unfinished, limits, progress=progress)
        if not remote.sha256:
            check_kind(unfinished, path.name)
        found = sha256_of(unfinished)
        if remote.sha256 and found != remote.sha256:
            raise DataError(f"the download has SHA-256 {found}, but {remote.sha256} was expected")
        former = _former_hashes(path, found)
        if not remote.sha256:  # whenever this is killed, the record has the hash of the file that is there
            _write_record(path, [found, *former])
    if former and not remote.sha256:
        _write_record(path, [found])
    return path


def _former_hashes(path: Path, found: str) -> list[str]:
    """The hashes in the record of a file that a download with another hash is about to replace."""
    try:
        return [digest for digest in _recorded(path) if digest != found] if path.is_file() else []
    except DataError:  # the record is damaged, and is about to be mended
        return []


def _failure(url: str, error: OSError) -> str:
    """Why nothing came from an address, in a few words where its host was not reached at all."""
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if cause is None:
        return f"{url}: {error}"
    return f"{urlsplit(url).netloc} cannot be reached ({str(cause).rpartition(': ')[2]})"


def _advice(remote: Remote, homes: list[Path], reasons: list[str]) -> str:
    """Which file is missing, why, and how to put it there by hand."""
    sources = " or ".join(remote.urls) or remote.origin or "its publisher"
    digest = f" (SHA-256 {remote.sha256})" if remote.sha256 else " (no hash is known)"
    where = " or ".join(str(home / remote.path) for home in homes) or f"{remote.path} below HIETAN_DATA"
    return (
        f"no file {remote.path}: {'; '.join(reasons)}. "
        f"To put it there by hand, save {sources}{digest} as {where}"
    )
