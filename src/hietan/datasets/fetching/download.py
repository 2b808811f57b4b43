"""Finding a published file on disk, or else downloading it once and checking it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hietan._io import atomic_write, replacing
from hietan._runtime.optional import import_optional
from hietan.datasets.fetching.registry import Remote
from hietan.datasets.readers.files import sha256_of
from hietan.exceptions import DataError

_TIMEOUT = 30.0  # seconds without a single byte
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

    Returns
    -------
    Path
        Where the file is.

    Raises
    ------
    FileNotFoundError
        If it is not on disk and cannot be downloaded; the message says how to put it there by hand.
    DataError
        If the file on disk does not have the expected hash.
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
    return _download(remote, target, homes, progress, timeout)


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
    expected = remote.sha256 or _recorded(path)
    if expected and (found := sha256_of(path)) != expected:
        message = f"the file has SHA-256 {found}, but {expected} was expected; remove it to fetch it again"
        raise DataError(message, str(path))
    return path


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _recorded(path: Path) -> str | None:
    """The hash of the first download, which is kept next to it in the format of the program sha256sum."""
    record = _record_of(path)
    return record.read_text(encoding="utf-8").partition(" ")[0] if record.is_file() else None


def _download(remote: Remote, home: Path, homes: list[Path], progress: bool, timeout: float) -> Path:
    failures = [] if remote.urls else ["no address to download it from is known"]
    for url in remote.urls:
        for _ in range(_ATTEMPTS):
            try:
                return _download_from(url, remote, home / remote.path, progress, timeout)
            except ImportError as error:
                raise FileNotFoundError(_advice(remote, homes, [str(error)])) from error
            except OSError as error:  # the errors of requests are OSErrors, too
                failure, refused = f"{url}: {error}", getattr(error, "response", None) is not None
            except DataError as error:
                failure, refused = f"{url}: {error}", True
            if refused:
                break
        failures.append(failure)
    raise FileNotFoundError(_advice(remote, homes, failures))


def _download_from(url: str, remote: Remote, path: Path, progress: bool, timeout: float) -> Path:
    fetch = _pooch().HTTPDownloader(
        headers={
            # The servers of the Gene Ontology refuse the default agents of Python's libraries.
            "User-Agent": f"hietan/{version('hietan')} (Python library for hierarchical features)",
            "Accept-Encoding": "identity",  # the bytes as published, so that the hash is the published one
        },
        chunk_size=1 << 16,
        progressbar=progress,
        timeout=timeout,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        fetch(url, str(unfinished), None)
        found = sha256_of(unfinished)
        if remote.sha256 and found != remote.sha256:
            raise DataError(f"the download has SHA-256 {found}, but {remote.sha256} was expected")
    if not remote.sha256:
        atomic_write(_record_of(path), f"{found}  {path.name}\n")
    return path


def _advice(remote: Remote, homes: list[Path], reasons: list[str]) -> str:
    """Which file is missing, why, and how to put it there by hand."""
    sources = ", ".join(remote.urls) or remote.origin or "its publisher"
    digest = f" (SHA-256 {remote.sha256})" if remote.sha256 else " (no hash is known)"
    where = " or ".join(str(home / remote.path) for home in homes) or f"{remote.path} below HIETAN_DATA"
    return (
        f"no file {remote.path}: {'; '.join(reasons)}. "
        f"To put it there by hand, save {sources}{digest} as {where}"
    )
