"""Many calls at a time: all of them once, and none left running behind."""

import operator
import os
import sys
import threading
import time
import warnings

import pytest
from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier

from hietan._runtime.parallel import map_chunks, run_ordered, run_unordered
from hietan._runtime.warning_filters import steady_warnings
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import pooled_predictions, run_study


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "threads"), (3, "threads"), (2, "loky")])
def test_every_call_once(n_jobs, backend):
    found = run_unordered(operator.mul, [(2, i) for i in range(20)], n_jobs, backend)
    assert sorted(found) == list(range(0, 40, 2))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_calls(n_jobs):
    def late_first(i, n):
        time.sleep(0.002 * (n - i))
        return i

    assert run_ordered(late_first, [(i, 12) for i in range(12)], n_jobs) == list(range(12))
    assert run_ordered(late_first, [], n_jobs) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_calls_run_in_threads_of_this_process_and_one_in_the_caller(n_jobs):
    def where():
        return os.getpid(), threading.current_thread()

    (alone,) = run_ordered(where, [()], n_jobs)
    assert alone == where()
    with parallel_config(backend="loky"):
        found = run_ordered(where, [()] * 4, n_jobs)
    assert {process for process, _ in found} == {os.getpid()}
    assert all((thread is threading.current_thread()) == (n_jobs == 1) for _, thread in found)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n_rows", [0, 1, 64, 65, 5000, 9000])
def test_chunks_cover_all_rows_in_order(n_rows, n_jobs):
    chunks = map_chunks(lambda start, stop: (start, stop), n_rows, n_jobs)
    assert [row for start, stop in chunks for row in range(start, stop)] == list(range(n_rows))
    assert all(start % 64 == 0 and 0 < stop - start <= 4096 for start, stop in chunks)


def test_a_consumer_that_stops_early_waits_for_the_running_calls():
    begun, ended = [], []

    def slow(x):
        begun.append(x)
        time.sleep(0.05)
        ended.append(x)

    many = 2000  # enough that even a busy machine, slow to close, has not made all calls by then
    results = run_unordered(slow, [(i,) for i in range(many)], 2, "threads")
    next(results)
    results.close()
    n = len(ended)
    assert len(begun) == n < many
    time.sleep(0.1)
    assert len(begun) == n


def test_an_error_arrives():
    with pytest.raises(ZeroDivisionError):
        list(run_unordered(lambda x: 1 / x, [(1,), (0,)], 2, "threads"))


@pytest.mark.parametrize("allowed", [0, 2])
def test_a_system_that_allows_few_threads(monkeypatch, allowed):
    started, start = [], threading.Thread.start

    def start_if_allowed(thread):
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_allowed)
    if allowed:
        assert run_ordered(operator.neg, [(k,) for k in range(20)], 8) == [-k for k in range(20)]
    else:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            run_ordered(operator.neg, [(k,) for k in range(20)], 8)
    assert len(started) == allowed and not any(thread.is_alive() for thread in started)


def test_filters_of_warnings_outlive_threads_that_empty_them():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "hush")
        before = list(warnings.filters)
        with steady_warnings():
            with warnings.catch_warnings():
                warnings.warn("heard as ever", stacklevel=1)
                warnings.warn("old", DeprecationWarning, stacklevel=1)
            warnings.filters.clear()  # as two forests leave them
            warnings.warn("`sklearn.utils.parallel.delayed` should be used with ...", stacklevel=1)
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            warnings.warn("hush, please", stacklevel=1)
            warnings.warn("heard", stacklevel=1)
        assert warnings.filters == before
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        assert [str(w.message) for w in said] == ["heard as ever", "heard"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["study", "pooled"])
def test_forests_in_threads_leave_the_filters_alone(way):
    data = make_hierarchical_classification(80, 20, random_state=0)
    forest = RandomForestClassifier(60)
    interval = sys.getswitchinterval()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        sys.setswitchinterval(1e-5)
        try:
            if way == "study":
                run_study([data], {"a": forest, "b": forest}, cv=8, n_jobs=4)
            else:
                pooled_predictions(forest, data, n_splits=16, n_jobs=4)
        finally:
            sys.setswitchinterval(interval)
        assert warnings.filters == before
    assert [str(w.message) for w in said] == []
