"""The ridge with offsets: its minimum by independent means, its bound, its forms, extreme numbers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from hietan.classifiers._solvers import ridge
from hietan.classifiers._solvers.losses import make_loss
from hietan.classifiers._solvers.ridge import RidgeProblem, solve_ridge
from support.strategies import examples
from support.twins.ridge import logistic_objective, minimum, multinomial_objective


def make_problem(n=30, d=8, n_classes=2, seed=0, weights=None, unit=2.0, density=0.3):
    """A problem and the arrays that it is made of."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < density).astype(np.uint8)
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    offsets = rng.normal(size=(n, 1 if n_classes == 2 else n_classes))
    weights = rng.uniform(0.5, 2, size=n) if weights is None else np.broadcast_to(weights, n).astype(float)
    problem = RidgeProblem(sp.csr_array(X), offsets, make_loss(codes, n_classes, weights), unit)
    return problem, X, codes, weights


@pytest.fixture(params=["conjugate gradients", "factorised"])
def way(request, monkeypatch):
    """Each way of solving Newton's systems, alone."""
    monkeypatch.setattr(ridge, "PATIENCE", 5000 if request.param == "conjugate gradients" else 0)
    return request.param


# ------------------------------------------------------------------------------------------------ the minimum


@pytest.mark.parametrize(("n", "d"), [(12, 4), (6, 9)])
@pytest.mark.parametrize("value", [0.03, 1.0, 50.0])
def test_two_classes_against_the_definition(n, d, value, way):
    problem, X, codes, weights = make_problem(n, d, seed=n)
    fit = solve_ridge(problem, value)
    args = X, problem.offsets[:, 0], codes, weights, value * problem.unit
    best, W, b = minimum(*args, 2)
    assert fit.objective == pytest.approx(logistic_objective(fit.coef[0], fit.intercept[0], *args), rel=1e-12)
    assert fit.objective <= best * (1 + 1e-10)
    assert fit.objective >= best * (1 - 1e-8)
    np.testing.assert_allclose(fit.coef, W, atol=1e-3)
    np.testing.assert_allclose(fit.intercept, b, atol=1e-3)
    np.testing.assert_allclose(
        fit.scores[:, 0], problem.offsets[:, 0] + X @ fit.coef[0] + fit.intercept[0], rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("value", [0.1, 5.0])
def test_three_classes_against_the_definition(value):
    problem, X, codes, weights = make_problem(10, 3, n_classes=3, seed=4)
    fit = solve_ridge(problem, value)
    args = X, problem.offsets, codes, weights, value * problem.unit
    best, W, b = minimum(*args, 3)
    assert fit.objective == pytest.approx(multinomial_objective(fit.coef, fit.intercept, *args), rel=1e-12)
    assert best * (1 - 1e-8) <= fit.objective <= best * (1 + 1e-10)
    np.testing.assert_allclose(fit.coef, W, atol=1e-3)
    np.testing.assert_allclose(fit.intercept, b, atol=1e-3)


def test_two_classes_are_a_special_case_of_several():
    """With W = (-w/2, w/2) and b likewise, scores differ by w.x + b, and |W|^2 = |w|^2 / 2.

    So penalty |W|^2 + 10 |b|^2 becomes (penalty / 2) |w|^2 + 5 b^2, and ln sum exp f - f_k the logistic loss. No other
    W with the same differences has a smaller norm, so the minima are the same.
    """
    problem, X, codes, weights = make_problem(20, 6, seed=2)
    g = problem.offsets[:, 0]
    fit = solve_ridge(problem, 0.7)
    w, b = fit.coef[0], fit.intercept[0]
    both = np.column_stack([-g / 2, g / 2])
    args = X, both, codes, weights, 0.7 * problem.unit
    assert multinomial_objective([-w / 2, w / 2], [-b / 2, b / 2], *args) == pytest.approx(
        fit.objective, rel=1e-12
    )
    member = make_loss(np.append(codes, 2), 3, np.append(weights, 1)).member[:-1, :2]
    loss = type(make_loss(np.arange(3), 3, np.ones(3)))(member, weights[:, None])
    general = solve_ridge(RidgeProblem(sp.csr_array(X), both, loss, problem.unit), 0.7)
    assert general.objective == pytest.approx(fit.objective, rel=1e-11)
    np.testing.assert_allclose(general.coef, [-w / 2, w / 2], atol=1e-6)
    np.testing.assert_allclose(general.intercept, [-b / 2, b / 2], atol=1e-6)


@pytest.mark.parametrize("shape", [(200, 30), (40, 300)])
def test_scikit_learn_finds_nothing_lower(shape, way):
    """Its intercept is a column here, scaled so that its penalty is the same."""
    problem, X, codes, weights = make_problem(*shape, seed=1)
    problem.offsets[:] = 0
    penalty = 0.5 * problem.unit
    columns = np.column_stack([X, np.full(len(X), np.sqrt(penalty / 10))])
    theirs = LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(columns, codes, sample_weight=weights)
    fit = solve_ridge(problem, 0.5)
    np.testing.assert_allclose(fit.coef, theirs.coef_[:, :-1], atol=1e-5)
    np.testing.assert_allclose(fit.scores[:, 0], theirs.decision_function(columns), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gap_bounds_the_distance_from_the_minimum(n_classes, monkeypatch):
    problem, *_ = make_problem(60, 20, n_classes)
    best = solve_ridge(problem, 0.01).objective
    for tolerance in (1e-1, 1e-3, 1e-6):
        monkeypatch.setattr(ridge, "TOLERANCE", tolerance)
        fit = solve_ridge(problem, 0.01)
        assert 0 <= fit.objective - best * (1 - 1e-12) <= fit.gap * fit.objective + 1e-12 * best
        assert fit.gap <= tolerance


def test_what_is_too_large_to_factorise_is_solved_by_conjugate_gradients(monkeypatch):
    problem, *_ = make_problem(60, 40, seed=7)
    expected = solve_ridge(problem, 0.01)
    monkeypatch.setattr(ridge, "DENSE_LIMIT", 10)
    monkeypatch.setattr(ridge, "PATIENCE", 0)  # a factorisation would follow at once
    monkeypatch.setattr(ridge, "cholesky", lambda *a, **k: pytest.fail("it was factorised"))
    fit = solve_ridge(problem, 0.01)
    assert fit.gap <= 1e-12 and fit.objective == pytest.approx(expected.objective, rel=1e-11)


def test_an_earlier_fit_is_only_a_beginning():
    problem, *_ = make_problem(50, 80)
    first = solve_ridge(problem, 10.0)
    fits = solve_ridge(problem, 0.1, first), solve_ridge(problem, 0.1)
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-12)
    assert solve_ridge(problem, 0.1, fits[1]).n_iter <= 1


# ------------------------------------------------------------------------------------------------ extremes


@pytest.mark.parametrize("n_classes", [2, 3])
@examples(40)
@given(
    data=st.data(),
    exponent=st.floats(-300, 299.9),
    weight=st.sampled_from([1.0, 1e-300, 1e-9, 1e6, 1e9, 1e300, (1e-12, 1e4)]),
)
def test_a_fit_is_accurate_or_refused(n_classes, data, exponent, weight):
    """Any ridge, any weights; one feature, constant columns, rows without ones, separable classes."""
    shape = data.draw(st.sampled_from([(8, 1), (9, 4), (6, 11)]))
    density = data.draw(st.sampled_from([0.0, 0.4, 1.0]))
    if isinstance(weight, tuple):
        weight = np.resize(weight, shape[0])
    problem, X, codes, _ = make_problem(*shape, n_classes, seed=1, weights=weight, density=density)
    if data.draw(st.booleans()) and n_classes == 2 and density == 0.4:
        X[:, 0] = codes  # separable
        problem = RidgeProblem(sp.csr_array(X), problem.offsets, problem.loss, problem.unit)
    try:
        fit = solve_ridge(problem, 10.0**exponent)
    except ValueError as refused:
        reason = str(refused)
        assert "is too small for row weights up to" in reason
        penalty = Fraction(10.0**exponent) * int(problem.unit) * (1 if n_classes == 2 else 2)
        weights = np.broadcast_to(weight, len(X)).tolist()
        outweighs = max(
            Fraction(w) * (ones / penalty + Fraction(1, 10))
            for w, ones in zip(weights, X.sum(axis=1).tolist(), strict=True)
        )
        assert outweighs > (1 - 1e-12) * (1e9 if n_classes == 2 else 1e6)
        return
    assert np.isfinite(fit.coef).all() and np.isfinite(fit.intercept).all() and np.isfinite(fit.scores).all()
    assert fit.gap <= 1e-10


@pytest.mark.parametrize("value", [1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_a_small_ridge_is_accurate_by_factorising(shape, value):
    problem, *_ = make_problem(*shape, seed=11)
    fit = solve_ridge(problem, value)
    assert fit.gap <= 1e-12
    stationary = problem.X.T @ problem.loss.gradient(fit.scores) + value * problem.unit * fit.coef.T
    np.testing.assert_allclose(stationary, 0, atol=1e-6)
