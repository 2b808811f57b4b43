"""What features add to averaged estimators: the twin's numbers, whichever rows are taken apart together."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan.datasets import make_hierarchical_classification
from support import twins
from support.comparison import counts_of, fitted, frame, ontology
from support.families import AVERAGED, name_of
from support.storages import kept
from support.strategies import larger_problems, problems

VARIANTS = {hietan.AODE: "aode", hietan.HieAODE: "hie", hietan.HieAODELite: "lite"}
every_aode = pytest.mark.parametrize("make", AVERAGED, ids=name_of)
BOTH_WAYS = ("dense", "sparse")  # of keeping the counts of pairs


def parts(model, rows):
    """The parts of the scores of all rows, taken apart together."""
    return model._score_parts(model._read(rows))


@given(
    problem=st.one_of(problems(min_features=1), larger_problems()),
    storage=st.sampled_from(BOTH_WAYS),
    min_frequency=st.sampled_from([0, 1, 2, 1000]),
)
def test_factors_agree_with_the_twin(problem, storage, min_frequency):
    rows, counts = np.unique(problem.X_test, axis=0), counts_of(problem)
    for make, variant in VARIANTS.items():
        with kept(storage):
            model = fitted(problem, make, hierarchy=ontology(problem), min_frequency=min_frequency)
        found = parts(model, frame(problem, rows))
        settings = (counts, problem.alpha, problem.smoothing, min_frequency, problem.ancestors, variant)
        for r, x in enumerate(rows.tolist()):
            for c in range(problem.n_classes):
                factors, averaging = twins.aode_factors(x, c, *settings)
                np.testing.assert_allclose(found.factors[r, :, c], factors, rtol=0, atol=1e-9)
                np.testing.assert_allclose(found.averaging[r, c], averaging, rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def many():
    """More features than a band of estimators has, more rows than are summed side by side, some with few ones."""
    data = make_hierarchical_classification(100, 530, density=0.03, n_classes=3, random_state=3)
    rng = np.random.default_rng(0)
    X = data.X.toarray() if sp.issparse(data.X) else np.array(data.X)
    X[:40] *= rng.random((40, 1)) < 0.5
    X[40:60][rng.random((20, 530)) < 0.2] = 1  # contradicts the hierarchy
    return data.hierarchy, X, data.y


@pytest.mark.filterwarnings("ignore::hietan.exceptions.HierarchyWarning")
@every_aode
@pytest.mark.parametrize("smoothing", [pytest.param("laplace", marks=pytest.mark.patient), "pooled", "odds"])
def test_rows_have_the_same_bits_alone_and_together(make, smoothing, many):
    """Estimators with a share in few rows, in many, and where their feature is 1 are summed in different ways."""
    hierarchy, X, y = many
    found = []
    for storage in BOTH_WAYS:
        with kept(storage):
            model = make(hierarchy=hierarchy, smoothing=smoothing).fit(X[:80], y[:80])
        assert model.counts_.is_dense == (storage == "dense")
        found.append(parts(model, X).factors)
    assert found[0].tobytes() == found[1].tobytes()
    order = np.random.default_rng(1).permutation(len(X))
    assert parts(model, X[order]).factors.tobytes() == found[0][order].tobytes()
    for rows in ([7], [50], range(55, 90)):
        assert parts(model, X[rows]).factors.tobytes() == found[0][rows].tobytes()


@pytest.mark.filterwarnings("ignore::hietan.exceptions.HierarchyWarning")
@every_aode
def test_parts_of_many_features_add_up_to_the_prediction(make, many):
    hierarchy, X, y = many
    model = make(hierarchy=hierarchy, alpha=0.2).fit(X[:80], y[:80])
    found = parts(model, X)
    total = found.base + found.averaging + found.factors.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(X), rtol=0, atol=1e-9)


@every_aode
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_do_not_depend_on_how_rows_are_divided(make, n_classes, many, monkeypatch):
    """Into batches, and among threads."""
    hierarchy, X, y = many
    keep = y < n_classes
    model = make(hierarchy=hierarchy).fit(hierarchy.close(X[keep]), y[keep])
    whole = model.contributions(X[keep])
    assert whole.nnz == keep.sum() * X.shape[1]
    monkeypatch.setattr("hietan.explain._explaining.MOST_FACTORS", 1)
    divided = model.set_params(n_jobs=3).contributions(X[keep])
    assert (whole.data.tobytes(), whole.indices.tolist()) == (
        divided.data.tobytes(),
        divided.indices.tolist(),
    )


@pytest.mark.filterwarnings("ignore::hietan.exceptions.HierarchyWarning")
@every_aode
@pytest.mark.parametrize("min_frequency", [1, 30, 1000])  # with the second, some rows have few estimators
def test_contributions_are_differences_of_the_factors(make, min_frequency, many):
    hierarchy, X, y = many
    model = make(hierarchy=hierarchy, min_frequency=min_frequency).fit(X[:80], y[:80] > 0)
    factors = parts(model, X).factors
    for target in (0, 1):
        found = model.contributions(X, target=bool(target))
        assert found.shape == X.shape and found.nnz == X.size
        assert found.data.tobytes() == (factors[..., target] - factors[..., 1 - target]).tobytes()


@every_aode
def test_contributions_are_finite_where_a_guess_is_too_small_for_a_number(make):
    """With such weights, alpha times the share of a value that never occurs is 0."""
    data = make_hierarchical_classification(40, 60, random_state=0)
    options = {"alpha": 1e-300, "smoothing": "pooled"}
    model = make(hierarchy=data.hierarchy, **options).fit(data.X, data.y, sample_weight=np.full(40, 2.0**50))
    found = parts(model, data.X)
    assert np.isfinite(found.factors).all()
    total = found.base + found.averaging + found.factors.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(data.X), rtol=1e-12)
