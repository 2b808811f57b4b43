"""Jobs of one process that overlap: each has one thread in its pools, and afterwards all is as before."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from hietan._runtime.thread_limits import one_thread


def blas_threads():
    """Of the pools that one thread may limit for all: one built with OpenMP, if a test has loaded it, cannot be."""
    np.ones((2, 2)) @ np.ones((2, 2))
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in pools if pool.get("threading_layer") != "openmp"}


def in_a_thread(function):
    """Call it in a thread that ends: threadpoolctl obeys only the first thread that set a limit, while it lives."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.fixture
def three_threads():
    limit = in_a_thread(lambda: ThreadpoolController().limit(limits=3, user_api="blas"))
    if blas_threads() != {3}:
        pytest.skip("this BLAS has no pool of threads")
    yield
    in_a_thread(limit.restore_original_limits)


@pytest.mark.usefixtures("three_threads")
def test_the_first_to_leave_does_not_open_the_pools_of_the_others():
    entered, second_entered, left = (threading.Event() for _ in range(3))

    def first():
        with one_thread():
            entered.set()
            assert second_entered.wait(60)
        left.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(60)
    with one_thread():
        second_entered.set()
        assert left.wait(60)
        assert blas_threads() == {1}
    thread.join()
    assert blas_threads() == {3}


@pytest.mark.usefixtures("three_threads")
def test_a_job_that_fails_puts_back_what_was_there():
    with pytest.raises(RuntimeError, match="out of order"), one_thread():
        raise RuntimeError("out of order")
    assert blas_threads() == {3}


def test_libraries_that_come_later_are_found(monkeypatch):
    """A worker may meet a library with its second job."""
    seen = []

    class Pools:
        def __init__(self):
            seen.append(len(sys.modules))

        def limit(self, **_):
            return threading.Lock()

    monkeypatch.setattr("hietan._runtime.thread_limits.ThreadpoolController", Pools)
    for name in ("a_first_module", "another_module"):
        monkeypatch.setitem(sys.modules, name, sys)
        for _ in range(2):
            with one_thread():
                pass
    assert len(seen) == 2
