"""AODE, Hie-AODE, Hie-AODE-Lite and HIP against their plain Python twins, and AODE against scikit-bayes."""

from random import Random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB

from hietan import AODE, HIPNB, HieAODE, HieAODELite
from hietan._runtime import parallel
from hietan.datasets import fetch_ageing_genes
from support import twins
from support.comparison import counts_of, estimator, frame, ontology
from support.comparison import fitted as fitted_over_columns
from support.families import AVERAGED, name_of, takes
from support.strategies import larger_problems, problems, random_problem

VARIANTS = {AODE: "aode", HieAODE: "hie", HieAODELite: "lite"}
FAMILY = [*VARIANTS, HIPNB]
every_aode = pytest.mark.parametrize("make", VARIANTS, ids=name_of)


def fitted(problem, make, **options):
    return fitted_over_columns(problem, make, hierarchy=ontology(problem), **options)


def assert_agrees(problem, make, min_frequency=1):
    options = {"min_frequency": min_frequency} if takes(make, "min_frequency") else {}
    rows, counts = np.unique(problem.X_test, axis=0), counts_of(problem)
    clf = fitted(problem, make, **options)
    joint = clf.predict_joint_log_proba(frame(problem, rows))
    descendants = twins.descendants_of(problem.ancestors)
    common = (counts, problem.alpha, problem.smoothing)
    for x, got in zip(rows.tolist(), joint, strict=True):
        if make is HIPNB:
            expected = twins.hip_joint_log(x, *common, problem.ancestors, descendants)
        else:
            expected = twins.aode_joint_log(x, *common, min_frequency, problem.ancestors, VARIANTS[make])
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


def test_every_averaged_classifier_has_a_twin():
    assert set(VARIANTS) == set(AVERAGED)


@given(problem=problems(min_features=1), min_frequency=st.sampled_from([0, 2, 5, 1000]))
def test_small_problems_agree_with_the_twin(problem, min_frequency):
    """Rare values have no estimator; 1000 leaves none: naive Bayes over all features."""
    for make in FAMILY:
        assert_agrees(problem, make)
    for make in AVERAGED:
        assert_agrees(problem, make, min_frequency)


@given(problem=larger_problems())
def test_larger_problems_agree_with_the_twin(problem):
    for make in FAMILY:
        assert_agrees(problem, make)


@every_aode
@pytest.mark.parametrize("seed", [2, *(pytest.param(k, marks=pytest.mark.patient) for k in (0, 1))])
def test_more_features_than_a_block_of_estimators(make, seed):
    problem = random_problem(Random(seed), min_features=60, max_features=80, pool_size=3)
    assert problem.n_features > 32
    assert_agrees(problem, make)


@given(problem=problems(min_features=1))
def test_hip_selects_what_the_twin_selects(problem):
    clf = fitted(problem, HIPNB)
    descendants = twins.descendants_of(problem.ancestors)
    for x, names in zip(problem.X_test.tolist(), clf.selected(frame(problem, problem.X_test)), strict=True):
        kept = twins.hip_selected(x, problem.ancestors, descendants)
        assert names == tuple(problem.names[v] for v in sorted(kept))


@given(problem=problems(min_features=1), data=st.data())
def test_chunks_threads_and_sparse_input_change_no_bit(problem, data):
    cut = data.draw(st.integers(1, max(1, len(problem.y) - 1)))
    for make in FAMILY:
        assert_same_bits(make, problem, cut)


def assert_same_bits(make, problem, cut):
    X, y, T = problem.X_train, problem.y, problem.X_test
    clf = estimator(problem, make).fit(X, y)
    expected = clf.predict_joint_log_proba(T)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(sp.csc_array(T)), expected)
    parts = estimator(problem, make)
    parts.partial_fit(sp.csr_array(X[:cut]), y[:cut], classes=range(problem.n_classes))
    if cut < len(y):
        parts.partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(parts.predict_joint_log_proba(T), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "MAX_CHUNK_ROWS", 64)
        np.testing.assert_array_equal(clf.set_params(n_jobs=2).predict_joint_log_proba(T), expected)


def test_without_relations_hip_is_naive_bayes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 8)), rng.integers(0, 3, 50)
    expected = BernoulliNB(alpha=0.7, fit_prior=False).fit(X, y).predict_log_proba(X)
    got = HIPNB(alpha=0.7, smoothing="laplace", class_prior=[1 / 3] * 3).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@every_aode
def test_a_given_prior_replaces_that_of_the_estimators(make):
    """P(c, x_i) = P(c) P(x_i | c): the estimate is the prior (n_c + 2 alpha) / (n + 2 C alpha)."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 8)), rng.integers(0, 3, 50)
    n_c = np.bincount(y)
    implied = (n_c + 2) / (n_c.sum() + 6)
    plain = make().fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(
        make(class_prior=implied).fit(X, y).predict_joint_log_proba(X), plain, rtol=1e-12
    )
    shifted = make(class_prior=[0.2, 0.3, 0.5]).fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(
        shifted - plain, np.tile(np.log([0.2, 0.3, 0.5] / implied), (50, 1)), rtol=1e-9
    )


@pytest.mark.parametrize("namespaces", ["CC", "MF"])
def test_aode_against_scikit_bayes(real_data, namespaces):
    """A published implementation, on real folds; its smoothing differs where a training column is constant."""
    ande = pytest.importorskip("skbn.ande", reason="scikit-bayes is not installed")
    data = fetch_ageing_genes("worm", namespaces)
    X = data.X.toarray()
    training, test = next(StratifiedKFold(10, shuffle=True, random_state=0).split(X, data.y))
    X = X[:, X[training].any(axis=0) & ~X[training].all(axis=0)]
    peer = ande.AnDE(bernoulli_features=list(range(X.shape[1]))).fit(X[training], data.y[training])
    ours = AODE(smoothing="laplace").fit(X[training], data.y[training])
    np.testing.assert_allclose(
        ours.predict_log_proba(X[test]), peer.predict_log_proba(X[test]), rtol=0, atol=1e-9
    )
