"""Find a published file on disk, or download it once and check it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hietan._io.files import atomic_write, replacing
from hietan._runtime.optional import import_optional
from hietan.datasets._fetching.registry import Remote
from hietan.datasets._readers.files import sha256_of
from hietan.exceptions import DataError, DataWarning

_TIMEOUT = 30.0  # seconds without a single byte

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
    """Find a published file on disk, or download it.

    Parameters
    ----------
    remote : Remote
        The file.
    data_home, download, refresh, progress
        Where to look and what to do; see `fetch_collection`.
    timeout : float
        A download fails after this many seconds without a single byte.

    Returns
    -------
    Path
        The file's path.

    Raises
    ------
    FileNotFoundError
        If the file is not on disk and cannot be downloaded. The message explains how to add it by hand.
    DataError
        If the file on disk does not have the expected hash.

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
        why = "none of these directories is writable, and without pooch there is no cache directory"
        if not homes:
            why = 'HIETAN_DATA is not set, and downloading needs pooch: pip install "hietan[data]"'
        raise FileNotFoundError(_advice(remote, homes, [why]))
    failures = dict[str, None]() if remote.urls else {"no download address is known": None}
    for url in (*remote.urls, *remote.urls):  # a second round, for broken connections
        try:
            return _download(url, remote, target / remote.path, progress, timeout)
        except ImportError as error:
            raise FileNotFoundError(_advice(remote, homes, [str(error)])) from error
        except (OSError, ValueError) as error:  # pooch raises ValueError for a wrong hash
            failures[_failure(url, error)] = None
    raise FileNotFoundError(_advice(remote, homes, list(failures)))


def _homes(data_home: Directory) -> Iterator[Path]:
    """Yield the directories to search: the given one or HIETAN_DATA, then the platform's cache directory."""
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


def _checked(path: Path, remote: Remote) -> Path:
    record = _record_of(path)
    lines = record.read_text(errors="replace").splitlines() if record.is_file() else []
    expected = [remote.sha256] if remote.sha256 else [line.partition(" ")[0] for line in lines]
    if not expected:
        warnings.warn(
            f"{path} was not verified, because its checksum is unknown and there is no checksum file "
            f"{record.name} next to it. Remove the file to fetch it again. If you trust the file, write its "
            "checksum to the checksum file with sha256sum",
            DataWarning,
            stacklevel=4,
        )
    elif (found := sha256_of(path)) not in expected:
        raise DataError(
            f"the file has SHA-256 {found}, but {expected[0]:.80} was expected; remove the file to fetch it again",
            str(path),
        )
    return path


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _download(url: str, remote: Remote, path: Path, progress: bool, timeout: float) -> Path:
    pooch = _pooch()
    pooch.get_logger().setLevel(logging.WARNING)  # by default, it prints every address
    downloader = pooch.HTTPDownloader(
        progressbar=progress,
        timeout=timeout,
        headers={
            # The Gene Ontology's servers reject the default agents of Python's libraries.
            "User-Agent": f"hietan/{version('hietan')} (Python library for hierarchical features)",
            "Accept-Encoding": "identity",  # the bytes as published, so that the hash is the published one
        },
        hooks={"response": _refuse_insecure},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    record, line = _record_of(path), ""
    with replacing(path) as unfinished:
        pooch.retrieve(url, remote.sha256, unfinished.name, unfinished.parent, downloader=downloader)
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)  # pooch makes the file readable only by its owner
        if not remote.sha256:
            _refuse_page(unfinished)
            line = f"{sha256_of(unfinished)}  {path.name}\n"
            former = record.read_text(errors="replace") if record.is_file() else ""
            # If the process is killed here, the checksum still fits the existing file.
            atomic_write(record, line + former)
    if line:
        atomic_write(record, line)
    return path


def _refuse_insecure(response: Any, **options: Any) -> None:
    """Raise DataError for a response or redirect that came neither by https nor from this machine."""
    address = urlsplit(response.url)
    if address.scheme != "https" and address.hostname != "127.0.0.1":
        raise DataError(f"the address redirects to {response.url:.200}; only https addresses are accepted")


def _refuse_page(path: Path) -> None:
    """Raise DataError for a file that is empty or is a web page, such as a login page."""
    with path.open("rb") as file:
        start = file.read(512).lstrip()
    if not start or start.startswith(b"<"):
        raise DataError(
            f"the server sent {'a web page' if start else 'an empty file'} instead of the requested file; try "
            "again later"
        )


def _failure(url: str, error: Exception) -> str:
    """Return why a download failed, shortened to a few words if the host could not be reached."""
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if cause is None:
        return f"{url}: {error}"
    return f"{urlsplit(url).netloc} cannot be reached ({str(cause).rpartition(': ')[2]})"


def _advice(remote: Remote, homes: list[Path], reasons: list[str]) -> str:
    """Return a message that reports which file is missing, why, and how to add it by hand."""
    sources = " or ".join(remote.urls) or remote.origin or "its publisher"
    digest = f" (SHA-256 {remote.sha256})" if remote.sha256 else " (no checksum is known)"
    where = " or ".join(str(home / remote.path) for home in homes) or f"{remote.path} below HIETAN_DATA"
    return (
        f"no file {remote.path}: {'; '.join(reasons)}. To add it by hand, save {sources}{digest} as {where}"
    )
