"""Positives and unlabelled rows: numbers as they are defined, recomputed by hand, and with labels that are hidden."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import DataWarning, ModelFileError
from hietan.models import Model, explain_rows_by_name, rank_rows, train_model
from hietan.models.words import bound_note, caution
from hietan.persistence import read_metadata
from hietan.report._candidates_page import candidates_summary
from hietan.scores import Scores
from hietan.scores.cross_validation import fold_of_rows
from hietan.scores.lifts import share_bound


def hide_labels(data, share, seed):
    """The rows with some positives (class1) hidden, and which rows those are."""
    rng = np.random.default_rng(seed)
    is_hidden = (data.y == 1) & (rng.random(len(data.y)) < share)
    known = (data.y == 1) & ~is_hidden
    mixed = replace(data, y=known.astype(np.intp), target_names=("unlabelled", "known"), positive="")
    return mixed, is_hidden


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(600, 60, random_state=4)


@pytest.fixture(scope="module")
def mixed(data):
    return hide_labels(data, 0.5, 0)[0]


@pytest.fixture(scope="module")
def trained(mixed):
    return train_model(hietan.HieLogistic(), mixed, unlabelled="unlabelled")


@pytest.fixture(scope="module")
def out_of_fold(mixed):
    """The log-odds of every row from a model of the other folds, by hand."""
    fold, found = fold_of_rows(mixed.y, 5, 0), np.empty(len(mixed.y))
    for k in range(5):
        model = hietan.HieLogistic(hierarchy=mixed.hierarchy)
        model.fit(mixed.X[np.flatnonzero(fold != k)], mixed.y[fold != k])
        found[fold == k] = model.decision_function(mixed.X[np.flatnonzero(fold == k)])
    return found


def exact_limits(k, n, error):
    """Clopper-Pearson limits of a share, from the binomial distribution itself."""
    low = 0.0 if k == 0 else brentq(lambda p: binom.sf(k - 1, n, p) - error, 1e-12, 1 - 1e-12)
    high = 1.0 if k == n else brentq(lambda p: binom.cdf(k, n, p) - error, 1e-12, 1 - 1e-12)
    return low, high


def bound_of(positives, unlabelled):
    """The bound for rows with these log-odds."""
    odds = np.concatenate([positives, unlabelled]).astype(float)
    truth = np.repeat([1, 0], [len(positives), len(unlabelled)])
    logs = np.column_stack([np.zeros(len(odds)), odds])
    return share_bound(Scores(("unlabelled", "known"), truth, logs, truth))


odds_of_rows = st.lists(st.integers(-4, 4), min_size=10, max_size=40)


@given(odds_of_rows, odds_of_rows)
def test_the_bound_is_as_defined_with_ties(positives, unlabelled):
    ratios = []
    for decile in range(1, 10):
        t = np.percentile(positives, 10 * decile)
        low, _ = exact_limits(sum(s >= t for s in positives), len(positives), 0.05 / 18)
        _, high = exact_limits(sum(s >= t for s in unlabelled), len(unlabelled), 0.05 / 18)
        ratios.append(high / low)
    assert bound_of(positives, unlabelled) == pytest.approx(min(1, min(ratios)), rel=1e-6)


def test_the_bound_holds_for_normal_scores():
    """Two normal distributions, 2 apart; 10% of the unlabelled rows are positives: too low in 5% of runs at most."""
    rng, below = np.random.default_rng(0), 0
    for _ in range(200):
        unlabelled = rng.normal(size=1000) + 2 * (np.arange(1000) < 100)
        below += bound_of(rng.normal(2, size=150), unlabelled) < 0.1
    assert below <= 16  # 10 expected at the very most; 17 or more have a chance below 3%


def test_unlabelled_rows_are_ranked_by_models_that_did_not_see_them(mixed, trained, out_of_fold):
    ranked = rank_rows(trained, mixed)
    assert ranked.n_new == (mixed.y == 0).sum()
    by_hand = sorted(np.flatnonzero(mixed.y == 0), key=lambda i: -out_of_fold[i])
    assert [row.instance for row in ranked.new_rows] == [mixed.instance_names[i] for i in by_hand]
    np.testing.assert_allclose(
        [row.log_odds for row in ranked.new_rows], out_of_fold[by_hand], rtol=0, atol=1e-10
    )
    assert all(row.held_out and not row.predicted and row.probability is None for row in ranked.new_rows)
    known = ranked.rows[ranked.n_new :]
    assert {row.training_class for row in known} == {"known"} and not any(row.held_out for row in known)
    assert "probability" not in ranked.columns and "lift" in ranked.columns
    assert not {"p_value", "predicted"} & set(ranked.columns)
    new_only = rank_rows(trained, mixed, new_only=True)
    assert [row.instance for row in new_only.rows] == [row.instance for row in ranked.new_rows]
    np.testing.assert_array_equal(new_only.held_out, True)


def test_lifts_and_probabilities_follow_from_the_scores(mixed, trained, out_of_fold):
    """Platt's sigmoid by another fit; the lift is the ratio of odds; P is the lift times the prior."""
    n_known, n_other = (mixed.y == 1).sum(), (mixed.y == 0).sum()
    target = np.where(mixed.y == 1, (n_known + 1) / (n_known + 2), 1 / (n_other + 2))
    sigmoid = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(
        np.tile(out_of_fold[:, None], (2, 1)),
        np.repeat([1, 0], len(target)),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    q = sigmoid.predict_proba(out_of_fold[:, None])[:, 1]
    lift = q / (1 - q) * n_other / n_known
    ranked = rank_rows(trained, mixed, prior=0.1)
    rows = {name: i for i, name in enumerate(mixed.instance_names)}
    expected = np.array([lift[rows[row.instance]] for row in ranked.new_rows])
    np.testing.assert_allclose([row.lift for row in ranked.new_rows], expected, rtol=1e-5)
    np.testing.assert_allclose(
        [row.probability for row in ranked.new_rows], np.minimum(1, 0.1 * expected), rtol=1e-5
    )
    assert np.mean([row.lift for row in ranked.new_rows]) == pytest.approx(1, abs=0.1)


def test_the_class_of_other_rows_is_the_unlabelled_one(mixed):
    built = replace(mixed, provenance={"options": {"others": "unlabelled"}})
    with pytest.raises(
        ValueError,
        match="unlabelled is 'known', but rows without a label have the class 'unlabelled'; use that class",
    ):
        train_model(hietan.HieBAN(), built, unlabelled="known")
    assert train_model(hietan.HieBAN(), built, unlabelled="unlabelled").positive == "known"


def test_only_measures_that_count_no_unlabelled_row_as_wrong(mixed, trained, out_of_fold):
    quality = trained.quality
    assert quality["auc"] == pytest.approx(roc_auc_score(mixed.y, out_of_fold))
    for name in ("gmean", "average_precision", "log_loss", "calibrated_log_loss", "calibration_error"):
        assert quality[name] is None
    assert quality["curve"] == [] and quality["annotations_auc"] is not None
    is_known = mixed.y == 1
    assert trained.unlabelled_bound == bound_of(out_of_fold[is_known], out_of_fold[~is_known])
    assert (
        f"With 95% confidence, at most {trained.unlabelled_bound:.1%} of the unlabelled rows belong to 'known'"
        in bound_note(trained)
    )


def test_the_class_that_comes_first_can_be_the_known_one(mixed, trained):
    names = ("known", "unlabelled")
    turned = replace(mixed, y=1 - mixed.y, target_names=names, positive="unlabelled")
    assert turned.target_names == names and turned.y.tolist() == (1 - mixed.y).tolist()
    other = rank_rows(train_model(hietan.HieLogistic(), turned, unlabelled="unlabelled"), turned)
    assert other.positive == "known" and other.model.classes == ("unlabelled", "known")
    ranked = rank_rows(trained, mixed)
    np.testing.assert_allclose(other.lifts[other.order], ranked.lifts[ranked.order], rtol=1e-5)
    assert other.model.unlabelled_bound == trained.unlabelled_bound


def test_new_rows_are_scored_by_the_model_of_all_rows(mixed, trained):
    renamed = replace(mixed, instance_names=tuple(f"new {i}" for i in range(len(mixed.y))))
    ranked = rank_rows(trained, renamed)
    assert ranked.n_new == len(mixed.y) and not ranked.held_out.any()
    np.testing.assert_allclose(
        ranked.log_odds, trained.classifier.decision_function(mixed.X), rtol=0, atol=1e-12
    )


def test_scores_are_taken_over_only_by_rows_that_are_certainly_the_same(mixed, trained):
    """Genes share synonyms and symbols, and human and mouse symbols differ in case: such rows are not ranked."""
    row, other = np.flatnonzero(mixed.y == 0)[:2].tolist()
    name, names = mixed.instance_names[row], [f"new {i}" for i in range(len(mixed.y))]
    as_synonym = tuple((name,) if i == row else () for i in range(len(names)))
    symbols = [("",) * len(names)] * 3
    symbols[0] = tuple(name if i == row else "" for i in range(len(names)))  # its own, exactly
    symbols[1] = tuple(name.upper() if i == row else "" for i in range(len(names)))
    symbols[2] = tuple(name if i in (row, other) else "" for i in range(len(names)))  # of two rows
    found = [
        rank_rows(trained, replace(mixed, instance_names=tuple(names), symbols=each)) for each in symbols
    ]
    found.append(rank_rows(trained, replace(mixed, instance_names=tuple(names), synonyms=as_synonym)))
    assert [ranked.held_out[row] for ranked in found] == [True, False, False, False]
    assert [ranked.matches[row] is None for ranked in found] == [True, False, False, False]


def test_an_explanation_agrees_with_the_ranking_about_shared_symbols(mixed, trained):
    """Two rows have a training row's symbol: which of them it is, is not known, even if only one is asked for."""
    row, other = np.flatnonzero(mixed.y == 0)[:2].tolist()
    names = [f"other{i}" for i in range(len(mixed.y))]
    symbols = tuple(mixed.instance_names[row] if i in (row, other) else "" for i in range(len(names)))
    shared = replace(mixed, instance_names=tuple(names), symbols=symbols)
    ranked = rank_rows(trained, shared)
    for asked in ([names[row]], [names[row], names[other]]):
        found = explain_rows_by_name(trained, shared, asked)
        assert [bool(each.rank_note) for each in found] == [False] * len(asked)
    assert not ranked.held_out[[row, other]].any() and ranked.matches[row] is not None
    unique = replace(shared, symbols=tuple(name if i == row else "" for i, name in enumerate(symbols)))
    assert explain_rows_by_name(trained, unique, [names[row]])[0].rank_note


def test_a_model_without_held_out_scores_is_refused(mixed):
    rows = np.concatenate([np.flatnonzero(mixed.y == 1), np.flatnonzero(mixed.y == 0)[:1]])
    with pytest.raises(ValueError, match="at least two rows of each class"):
        train_model(hietan.HieBAN(), mixed.subset(rows=rows), unlabelled="unlabelled")


def test_explanations_state_the_lift_and_the_rank(mixed, trained, out_of_fold):
    row = int(np.flatnonzero(mixed.y == 0)[0])
    (found,) = explain_rows_by_name(trained, mixed, [mixed.instance_names[row]])
    own = trained.classifier.decision_function(mixed.X[[row]])
    text = found.text()
    assert f": lift {trained.lifts(own)[0]:.3g}, log-odds {own[0]:+.3f}" in text and "P(" not in text
    (ranked_lift,) = trained.lifts(out_of_fold[[row]])
    assert f"did not see it: lift {ranked_lift:.3g}, log-odds {out_of_fold[row]:+.3f}." in text
    known = int(np.flatnonzero(mixed.y == 1)[0])
    (other,) = explain_rows_by_name(trained, mixed, [mixed.instance_names[known]])
    assert not other.rank_note and "its class was known" in other.text()


def test_the_report_shows_lifts_and_no_list(mixed, trained):
    ranked = rank_rows(trained, mixed, prior=0.1)
    content = candidates_summary(ranked, explained=1)
    (dataset,) = content["datasets"]
    shown = dataset["predictions"][0]
    assert content["lists"] is None and content["quality"]["gmean"] is None
    n = ranked.n_new
    np.testing.assert_allclose(shown["lift"][:n], ranked.lifts[ranked.order][:n], rtol=1e-2)
    np.testing.assert_allclose(shown["calibrated"][:n], ranked.probabilities[ranked.order][:n], rtol=1e-2)
    # The model has seen the known rows, so they have neither lift nor probability, here and in the table.
    known = ranked.rows[n:]
    assert known and all(row.lift is None and row.probability is None for row in known)
    assert shown["lift"][n:] == shown["calibrated"][n:] == [None] * len(known)
    assert (
        "calibrated"
        not in candidates_summary(rank_rows(trained, mixed), explained=0)["datasets"][0]["predictions"][0]
    )


def test_the_model_file_keeps_it(trained, mixed, tmp_path):
    trained.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    assert loaded.unlabelled == "unlabelled" and loaded.unlabelled_bound == trained.unlabelled_bound
    assert rank_rows(loaded, mixed).rows == rank_rows(trained, mixed).rows


@pytest.mark.parametrize(
    "forged",
    [
        {"unlabelled": "known"},
        {"unlabelled": "nothing"},
        {"unlabelled": 0},
        {"positive": "unlabelled"},
        {"held_out": None},
        {"held_out": {"log_proba": None}},
        {"training": {"labels": [0, 1] * 300}},
        {"provenance": {"aliases": ["GO:1"]}},
        {"provenance": {"aliases": {"GO:1": "GO:2"}}},
        {"provenance": {"aliases": {"GO:1": [3]}}},
    ],
)
def test_forged_files_are_refused(trained, tmp_path, forged):
    trained.save(tmp_path / "model")
    metadata = read_metadata(tmp_path / "model")
    for (
        name,
        value,
    ) in forged.items():  # some entries of training rows and held-out scores, or else the entry itself
        is_part = name in ("training", "held_out") and value is not None
        metadata[name] = metadata[name] | value if is_part else value
    hietan.save(trained.classifier, tmp_path / "forged", metadata=metadata)
    with pytest.raises(ModelFileError, match="does not describe its model correctly"):
        Model.load(tmp_path / "forged")


def test_scores_of_some_rows_alone_are_refused(trained, tmp_path):
    """Each unlabelled row is ranked by its held-out score."""
    trained.save(tmp_path / "model")
    metadata = read_metadata(tmp_path / "model")
    metadata["held_out"] = {name: values[:-1] for name, values in metadata["held_out"].items()}
    hietan.save(trained.classifier, tmp_path / "forged", metadata=metadata)
    with pytest.raises(ModelFileError, match="all rows need held-out scores"):
        Model.load(tmp_path / "forged")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "--folds 1 does not apply"),
        ({"validate": False}, "--no-validate does not apply"),
        ({"fdr": "split"}, "count undiscovered positives as wrong"),
        ({"threshold": "gmean"}, "--threshold does not apply"),
        ({"unlabelled": "other"}, "exactly two classes, but the dataset's classes are unlabelled, known"),
        ({"positive": "unlabelled"}, "the known class is 'known'"),
    ],
)
def test_options_without_meaning_are_refused(mixed, options, message):
    with pytest.raises(ValueError, match=message):
        train_model(hietan.HieBAN(), mixed, **({"unlabelled": "unlabelled"} | options))


def test_a_class_prior_is_refused(mixed):
    with pytest.raises(ValueError, match="give the share of positives with `hietan predict --prior`"):
        train_model(hietan.HieBAN(class_prior=[0.5, 0.5]), mixed, unlabelled="unlabelled")


def test_three_classes_and_few_positives_are_refused(mixed):
    three = make_hierarchical_classification(90, 20, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match="expected one of exactly two classes"):
        train_model(hietan.HieBAN(), three, unlabelled="class0")
    rows = np.concatenate([np.flatnonzero(mixed.y == 0), np.flatnonzero(mixed.y == 1)[:9]])
    with pytest.raises(
        ValueError,
        match="there are only 9 rows of class 'known'; learning from positive and unlabelled rows needs at least 10",
    ):
        train_model(hietan.HieBAN(), mixed.subset(rows=rows), unlabelled="unlabelled")


def test_rankings_refuse_what_would_mislead(mixed, trained, data):
    with pytest.raises(ValueError, match="would count its undiscovered positives as wrong"):
        rank_rows(trained, mixed).select(0.2)
    with pytest.raises(ValueError, match="a rank by unlabelled is not available"):
        rank_rows(trained, mixed, positive="unlabelled")
    with pytest.raises(ValueError, match="raw probabilities are not available"):
        rank_rows(trained, mixed, raw=True)
    for prior in (0, 1, -0.1, np.nan):
        with pytest.raises(ValueError, match="expected a share of positives between 0 and 1"):
            rank_rows(trained, mixed, prior=prior)
    with pytest.raises(ValueError, match="but the model has no unlabelled class; fit it with unlabelled="):
        rank_rows(train_model(hietan.HieBAN(), data), data, prior=0.1)
    assert trained.unlabelled_bound < 0.99
    with pytest.warns(
        DataWarning, match=r"prior is 0\.99, but the share of known among unlabelled rows is at most 0\.\d+"
    ):
        rank_rows(trained, mixed, prior=0.99)


def test_without_a_rising_sigmoid_there_is_no_lift(mixed):
    """Random labels: if higher log-odds do not mean more known rows, lifts would mislead."""
    for seed in range(20):
        y = np.random.default_rng(seed).permutation(mixed.y)
        trained = train_model(hietan.HieBAN(), replace(mixed, y=y), unlabelled="unlabelled", seed=seed)
        if trained.calibration is None:
            break
    ranked = rank_rows(trained, mixed, prior=0.1)
    assert trained.calibration is None and ranked.lifts is None and ranked.probabilities is None
    assert "lift" not in ranked.columns and "no better than chance" in caution(trained)


@pytest.mark.slow
def test_probabilities_hold_with_the_true_share(data):
    """Half of the positives hidden: with the true share, the mean probability is close to it."""
    means, shares, below = [], [], []
    for seed in range(20):
        mixed, is_hidden = hide_labels(data, 0.5, seed)
        trained = train_model(hietan.HieLogistic(), mixed, seed=seed, unlabelled="unlabelled")
        share = is_hidden.sum() / (mixed.y == 0).sum()
        ranked = rank_rows(trained, mixed, prior=share)
        means.append(np.mean([row.probability for row in ranked.new_rows]))
        shares.append(share)
        below.append(share <= trained.unlabelled_bound)
    assert np.mean(means) == pytest.approx(np.mean(shares), abs=0.02)
    assert np.mean(below) >= 0.95
