"""The bootstrap over rows: centred on the scores, wide where rows are few, and one draw for all views of a row."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import TAN
from hietan.datasets import make_hierarchical_classification
from hietan.scores import cross_validate, metrics_of
from hietan.scores.bootstrap import bootstrap_gmean

DATA = make_hierarchical_classification(300, 30, random_state=1)


@pytest.fixture(scope="module")
def predictions():
    models = {"TAN": TAN(smoothing="pooled"), "NB": BernoulliNB()}
    return {
        ("d", name, s): cross_validate(m, DATA, n_splits=5, seed=s)
        for name, m in models.items()
        for s in (0, 1)
    }


def test_centred_on_the_mean_over_the_seeds(predictions):
    result = bootstrap_gmean(predictions, {"d": DATA.instance_names}, ["TAN", "NB"])
    for k, method in enumerate(result.methods):
        scores = [metrics_of(p)["gmean"] for (_, m, _), p in predictions.items() if m == method]
        assert result.mean_gmean[:, k].mean() == pytest.approx(np.mean(scores), abs=0.01)
        low, high = result.interval(result.mean_gmean)[:, k]
        assert low < np.mean(scores) < high and 0.05 < high - low < 0.2
    assert result.average_rank.sum(axis=1) == pytest.approx(3)


def test_views_of_the_same_rows_add_no_information(predictions):
    """Seven copies of a dataset in one group are as uncertain as one; as groups of their own they would seem surer."""
    copies = {(f"d{i}", m, s): p for i in range(7) for (_, m, s), p in predictions.items()}
    rows = {f"d{i}": DATA.instance_names for i in range(7)}

    def width(**options):
        result = bootstrap_gmean(copies, rows, ["TAN"], n_draws=400, **options)
        return float(np.diff(result.interval(result.mean_gmean), axis=0)[0, 0])

    together, apart = width(groups=dict.fromkeys(rows, "g")), width()
    single = bootstrap_gmean(predictions, {"d": DATA.instance_names}, ["TAN"], n_draws=400)
    assert together == pytest.approx(
        float(np.diff(single.interval(single.mean_gmean), axis=0)[0, 0]), rel=0.15
    )
    assert apart < 0.6 * together


def test_a_class_that_is_never_found_has_gmean_zero(predictions):
    pooled = predictions["d", "TAN", 0]
    blind = {("d", "blind", 0): replace(pooled, predicted=np.zeros_like(pooled.predicted))}
    assert (bootstrap_gmean(blind, {"d": DATA.instance_names}, ["blind"], n_draws=20).mean_gmean == 0).all()
