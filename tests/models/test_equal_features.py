"""Rows with equal features: hashes, ties in false discovery rates, and rates on fresh rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.models import rank_rows, train_model
from hietan.scores.rates import hash_features


def test_hashes_are_of_the_present_features_alone():
    """The same rows in any form, column order of the entries and type; and a value that files must keep."""
    dense = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 1]], dtype=np.uint8)
    expected = hash_features(dense)
    assert expected.dtype == np.uint64 and expected[0] == expected[2] and len(set(expected.tolist())) == 3
    sparse = csr_array(dense)
    stored = csr_array(([1.0] * 6, [2, 0, 2, 0, 2, 1], [0, 2, 2, 4, 6]), shape=(4, 3))
    zero = csr_array(([1, 1, 0, 1, 1, 1, 1], [0, 2, 1, 0, 2, 1, 2], [0, 3, 3, 5, 7]), shape=(4, 3))
    for X in (sparse, sparse.astype(float), stored, zero, sparse[:, [0, 1, 2]]):
        np.testing.assert_array_equal(hash_features(X), expected)
    assert expected[0] == 0xC374_1F41_9D1F_C122  # on every machine, because model files contain it


def test_a_row_with_the_features_of_a_training_row_of_another_class_counts_this_row():
    """Whatever the models of the folds said: the p-value of such a candidate is at least that of the two as ties."""
    data = make_hierarchical_classification(600, 12, random_state=0)
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(400)), positive="class1")
    assert trained.held_out.classes == data.target_names == ("class0", "class1")
    ranked = rank_rows(trained, data)
    X, y, m = data.X.toarray(), data.y, 400
    row_of = {name: X[i] for i, name in enumerate(data.instance_names)}
    logs = trained.held_out.log_proba
    odds = (logs[:, 1] - logs[:, 0])[y[:400] == 0]
    n_tied = 0
    for row in ranked.new_rows:
        equal = (X[:400][y[:400] == 0] == row_of[row.instance]).all(axis=1)
        at_least = odds >= row.log_odds - 1e-12
        n_tied += bool((equal & ~at_least).any())
        assert row.p_value == pytest.approx((1 + np.sum(at_least | equal)) / (m + 1))
    assert n_tied > 50  # a comparison of log-odds alone forgets these


@pytest.mark.parametrize("method", [hietan.HieBAN, hietan.HieTAN])
def test_rates_hold_on_fresh_rows_with_many_equal_ones(method):
    """40 features, so that nearly all rows have an equal one: 60 datasets, both classes."""
    shares = {0.3: [], 0.4: []}
    for seed in range(60):
        data = make_hierarchical_classification(600, 40, random_state=seed)
        trained = train_model(method(), data.subset(rows=slice(400)), seed=seed, positive="class1")
        new = data.subset(rows=slice(400, None))
        truth = dict(zip(new.instance_names, new.y, strict=True))
        for label, name in enumerate(("class0", "class1")):
            ranked = rank_rows(trained, new, positive=name)
            for rate, found in shares.items():
                wrong = [truth[row.instance] != label for row in ranked.select(rate).new_rows]
                found.append(np.mean(wrong) if wrong else 0.0)
    for rate, found in shares.items():
        error = np.std(found, ddof=1) / np.sqrt(len(found))
        assert rate / 2 < np.mean(found) <= rate + 3 * error
