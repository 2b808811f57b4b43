"""Rows that lose their most specific annotations: a plain reference, and what holds for every loss."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan.hierarchy import Hierarchy
from support.hierarchies import Twin, tables
from support.strategies import problems

SHARES = (0, 0.3, 0.7, 1)


def most_specific(row, ancestors):
    ones = np.flatnonzero(row).tolist()
    return [v for v in ones if not any(v in ancestors[w] for w in ones)]


def damage(X, ancestors, share, seed):
    """One number per row and most specific annotation, row by row; the annotation with the largest stays."""
    random, damaged = np.random.default_rng(seed), np.zeros_like(X)
    for i, row in enumerate(X):
        drawn = {v: random.random() for v in most_specific(row, ancestors)}
        for v, number in drawn.items():
            if number >= share or number == max(drawn.values()):
                damaged[i, [v, *ancestors[v]]] = 1
    return damaged


@given(tables(), st.sampled_from(SHARES), st.integers(0, 5))
def test_loss_is_that_of_the_reference(table, share, seed):
    names, edges, X = table
    twin = Twin(names, edges)
    ancestors = [{names.index(u) for u in twin.ancestors(v)} for v in names]
    found = Hierarchy.from_edges(edges, names).lose_annotations(X, share, seed)
    assert np.array_equal(found, damage(X, ancestors, share, seed))


@given(problems(min_features=1))
def test_losses_pass_through_terms_that_are_not_features(problem):
    whole = dict.fromkeys([*problem.names, *(name for edge in problem.edges for name in edge)])
    hierarchy = Hierarchy.from_edges(problem.edges, whole).restrict(problem.names)
    X = sp.csr_array(problem.X_test)
    found = {share: hierarchy.lose_annotations(X, share, problem.seed) for share in SHARES}
    for share, damaged in found.items():
        assert isinstance(damaged, sp.csr_array) and damaged.dtype == X.dtype
        expected = damage(problem.X_test, problem.ancestors, share, problem.seed)
        assert np.array_equal(damaged.toarray(), expected)
        assert hierarchy.is_closed(damaged)
        assert np.array_equal(expected.any(axis=1), problem.X_test.any(axis=1))
    assert np.array_equal(found[0].toarray(), hierarchy.close(problem.X_test))
    for less, more in itertools.pairwise(SHARES):
        assert (found[less].toarray() >= found[more].toarray()).all()
    assert all(len(most_specific(row, problem.ancestors)) <= 1 for row in found[1].toarray())


def test_each_annotation_is_lost_with_the_given_probability():
    hierarchy = Hierarchy.unrelated([f"x{j}" for j in range(100)])
    damaged = hierarchy.lose_annotations(np.ones((200, 100), dtype=np.uint8), 0.3, 0)
    assert damaged.mean() == pytest.approx(0.7, abs=4 * np.sqrt(0.3 * 0.7 / 20_000))


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "0.3", None])
def test_invalid_shares(share):
    with pytest.raises(ValueError, match="share is .*; expected a number from 0 to 1"):
        Hierarchy.unrelated(["a"]).lose_annotations(np.ones((1, 1)), share, 0)
