"""Weights of rows: whole ones are copies, others keep counts integers; in every model, storage and way of fitting."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.utils import estimator_checks

import hietan
from hietan import TAN, HieBAN, HieLogistic, HieTAN
from hietan.classifiers import HieAODE
from support.families import BAYES, CLASSIFIERS, name_of
from support.storages import kept
from support.strategies import examples
from support.weighted import NAMES, assert_same, made, problem

every_classifier = pytest.mark.parametrize("make", CLASSIFIERS, ids=name_of)
every_bayes = pytest.mark.parametrize("make", BAYES, ids=name_of)
pytestmark = pytest.mark.filterwarnings("ignore::hietan.HierarchyWarning")


weighted_rows = st.lists(
    st.tuples(st.integers(0, 31), st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=12
)


@every_classifier
@examples(4)
@given(rows=weighted_rows)
def test_whole_weights_are_copies_to_the_bit(make, rows):
    bits, y, w = (np.array(column) for column in zip(*rows, strict=True))
    bits, y, w = np.append(bits, [5, 9]), np.append(y, [0, 1]), np.append(w, [1, 2])
    X = (bits[:, None] >> np.arange(5) & 1).astype(np.uint8)
    copies = made(make).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same(made(make).fit(X, y, sample_weight=w), copies, X)
    assert_same(made(make).fit(sp.csr_array(X), y, w.astype(float)), copies, X)


@pytest.mark.patient
@every_bayes
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_every_container_and_storage_counts_the_same_weights(make, storage):
    X, y, w = problem()
    copies = made(make).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    frame = pd.DataFrame(X, columns=NAMES)
    blocks = [da.from_array(array, chunks=(7, *array.shape[1:])) for array in (X, y, w)]
    with kept(storage):
        for held in (X, sp.csr_array(X), sp.csc_matrix(X)):
            assert_same(made(make).fit(held, y, w), copies, X)
        named = made(make).fit(frame, y, pd.Series(w))
        np.testing.assert_array_equal(named.predict_proba(frame), copies.predict_proba(X))
        assert_same(made(make).fit(*blocks), copies, X)
        assert_same(made(make).fit(*blocks[:2], w), copies, X)
        parts = made(make)
        for part in np.array_split(np.arange(40), 3):
            parts.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=w[part])
        assert_same(parts, copies, X)


@every_classifier
def test_a_weight_of_zero_leaves_a_row_out(make):
    X, y, w = problem(n_classes=3)
    w = np.where(y == 2, 0, w + 0.25)
    keep = w > 0
    model = made(make).fit(X, y, sample_weight=w)
    assert model.classes_.tolist() == [0, 1]
    assert_same(model, made(make).fit(X[keep], y[keep], sample_weight=w[keep]), X)


def test_a_contradiction_is_reported_with_the_number_that_its_row_was_given():
    X, y, w = problem()
    X, w = np.zeros_like(X), np.where(np.arange(40) < 9, 0, 2)
    X[[3, 20], 1] = 1
    for make in (HieTAN, HieBAN, HieLogistic):
        with pytest.warns(hietan.HierarchyWarning, match="in row 20,"):
            made(make).fit(X, y, sample_weight=w)
    with pytest.warns(hietan.HierarchyWarning, match="in row 20,"):
        made(HieTAN).fit(*(da.from_array(a, chunks=(6, *a.shape[1:])) for a in (X, y, w)))


@every_bayes
def test_other_weights_are_multiples_of_a_unit_below_2_to_the_30(make):
    X, y, _ = problem()
    w = np.random.default_rng(1).random(40)
    model = made(make).fit(X, y, sample_weight=w)
    units = np.rint(w / model.weight_unit_)
    assert 2**29 <= units.sum() < 2**30 and np.log2(model.weight_unit_) % 1 == 0
    assert model.class_count_.tolist() == [units[y == c].sum() for c in (0, 1)]


@every_bayes
def test_weights_are_those_of_the_formula(make):
    """Weights of a quarter: the model is that of whole weights with alpha and the constants in quarters of rows."""
    X, y, _ = problem()
    quarters = np.arange(40) % 3 + 1
    model = made(make, smoothing="laplace", alpha=0.5).fit(X, y, sample_weight=quarters / 4)
    twin = made(make, smoothing="laplace", alpha=2.0).fit(X, y, sample_weight=quarters)
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), rtol=1e-12)


def test_pooled_smoothing_keeps_its_constants_in_rows():
    X, y, _ = problem()
    w = (np.arange(40) % 3 + 1) / 8
    model = made(HieBAN, class_prior=[0.5, 0.5], smoothing="pooled").fit(X, y, sample_weight=w)
    root = X[:, 0]
    n = np.array([[w[(y == c) & (root == a)].sum() for a in (0, 1)] for c in (0, 1)])
    q = (n[:, 1].sum() + 0.5) / (n.sum() + 1)
    theta = (n[:, 1] + 2 * q) / (n.sum(axis=1) + 2)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, 0]), theta, rtol=1e-12)
    model.set_params(smoothing="odds", alpha=0.3)
    beta, prior = model.feature_log_prob_[:, 0] - np.log1p(-np.exp(model.feature_log_prob_[:, 0])), logit(q)
    np.testing.assert_allclose(n[:, 1] - n.sum(axis=1) * expit(beta) - 0.3 * (beta - prior), 0, atol=1e-12)


@pytest.mark.patient
@every_classifier
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 39, "must not be negative, but row 0 has the weight -1.0"),
        ([np.nan] + [1.0] * 39, "NaN"),
        ([np.inf] + [1.0] * 39, "infinity"),
        ([1.5e308] * 40, "add up to inf"),
        ([1e-300] * 40, "rescale the weights"),
        ([0.0] * 40, "zero for all rows"),
        ([1.0] * 39, r"shape \(40,\), got \(39,\)"),
        ([[1.0]] * 40, r"expected shape \(40,\), got \(40, 1\)"),
    ],
)
def test_weights_that_mean_nothing_are_refused(make, weights, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        made(make).fit(X, y, sample_weight=weights)


def test_parts_need_whole_weights():
    X, y, _ = problem()
    w = np.full(40, 0.75)
    blocks = [da.from_array(array, chunks=(11, *array.shape[1:])) for array in (X, y, w)]
    with pytest.raises(
        ValueError, match="the weight 0.75, but partial_fit and Dask collections accept only whole numbers"
    ):
        made(TAN).partial_fit(X, y, classes=[0, 1], sample_weight=w)
    with pytest.raises(
        ValueError, match="the weight 0.75, but partial_fit and Dask collections accept only whole numbers"
    ):
        made(TAN).fit(*blocks)
    with pytest.raises(ValueError, match='class_weight="balanced" needs all training rows together'):
        made(TAN, class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="which is more than the limit"):
        made(TAN).partial_fit(X, y, classes=[0, 1], sample_weight=np.full(40, 1e9))


def test_parts_are_added_after_a_fit_in_its_unit_and_after_loading(tmp_path):
    X, y, _ = problem()
    w = np.linspace(0.1, 2, 40)
    model = made(TAN).fit(X, y, sample_weight=w)
    hietan.save(model, tmp_path / "m")
    loaded = hietan.load(tmp_path / "m")
    assert loaded.weight_unit_ == model.weight_unit_ < 1
    assert_same(loaded, model, X)
    model.partial_fit(X[:5], y[:5])
    assert model.class_count_.sum() == np.rint(w / model.weight_unit_).sum() + 5 / model.weight_unit_
    assert_same(loaded.partial_fit(X[:5], y[:5]), model, X)


@every_bayes
def test_class_weights_multiply(make):
    X, y, w = problem(n_classes=3)
    by_row = made(make).fit(X, y, sample_weight=w * np.array([1, 3, 2])[y])
    assert_same(made(make, class_weight={1: 3, 2: 2}).fit(X, y, sample_weight=w), by_row, X)
    y = np.where(np.arange(40) < 30, 0, 1)
    balanced = made(make, class_weight="balanced").fit(X, y)
    assert_same(balanced, made(make).fit(X, y, sample_weight=np.where(y == 0, 40 / 60, 2.0)), X)
    assert np.ptp(balanced.class_count_ * balanced.weight_unit_) < 1e-6
    blocks = [da.from_array(array, chunks=(11, *array.shape[1:])) for array in (X, y)]
    with pytest.raises(
        ValueError, match=r"the weight .*, but partial_fit and Dask collections accept only whole numbers"
    ):
        made(make, class_weight="balanced").fit(*blocks)
    assert_same(made(make, class_weight={1: 3}).fit(*blocks), made(make, class_weight={1: 3}).fit(X, y), X)


def test_a_feature_has_an_estimator_if_its_value_weighs_more_than_the_frequency_minus_one():
    X, y, _ = problem()
    w = np.full(40, 0.3)
    seen = (X == X[0]).sum(axis=0) * 0.3
    for m in (0, 1, 2, 4):
        model = made(HieAODE, min_frequency=m).fit(X, y, sample_weight=w)
        used = model.explain(X[:1])[0]
        assert bool(used.other) == bool((seen > m - 1).any())


def test_leaving_out_one_copy_or_a_whole_row():
    X, y, w = problem()
    w = w + 1
    model = made(HieBAN).fit(X, y, sample_weight=w)
    copies = made(HieBAN).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    one = copies.leave_one_out_joint_log_proba(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_array_equal(np.repeat(model.leave_one_out_joint_log_proba(X, y), w, axis=0), one)
    for scale in (1, 0.25):
        model = made(HieBAN).fit(X, y, sample_weight=w * scale)
        found = model.leave_one_out_joint_log_proba(X, y, sample_weight=w * scale)
        for i in (0, 7, 39):
            rest = np.arange(40) != i
            without = made(HieBAN).fit(X[rest], y[rest], sample_weight=w[rest] * scale)
            np.testing.assert_allclose(found[i], without.predict_joint_log_proba(X[[i]])[0], rtol=1e-12)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 2.0}])
def test_leaving_out_rows_of_classes_with_weights(class_weight, tmp_path):
    """Without weights of their own, rows have those that fit gave them, also if they are some of the training rows."""
    X, y, _ = problem()
    X, y = X[5:], (np.arange(40) % 4 == 0)[5:].astype(int)
    model = made(HieBAN, class_weight=class_weight).fit(X, y)
    hietan.save(model, tmp_path / "model")
    per_class = (
        np.bincount(y).sum() / (2 * np.bincount(y)) if class_weight == "balanced" else np.array([0.5, 2])
    )
    np.testing.assert_array_equal(model.class_weight_, per_class)
    for again in (model, hietan.load(tmp_path / "model")):
        expected = again.leave_one_out_joint_log_proba(X, y, sample_weight=per_class[y])
        np.testing.assert_array_equal(again.leave_one_out_joint_log_proba(X, y), expected)
        np.testing.assert_array_equal(again.leave_one_out_joint_log_proba(X[3:9], y[3:9]), expected[3:9])
    assert model.set_params(class_weight=None).fit(X, y).class_weight_.tolist() == [1, 1]


@every_classifier
def test_a_class_that_would_be_rounded_away_is_refused(make):
    X, y, _ = problem()
    w = np.where(y == 1, 1e-15, 1)
    with pytest.raises(ValueError, match=r"class 1, up to 1e-15, are too small .* that differ less"):
        made(make).fit(X, y, sample_weight=w)
    w[[1, 3]] = 0.01  # the class is there; the smallest weights are rounded to 0, as those of any other rows
    model = made(make).fit(X, y, sample_weight=w)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.patient
@every_classifier
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_sample_weights_pandas_series,
        estimator_checks.check_sample_weights_not_an_array,
        estimator_checks.check_sample_weights_list,
        estimator_checks.check_sample_weights_shape,
        estimator_checks.check_sample_weights_not_overwritten,
        estimator_checks.check_sample_weight_equivalence_on_dense_data,
        estimator_checks.check_sample_weight_equivalence_on_sparse_data,
        estimator_checks.check_classifiers_one_label_sample_weights,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")  # about numbers that are not 0 and 1
def test_scikit_learns_checks_of_weights(make, check):
    check(make.__name__, made(make).set_params(hierarchy=None))
