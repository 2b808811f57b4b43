"""How ProximalGraph finds its lambda: by each criterion as a plain cross-validation would, or as a fraction."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from hietan import Hierarchy, ProximalGraph
from hietan.classifiers import LambdaPath
from hietan.classifiers._solvers import lambda_path
from hietan.datasets import make_hierarchical_classification
from hietan.scores import gmean_score

DATA = make_hierarchical_classification(60, 12, density=0.25, random_state=5)
THREE = np.array(["a", "b", "c"])[DATA.y + (np.arange(60) % 3 == 0)]


def numbers(seed, n_classes=2):
    """Rows of numbers: no two columns are equal, so that the minimum is unique, and so are the held-out scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12))
    score = X @ (rng.normal(size=12) * (rng.random(12) < 0.4)) + rng.normal(size=60)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


PROBLEMS = {
    "two classes": (*numbers(0), {}),
    "unequal weights": (*numbers(1), {"class_weight": {0: 1, 1: 4}}),
    "balanced": (*numbers(2), {"class_weight": "balanced"}),
    "three classes": (*numbers(3, 3), {}),
}


def gmean_at_best_threshold(y, probability):
    """Every threshold, one after the other."""
    cuts = [-np.inf, *np.unique(probability)]
    return max(gmean_score(y, (probability > cut).astype(int)) for cut in cuts)


def literal_path(X, y, options):
    """The whole path with a new fit for every lambda and fold, and each criterion by its own function."""
    model = ProximalGraph(hierarchy=DATA.hierarchy, tol=1e-7, lam_relative=1.0, **options).fit(X, y)
    lams = model.lam_ * np.logspace(0, -3, 30)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    given = options.get("class_weight", {})
    weight = np.array([30 / (y == c).sum() if given == "balanced" else given.get(c, 1) for c in y])
    rows = {"log_loss": [], "auc": [], "gmean": []}
    for lam in lams:
        proba = np.empty((len(y), len(model.classes_)))
        for training, test in folds:
            fit = clone(model).set_params(lam=lam, lam_relative=None).fit(X[training], y[training])
            proba[test] = fit.predict_proba(X[test])
        proba = proba.round(9)
        rows["log_loss"].append(log_loss(y, proba, sample_weight=weight))
        if proba.shape[1] == 2:
            rows["auc"].append(roc_auc_score(y, proba[:, 1]))
            rows["gmean"].append(gmean_at_best_threshold(y, proba[:, 1]))
        else:
            rows["auc"].append(roc_auc_score(y, proba, multi_class="ovr"))
    return lams, {criterion: np.array(values) for criterion, values in rows.items() if values}


@pytest.mark.parametrize(
    "name", ["two classes", *(pytest.param(name, marks=pytest.mark.patient) for name in list(PROBLEMS)[1:])]
)
def test_the_choice_is_that_of_a_plain_cross_validation(name):
    X, y, options = PROBLEMS[name]
    lams, rows = literal_path(X, y, options)
    for criterion, expected in rows.items():
        model = ProximalGraph(
            hierarchy=DATA.hierarchy, criterion=criterion, tol=1e-7, random_state=0, **options
        ).fit(X, y)
        path, is_loss = model.path_, criterion == "log_loss"
        best = expected.argmin() if is_loss else expected.argmax()
        assert path.best == best and model.lam_ == pytest.approx(lams[best], rel=1e-9), criterion
        got = path.log_loss if is_loss else path.score
        # Below, probabilities near 0 and 1 are equal in nine digits, but log-odds are not.
        np.testing.assert_allclose(got[:15], expected[: len(path)][:15], rtol=0, atol=2e-4)
        assert path.criterion == criterion and (path.score is None) == is_loss
        assert is_loss or len(path) == 30


@pytest.mark.parametrize("seed", range(20))
def test_scores_of_tied_rows(seed):
    rng = np.random.default_rng(seed)
    codes, scores = rng.permutation(np.arange(17) % 2), rng.integers(0, 5, (17, 1)).astype(float)
    assert lambda_path.area_under_curve(scores, codes) == pytest.approx(roc_auc_score(codes, scores[:, 0]))
    assert lambda_path.best_gmean(scores, codes) == pytest.approx(
        gmean_at_best_threshold(codes, scores[:, 0])
    )


def test_of_equal_scores_the_larger_lambda():
    path = LambdaPath(np.array([3.0, 2, 1]), np.ones(3), np.arange(3), "auc", np.array([0.5, 0.7, 0.7]))
    assert path.best == 1
    separated = ProximalGraph(criterion="auc", random_state=0).fit(
        np.arange(20.0)[:, None], np.arange(20) > 9
    )
    assert separated.path_.score[-1] == 1 and separated.path_.best == separated.path_.score.argmax()
    assert separated.path_.score[: separated.path_.best].max(initial=0) < 1


def test_a_path_ends_where_the_log_loss_has_clearly_risen():
    risen = lambda_path.has_clearly_risen
    assert risen([1.0, 0.9, 0.95, 1.0, 1.01], 10_000)
    assert not risen([1.0, 0.9, 0.95, 1.0, 0.99], 10_000)  # the last fell
    assert not risen([1.0, 0.9, 1.1, 1.2], 10_000)  # two rises
    assert not risen([1.0, 0.9, 0.91, 0.95, 0.99], 10_000)  # not far enough
    assert not risen([1.0, 0.9, 0.95, 1.0, 1.01], 100)  # few rows
    assert risen([1.0, 0.9, 0.95, 1.0, 1.21], 100)
    assert not risen([1.0, 2.0, 3.0], 10_000) and risen([1.0, 2.0, 3.0, 4.0], 10_000)


def test_of_several_classes_there_is_no_threshold():
    with pytest.raises(ValueError, match="needs two classes, .*but y has 3; choose 'log_loss' or 'auc'"):
        ProximalGraph(criterion="gmean").fit(DATA.X, THREE)
    ProximalGraph(criterion="gmean", lam=0.1).fit(DATA.X, THREE)  # nothing is chosen


@pytest.mark.parametrize("y", [DATA.y, THREE], ids=["two", "three"])
def test_a_fraction_of_the_smallest_lambda_without_weights(y):
    def fitted(relative):
        return ProximalGraph(hierarchy=DATA.hierarchy, lam_relative=relative, tol=1e-10).fit(DATA.X, y)

    largest, tenth = fitted(1), fitted(0.1)
    assert tenth.lam_ == pytest.approx(0.1 * largest.lam_, rel=1e-12) and not hasattr(tenth, "path_")
    assert largest.selected_features_ == () and fitted(0.999).selected_features_ != ()
    same = ProximalGraph(hierarchy=DATA.hierarchy, lam=tenth.lam_, tol=1e-10).fit(DATA.X, y)
    np.testing.assert_array_equal(same.coef_, tenth.coef_)
    chosen = ProximalGraph(hierarchy=DATA.hierarchy, random_state=0, tol=1e-3).fit(DATA.X, y)
    assert chosen.path_.lam[0] == largest.lam_


def test_a_fraction_by_the_definition():
    """Unrelated features: the largest |gradient| of the loss of the constant model."""
    y = DATA.y == 1
    model = ProximalGraph(hierarchy=Hierarchy.unrelated(DATA.feature_names), lam_relative=0.3).fit(DATA.X, y)
    gradient = DATA.X.T @ (expit(np.log(y.mean() / (1 - y.mean()))) - y) / len(y)
    assert model.lam_ == pytest.approx(0.3 * np.abs(gradient).max(), rel=1e-9)
    flat = ProximalGraph(lam_relative=0.1).fit(np.ones((6, 2)), [0, 1] * 3)
    assert flat.lam_ == 0.1 and flat.selected_features_ == ()


def test_no_fit_stalls_where_nothing_is_left_to_move():
    """Steps at the level of rounding once made the next ones shorter and shorter."""
    X, y = numbers(3, 3)
    model = ProximalGraph(hierarchy=DATA.hierarchy, tol=1e-9, random_state=0).fit(X, y)
    assert model.n_iter_.max() < 1000 and model.gap_.max() <= 1e-9
