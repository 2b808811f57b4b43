"""ProximalGraph: optimal by independent measures, its path, several classes, and what it refuses."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from hietan import Hierarchy, ProximalGraph
from hietan.catalogue._methods import logistic
from hietan.datasets import fetch_ageing_genes, make_hierarchical_classification
from hietan.structure._penalty import graph_penalty
from support.twins.proximal import prox_by_projections

X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
Y = np.array([0, 1, 0, 1, 0, 1])


def not_for_folds(estimator):
    """scikit-learn shuffles the copies of a row, which then are in other folds of the inner cross-validation."""
    names = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(names, "the folds depend on the order of the rows") if estimator.lam is None else {}


@parametrize_with_checks(
    [ProximalGraph(), ProximalGraph(lam=0.01, class_weight="balanced")], expected_failed_checks=not_for_folds
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(150, 40, density=0.2, random_state=3)


def groups_of(hierarchy):
    below = hierarchy.descendant_matrix
    return [[v, *below[[v]].indices.tolist()] for v in range(len(hierarchy))]


def objective(w, b, X, y, hierarchy, lam):
    """The definition, word by word; y is boolean."""
    margin = np.where(y, 1, -1) * (X @ w + b)
    return np.logaddexp(0, -margin).mean() + lam * sum(np.abs(w[g]).max() for g in groups_of(hierarchy))


# ------------------------------------------------------------------------------------------------ optimality


@pytest.mark.parametrize("lam", [0.03, 0.005, 0.001])
def test_the_fit_is_a_fixed_point_of_a_plain_gradient_step(data, lam):
    """With projections in place of network flow: no step improves on the fit."""
    clf = ProximalGraph(hierarchy=data.hierarchy, lam=lam, tol=1e-10).fit(data.X, data.y)
    w, b = clf.coef_[0], clf.intercept_[0]
    residual = expit(data.X @ w + b) - (data.y == 1)
    assert abs(residual.mean()) < 1e-6
    stepped = prox_by_projections(w - data.X.T @ residual / len(residual), groups_of(data.hierarchy), lam)
    np.testing.assert_allclose(stepped, w, rtol=0, atol=2e-4)
    best = objective(w, b, data.X, data.y == 1, data.hierarchy, lam)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            near = w + size * rng.normal(size=w.size) * (rng.random(w.size) < 0.2)
            assert objective(near, b, data.X, data.y == 1, data.hierarchy, lam) >= best - 1e-9


def test_the_gap_bounds_the_distance_from_the_minimum(data):
    null = log_loss(data.y, np.full(len(data.y), data.y.mean()))
    values = []
    for tol in (1e-10, 1e-2, 1e-4):
        clf = ProximalGraph(hierarchy=data.hierarchy, lam=0.002, tol=tol).fit(data.X, data.y)
        assert clf.gap_[0] <= tol
        values.append(
            objective(clf.coef_[0], clf.intercept_[0], data.X, data.y == 1, data.hierarchy, clf.lam)
        )
        assert -1e-12 <= values[-1] - values[0] <= tol * null


def test_without_relations_it_is_the_lasso(data):
    lam = 0.01
    ours = ProximalGraph(lam=lam, tol=1e-8).fit(data.X, data.y)
    options = {"solver": "saga", "C": 1 / (lam * len(data.y)), "tol": 1e-7, "random_state": 0}
    lasso = logistic(1.0, class_weight=None, **options)().set_params(max_iter=20_000)
    lasso.fit(data.X, data.y)
    alone = Hierarchy.unrelated(data.feature_names)
    values = [objective(m.coef_[0], m.intercept_[0], data.X, data.y == 1, alone, lam) for m in (ours, lasso)]
    assert values[0] <= values[1] + 1e-9
    np.testing.assert_allclose(ours.predict_proba(data.X), lasso.predict_proba(data.X), atol=1e-3)


def test_a_lower_objective_than_spams_on_real_genes(real_data):
    spams = pytest.importorskip("spams", reason="SPAMS is not installed: pip install spams-bin")
    genes = fetch_ageing_genes("worm", "CC")
    d, lam = len(genes.hierarchy), 0.002
    graph = {
        "eta_g": np.ones(d + 1),
        "groups": sp.csc_matrix(sp.block_diag([genes.hierarchy.adjacency.T, [[0]]]).astype(bool)),
        "groups_var": sp.csc_matrix(sp.eye(d + 1, dtype=bool)),
    }
    with_ones = np.asfortranarray(np.column_stack([genes.X.toarray(), np.ones(len(genes.y))]).astype(float))
    sign = np.asfortranarray(np.where(genes.y == 1, 1.0, -1.0)[:, None])
    theirs = spams.fistaGraph(
        sign,
        with_ones,
        np.zeros((d + 1, 1), order="F"),
        graph,
        loss="logistic",
        regul="graph",
        lambda1=lam,
        intercept=True,
        numThreads=1,
    )[:, 0]
    ours = ProximalGraph(hierarchy=genes.hierarchy, lam=lam, tol=1e-6).fit(genes.X, genes.y)
    value = objective(ours.coef_[0], ours.intercept_[0], genes.X, genes.y == 1, genes.hierarchy, lam)
    assert value <= objective(theirs[:-1], theirs[-1], genes.X, genes.y == 1, genes.hierarchy, lam)


def test_the_features_used_are_closed_upwards(data):
    clf = ProximalGraph(hierarchy=data.hierarchy, lam=0.005).fit(data.X, data.y)
    assert 0 < len(clf.selected_features_) < len(data.feature_names)
    for name in clf.selected_features_:
        assert data.hierarchy.ancestors(name) <= set(clf.selected_features_)
    used = [data.feature_names[j] for j in np.flatnonzero(clf.coef_[0])]
    assert list(clf.selected_features_) == used


# ------------------------------------------------------------------------------------------------ the path


@pytest.fixture(scope="module")
def tuned(data):
    return ProximalGraph(hierarchy=data.hierarchy, tol=1e-7, random_state=0).fit(data.X, data.y)


def test_the_path_begins_where_the_first_weight_appears(data, tuned):
    path = tuned.path_
    np.testing.assert_allclose(path.lam, path.lam[0] * np.logspace(0, -3, 30)[: len(path)])
    gradient = data.X.T @ (data.y.mean() - data.y) / len(data.y)
    assert path.lam[0] == pytest.approx(graph_penalty(data.hierarchy).dual_norm(gradient), rel=1e-9)
    assert path.n_features[0] == 0 and path.n_features[1] > 0
    below = ProximalGraph(hierarchy=data.hierarchy, lam=0.999 * path.lam[0], tol=1e-12)
    assert below.fit(data.X, data.y).selected_features_


def test_the_inner_log_loss_is_that_of_separate_fits(data, tuned):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for k in (0, 9, tuned.path_.best, len(tuned.path_) - 1):
        fixed = ProximalGraph(hierarchy=data.hierarchy, lam=tuned.path_.lam[k], tol=1e-7)
        proba = np.zeros((len(data.y), 2))
        for training, test in folds.split(data.X, data.y):
            proba[test] = fixed.fit(data.X[training], data.y[training]).predict_proba(data.X[test])
        assert tuned.path_.log_loss[k] == pytest.approx(log_loss(data.y, proba), abs=1e-3)


def test_the_best_lambda_is_taken(data, tuned):
    path = tuned.path_
    assert tuned.lam_ == path.lam[path.best] and path.log_loss[path.best] == path.log_loss.min()
    assert len(tuned.selected_features_) == path.n_features[path.best]
    again = ProximalGraph(hierarchy=data.hierarchy, lam=tuned.lam_, tol=1e-7).fit(data.X, data.y)
    np.testing.assert_allclose(again.predict_proba(data.X), tuned.predict_proba(data.X), atol=1e-3)
    assert len(path.lam) == len(path.log_loss) == len(path.n_features) == len(path)
    assert not hasattr(again, "path_")


def test_of_equal_losses_the_larger_lambda():
    constant = ProximalGraph(random_state=0).fit(np.ones((20, 3)), np.arange(20) % 2)
    assert constant.path_.best == 0 and constant.lam_ == constant.path_.lam[0]
    assert constant.selected_features_ == ()
    np.testing.assert_allclose(constant.predict_proba(np.ones((1, 3))), 0.5)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs_do_not_change_the_result(data, tuned, n_jobs):
    other = clone(tuned).set_params(n_jobs=n_jobs).fit(data.X, data.y)
    np.testing.assert_array_equal(other.coef_, tuned.coef_)
    np.testing.assert_array_equal(other.path_.log_loss, tuned.path_.log_loss)


def test_fewer_folds_for_small_classes():
    rng = np.random.default_rng(0)
    y = np.array([1] * 3 + [0] * 20)
    clf = ProximalGraph(criterion="auc", random_state=0).fit(rng.normal(size=(23, 4)), y)
    assert len(clf.path_) == 30
    with pytest.raises(ValueError, match="class 1 has only 1 row, but lam=None.*needs two rows per class"):
        clf.fit(rng.normal(size=(21, 4)), y[2:])
    ProximalGraph(lam=0.1).fit(rng.normal(size=(21, 4)), y[2:])


# ------------------------------------------------------------------------------------------------ weights, classes


def test_a_class_weight_is_a_number_of_copies(data):
    copies = np.concatenate([np.arange(len(data.y)), *[np.flatnonzero(data.y == 1)] * 2])
    weighted = ProximalGraph(hierarchy=data.hierarchy, lam=0.01, class_weight={0: 1, 1: 3}, tol=1e-9)
    repeated = ProximalGraph(hierarchy=data.hierarchy, lam=0.01, tol=1e-9)
    weighted.fit(data.X, data.y)
    repeated.fit(data.X[copies], data.y[copies])
    np.testing.assert_allclose(
        weighted.predict_proba(data.X), repeated.predict_proba(data.X), rtol=0, atol=1e-4
    )


def test_balanced_classes_weigh_the_same_in_all(data):
    count = np.bincount(data.y)
    by_hand = {c: len(data.y) / (2 * count[c]) for c in (0, 1)}
    fits = [
        ProximalGraph(hierarchy=data.hierarchy, lam=0.01, class_weight=weight).fit(data.X, data.y)
        for weight in ("balanced", by_hand)
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-9)
    null = ProximalGraph(lam=9.0, class_weight="balanced").fit(data.X, data.y)
    np.testing.assert_allclose(null.predict_proba(data.X), 0.5)


def test_several_classes_one_against_the_rest(data):
    y = np.array(["a", "b", "c"])[(data.y + (np.arange(len(data.y)) % 3 == 0))]
    clf = ProximalGraph(hierarchy=data.hierarchy, lam=0.01).fit(data.X, y)
    assert clf.coef_.shape == (3, 40) and clf.intercept_.shape == (3,)
    for c, name in enumerate(clf.classes_):
        alone = ProximalGraph(hierarchy=data.hierarchy, lam=0.01).fit(data.X, y == name)
        np.testing.assert_array_equal(clf.coef_[c], alone.coef_[0])
    sigmoids = expit(clf.decision_function(data.X))
    np.testing.assert_allclose(
        clf.predict_proba(data.X), sigmoids / sigmoids.sum(axis=1, keepdims=True), rtol=1e-9
    )
    np.testing.assert_array_equal(clf.predict(data.X), clf.classes_[sigmoids.argmax(axis=1)])
    tuned = ProximalGraph(hierarchy=data.hierarchy, random_state=0).fit(data.X, y)
    assert tuned.path_.n_features[0] == 0 and tuned.path_.n_features[-1] > 0
    assert tuned.lam_ == tuned.path_.lam[tuned.path_.best] and tuned.path_.log_loss.min() < np.log(3)


def test_the_sign_decides_and_zero_goes_to_the_first_class():
    clf = ProximalGraph(lam=9.0).fit([[0.0], [1.0]], ["b", "a"])  # balanced: log-odds of exactly 0
    np.testing.assert_allclose(clf.decision_function([[5.0]]), 0, atol=1e-15)
    clf.intercept_[:] = 0
    assert clf.predict([[5.0]]).tolist() == ["a"]
    assert not hasattr(clf, "predict_joint_log_proba")


# ------------------------------------------------------------------------------------------------ containers


def test_columns_are_matched_by_name_and_relations_run_through_hidden_terms():
    hierarchy = Hierarchy.from_edges([("top", "hidden"), ("hidden", "leaf")])
    frame = pd.DataFrame({"leaf": [1, 1, 0, 0, 0, 0], "top": [1, 1, 1, 1, 0, 0], "other": [0, 1] * 3})
    clf = ProximalGraph(hierarchy=hierarchy, lam=0.01).fit(frame, [1, 1, 0, 0, 0, 0])
    assert clf.hierarchy_.edges == (("top", "leaf"),)
    assert "top" in clf.selected_features_


# ------------------------------------------------------------------------------------------------ bad input


def test_too_few_iterations_are_told(data):
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 fits stopped at max_iter=2 .* above tol=0\.0001"):
        ProximalGraph(hierarchy=data.hierarchy, lam=0.001, max_iter=2).fit(data.X, data.y)
    with pytest.warns(ConvergenceWarning, match=r"of 180 fits stopped at max_iter=2"):
        ProximalGraph(hierarchy=data.hierarchy, max_iter=2, random_state=0).fit(data.X, data.y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        *(({"lam": lam}, ValueError, "lam must be a number above 0") for lam in (0, -1, np.nan, "1", True)),
        *(
            ({"lam_relative": lam}, ValueError, "lam_relative must be a number from 1e-10 to 1, or None; got")
            for lam in (0, -1, 1.5, 1e-11, np.nan, "1", True)
        ),
        ({"lam": 0.1, "lam_relative": 0.1}, ValueError, "lam and lam_relative are mutually exclusive"),
        *(
            ({"criterion": c}, ValueError, "criterion must be one of log_loss, auc, gmean; got")
            for c in ("gini", None, ["auc"])
        ),
        *(({"tol": tol}, ValueError, "tol must be a number above 0") for tol in (0, -1, np.inf, None)),
        *(({"max_iter": m}, ValueError, "max_iter must be an integer above 0") for m in (0, 1.5, "9", True)),
        ({"class_weight": "even"}, ValueError, "class_weight must be 'balanced', .* got 'even'"),
        ({"class_weight": {0: -1}}, ValueError, "class_weight must be"),
        *(({"n_jobs": n}, ValueError, "n_jobs must be") for n in (0, "two", 1.5)),
        ({"random_state": "seed"}, ValueError, "seed"),
        ({"hierarchy": [("a", "b")]}, TypeError, r"hietan\.Hierarchy or None, got list"),
        (
            {"hierarchy": Hierarchy.from_edges([("p", "q")])},
            ValueError,
            "hierarchy has 2 features but X has 3",
        ),
    ],
)
def test_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        ProximalGraph(**parameters).fit(X, Y)


def test_bad_data():
    broken = X.astype(float)
    broken[1, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ProximalGraph(lam=0.1).fit(broken, Y)
    with pytest.raises(ValueError, match=r"at least two classes, but there is only one class, 1; add rows"):
        ProximalGraph(lam=0.1).fit(X, np.ones(6, int))
    with pytest.raises(ValueError, match="Unknown label type"):
        ProximalGraph(lam=0.1).fit(X, Y + 0.5)
    clf = ProximalGraph(lam=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but ProximalGraph is expecting 3"):
        clf.predict(X[:, :2])
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(ProximalGraph(), method)(X)
    assert not hasattr(ProximalGraph(), "selected_features_")


@pytest.mark.slow
def test_levels_that_rounding_moves_to_and_fro():
    """Equal columns make equal numbers: a level must be found even where rounding decides what is above it."""
    code = (
        "from hietan import ProximalGraph; from hietan.datasets import make_hierarchical_classification as make\n"
        "from sklearn.model_selection import StratifiedKFold\n"
        "d = make(150, 80, imbalance=0.35, random_state=0)\n"
        "for rows, _ in StratifiedKFold(3, shuffle=True, random_state=0).split(d.X, d.y):\n"
        "    ProximalGraph(hierarchy=d.hierarchy, lam=0.002).fit(d.X[rows], d.y[rows])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)  # it takes a second, or for ever
