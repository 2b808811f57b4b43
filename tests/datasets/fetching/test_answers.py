"""Answers of a server that are not the file: of another kind, from elsewhere, without end; and what limits them."""

import inspect
import io
import time

import pytest

from hietan.datasets import DataError
from hietan.datasets.fetching import download, transfer
from hietan.datasets.fetching.registry import Remote
from support.file_server import CONTENT, PUBLISHED, remote, serving

pytest.importorskip("pooch")

NAMES = {
    "o.obo": "ontology/go-basic.obo",
    "a.gaf.gz": "annotations/gaf/CAEEL-mod.gaf.gz",
    "t.zip": "models_genes.zip",
}
NAMES |= {"gene2go.gz": "gene2go.gz", "t.csv": "t.csv"}


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    directory = tmp_path_factory.mktemp("publisher")
    for name, content in (PUBLISHED | {"t.csv": b"gene,effect\na,up\n"}).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    with serving(directory) as server:
        yield server


def published(server, name, fault):
    return Remote(f"made-up/{name}", (f"{server.address}/{fault}/{NAMES[name]}",))


def refused(reason, *arguments, **options):
    with pytest.raises(FileNotFoundError, match=reason):
        download.obtain(*arguments, **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_each_kind_is_accepted(publisher, home, name):
    path = download.obtain(published(publisher, name, "well"))
    assert path.with_name(f"{name}.sha256").is_file()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("empty", "the download is empty"),
        ("empty-unsaid", "the download is empty"),
        ("nothing", "the server answers 204 No Content instead of 200 OK"),
        ("page", "the download is a page of HTML or XML, not the file"),
        ("json", "expected (an|annotations|a table)|damaged or cut short"),
        ("wrong", "expected (an|annotations|a table)|damaged or cut short"),
    ],
)
def test_an_answer_of_another_kind_is_refused(publisher, home, name, fault, reason):
    refused(reason, published(publisher, name, fault))
    assert list((home / "made-up").iterdir()) == []


@pytest.mark.parametrize("name", ["o.obo", "a.gaf.gz", "t.zip", "gene2go.gz"])
def test_half_a_file_of_unknown_length_is_refused(publisher, home, name):
    refused("cut short", published(publisher, name, "half"))
    assert list((home / "made-up").iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("elsewhere", "redirects to 'https://evil.example/file.txt'; only https addresses of .*github.com"),
        ("insecure", "redirects to 'http://github.com/file.txt'; only https"),
        ("disk", "redirects to 'file:///etc/hostname'; only https"),
        ("nowhere", "redirects to 'https://.evil/file.txt', which is not an address"),
        ("circle", "more than 5 redirects"),
    ],
)
def test_redirects_to_other_places_are_refused(server, home, fault, reason):
    refused(reason, remote(server, fault))
    assert list((home / "made-up").iterdir()) == []


@pytest.mark.parametrize("fault", ["moved", "endless-moved"])
def test_redirects_within_the_server_are_followed(server, home, fault):
    assert download.obtain(remote(server, fault)).read_bytes() == CONTENT


def test_redirects_between_known_hosts_are_followed(home, monkeypatch):
    requests, urllib3 = pytest.importorskip("requests"), pytest.importorskip("urllib3")
    asked = []

    def send(adapter, request, **options):
        asked.append(request.url)
        response = requests.Response()
        response.status_code = 302 if "/github.com/" in request.url else 200
        response.headers["Location"] = "https://raw.githubusercontent.com/b"
        response.raw = urllib3.HTTPResponse(io.BytesIO(CONTENT), preload_content=False)
        return response

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    found = download.obtain(Remote("made-up/file.txt", ("https://github.com/a",)))
    assert found.read_bytes() == CONTENT
    assert asked == ["https://github.com/a", "https://raw.githubusercontent.com/b"]


@pytest.mark.parametrize("fault", ["huge", "endless"])
def test_a_download_without_end_stops_at_the_size_limit(server, home, fault):
    server.requests.clear()
    refused("larger than the size limit of 100,000 bytes", remote(server, fault), size_limit=100_000)
    assert len(server.requests) == 1 and list((home / "made-up").iterdir()) == []


@pytest.mark.parametrize("fault", ["trickle", "trickle-header", "trickle-chunk"])
def test_a_download_that_trickles_stops_at_the_time_limit(server, home, fault):
    server.requests.clear()
    start = time.monotonic()
    refused(r"not complete after the time limit of 0.5 s \(\d+ bytes", remote(server, fault), time_limit=0.5)
    assert time.monotonic() - start < 20
    assert len(server.requests) == 1 and list((home / "made-up").iterdir()) == []


def test_there_are_limits_unless_others_are_given():
    options = inspect.signature(download.obtain).parameters
    assert (options["timeout"].default, options["time_limit"].default) == (30, 3600)
    assert options["size_limit"].default == 4 * 2**30


def test_the_time_limit_includes_redirects(server, home, monkeypatch):
    clock = iter(range(0, 10_000, 40))  # each look at it takes 40 s
    monkeypatch.setattr(transfer.time, "monotonic", lambda: next(clock))
    limits = transfer.Limits(silence=30, time=30, size=1 << 20)
    with pytest.raises(DataError, match=r"not complete after the time limit of 30 s \(0 bytes came\)"):
        transfer.transfer(f"{server.address}/well/file.txt", home, limits)
