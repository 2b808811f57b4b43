"""Work that jobs have in common: done once, the same for all, and counted for each."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hietan._runtime import shared_work
from hietan._runtime.shared_work import Arrays, count_seconds, forgetting_shared_work, once, sharing


class Work:
    """A piece of work that says how often it was done."""

    def __init__(self, value="result"):
        self.value = value
        self.times = 0

    def __call__(self):
        self.times += 1
        return self.value


@pytest.fixture(autouse=True)
def _nothing_kept():
    with forgetting_shared_work():
        yield


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is told how long something takes."""
    now = [0.0]
    monkeypatch.setattr(shared_work.time, "perf_counter", lambda: now[0])

    def takes(seconds, value="result"):
        def compute():
            now[0] += seconds
            return value

        return compute

    return takes


def job(label, key, compute, n_bytes=1):
    with sharing(label):
        return once(lambda: key, compute, n_bytes)


def test_jobs_with_the_same_label_share_results_with_the_same_key():
    work = Work()
    assert [job("fold 0", "counts", work) for _ in range(3)] == ["result"] * 3
    assert work.times == 1
    job("fold 0", "keys", work)
    assert work.times == 2


def test_without_a_label_everybody_works_alone():
    work = Work()
    assert once(pytest.fail, work, 1) == once(pytest.fail, work, 1) == "result"
    assert work.times == 2


def test_only_the_latest_label_is_kept_but_a_job_keeps_its_own():
    work, other = Work(), Work()
    with sharing("fold 0"):
        once(lambda: "counts", work, 1)
        job("fold 1", "counts", other)
        assert once(lambda: "counts", work, 1) == "result"
    assert (work.times, other.times) == (1, 1)
    job("fold 0", "counts", work)
    assert work.times == 2


def test_nothing_is_kept_after_the_last_job():
    work = Work()
    with forgetting_shared_work():
        job("fold 0", "counts", work)
    job("fold 0", "counts", work)
    assert work.times == 2


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(shared_work, "MOST_BYTES", 10)
    small, second, large = Work(), Work(), Work()
    for _ in range(2):
        job("fold 0", "small", small, 6)
        job("fold 0", "second", second, 5)
        job("fold 0", "large", large, 11)
    assert (small.times, second.times, large.times) == (1, 2, 2)


def test_work_that_fails_is_tried_again_by_the_next():
    def fail():
        raise MemoryError

    for _ in range(2):
        with pytest.raises(MemoryError):
            job("fold 0", "counts", fail)
    assert job("fold 0", "counts", Work()) == "result"


def test_of_threads_that_come_together_one_works_and_the_others_wait():
    work, together = Work(), threading.Barrier(4)

    def run():
        with sharing("fold 0"):
            together.wait()
            return once(lambda: "counts", work, 1)

    job("fold 0", "another", Work())  # the label is there before the threads are
    with ThreadPoolExecutor(4) as pool:
        assert [future.result() for future in [pool.submit(run) for _ in range(4)]] == ["result"] * 4
    assert work.times == 1


def test_a_forked_process_works_alone(monkeypatch):
    work = Work()
    with sharing("fold 0"):
        once(lambda: "counts", work, 1)
        monkeypatch.setattr(shared_work.os, "getpid", lambda: -1)
        once(lambda: "counts", work, 1)
    assert work.times == 2


def test_arrays_are_the_same_key_only_if_they_have_the_same_content():
    ones = np.array([1, 2, 3], dtype=np.int32)
    key = Arrays([ones, None])
    assert key == Arrays([ones.copy(), None]) and hash(key) == hash(Arrays([ones.copy(), None]))
    others = [ones + 1], [ones, ones], [ones.astype(np.int64), None], [ones[:2], None], [None, ones]
    assert all(key != Arrays(arrays) for arrays in others)
    ones[0] = 7  # whoever owns them may change them
    assert key != Arrays([ones, None])


def test_the_clock_of_a_job_counts_what_others_did_for_it(clock):
    for _ in range(2):
        with sharing("fold 0") as shared:
            start = shared.clock()
            once(lambda: "counts", clock(3), 1)
            once(lambda: "keys", clock(4), 1)
            once(lambda: "counts", clock(3), 1)  # by itself, a job would use its own result again
            clock(5)()
            assert shared.clock() - start == 12


def test_work_that_goes_on_counts_for_a_job_that_finds_it_done(clock):
    with sharing("fold 0") as shared:
        start = shared.clock()
        count_seconds("sorting", lambda: 2.5)
        count_seconds("sorting", lambda: 4.0)
        assert shared.clock() - start == 2.5
    count_seconds("sorting", pytest.fail)
