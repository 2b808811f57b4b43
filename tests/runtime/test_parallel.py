"""Many calls at a time: all of them once, and none left running behind."""

import os
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import ThreadpoolController, threadpool_info

from hietan._runtime.parallel import map_chunks, one_thread, run_ordered
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study


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


@pytest.mark.slow
def test_forests_in_threads_leave_the_filters_alone():
    data = make_hierarchical_classification(80, 20, random_state=0)
    forest = RandomForestClassifier(60)
    interval = sys.getswitchinterval()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        before = list(warnings.filters)
        sys.setswitchinterval(1e-5)
        try:
            run_study([data], {"a": forest, "b": forest}, cv=8, n_jobs=4)
        finally:
            sys.setswitchinterval(interval)
        assert warnings.filters == before


def blas_threads():
    """Return the threads of the pools that one thread may limit for all; one built with OpenMP cannot be."""
    np.ones((2, 2)) @ np.ones((2, 2))
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in pools if pool.get("threading_layer") != "openmp"}


def test_the_first_to_leave_does_not_lift_the_limit_of_the_others():
    entered, second_entered, left = (threading.Event() for _ in range(3))

    def second():
        assert entered.wait(60)
        with one_thread():
            second_entered.set()
        left.set()

    with ThreadpoolController().limit(limits=3, user_api="blas"):
        if blas_threads() != {3}:
            pytest.skip("this BLAS has no pool of threads")
        thread = threading.Thread(target=second)
        thread.start()
        with one_thread():
            entered.set()
            assert second_entered.wait(60) and left.wait(60)
            assert blas_threads() == {1}
        thread.join()
        assert blas_threads() == {3}
