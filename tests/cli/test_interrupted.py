"""Ctrl-C in the middle of each command's work, as a real signal: it ends in order, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import time

import pytest

from hietan.catalogue import load_dataset, make_estimator
from hietan.evaluation import run_study
from hietan.models import train_model
from support.file_server import serving
from support.processes import program

pytestmark = [
    pytest.mark.patient,
    pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there"),
]
SOON = 100  # seconds: far longer than the busiest machine takes, and far shorter than the work that is interrupted
NEVER = 10**9

FOREVER = {  # the words of a command, and the function that does its work, which is called again and again
    "predict": ("predict model.hietan synthetic-0 --report", "hietan.models:rank_rows"),
    "explain": (
        "explain model.hietan synthetic-0 --gene row0",
        "hietan.models:explain_rows_by_name",
    ),
    "report": ("report study", "hietan.report._study_page:study_summary"),
    "compare": ("compare study", "hietan.evaluation:compare_studies"),
    "demo --report": (
        "demo --data synthetic-0 --folds 2 --genes 1 --report r.html",
        "hietan.report._study_page:study_summary",
    ),
    "fit hie-logistic": ("fit synthetic-0 -m hie-logistic", "hietan.models:train_model"),
}
LONG = {  # work that takes minutes, or hours
    "fit": (
        f"fit synthetic-0 -m proximal-graph:lam=1e-7,tol=1e-14,max_iter={NEVER}",
        "hietan.models:train_model",
    ),
    "build": (
        "build --ontology deep.obo --annotations genes.gaf -o built.hietan",
        "hietan.datasets:build_dataset",
    ),
    "demo": ("demo --data worm-BPMFCC --folds 200", "hietan.catalogue:run_named_study"),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What the commands read."""
    folder = tmp_path_factory.mktemp("shared")
    data = load_dataset("synthetic-0")
    train_model(make_estimator("hie-tan"), data, method="hie-tan", seed=0).save(folder / "model.hietan")
    methods = {"a": make_estimator("tan"), "b": make_estimator("hie-tan")}
    run_study([data], methods, cv=2, output=folder / "study")
    terms = 20_000
    chain = [f"[Term]\nid: GO:{k:07}\nname: t{k}\nnamespace: biological_process\n" for k in range(terms)]
    chain = [term + f"is_a: GO:{k - 1:07}\n" if k else term for k, term in enumerate(chain)]
    (folder / "deep.obo").write_text("format-version: 1.2\n\n" + "\n".join(chain))
    deepest = f"\tGO:{terms - 1:07}\tPMID:1\tIMP\t\tP\tname\t\tprotein\ttaxon:1\t20260101\tDB\t\t\n"
    genes = "".join(f"DB\tg{k}\ts{k}\tinvolved_in{deepest}" for k in range(20_000))
    (folder / "genes.gaf").write_text("!gaf-version: 2.2\n" + genes)
    return folder


@pytest.fixture(scope="module")
def run_commands(tmp_path_factory):
    """The program that runs the commands, and where its temporary files are."""
    temporary = tmp_path_factory.mktemp("temporary")
    options = program("run_commands")
    options["env"]["TMPDIR"] = str(temporary)
    with subprocess.Popen(**options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process, temporary
        process.stdin.close()


def interrupted(run_commands, shared, folder, words, work, again=False, values=(), has_begun=lambda: True):
    """The exit code of a command that got one signal while it worked, and the lines of its standard error stream."""
    process, temporary = run_commands
    for path in shared.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "log").mkdir()
    before = sorted(folder.iterdir())
    call = {"folder": str(folder), "words": words.split(), "work": work, "again": again}
    process.stdin.write(json.dumps({**call, "values": dict(values)}) + "\n")
    process.stdin.flush()
    child = int(process.stdout.readline())
    until = time.monotonic() + SOON
    while not ((folder / "log" / "ready").exists() and has_begun()):
        assert time.monotonic() < until, (folder / "log" / "stderr").read_text()
        time.sleep(0.01)
    time.sleep(0.3)
    start = time.monotonic()
    os.kill(child, signal.SIGINT)
    killer = subprocess.Popen(["sh", "-c", f"sleep {SOON}; kill -9 {child}"])  # so that no test hangs
    code = int(process.stdout.readline())
    killer.kill()
    killer.wait()
    print(f"{words.split()[0]}: {time.monotonic() - start:.2f} s")
    assert sorted(folder.iterdir()) == before and not list(temporary.iterdir())
    return code, (folder / "log" / "stderr").read_text().splitlines()


@pytest.mark.parametrize("name", [*FOREVER, *LONG])
def test_one_signal_ends_a_command(name, run_commands, shared, tmp_path):
    words, work = {**FOREVER, **LONG}[name]
    found = interrupted(run_commands, shared, tmp_path, words, work, again=name in FOREVER)
    assert found == (130, ["interrupted; nothing was written"])


def test_one_signal_ends_a_download_that_trickles(run_commands, shared, tmp_path):
    with serving(tmp_path) as server:
        values = {"hietan.datasets._fetching.registry:GO_CURRENT": f"{server.address}/trickle"}
        words = "fetch gene-ontology --data-home home"
        (tmp_path / "home").mkdir()
        found = interrupted(
            run_commands,
            shared,
            tmp_path,
            words,
            "hietan.datasets._fetching.fetch:fetch_collection",
            values=values,
            has_begun=lambda: server.requests,
        )
    assert found == (130, ["interrupted; complete files are kept"])
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
