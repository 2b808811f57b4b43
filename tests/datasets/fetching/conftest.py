"""A server on this machine, a data directory of its own for each test, and no way to any other server."""

import gc
import socket
import warnings

import pytest

from hietan.datasets._fetching.registry import KNOWN_HASHES
from support.file_server import CONTENT, HASH, serving


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Nothing here may reach beyond this machine."""
    connect = socket.socket.connect

    def local_only(self, address):
        assert address[0] == "127.0.0.1", f"a test reached for {address}"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty data directory, and a cache directory of our own."""
    monkeypatch.setenv("HIETAN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "home"
    with warnings.catch_warnings():  # sockets of failed downloads, which requests leaves to be collected
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("published")
    (directory / "file.txt").write_bytes(CONTENT)
    with serving(directory) as server:
        yield server


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setitem(KNOWN_HASHES, "made-up/file.txt", HASH)
