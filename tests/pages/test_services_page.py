"""The programs of docs/services.md, run as they are: a real server, a Parquet file, MLflow, a newer taxonomy."""

import contextlib
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hietan import HieLogistic, Hierarchy
from hietan.datasets import load_ageing_genes, make_hierarchical_classification
from hietan.models import train_model
from support.processes import START_SECONDS

PAGE = (Path(__file__).parents[2] / "docs" / "services.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
DATA = make_hierarchical_classification(300, 40, random_state=4)
ROWS = [[DATA.feature_names[j] for j in DATA.X[[i]].nonzero()[1]] for i in range(300)]
ROWS[1] = [*ROWS[1], "new"]


def run(name, **known):
    """Run a program of the page in this process."""
    exec(compile(PROGRAMS[name], name, "exec"), known)
    return known


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A model, stored in the working directory as the page's programs expect it."""
    monkeypatch.chdir(tmp_path)
    trained = train_model(HieLogistic(), DATA.subset(rows=slice(200)), folds=2)
    trained.save("model.hietan")
    return trained


@pytest.fixture
def service(trained, tmp_path):
    """A client of the page's service for the model `trained`."""
    with serving(tmp_path) as client:
        yield client


@contextlib.contextmanager
def serving(tmp_path):
    """A client of the page's service, which runs in another process on the loopback address."""
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    (tmp_path / "service.py").write_text(PROGRAMS["service.py"], encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port), "--log-level", "warning"]
    server = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            deadline = time.monotonic() + START_SECONDS
            while True:
                try:
                    client.get("/unknown")
                    break
                except httpx.TransportError:
                    assert server.poll() is None and time.monotonic() < deadline, "the server did not start"
                    time.sleep(0.1)
            yield client
    finally:
        server.terminate()
        server.wait(START_SECONDS)


def test_the_service_is_short():
    lines = [line for line in PROGRAMS["service.py"].splitlines() if line.strip()]
    assert len(lines) <= 20


def test_the_answer_that_the_page_shows_is_the_answer_of_its_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = re.search(r"^hietan fit .*$", PAGE, re.MULTILINE)[0]
    subprocess.run([sys.executable, "-m", *shlex.split(command), "-q"], check=True, cwd=tmp_path)
    (request,) = re.findall(r"^curl .* --json '(.*)'$", PAGE, re.MULTILINE)
    (shown,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    with serving(tmp_path) as client:
        answer = client.post("/predict", json=json.loads(request)).json()
    rounded = [{k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()} for row in answer]
    assert rounded == json.loads(shown)
    names = dict(zip(*terms_of("worm", "BP"), strict=True))
    sentence = " ".join(PAGE.split())
    assert all(f"*{names[term]}*" in sentence for row in json.loads(request) for term in row)


def terms_of(organism, namespaces):
    data = load_ageing_genes(organism, namespaces)
    return data.feature_names, data.term_names


def test_the_service_returns_the_predictions_of_the_model(service, trained):
    expected = [each.to_dict() for each in trained.predict(ROWS)]
    assert service.post("/predict", json=ROWS).json() == expected
    assert [service.post("/predict", json=[row]).json()[0] for row in ROWS[:20]] == expected[:20]
    assert expected[1]["unknown"] == ["new"] and service.get("/unknown").json() == {"new": 2}
    assert service.post("/predict", json=[]).json() == []


def test_the_service_refuses_bad_input_and_goes_on(service, trained):
    bad = {
        b'["T1"]': "expected a list of terms in row 0, got 'T1'; split it",
        b'[["T1"], null]': "expected a list of terms in row 1, got None",
        b'[[["T1"]]]': "expected terms as text in row 0",
        b'[["T1", null]]': "row 0 contains a missing term (None); remove it",
        b"[[NaN]]": "row 0 contains a missing term (nan)",
        b'{"rows": []}': "expected a list of terms in row 0, got {'rows': []}",
        b"7": "expected a list of terms in row 0, got 7",
        b'[["T1"': "Expecting",
        b"": "Expecting value",
        b"\xff\xfe\xff": "codec can't decode",
        b"[" * 100_000: "recursion",
    }
    for body, message in bad.items():
        answer = service.post("/predict", content=body)
        assert answer.status_code == 422, body[:20]
        assert message in answer.json()["error"]
    assert service.get("/predict").status_code == 405
    assert service.get("/unknown").json() == {}
    assert service.post("/predict", json=ROWS[:1]).json() == [trained.predict(ROWS[:1])[0].to_dict()]


def test_a_parquet_file_is_predicted_in_batches(trained, capsys):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    n = 120_000  # three batches
    rows = [ROWS[i % 300] for i in range(n)]
    ids = pa.array(range(n))
    pq.write_table(pa.table({"other": ids, "terms": rows, "id": ids}), "rows.parquet")
    run("batch.py")
    found = pq.read_table("predictions.parquet")
    assert found["id"].to_pylist() == [str(i) for i in range(n)]
    assert pq.ParquetFile("predictions.parquet").num_row_groups == 3
    expected = trained.predict(ROWS)
    for name in ("predicted", "probability", "log_odds"):
        assert found[name].to_pylist() == [getattr(expected[i % 300], name) for i in range(n)]
    assert found["unknown"].to_pylist()[:2] == [[], ["new"]]
    assert capsys.readouterr().out == "[('new', 400)]\n"


@pytest.mark.patient
@pytest.mark.filterwarnings("default")  # MLflow's own
def test_mlflow_stores_a_skops_file_with_the_same_probabilities(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install --group mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    try:
        known = run("mlflow_model.py", hierarchy=DATA.hierarchy, rows=ROWS, y=DATA.y)
    finally:
        mlflow.set_tracking_uri(None)
    expected = known["model"].predict_proba(ROWS)
    np.testing.assert_array_equal(known["served"].predict(ROWS), expected)
    by_hand = HieLogistic(hierarchy=DATA.hierarchy).fit(DATA.X, DATA.y).predict_proba(DATA.X)
    np.testing.assert_array_equal(expected, by_hand)
    assert [path.name for path in tmp_path.rglob("model.*") if path.is_file()] == ["model.skops"]
    assert not list(tmp_path.rglob("*.pkl"))


def test_a_newer_taxonomy(trained, capsys, monkeypatch):
    monkeypatch.setattr("hietan.models.evaluating.DRAWS", 50)
    leaf = DATA.hierarchy.leaves[0]
    DATA.save("newer.hietan")
    below = f"{leaf},new below {leaf}"
    lines = ["parent,child", *(f"{parent},{child}" for parent, child in DATA.hierarchy.edges), below]
    Path("edges.csv").write_text("\n".join(lines) + "\n")
    run("newer.py", lists=[[leaf], ["strange", f"new below {leaf}"], ["strange", "other"]])
    first, *metrics = capsys.readouterr().out.splitlines()
    assert first == "3 unknown terms"
    by_name = {line.split()[0]: line for line in metrics}
    found, truth = trained.predict(ROWS[200:]), DATA.y[200:]
    odds = {
        c: [each.log_odds for each, label in zip(found, truth, strict=True) if label == c] for c in (0, 1)
    }
    positive = trained.positive_label
    auc = np.mean([(p > q) + (p == q) / 2 for p in odds[positive] for q in odds[1 - positive]])
    assert by_name["auc"].startswith(f"auc {auc:.3f} (")


def test_a_new_term_counts_as_its_closest_known_ancestors(trained):
    leaf = DATA.hierarchy.leaves[0]
    newer = Hierarchy.from_edges([*DATA.hierarchy.edges, (leaf, "new")])
    found = trained.predict([["new"]], hierarchy=newer)
    assert found == trained.predict([[leaf]]) and not trained.unknown_terms
