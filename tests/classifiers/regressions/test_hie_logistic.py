"""HieLogistic: against its definition, word by word; what it chooses; containers, explanations, and what it refuses."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from hietan import HieBAN, HieLogistic, Hierarchy, HierarchyWarning
from hietan.classifiers._solvers import choose_ridge
from hietan.classifiers._solvers.losses import HOTTEST, best_temperature, make_loss
from hietan.datasets import fetch_ageing_genes, make_hierarchical_classification
from support.twins.openings import ban_joint_log, ban_leave_one_out, count_open, direct_parents
from support.twins.ridge import logistic_objective, minimum, multinomial_objective

X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
Y = np.array([0, 1, 0, 1, 0, 1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")  # about numbers that are not 0 and 1
@parametrize_with_checks([HieLogistic()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.patient
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")
@parametrize_with_checks([HieLogistic(alpha=None, class_weight=None, calibrate=True)])
def test_scikit_learns_own_checks_of_what_is_chosen(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(120, 30, density=0.2, imbalance=0.3, random_state=3)


@pytest.fixture(scope="module", params=[(2, "odds"), (3, "odds"), (2, "pooled")])
def case(request):
    """A small problem of two or three classes: the model, the rows, the codes, what the twin says about offsets."""
    data = make_hierarchical_classification(24, 6, density=0.3, random_state=7)
    rows = data.X.toarray()
    n_classes, smoothing = request.param
    codes = data.y if n_classes == 2 else (data.y + (np.arange(24) % 3 == 0))
    model = HieLogistic(hierarchy=data.hierarchy, alpha=0.7, smoothing=smoothing, ridge=0.4).fit(rows, codes)
    parents = direct_parents(data.feature_names, data.hierarchy.edges)
    settings = parents, 0.7, smoothing, [1 / n_classes] * n_classes
    left_out = np.array(ban_leave_one_out(rows.tolist(), codes, n_classes, *settings))
    counts = count_open(rows.tolist(), codes, n_classes, parents)
    joint = np.array([ban_joint_log(x, counts, *settings) for x in rows.tolist()])
    return model, rows, codes, left_out, joint


def literal_spread(joint):
    n_classes = joint.shape[1]
    pairs = [(a, b) for a in range(n_classes) for b in range(a)]
    return np.sqrt(np.mean([np.var(joint[:, a] - joint[:, b]) for a, b in pairs]))


# ------------------------------------------------------------------------------------------------ the definition


def test_the_scale_is_the_spread_of_really_leaving_rows_out(case):
    model, _, _, left_out, _ = case
    assert model.scale_ == pytest.approx(literal_spread(left_out), rel=1e-9)


def test_the_objective_is_at_its_minimum(case):
    model, rows, codes, left_out, _ = case
    n_classes = len(model.classes_)
    weights = (len(codes) / (n_classes * np.bincount(codes)))[codes]
    penalty = 0.4 * rows.sum(axis=1).mean()
    if n_classes == 2:
        offsets = (left_out[:, 1] - left_out[:, 0]) / literal_spread(left_out)
        args = rows, offsets, codes, weights, penalty
        reached = logistic_objective(model.correction_coef_[0], model.correction_intercept_[0], *args)
    else:
        args = rows, left_out / literal_spread(left_out), codes, weights, penalty
        reached = multinomial_objective(model.correction_coef_, model.correction_intercept_, *args)
    best, W, b = minimum(*args, n_classes)
    assert best * (1 - 1e-8) <= reached <= best * (1 + 1e-8)
    np.testing.assert_allclose(model.correction_coef_, W, atol=2e-3)
    np.testing.assert_allclose(model.correction_intercept_, b, atol=2e-3)


def test_scores_and_probabilities_are_those_of_the_definition(case):
    model, rows, _, _, joint = case
    scores, proba = model.decision_function(rows), model.predict_proba(rows)
    if len(model.classes_) == 2:
        g = joint[:, 1] - joint[:, 0]
        expected = g / model.scale_ + rows @ model.correction_coef_[0] + model.correction_intercept_[0]
        np.testing.assert_allclose(scores, expected, atol=1e-9)
        np.testing.assert_allclose(proba[:, 1], expit(expected), atol=1e-9)
        np.testing.assert_array_equal(model.predict(rows), (expected > 0).astype(int))
    else:
        expected = joint / model.scale_ + rows @ model.correction_coef_.T + model.correction_intercept_
        np.testing.assert_allclose(softmax(scores, axis=1), softmax(expected, axis=1), atol=1e-9)
        np.testing.assert_allclose(proba, softmax(expected, axis=1), atol=1e-9)
        np.testing.assert_array_equal(model.predict(rows), expected.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), proba, atol=1e-12)


def test_the_weights_are_not_called_like_those_of_a_linear_model(case):
    """Converters and explainers take `coef_` and `intercept_` for the whole model, and a part would mislead them."""
    model = case[0]
    assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")
    assert model.correction_coef_.shape[1] == model.n_features_in_


@pytest.mark.parametrize("calibrate", [False, True])
def test_contributions_add_up_to_the_score(case, calibrate):
    model, rows, codes, *_ = case
    model = clone(model).set_params(calibrate=calibrate).fit(rows, codes)
    proba = model.predict_proba(rows)
    found = model.explain(rows, target=1)
    for r, one in enumerate(found):
        total = one.base + sum(c.contribution for c in one.contributions) + sum(v for _, v in one.other)
        assert total == pytest.approx(one.log_odds, abs=1e-9)
        assert one.log_odds == pytest.approx(np.log(proba[r, 1] / (1 - proba[r, 1])), abs=1e-9)
        assert all(c.probabilities is None for c in one.contributions) and one.text()


def test_a_contribution_is_a_term_of_the_network_and_a_weight(data):
    rows = data.X[:20].toarray()
    model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
    network = HieBAN(hierarchy=data.hierarchy, class_prior=(0.5, 0.5)).fit(data.X, data.y)
    for r, (ours, theirs) in enumerate(zip(model.explain(rows), network.explain(rows), strict=True)):
        terms = {c.feature: c.contribution for c in theirs.contributions}
        weights = dict(zip(model.hierarchy_.features, model.correction_coef_[0] * rows[r], strict=True))
        assert {c.feature for c in ours.contributions} == set(terms)
        for part in ours.contributions:
            expected = terms[part.feature] / model.scale_ + weights[part.feature]
            assert part.contribution == pytest.approx(expected, abs=1e-9)
        assert ours.base == pytest.approx(model.correction_intercept_[0])


def test_a_one_without_its_parents_has_its_weight_alone():
    hierarchy = Hierarchy.from_edges([("a", "b")])
    model = HieLogistic(hierarchy=hierarchy).fit(
        np.tile([[1, 1], [1, 0], [0, 0], [1, 0]], (5, 1)), [1, 0, 0, 1] * 5
    )
    (one,) = model.explain([[0, 1]])
    parts = {c.feature: c.contribution for c in one.contributions}
    assert parts["b"] == pytest.approx(model.correction_coef_[0, 1])
    with pytest.warns(HierarchyWarning, match="X contradicts the hierarchy, because in row 1, 'b' is 1"):
        model.fit([[1, 1], [0, 1], [0, 0], [1, 0]], [1, 0, 0, 1])


@pytest.mark.parametrize("weight", [None, {0: 2.0, 1: 0.5}])
def test_weights_of_classes(data, weight):
    model = HieLogistic(hierarchy=data.hierarchy, class_weight=weight).fit(data.X, data.y)
    m = np.ones(len(data.y)) if weight is None else np.where(data.y == 1, 0.5, 2.0)
    network = HieBAN(hierarchy=data.hierarchy, class_prior=(0.5, 0.5)).fit(data.X, data.y)
    left_out = network.leave_one_out_joint_log_proba(data.X, data.y)
    offset = (left_out[:, 1] - left_out[:, 0]) / model.scale_
    scores = offset + data.X @ model.correction_coef_[0] + model.correction_intercept_[0]
    slope = m * (expit(scores) - data.y)
    penalty = data.X.nnz / len(data.y)
    np.testing.assert_allclose(data.X.T @ slope + penalty * model.correction_coef_[0], 0, atol=1e-4)
    assert slope.sum() + 10 * model.correction_intercept_[0] == pytest.approx(0, abs=1e-4)


def test_two_datasets_have_the_figures_of_all_28(real_data):
    """If the AUC of these two changes, that of all datasets has to be measured again."""
    areas = []
    for organism in ("mouse", "yeast"):
        genes = fetch_ageing_genes(organism, "CC")
        scores = np.zeros(len(genes.y))
        for training, test in StratifiedKFold(10, shuffle=True, random_state=0).split(genes.X, genes.y):
            model = HieLogistic(hierarchy=genes.hierarchy).fit(genes.X[training], genes.y[training])
            scores[test] = model.decision_function(genes.X[test])
        areas.append(roc_auc_score(genes.y, scores))
    np.testing.assert_allclose(areas, [0.670232, 0.666667], atol=1e-6)


# ------------------------------------------------------------------------------------------------ what is chosen


def test_alpha_is_that_of_hie_ban(data):
    network = HieBAN(hierarchy=data.hierarchy, alpha=None).fit(data.X, data.y)
    chosen = HieLogistic(hierarchy=data.hierarchy, alpha=None).fit(data.X, data.y)
    given = HieLogistic(hierarchy=data.hierarchy, alpha=network.alpha_).fit(data.X, data.y)
    assert chosen.alpha_ == network.alpha_
    np.testing.assert_array_equal(chosen.predict_proba(data.X), given.predict_proba(data.X))


def separate_scores(data, y, **options):
    """Held-out scores of separate fits to the folds that a choice uses."""
    model = HieLogistic(hierarchy=data.hierarchy, **options)
    scores = np.zeros((len(y), 1 if len(np.unique(y)) == 2 else len(np.unique(y))))
    for training, test in StratifiedKFold(5, shuffle=True, random_state=0).split(y, y):
        found = model.fit(data.X[training], y[training]).decision_function(data.X[test])
        scores[test] = found.reshape(len(test), -1)
    return scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weight", ["balanced", None])
def test_the_ridge_and_the_temperature_are_those_of_separate_fits(data, n_classes, weight, monkeypatch):
    y = data.y if n_classes == 2 else data.y + (np.arange(120) % 3 == 0)
    monkeypatch.setattr(choose_ridge, "RIDGES", (30.0, 1.0, 0.03))
    options = {"hierarchy": data.hierarchy, "class_weight": weight}
    model = HieLogistic(**options, ridge=None, calibrate=True).fit(data.X, y)
    m = np.ones(120) if weight is None else (120 / (n_classes * np.bincount(y)))[y]
    loss = make_loss(y, n_classes, m)
    scores = {
        ridge: separate_scores(data, y, ridge=ridge, class_weight=weight) for ridge in choose_ridge.RIDGES
    }
    losses = {ridge: loss.value(found) for ridge, found in scores.items()}
    assert model.ridge_ == min(losses, key=losses.get)
    assert model.temperature_ == pytest.approx(
        best_temperature(lambda T: loss.value(scores[model.ridge_] / T)), rel=1e-3
    )
    plain = HieLogistic(**options, ridge=model.ridge_).fit(data.X, y)
    assert plain.temperature_ == 1
    np.testing.assert_array_equal(plain.predict(data.X), model.predict(data.X))
    np.testing.assert_allclose(
        plain.decision_function(data.X), model.temperature_ * model.decision_function(data.X), atol=1e-9
    )


def test_a_temperature_repairs_scores_that_are_too_large():
    rng = np.random.default_rng(9)
    truth = rng.normal(size=(4000, 1))
    codes = (rng.random(4000) < expit(truth[:, 0])).astype(int)
    loss = make_loss(codes, 2, np.ones(4000))
    assert best_temperature(lambda T: loss.value(3 * truth / T)) == pytest.approx(3, rel=0.1)
    assert best_temperature(lambda T: loss.value(truth / 4 / T)) == pytest.approx(0.25, rel=0.1)
    assert best_temperature(lambda T: loss.value(-truth / T)) == pytest.approx(HOTTEST, rel=1e-3)
    assert log_loss(codes, expit(truth)) < log_loss(codes, expit(3 * truth))


@pytest.mark.parametrize("options", [{"ridge": None}, {"calibrate": True}])
def test_a_choice_needs_two_rows_of_each_class(options):
    y = ["rare", *["often"] * 5]
    with pytest.raises(ValueError, match="class 'rare' has only 1 row, but .* needs two rows per class"):
        HieLogistic(**options).fit(X, y)
    assert HieLogistic().fit(X, y).predict(X).shape == (6,)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs_do_not_change_the_result(data, n_jobs):
    model = HieLogistic(hierarchy=data.hierarchy, ridge=None, calibrate=True).fit(data.X, data.y)
    other = clone(model).set_params(n_jobs=n_jobs).fit(data.X, data.y)
    np.testing.assert_array_equal(other.correction_coef_, model.correction_coef_)
    assert (other.ridge_, other.temperature_) == (model.ridge_, model.temperature_)
    np.testing.assert_array_equal(other.decision_function(data.X), model.decision_function(data.X))


# ------------------------------------------------------------------------------------------------ containers


# ------------------------------------------------------------------------------------------------ bad input, extremes


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        *(
            ({"ridge": v}, ValueError, "ridge must be a number above 0")
            for v in (0, -1, np.nan, "1", True, 1e-320)
        ),
        *(({"alpha": v}, ValueError, "alpha must be a number above 0") for v in (0, np.inf, "1", 1e300)),
        ({"class_weight": "even"}, ValueError, "class_weight must be 'balanced', .* got 'even'"),
        ({"class_weight": {0: -1}}, ValueError, "class_weight must be"),
        ({"calibrate": "yes"}, ValueError, "calibrate must be True or False; got 'yes'"),
        ({"binarize": "x"}, ValueError, "binarize must be a number"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
        ({"hierarchy": [("a", "b")]}, TypeError, r"hietan\.Hierarchy or None, got list"),
        (
            {"ridge": 1e-300},
            ValueError,
            "ridge=1e-300 is too small for row weights up to 1. .* raise ridge",
        ),
        (
            {"class_weight": {0: 1e300, 1: 1e-300}},
            ValueError,
            "ridge=1.0 is too small for row weights up to 1e",
        ),
    ],
)
def test_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        HieLogistic(**parameters).fit(X, Y)


def test_the_order_of_the_labels_does_not_decide_whether_a_ridge_is_accepted():
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = (rng.random((30, 8)) < 0.4).astype(int)
        HieLogistic(ridge=1e-6, hierarchy=Hierarchy.unrelated(list("abcdefgh"))).fit(
            rows, rng.permutation(np.arange(30) % 3)
        )


def test_ridges_that_are_too_small_for_the_rows_are_not_chosen():
    """Few ones, and rare classes whose rows have many: the smallest of the values are refused if they are given."""
    rows, classes = np.zeros((3000, 60)), np.repeat([1, 2, 0], [4, 4, 2992])
    rows[:3] = 1
    with pytest.raises(
        ValueError, match=r"ridge=0.01 is too small for row weights up to 250\. .* raise ridge"
    ):
        HieLogistic(ridge=0.01).fit(rows, classes)
    model = HieLogistic(ridge=None, calibrate=True).fit(rows, classes)
    assert model.ridge_ in choose_ridge.RIDGES and model.gap_ < 1e-8
    with pytest.raises(ValueError, match=r"ridge=100.0 is too small for row weights up to 1e\+300"):
        HieLogistic(ridge=None, class_weight={0: 1e300}).fit(rows, classes)


def test_offsets_that_differ_only_by_rounding_are_not_blown_up():
    """With so much smoothing no class differs from another: what is left is rounding, and has no spread."""
    model = HieLogistic(alpha=1e299).fit(X, Y)
    assert model.scale_ == 1
    assert np.abs(model.decision_function(X)).max() < 10


@pytest.mark.parametrize("class_weight", ["balanced", None, {0: 1.0, 1: 3.0}])
@pytest.mark.parametrize("calibrate", [False, True])
def test_a_class_prior_replaces_the_log_odds_of_the_weights(data, class_weight, calibrate):
    settings = {"hierarchy": data.hierarchy, "class_weight": class_weight, "calibrate": calibrate}
    plain = HieLogistic(**settings).fit(data.X, data.y)
    model = HieLogistic(class_prior=[0.9, 0.1], **settings).fit(data.X, data.y)
    n_0, n_1 = np.bincount(data.y)
    weight = {"balanced": n_0 / n_1, "None": 1.0}.get(
        str(class_weight), 3.0
    )  # of class 1, compared with class 0
    in_the_fit = weight * n_1 / n_0
    added = np.log(0.1 / 0.9) - np.log(in_the_fit)
    np.testing.assert_allclose(model.decision_function(data.X), plain.decision_function(data.X) + added)
    ours, theirs = model.explain(data.X[:1])[0], plain.explain(data.X[:1])[0]
    assert ours.base == pytest.approx(theirs.base + added)
    assert (
        ours.total() == pytest.approx(ours.log_odds) == pytest.approx(model.decision_function(data.X[:1])[0])
    )
    assert ours.amounts == pytest.approx(theirs.amounts)


def test_a_class_prior_of_three_classes(case):
    model, rows, codes, _, _ = case
    n_classes = len(model.classes_)
    prior = np.arange(1, n_classes + 1) / sum(range(n_classes + 1))
    other = clone(model).set_params(class_prior=prior).fit(rows, codes)
    added = other.predict_log_proba(rows) - model.predict_log_proba(rows) - np.log(prior)
    np.testing.assert_allclose(added, added[:, :1] * np.ones(n_classes), atol=1e-12)
    for wrong in ([0.5], [1.0] + [0.0] * (n_classes - 1)):
        with pytest.raises(ValueError, match="class_prior must contain a probability above 0 for each"):
            clone(model).set_params(class_prior=wrong).fit(rows, codes)


def test_with_its_prior_the_mean_probability_is_the_base_rate():
    data = make_hierarchical_classification(1500, 40, imbalance=0.8, random_state=1)
    rate = data.y[::2].mean()
    balanced = HieLogistic(hierarchy=data.hierarchy)
    for model, is_near in (
        (balanced, False),
        (clone(balanced).set_params(class_prior=[1 - rate, rate]), True),
    ):
        found = model.fit(data.X[::2], data.y[::2]).predict_proba(data.X[1::2])[:, 1].mean()
        assert (abs(found - data.y[1::2].mean()) < 0.05) == is_near
