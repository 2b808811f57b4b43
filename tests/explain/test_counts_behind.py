"""The counts next to a contribution are the training rows that it was computed from."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logit

import hietan
from hietan.datasets import load_ageing_genes, make_hierarchical_classification
from hietan.evaluation._outputs.report_data import Reasons, compact
from hietan.persistence._files import CLASSIFIERS

DATA = make_hierarchical_classification(150, 30, random_state=4)


def fitted(name, data=DATA, **parameters):
    return getattr(hietan, name)(hierarchy=data.hierarchy, **parameters).fit(data.X, data.y)


def counted(data, part, weights=None):
    """The counts of a contribution by their definition: a pair for each class."""
    X, weights = data.X.toarray(), np.ones(len(data.y)) if weights is None else weights
    column = data.feature_names.index
    is_given = np.ones(len(data.y), dtype=bool)
    for name in part.given:
        is_given &= X[:, column(name)] == (1 if part.parent_value is None else part.parent_value)
    has_value = X[:, column(part.feature)] == part.value
    return tuple(
        (weights[is_given & has_value & (data.y == c)].sum(), weights[is_given & (data.y == c)].sum())
        for c in (0, 1)
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_counts_are_those_of_the_training_rows(name):
    model, conditional = fitted(name), 0
    for explanation in model.explain(DATA.X[:15]):
        for part in explanation.contributions:
            assert part.counts == counted(DATA, part)
            conditional += bool(part.given)
        shown = compact(explanation, Reasons())
        for i, column in enumerate(shown["features"]):
            part = next(p for p in explanation.contributions if p.feature == DATA.feature_names[column])
            assert shown["counts"][i] == part.counts and (i in shown["weak"]) == part.is_weak
    is_conditional = "TAN" in name or name in ("HieBAN", "HieLogistic")
    assert (conditional > 0) == is_conditional
    # Averages of estimators and regressions are not just logarithms of the counts, and say so.
    assert bool(explanation.counts_note) == ("AODE" in name or name in ("ProximalGraph", "HieLogistic"))


@pytest.mark.parametrize("name", ["TAN", "HieTANLite", "HIPNB", "HieBAN"])
def test_counts_give_the_probabilities(name):
    for explanation in fitted(name, alpha=1, smoothing="laplace").explain(DATA.X[:10]):
        for part in explanation.contributions:
            smoothed = [(n + 1) / (size + 2) for n, size in part.counts]
            assert part.probabilities == pytest.approx(smoothed)


@pytest.mark.parametrize("name", ["TAN", "HieTANLite"])
def test_sparse_pairs_give_the_same_counts(name):
    from support.storages import kept

    found = []
    for storage in ("dense", "sparse"):
        with kept(storage):
            found.append(fitted(name, random_state=0).explain(DATA.X[:5]))
    assert [[p.counts for p in one.contributions] for one in found[0]] == [
        [p.counts for p in one.contributions] for one in found[1]
    ]


def test_weighted_rows_count_in_rows():
    weights = np.random.default_rng(0).uniform(0.2, 3, len(DATA.y))
    for name in ("HieLogistic", "TAN", "ProximalGraph"):
        model = getattr(hietan, name)(hierarchy=DATA.hierarchy).fit(DATA.X, DATA.y, sample_weight=weights)
        assert model.weight_unit_ != 1
        for part in model.explain(DATA.X[:1])[0].contributions:
            for (n, size), (right_n, right_size) in zip(
                part.counts, counted(DATA, part, weights), strict=True
            ):
                assert (n, size) == pytest.approx((right_n, right_size), abs=1e-3)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3, 1: 0.7}])
def test_weighted_classes_count_in_rows(name, class_weight):
    data = replace(DATA, y=(np.arange(150) % 5 == 0).astype(int))
    model = fitted(name, data, class_weight=class_weight)
    for explanation in model.explain(data.X[:5]):
        for part in explanation.contributions:
            assert part.counts == counted(data, part)
        # A regression weighs the losses of rows, not their counts.
        is_weighted = name not in ("ProximalGraph", "HieLogistic")
        assert ".0 of" not in explanation.text()
        assert ("these counts, multiplied by the class weights" in explanation.text()) == is_weighted


def test_features_without_all_their_parents_have_no_counts():
    hierarchy = hietan.Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    X = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]] * 3)
    model = hietan.HieLogistic(hierarchy=hierarchy).fit(X, [1, 1, 0, 0] * 3)
    (explanation,) = model.explain([[1, 0, 1]])
    animal, bird, owl = explanation.contributions
    assert animal.counts and bird.counts and owl.counts is None and not owl.is_weak
    assert owl.given == ("bird",) and owl.contribution == owl.adjustment != 0
    for shown in (explanation.text(), explanation.to_html()):
        assert shown.count("a parent is absent in this row, so nothing was counted") == 1
        assert "of 0 rows" not in shown


def by_counts(part, model):
    """What follows from the counts alone: smoothed shares of both classes, compared."""
    (n0, m0), (n1, m1) = part.counts
    prior = logit((n0 + n1 + 0.5) / (m0 + m1 + 1))
    beta0, beta1 = (
        brentq(lambda b, n=n, m=m: n - m * expit(b) - (b - prior), -50, 50) for n, m in part.counts
    )
    return (log_expit(beta1) - log_expit(beta0)) / model.scale_


def test_contributions_of_real_genes_follow_from_the_counts_or_say_why_not():
    worm = load_ageing_genes("worm", "BP")
    model = fitted("HieLogistic", worm)
    for explanation in model.explain(worm, worm.instance_names[::40]):
        text = explanation.text(limit=1000)
        for part in explanation.contributions:
            if part.given or not worm.hierarchy.parents(part.feature):
                assert part.counts == counted(worm, part)
            expected = by_counts(part, model)
            assert part.contribution - part.adjustment == pytest.approx(expected, abs=1e-9)
            if not part.is_adjusted:
                assert 0.5 <= part.contribution / expected <= 1.5
            else:
                by_rows = part.contribution - part.adjustment
                assert f"counts {by_rows:+.3f}, adjustment {part.adjustment:+.3f}" in text


def test_a_reason_that_rests_on_one_gene_shows_it_and_is_marked():
    worm = load_ageing_genes("worm", "BP")
    (explanation,) = fitted("HieLogistic", worm).explain(worm, "cdtl-7")
    (part,) = (p for p in explanation.contributions if p.feature == "GO:0034645")
    line = "of 68 genes with GO:0009059, GO:0044249 and GO:0044260: anti 0 of 54, pro 1 of 14 *"
    assert part.value == 0 and part.is_weak and part.counts == ((0, 54), (1, 14))
    for shown in (explanation.text(), explanation.to_html()):
        assert line in shown and "* Weak: fewer than 5 of these genes have the value" in shown
    frame = explanation.to_frame().set_index("feature").loc["GO:0034645"]
    assert [frame[name] for name in ("rows(anti)", "of(anti)", "rows(pro)", "of(pro)")] == [0, 54, 1, 14]
    (listed,) = (p for p in explanation.to_dict()["contributions"] if p["feature"] == "GO:0034645")
    assert listed["counts"] == [[0, 54], [1, 14]] and len(listed["given"]) == 3


def test_fitted_counts_cannot_be_overwritten():
    for name in ("TAN", "HieBAN", "ProximalGraph"):
        with pytest.raises(ValueError, match="read-only"):
            fitted(name).counts_.ones[:] = 0


@pytest.mark.parametrize(
    ("class_weight", "weight"), [({0: 0.5}, 2.0), ({0: 1.5}, 2.0), ({0: 0.6}, 5.0), (None, 3e7 + 0.3)]
)
def test_weights_of_rows_and_classes_together_leave_finite_counts(class_weight, weight):
    data = make_hierarchical_classification(60, 12, random_state=0)
    model = hietan.TAN(hierarchy=data.hierarchy, class_weight=class_weight).fit(
        data.X, data.y, np.full(60, weight)
    )
    (found,) = model.explain(data.X[:1])
    for part in found.contributions:
        if part.parent is None:
            assert [size for _, size in part.counts] == pytest.approx([30 * weight] * 2, rel=1e-6)
