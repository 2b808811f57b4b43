"""Studies on a cluster of real processes: the same bytes as on one machine, whichever workers die; and what is
refused."""

import os
import signal
import socket
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from hietan import AODE, HIPNB, TAN, HieTANLite
from hietan.cli.study import register
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import StudyError, run_study
from hietan.evaluation.cross_validation import fold_of_rows
from hietan.evaluation.study import cluster
from hietan.evaluation.study import run as study_module
from support import processes
from support.misbehaving import Kills, KillsOnce, Nonsense, OneThread, Slow, Traveller
from support.processes import contents

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system"),
]

DATASETS = [replace(make_hierarchical_classification(91, 25, random_state=k), name=f"d{k}") for k in range(2)]
METHODS = {"TAN": TAN(), "lite": HieTANLite(), "NB": make_pipeline(MaxAbsScaler(), BernoulliNB())}
OF_ALL_KINDS = {**METHODS, "AODE": AODE(), "HIP": HIPNB(), "LR": LogisticRegression(), "bad": TAN(alpha=-1)}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with processes.cluster(tmp_path_factory.mktemp("cluster")) as address:
        yield address


@pytest.fixture
def client(address):
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=processes.START_SECONDS)
        yield client


def our_tasks(client):
    """What the scheduler still knows of our studies; it may hear of a release a moment later."""
    until = time.monotonic() + processes.START_SECONDS
    while time.monotonic() < until:
        keys = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        left = [key for key in keys if key.startswith("hietan")]
        if not left:
            break
        time.sleep(0.05)
    return left


def both(tmp_path, methods, options, **common):
    """The files that threads leave, and those of a run with these options."""
    for name, more in (("threads", {}), ("dask", {"backend": "dask", **options})):
        run_study(DATASETS, methods, cv=3, output=tmp_path / name, **common, **more)
    return contents(tmp_path / "threads"), contents(tmp_path / "dask")


def test_the_files_are_those_of_threads(client, address, tmp_path):
    expected, found = both(tmp_path, OF_ALL_KINDS, {"scheduler": address})
    assert len(expected) > 20 and found == expected
    assert len((tmp_path / "dask" / "times.csv").read_text().splitlines()) == 1 + 2 * 7 * 3
    assert our_tasks(client) == []


@pytest.mark.patient
def test_the_active_client_is_used_and_stays(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_local_cluster", None)  # none is started
    with client.as_current():
        expected, found = both(tmp_path, METHODS, {})
    assert found == expected
    assert client.submit(int, "7").result(timeout=processes.START_SECONDS) == 7


@pytest.mark.patient
def test_a_cluster_of_our_own(tmp_path):
    expected, found = both(tmp_path, {"TAN": TAN()}, {"n_jobs": 1})
    assert found == expected


def test_nonsense_fails_as_in_threads(client, address, tmp_path):
    kinds = ("NaN", "unknown label", "third column", "other classes", "column too few", "float labels")
    methods = {kind: Nonsense(kind, seed=0) for kind in kinds}
    expected, found = both(tmp_path, {**methods, "TAN": TAN()}, {"scheduler": address})
    assert found == expected
    assert expected["failures.csv"].count(b"ValueError: method ") == 2 * 3 * 5


def test_each_job_has_one_thread(client, address):
    many = client.run(lambda: max(pool["num_threads"] for pool in threadpool_info()))
    assert min(many.values()) == 3  # or there is nothing to see
    results = run_study(DATASETS, {"NB": OneThread()}, cv=3, backend="dask", scheduler=address)
    assert results.failures == ()


def test_a_dataset_does_not_travel_with_every_job(client, address, tmp_path):
    data = SimpleNamespace(
        X=DATASETS[0].X, y=DATASETS[0].y, name="d", hierarchy=Traveller(tmp_path / "arrivals")
    )
    run_study([data], {"NB": BernoulliNB()}, cv=5, seeds=6, backend="dask", scheduler=address)
    arrivals, left = ((tmp_path / name).read_text().split() for name in ("arrivals", "arrivals-left"))
    assert left.count(str(os.getpid())) == 1  # sent once, for thirty jobs on two workers
    # Among themselves the workers may fetch it again: every two seconds Dask drops copies that nobody needs just then.
    assert 1 <= len(set(arrivals)) <= 2 and len(arrivals) < 30
    assert str(os.getpid()) not in arrivals


def test_no_more_is_submitted_than_the_workers_have_use_for(client):
    taken = []

    def calls():
        for k in range(50):
            taken.append(k)
            yield (cluster.Shared("factor", "two", 2),), (k,)

    results = cluster.run_on_workers(client, int.__mul__, calls(), None)
    found = [next(results)]
    assert len(taken) <= 2 * cluster.CALLS_PER_THREAD + 1
    assert sorted(found + list(results)) == list(range(0, 100, 2))


# ---------------------------------------------------------------------------------------------- deaths


@pytest.mark.patient
def test_workers_that_die_are_survived(client, address, tmp_path):
    """One kills itself in the middle of a job, another one is killed from outside."""
    workers = set(client.run(os.getpid).values())
    marker = tmp_path / "marker"
    victims = []

    def kill_one(progress):
        if progress.done == 8:
            victims.extend(client.run(os.getpid, on_error="ignore").values())
            os.kill(victims[0], signal.SIGKILL)

    methods = {"slow": Slow(), "NB": KillsOnce(marker), "lite": HieTANLite()}
    run_study(
        DATASETS,
        methods,
        cv=3,
        output=tmp_path / "dask",
        backend="dask",
        scheduler=address,
        progress=kill_one,
    )
    assert marker.exists() and victims and set(victims) & workers
    run_study(DATASETS, methods, cv=3, output=tmp_path / "threads")
    assert contents(tmp_path / "dask") == contents(tmp_path / "threads")


def allow_deaths(client, number):
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", number))


@pytest.mark.patient
def test_a_job_that_no_worker_survives_has_failed_alone(client, address, tmp_path):
    sizes = 91 - np.bincount(fold_of_rows(DATASETS[0].y, 3, 0))
    guilty = np.flatnonzero(sizes == sizes[0]).tolist()
    assert len(guilty) < 3
    methods = {"killer": Kills(int(sizes[0]), os.getpid()), "slow": Slow()}
    expected = run_study(DATASETS[:1], methods, cv=3)
    allow_deaths(client, 0)  # so that every call at hand when a worker dies is suspected
    try:
        results = run_study(DATASETS[:1], methods, cv=3, backend="dask", scheduler=address)
    finally:
        allow_deaths(client, 1)
    assert expected.failures == ()
    assert [(f.method, f.fold) for f in results.failures] == [("killer @ tuned none", k) for k in guilty]
    assert "the worker died while nothing but this job was running" in results.failures[0].error
    assert [r for r in results.summary if r.method == "slow"] == [
        r for r in expected.summary if r.method == "slow"
    ]


def stop_after(n_jobs):
    def progress(progress):
        if progress.done == n_jobs:
            raise KeyboardInterrupt

    return progress


@pytest.mark.patient
@pytest.mark.parametrize("first", ["dask", "threads"])
def test_who_is_interrupted_goes_on_with_another_backend(first, client, address, tmp_path):
    options = {"dask": {"backend": "dask", "scheduler": address}, "threads": {}}
    second = "threads" if first == "dask" else "dask"
    common = {"cv": 3, "seeds": 2, "output": tmp_path / "halves"}
    with pytest.raises(KeyboardInterrupt):
        run_study(DATASETS, METHODS, progress=stop_after(7), **common, **options[first])
    assert our_tasks(client) == []  # nothing keeps running in the background
    seen = []
    run_study(DATASETS, METHODS, progress=seen.append, **common, **options[second])
    assert seen[0].resumed == 7
    run_study(DATASETS, METHODS, **{**common, "output": tmp_path / "whole"})
    assert contents(tmp_path / "halves") == contents(tmp_path / "whole")


def local_cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )


def test_a_cluster_that_is_lost_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    monkeypatch.setattr(cluster, "JOIN_SECONDS", 0.5)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.1)
    common = {"cv": 3, "output": tmp_path / "dask", "backend": "dask"}
    with local_cluster(1) as lost, distributed.Client(lost):

        def lose(progress):
            if progress.done == 4:
                lost.scale(0)

        with pytest.raises(ConnectionError, match="no worker for 0.5 s"):
            run_study(DATASETS, {"slow": Slow(), **METHODS}, progress=lose, **common)
        with pytest.raises(StudyError, match="no worker joined the scheduler at .* start one: dask worker"):
            run_study(DATASETS, METHODS, **{**common, "output": tmp_path / "none"})
        assert not (tmp_path / "none").exists()


@pytest.mark.patient
def test_a_scheduler_without_workers(run, tmp_path, monkeypatch):
    assert cluster.JOIN_SECONDS <= 10  # a few seconds
    monkeypatch.setattr(cluster, "JOIN_SECONDS", 1.0)
    with processes.scheduler(tmp_path) as address:
        expected = f"no worker joined the scheduler at {address} within 1 s; start one: dask worker {address}"
        assert refused({"scheduler": address}, tmp_path) == expected
        words = ["--data", "synthetic-0", "--methods", "tan", "--backend", "dask", "--scheduler", address]
        result = run("study", *words, "-o", tmp_path / "out")
        assert (result.exit_code, result.stderr) == (2, f"error: {expected}\n")
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------------------------------------- refusals


def refused(options, tmp_path, methods=METHODS):
    with pytest.raises(StudyError) as caught:
        run_study(DATASETS, methods, cv=3, output=tmp_path / "out", **{"backend": "dask", **options})
    assert not (tmp_path / "out").exists()
    return str(caught.value)


NONSENSE = ["", "banana", "tcp://", "tcp://:8786", "tcp://host", "tcp://host:port", "tcp://host:99999"]
NONSENSE += ["http://host:80", "tcp://host:80/path", "inproc://host:80", "tcp:host:80", "tcp://me@host:80"]


@pytest.mark.parametrize("scheduler", NONSENSE)
def test_an_address_that_makes_no_sense(scheduler, tmp_path):
    assert "expected an address such as tcp://host:8786" in refused({"scheduler": scheduler}, tmp_path)


def test_a_scheduler_with_another_backend(tmp_path):
    message = refused({"scheduler": "tcp://host:8786", "backend": "threads"}, tmp_path)
    assert message == "scheduler is 'tcp://host:8786', but backend is 'threads'; a scheduler needs 'dask'"


@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9])
def test_no_scheduler_at_the_address(answer, tmp_path, monkeypatch):
    """An address where nothing listens, one that is silent, and one with another protocol."""
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def speak():
            caller, _ = server.accept()
            with caller:
                caller.sendall(answer)
                time.sleep(1)

        if answer is None:
            server.close()
        else:
            threading.Thread(target=speak, daemon=True).start()
        message = refused({"scheduler": f"tcp://127.0.0.1:{port}"}, tmp_path)
    assert message.startswith(f"no Dask scheduler answered at tcp://127.0.0.1:{port}: ")


def test_the_address_of_a_worker(client, tmp_path):
    worker = next(iter(client.nthreads()))
    assert f"{worker} is the address of a worker" in refused({"scheduler": worker}, tmp_path)


def test_without_dask(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'needs distributed, .*pip install "hietan\[dask\]"'):
        run_study(DATASETS, METHODS, cv=3, output=tmp_path / "out", backend="dask")
    assert not (tmp_path / "out").exists()


def test_workers_with_other_versions(client, address, tmp_path, monkeypatch):
    ours = {**cluster.versions(), "numpy": "0.9"}
    monkeypatch.setattr(cluster, "versions", lambda: ours)
    message = refused({"scheduler": address}, tmp_path)
    assert f"has numpy {np.__version__} but the study has 0.9; the results might differ" in message
    monkeypatch.setattr(study_module, "check_workers", lambda *_: None)  # as if they had come later
    with pytest.raises(ConnectionError, match="worker tcp://.* has numpy .* but the study has 0.9"):
        run_study(DATASETS, METHODS, cv=3, backend="dask", scheduler=address)


def test_a_method_that_the_workers_cannot_load(client, address, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("from hietan import TAN\nclass Mine(TAN):\n    'Mine.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    from only_here import Mine

    message = refused({"scheduler": address}, tmp_path, {"mine": Mine()})
    assert (
        "cannot load method 'mine @ tuned none': ModuleNotFoundError: No module named 'only_here'" in message
    )


# ---------------------------------------------------------------------------------------------- the command


@pytest.fixture
def run():
    app = typer.Typer()
    register(app)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_command(run, client, address, tmp_path):
    file = tmp_path / "study.toml"
    what = 'data = "synthetic-0"\nmethods = ["tan", "hip-nb"]\nfolds = 3\n'
    file.write_text(f'{what}backend = "dask"\nscheduler = "{address}"\n')
    result = run("study", file, "-o", tmp_path / "dask", "--no-figures")
    assert result.exit_code == 0, result.output
    assert "8 of 8 jobs" in result.stderr
    options = "--data synthetic-0 --methods tan --methods hip-nb --folds 3 --no-figures".split()
    assert run("study", *options, "-o", tmp_path / "threads").exit_code == 0
    assert contents(tmp_path / "dask") == contents(tmp_path / "threads")
    # The command line takes precedence, and the study resumes in the same directory.
    assert run("study", file, "-o", tmp_path / "dask", "--no-figures", "--backend", "threads").exit_code == 0
    assert contents(tmp_path / "dask") == contents(tmp_path / "threads")


def test_the_command_without_a_scheduler(run, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    words = ["--data", "synthetic-0", "--methods", "tan", "--scheduler", there, "-o", tmp_path / "out"]
    result = run("study", *words, "--backend", "dask")
    assert result.exit_code == 2
    assert result.stderr == f"error: no Dask scheduler answered at {there}: no answer within 0.5 s\n"
    result = run("study", *words)
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"error: scheduler is '{there}', but backend is 'threads'; a scheduler needs 'dask'\n"
    )
    assert not (tmp_path / "out").exists()
