"""Many calls at a time: all of them once, and none left running behind."""

import operator
import time

import pytest

from hietan.parallel import run_unordered


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "threads"), (3, "threads"), (2, "loky")])
def test_every_call_once(n_jobs, backend):
    found = run_unordered(operator.mul, [(2, i) for i in range(20)], n_jobs, backend)
    assert sorted(found) == list(range(0, 40, 2))


def test_who_stops_listening_waits_for_the_calls_under_way():
    ended = []

    def slow(x):
        time.sleep(0.05)
        ended.append(x)

    results = run_unordered(slow, [(i,) for i in range(100)], 2, "threads")
    next(results)
    results.close()
    n = len(ended)
    assert n <= 6
    time.sleep(0.1)
    assert len(ended) == n


def test_an_error_arrives():
    with pytest.raises(ZeroDivisionError):
        list(run_unordered(lambda x: 1 / x, [(1,), (0,)], 2, "threads"))
