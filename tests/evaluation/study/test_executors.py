"""A study on any executor: the same bytes as in threads, nothing lost when it breaks."""

import os
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from joblib.externals.loky import ProcessPoolExecutor as LokyExecutor
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import BernoulliNB

from hietan import HieBAN, HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.exceptions import StudyError

DATA = make_hierarchical_classification(60, 20, random_state=0)
METHODS = {
    "nb": BernoulliNB(),
    "ban": HieBAN(),
    "tan": HieTAN(),
    "lite": HieTANLite(),
}  # two share their counts


class InOrder:
    """An executor that makes each call when it is submitted, and counts how many results nobody has taken."""

    def __init__(self):
        self.calls = 0

    def submit(self, function, /, *arguments):
        self.calls += 1
        future = Future()
        future.set_result(function(*arguments))
        return future


class Unsendable(ClassifierMixin, BaseEstimator):
    """A classifier that no other process can get."""

    def __reduce__(self):
        raise TypeError("this classifier stays here")


class Fatal(ClassifierMixin, BaseEstimator):
    """A classifier that kills its process."""

    def fit(self, X, y):
        os._exit(3)


@contextmanager
def loky():
    with LokyExecutor(2) as executor:  # joblib reuses one of its own kind
        yield executor


EXECUTORS = {
    "in order": lambda: contextmanager(lambda: iter([InOrder()]))(),
    "threads": lambda: ThreadPoolExecutor(2),
    "loky": loky,
}


def tables(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "times.csv"
    }


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.patient if name == "loky" else ()) for name in EXECUTORS]
)
def test_every_executor_gives_the_same_bytes(name, tmp_path):
    run_study([DATA], METHODS, cv=3, output=tmp_path / "here")
    with EXECUTORS[name]() as executor:
        run_study([DATA], METHODS, cv=3, output=tmp_path / "there", executor=executor, n_jobs=2)
    found, expected = tables(tmp_path / "there"), tables(tmp_path / "here")
    assert found.keys() == expected.keys()
    journals = [path for path in found if path.parts[0] == "jobs"]
    assert journals and all(
        sorted(found[p].splitlines()) == sorted(expected[p].splitlines()) for p in journals
    )
    assert {p: found[p] for p in found.keys() - journals} == {p: expected[p] for p in found.keys() - journals}


def test_a_job_that_cannot_be_sent_has_failed_alone(tmp_path):
    with ProcessPoolExecutor(1) as executor:
        results = run_study([DATA], {"nb": BernoulliNB(), "stays": Unsendable()}, cv=2, executor=executor)
    assert {failure.method for failure in results.failures} == {"stays @ tuned none"}
    assert all("this classifier stays here" in failure.error for failure in results.failures)
    assert {row.method for row in results.summary} == {"nb"}


@pytest.mark.patient
def test_an_executor_that_breaks_loses_no_finished_job(tmp_path):
    data = make_hierarchical_classification(40, 10, random_state=1)
    methods = {"nb": BernoulliNB(), "smooth nb": BernoulliNB(alpha=9), "fatal": Fatal()}
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(StudyError, match="the same call with a new executor"),
    ):
        run_study([data], methods, cv=2, output=tmp_path, executor=executor, n_jobs=1)
    journals = list(tmp_path.glob("jobs/*/*nb*.jsonl"))
    assert [len(journal.read_text().splitlines()) for journal in journals] == [1, 1]
    # A limit of time gives each job a process of its own, so that the next executor survives it.
    with ThreadPoolExecutor(1) as executor:
        results = run_study([data], methods, cv=2, output=tmp_path, executor=executor, job_timeout=60)
    assert {failure.method for failure in results.failures} == {"fatal @ tuned none"}


def test_what_is_not_an_executor_is_refused():
    with pytest.raises(TypeError, match="executor must be a concurrent.futures.Executor .* got int"):
        run_study([DATA], METHODS, executor=4)
    with pytest.raises(ValueError, match="give backend='processes' or an executor, not both"):
        run_study([DATA], METHODS, executor=InOrder(), backend="processes")
    with ThreadPoolExecutor(1) as executor:
        executor.shutdown()
        with pytest.raises(StudyError, match="the executor takes no more jobs"):
            run_study([DATA], METHODS, executor=executor)
