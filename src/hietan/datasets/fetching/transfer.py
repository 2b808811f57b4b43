"""Bytes from a web server into a file, within limits of time and size, and not from just anywhere."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from hietan._runtime.optional import import_optional
from hietan.datasets.fetching.registry import HOSTS
from hietan.exceptions import DataError

_CHUNK = 1 << 16
_MOST_REDIRECTS = 5


@dataclass(frozen=True)
class Limits:
    """What a download may take.

    Attributes
    ----------
    silence : float
        The seconds without a single byte.
    time : float
        The seconds in all.
    size : int
        The bytes in all.
    """

    silence: float
    time: float
    size: int


def transfer(url: str, path: Path, limits: Limits, *, progress: bool = False) -> None:
    """Download a file, or raise an OSError or, if a second attempt would be useless, a DataError.

    Parameters
    ----------
    url : str
        The address. Redirects are followed within the server, and to https addresses of hosts that the registry names.
    path : Path
        The file to write.
    limits : Limits
        What the download may take, redirects included.
    progress : bool
        Whether to show a progress bar on the standard error stream.
    """
    deadline = time.monotonic() + limits.time
    with _library("requests").Session() as session, _hanging_up_at(deadline, session):
        try:
            _transfer(session, url, path, limits, deadline, progress)
        except Exception as error:
            if time.monotonic() > deadline:  # whatever the end of the connection looked like
                raise _too_slow(limits, _size(path)) from error
            raise
        if (
            time.monotonic() > deadline
        ):  # without a length, the end of the connection looks like that of the file
            raise _too_slow(limits, _size(path))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _hanging_up_at(deadline: float, session: Any) -> Iterator[None]:
    """End all connections of a session when the time is up.

    The libraries limit the time of each read, and a server that sends a byte now and then, of its headers for instance,
    could go on for ever.
    """
    opened: list[Any] = []
    for adapter in session.adapters.values():
        kinds = adapter.poolmanager.pool_classes_by_scheme
        adapter.poolmanager.pool_classes_by_scheme = {
            scheme: _noting_pool(kind, opened) for scheme, kind in kinds.items()
        }

    def hang_up() -> None:
        for connection in opened:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    timer = threading.Timer(min(deadline - time.monotonic(), threading.TIMEOUT_MAX), hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _noting_pool(kind: Any, opened: list[Any]) -> Any:
    """A kind of connection pool like another, which also notes the sockets that it opens."""

    class Connection(kind.ConnectionCls):  # type: ignore[misc]
        def connect(self) -> None:
            super().connect()
            opened.append(self.sock)

    return type(kind.__name__, (kind,), {"ConnectionCls": Connection})


def _transfer(session: Any, url: str, path: Path, limits: Limits, deadline: float, progress: bool) -> None:
    with closing(_open(session, url, limits, deadline)) as response:
        promised = response.headers.get("Content-Length", "")
        total = int(promised) if promised.isdecimal() and len(promised) < 20 else None
        if total is not None and total > limits.size:
            raise _too_large(limits)
        with path.open("wb") as file, _bar(total) if progress else nullcontext() as bar:
            try:
                for piece in _pieces(response, limits, deadline):
                    file.write(piece)
                    if bar is not None:
                        bar.update(len(piece))
            except _library("urllib3").exceptions.HTTPError as error:
                raise ConnectionError(str(error)) from error


def _library(name: str) -> Any:
    return import_optional(name, extra="data", purpose="downloading")


def _open(session: Any, asked: str, limits: Limits, deadline: float) -> Any:
    """The answer to a request, whose body has not been read yet."""
    url = asked
    headers = {
        # The servers of the Gene Ontology refuse the default agents of Python's libraries.
        "User-Agent": f"hietan/{version('hietan')} (Python library for hierarchical features)",
        "Accept-Encoding": "identity",  # the bytes as published, so that the hash is the published one
    }
    for _ in range(_MOST_REDIRECTS + 1):
        # Without `Session.send`, which reads the whole body of a redirect even if it is not to follow it.
        request = session.prepare_request(_library("requests").Request("GET", url, headers=headers))
        settings = session.merge_environment_settings(request.url, {}, stream=True, verify=None, cert=None)
        left = deadline - time.monotonic()
        if left <= 0:
            raise _too_slow(limits, 0)
        timeout = min(limits.silence, left)
        response = session.get_adapter(request.url).send(request, timeout=timeout, **settings)
        if not response.is_redirect:
            response.raise_for_status()
            if response.status_code != 200:
                raise DataError(
                    f"the server answers {response.status_code} {response.reason} instead of 200 OK"
                )
            return response
        response.close()
        url = _redirected(asked, url, response.headers["Location"])
    raise DataError(f"more than {_MOST_REDIRECTS} redirects")


def _redirected(asked: str, url: str, location: str) -> str:
    """Where an answer leads: within the server that was asked, or to an https address of a host that we know."""
    try:
        target = urljoin(url, location)
        here, there = urlsplit(asked), urlsplit(target)
    except ValueError as error:
        raise DataError(f"it redirects to {location!r:.200}, which is not an address") from error
    known = there.scheme == "https" and there.netloc in HOSTS
    if not known and (here.scheme, here.netloc) != (there.scheme, there.netloc):
        hosts = ", ".join(sorted(HOSTS))
        raise DataError(f"it redirects to {target!r:.200}; only https addresses of {hosts} are accepted")
    return target


def _pieces(response: Any, limits: Limits, deadline: float) -> Iterator[bytes]:
    # `read` waits until a whole chunk is there, however slowly it comes; `read1`, where there is one, does not.
    read = getattr(response.raw, "read1", response.raw.read)
    size = 0
    while piece := read(_CHUNK, decode_content=True):
        size += len(piece)
        if size > limits.size:
            raise _too_large(limits)
        if time.monotonic() > deadline:
            raise _too_slow(limits, size)
        yield piece


def _too_slow(limits: Limits, size: int) -> DataError:
    return DataError(f"it was not complete after the time limit of {limits.time:g} s ({size:,} bytes came)")


def _too_large(limits: Limits) -> DataError:
    return DataError(f"it is larger than the size limit of {limits.size:,} bytes")


def _bar(total: int | None) -> Any:
    return _library("tqdm").tqdm(total=total, ncols=79, unit="B", unit_scale=True)
