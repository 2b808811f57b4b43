"""Long work in the kernel ends when its thread is told to stop, and leaves what it worked on as it was."""

import os
import subprocess
import threading

import numpy as np
import pytest

from hietan import _kernel
from hietan._runtime.parallel import run_ordered
from hietan.classifiers import ProximalGraph
from hietan.datasets import make_hierarchical_classification
from support.families import BAYES, seeded
from support.processes import program

DATA = make_hierarchical_classification(600, 500, random_state=0)


def stopped(work, *, obey=True):
    """Whether work ends with KeyboardInterrupt in a thread whose calls of the kernel were told to stop beforehand.

    Only the kernel can raise it there, so nothing depends on the time.
    """
    stop, found = _kernel.Stop(), []

    def run():
        if obey:
            stop.obey()
        stop.set()
        try:
            work()
        except KeyboardInterrupt:
            found.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return bool(found)


@pytest.mark.parametrize("make", BAYES)
def test_no_classifier_fits_or_predicts_on(make):
    model = make(hierarchy=DATA.hierarchy, **seeded(make))
    X, y = np.repeat(DATA.X.toarray(), 5, axis=0), np.repeat(DATA.y, 5)
    assert stopped(lambda: model.fit(X, y))
    assert not hasattr(model, "classes_")
    model.fit(DATA.X, DATA.y)
    before = model.predict_joint_log_proba(DATA.X)
    assert stopped(lambda: model.predict(X))
    assert stopped(lambda: model.partial_fit(X, y))
    np.testing.assert_array_equal(model.predict_joint_log_proba(DATA.X), before)


@pytest.mark.parametrize("lam", [1e-7, None])
def test_proximal_graph_does_not_iterate_on(lam):
    model = ProximalGraph(hierarchy=DATA.hierarchy, lam=lam, tol=1e-14, max_iter=10**9)
    assert stopped(lambda: model.fit(DATA.X, DATA.y))
    assert not hasattr(model, "coef_")


def kernel_calls():
    """Calls of every other kind of work, each with its arguments."""
    rng = np.random.default_rng(0)
    n, d = 2000, 600
    X = (rng.random((n, d)) < 0.1).astype(np.uint8)
    rows = np.arange(n)
    indptr = np.concatenate([[0], X.sum(1, dtype=np.int64).cumsum()])
    indices = np.nonzero(X)[1].astype(np.int64)
    words = _kernel.pack_dense(X, rows)
    ones, pairs = np.zeros(d, np.int32), np.zeros(d * (d - 1) // 2, np.int32)
    _kernel.count_words(words, ones, pairs)
    counts = _kernel.Counts(np.array([n]), ones[None], pairs[None])
    counting = cooccurrences(indptr, indices, d)
    for step in (counting.count, counting.join):
        step(0)
    own, *at, values = counting.take()
    sparse = _kernel.Counts(np.array([n]), own, values, *at)
    keys = _kernel.cmi_keys(counts)
    empty, chain = np.zeros(d + 1, np.int32), np.minimum(np.arange(d + 1), d - 1).astype(np.int32)
    none = _kernel.Relations(empty, empty[:0], empty, empty[:0])
    i, j = np.triu_indices(d, 1)
    spread = rng.normal(size=d)
    yield "pack_dense", lambda: _kernel.pack_dense(X, rows)
    yield "pack_sparse", lambda: _kernel.pack_sparse(indptr, indices, d, np.tile(rows, 5))
    yield "count_words", lambda: _kernel.count_words(words, ones.copy(), pairs.copy())
    yield (
        "count_sparse",
        lambda: _kernel.count_sparse(indptr, indices, rows, ones.copy(), pairs.copy()),
    )
    yield "Cooccurrences.count", lambda: cooccurrences(indptr, indices, d).count(0)
    yield "Cooccurrences.partners_of_some", lambda: cooccurrences(indptr, indices, d).partners_of_some(1)
    yield "add_cooccurrences", lambda: _kernel.add_cooccurrences(sparse, sparse)
    yield "cmi_keys", lambda: _kernel.cmi_keys(counts)
    yield "pair_keys", lambda: _kernel.pair_keys(i, j, counts)
    yield "SparseKeys", lambda: _kernel.SparseKeys(sparse)
    yield "Ranking", lambda: _kernel.Ranking(keys, none)
    yield "Ranking of SparseKeys", ranking_of(_kernel.SparseKeys(sparse), none, len(keys))
    yield "Ranking.edges", ranking_of(keys, none, len(keys))
    yield "ListedBlocks.list", lambda: listed_blocks(keys, none).list(0)
    listed = [listed_blocks(keys, none) for _ in range(3)]
    for blocks in listed:
        blocks.list(0)
    yield "ListedBlocks.sort", lambda: listed.pop().sort(0)
    yield "spanning_tree", lambda: _kernel.spanning_tree(keys, d, 0)
    yield "hierarchical_tree", lambda: _kernel.hierarchical_tree(keys, none, np.arange(d))
    yield "find_violation", lambda: _kernel.find_violation(empty, empty[:0], indptr, indices, rows, n)
    yield "prox", lambda: _kernel.GraphPenalty(chain, np.arange(1, d, dtype=np.int32)).prox(spread, 1e-3)


def cooccurrences(indptr, indices, d):
    return _kernel.Cooccurrences(indptr, indices, np.zeros(len(indptr) - 1, np.int64), d, 1)


def ranking_of(keys, relations, limit):
    ranking = _kernel.Ranking(keys, relations)
    return lambda: ranking.edges(limit)


def listed_blocks(keys, relations):
    ranking = _kernel.Ranking(keys, relations)
    ranking.plan(len(keys), 1)
    return _kernel.ListedBlocks(ranking, 0, len(keys))


QUICK = {"prox"}  # it would need far larger input to reach a checkpoint's end


def test_every_kind_of_work_stops_and_can_be_done_again():
    heard = {}
    for name, work in kernel_calls():
        heard[name] = stopped(work)
        work()
        assert not stopped(work, obey=False), name
    assert {name for name in heard if not heard[name]} == QUICK


def test_a_stop_is_heard_by_threads_of_its_own_call_and_theirs_alone():
    def fit():
        ProximalGraph(hierarchy=DATA.hierarchy, lam=1e-7, tol=1e-14, max_iter=10**9).fit(DATA.X, DATA.y)

    work = [fit, fit]
    assert stopped(lambda: run_ordered(lambda job: job(), [(job,) for job in work], 2))

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):  # the other call would last for hours
        run_ordered(lambda job: job(), [(work[0],), (fail,)], 2)
    assert len(run_ordered(np.sum, [(DATA.X,)] * 3, 2)) == 3


@pytest.mark.skipif(os.name == "nt", reason="there are no timers that send signals")
def test_the_handler_of_a_signal_may_read_the_ranking_that_is_being_sorted():
    done = subprocess.run(**program("sort_in_handler"), capture_output=True, text=True, timeout=100)
    assert done.stdout == "True\n", done.stderr
