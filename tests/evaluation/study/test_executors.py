"""Studies in threads, processes and on a Dask cluster, with real processes: the same bytes, whatever dies."""

import signal
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from threadpoolctl import ThreadpoolController

from hietan import HIPNB, TAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._study import executors, fingerprint
from hietan.exceptions import StudyError
from support.misbehaving import KillsOnce, Nonsense, OneThread, Raises, Slow
from support.processes import contents

pytestmark = pytest.mark.filterwarnings("ignore::hietan.exceptions.FailedMethodWarning")
DATASETS = [replace(make_hierarchical_classification(60, 20, random_state=k), name=f"d{k}") for k in range(2)]
METHODS = {
    "TAN": TAN(),
    "lite": HieTANLite(),
    "NB": make_pipeline(MaxAbsScaler(), BernoulliNB()),
    "HIP": HIPNB(),
    "bad": TAN(alpha=-1),
    "odd": Nonsense("NaN", seed=0),
}
ENOUGH = 300.0  # seconds: no job of these tests that finishes takes as long on the busiest machine
needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")


class Unsendable(ClassifierMixin, BaseEstimator):
    """A classifier that no other process can get."""

    def __reduce__(self):
        raise TypeError("this classifier stays here")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The files of the study, run one job at a time."""
    folder = tmp_path_factory.mktemp("expected")
    run_study(DATASETS, METHODS, cv=3, output=folder)
    return contents(folder)


def dask_client():
    return pytest.importorskip("distributed").Client(
        n_workers=1, threads_per_worker=2, dashboard_address=":0"
    )


WAYS = {
    "threads": {"n_jobs": 2},
    "processes": {"n_jobs": 2, "backend": "processes"},
    "dask": {"n_jobs": 2, "backend": "dask"},
}
slow, cluster, patient = pytest.mark.slow, pytest.mark.cluster, pytest.mark.patient
MARKS = {"processes": slow, "dask": [cluster, patient]}  # an active client is tried below


@pytest.mark.parametrize("way", [pytest.param(way, marks=MARKS.get(way, ())) for way in WAYS])
def test_number_and_kind_of_workers_change_no_byte(way, expected, tmp_path):
    run_study(DATASETS, METHODS, cv=3, output=tmp_path, **WAYS[way])
    assert contents(tmp_path) == expected
    assert len((tmp_path / "times.csv").read_text().splitlines()) == 1 + 2 * len(METHODS) * 3


@cluster
def test_an_active_client_and_its_executor_are_used_and_stay(expected, tmp_path):
    with dask_client() as client:
        run_study(DATASETS, METHODS, cv=3, output=tmp_path / "active", backend="dask")
        address = client.scheduler.address
        run_study(DATASETS, METHODS, cv=3, output=tmp_path / "there", backend="dask", scheduler=address)
        run_study(DATASETS, METHODS, cv=3, output=tmp_path / "given", executor=client.get_executor())
        assert client.submit(int, "7").result() == 7
    assert all(contents(tmp_path / name) == expected for name in ("active", "there", "given"))


def test_a_given_executor_gets_so_many_jobs_at_a_time(expected, tmp_path):
    taken = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *call):
            taken.append(self._work_queue.qsize())
            return super().submit(*call)

    with Counting(1) as executor:
        run_study(DATASETS, METHODS, cv=3, output=tmp_path, executor=executor, n_jobs=3)
    assert contents(tmp_path) == expected and max(taken) <= 3


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}, pytest.param(WAYS["processes"], marks=patient)])
def test_each_job_has_one_thread(options):
    with ThreadpoolController().limit(limits=3):
        assert run_study(DATASETS, {"NB": OneThread()}, cv=3, **options).failures == ()


# ------------------------------------------------------------------ what dies


@needs_kill
@patient
def test_a_process_that_dies_costs_nothing_but_time(tmp_path):
    methods = {"slow": Slow(), "NB": KillsOnce(tmp_path / "marker")}
    common = {"cv": 3, "n_jobs": 2, "output": tmp_path / "out", "backend": "processes"}
    with pytest.raises(StudyError, match="run the same study again to resume it"):
        run_study(DATASETS, methods, **common)
    assert (tmp_path / "marker").exists()
    run_study(DATASETS, methods, **common)
    run_study(DATASETS, methods, cv=3, output=tmp_path / "calm")
    assert contents(tmp_path / "out") == contents(tmp_path / "calm")


@needs_kill
@patient
@cluster
def test_a_worker_that_dies_costs_nothing_but_time(tmp_path):
    methods = {"slow": Slow(), "NB": KillsOnce(tmp_path / "marker")}
    run_study(DATASETS, methods, cv=3, n_jobs=2, output=tmp_path / "out", backend="dask")
    assert (tmp_path / "marker").exists()
    run_study(DATASETS, methods, cv=3, output=tmp_path / "calm")
    assert contents(tmp_path / "out") == contents(tmp_path / "calm")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_job_that_raises_what_ends_programs_has_failed_alone(error, n_jobs):
    methods = {"odd": Raises(error), "TAN": TAN()}
    results = run_study(DATASETS[:1], methods, cv=2, seeds=2, n_jobs=n_jobs)
    failure = ("odd @ tuned none", 1, f"{error.__name__}: enough")
    assert [(f.method, f.seed, f.error) for f in results.failures] == [failure] * 2
    assert {(row.method, row.seed) for row in results.summary} == {("odd", 0), ("TAN", 0), ("TAN", 1)}


def test_a_job_that_cannot_be_sent_has_failed_alone():
    with ProcessPoolExecutor(1) as executor:
        methods = {"nb": BernoulliNB(), "stays": Unsendable()}
        results = run_study(DATASETS[:1], methods, cv=2, executor=executor)
    assert {failure.method for failure in results.failures} == {"stays @ tuned none"}
    assert all("this classifier stays here" in failure.error for failure in results.failures)
    assert {row.method for row in results.summary} == {"nb"}


@pytest.mark.parametrize("options", [{"n_jobs": 2}, pytest.param(WAYS["processes"], marks=patient)])
def test_who_is_interrupted_resumes_in_another_way(options, expected, tmp_path):
    def stop(progress):
        if progress.done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(DATASETS, METHODS, cv=3, output=tmp_path, progress=stop, **options)
    seen = []
    run_study(DATASETS, METHODS, cv=3, output=tmp_path, progress=seen.append)
    assert seen[0].resumed == 7 and contents(tmp_path) == expected


# ------------------------------------------------------------------ what is refused, before anything is written


def refused(folder, **options):
    with pytest.raises(StudyError) as caught:
        run_study(DATASETS, METHODS, cv=3, output=folder / "out", **options)
    assert not (folder / "out").exists()
    return str(caught.value)


def test_options_that_exclude_each_other(tmp_path):
    message = refused(tmp_path, scheduler="tcp://host:8786")
    assert (
        message
        == "scheduler is 'tcp://host:8786', but backend is 'threads'; with a scheduler, use backend='dask'"
    )
    message = refused(tmp_path, executor=ThreadPoolExecutor(1), backend="processes")
    assert message == "pass backend='processes' or an executor, not both"
    message = refused(tmp_path, backend="dask", scheduler="banana")
    assert message == "scheduler is 'banana'; expected an address such as tcp://host:8786"


def test_an_executor_that_was_shut_down():
    with ThreadPoolExecutor(1) as executor:
        pass
    with pytest.raises(StudyError, match="the executor accepts no more jobs"):
        run_study(DATASETS, METHODS, cv=3, executor=executor)


@patient
@cluster
def test_a_cluster_without_workers_or_with_other_versions(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "PATIENCE", 0.5)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as empty, distributed.Client(empty):
        assert "start a worker with: dask worker" in refused(tmp_path, backend="dask")
    monkeypatch.setattr(executors, "PATIENCE", ENOUGH)
    with dask_client():
        monkeypatch.setattr(fingerprint, "version", lambda package: "0.9")
        assert "but the study uses 0.9, so the results might differ" in refused(tmp_path, backend="dask")


@patient
def test_a_scheduler_that_does_not_answer(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    words = ["--data", "synthetic-0", "--methods", "tan", "--backend", "dask", "--scheduler", there]
    code = "from hietan.cli import main; main()"
    command = [sys.executable, "-c", code, "study", *words, "-o", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=ENOUGH, check=False)
    assert ended.returncode == 2 and "cannot connect to a Dask cluster" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_without_dask(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'needs distributed, .*pip install "hietan\[dask\]"'):
        run_study(DATASETS, METHODS, cv=3, output=tmp_path / "out", backend="dask")
    assert not (tmp_path / "out").exists()
