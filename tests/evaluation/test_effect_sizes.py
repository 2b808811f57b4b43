"""Effect sizes and the Bayesian signed-rank test: a literal twin, the peer's numbers, and what must hold."""

import math

import numpy as np
import pandas
import pytest

from hietan.evaluation import SummaryRow, compare_methods, make_rankings
from hietan.scores import METRICS, bayesian_signed_rank, rank_biserial
from hietan.scores.bootstrap import Bootstrap
from hietan.scores.effect_sizes import dirichlet_draws

# Computed once by baycomp 1.0.3: SignedRankTest(zeros, d, rope=rope, nsamples=200_000, random_state=1).probs().
SPREAD = (
    0.00002,
    0.00597,
    -0.00548,
    -0.01781,
    -0.00909,
    -0.01983,
    0.0012,
    0.0268,
    -0.00984,
    -0.01241,
    0.0098,
)
SPREAD += (0.00714, 0.00211, -0.01861)
WIDE = (0.01141, 0.02591, -0.01488, 0.00285, -0.02602, -0.01379, -0.02483, 0.0073, -0.01335, 0.01743, 0.01514)
WIDE += (0.00826, -0.03834, 0.00123)
LOW = (-0.02097, -0.01773, -0.0506, -0.02956, -0.03957, -0.03618, 0.00122, -0.03615, -0.02065, -0.00231)
LOW += (-0.03167, -0.02223)
FEW = (0.00621, 0.00528, -0.0205, 0.00552, 0.03118)
BAYCOMP = [
    (SPREAD, 0.01, (0.0102, 0.9891, 0.0007)),
    (SPREAD, 0.0, (0.7967, 0.0, 0.2033)),
    (WIDE, 0.01, (0.1363, 0.8459, 0.0178)),
    (WIDE, 0.0, (0.6445, 0.0, 0.3555)),
    (LOW, 0.01, (0.9993, 0.0007, 0.0)),
    (FEW, 0.01, (0.0119, 0.8437, 0.1443)),
    (FEW, 0.0, (0.1377, 0.0, 0.8623)),
]


def probabilities(differences, **options):
    found = bayesian_signed_rank(differences, **options)
    return found.left, found.rope, found.right


@pytest.mark.parametrize(("differences", "rope", "expected"), BAYCOMP)
def test_the_probabilities_are_those_of_the_peer(differences, rope, expected):
    assert probabilities(differences, rope=rope) == pytest.approx(expected, abs=0.006)


def twin(differences, rope, weights):
    """The definition, pair by pair and draw by draw."""
    z = [0.0, *differences]
    counts = [0.0, 0.0, 0.0]
    for w in weights:
        left = rope_share = right = 0.0
        for i, a in enumerate(z):
            for j, b in enumerate(z):
                mean = round(a + b, 12) / 2
                pair = w[i] * w[j]
                if math.isclose(mean, rope, abs_tol=1e-13):
                    rope_share, right = rope_share + pair / 2, right + pair / 2
                elif mean > rope:
                    right += pair
                elif math.isclose(mean, -rope, abs_tol=1e-13):
                    rope_share, left = rope_share + pair / 2, left + pair / 2
                elif mean < -rope:
                    left += pair
                else:
                    rope_share += pair
        shares = [left, rope_share, right]
        best = [k for k in range(3) if math.isclose(shares[k], max(shares), abs_tol=1e-11)]
        for k in best:
            counts[k] += 1 / len(best)
    return tuple(count / len(weights) for count in counts)


@pytest.mark.parametrize("rope", [0.01, 0.025])
def test_it_is_the_literal_twin(rope):
    rng = np.random.default_rng(3)
    for n in (1, 4, 9):
        differences = rng.integers(-4, 5, n) / 100  # many of the means are on a border
        expected = twin(differences.tolist(), rope, dirichlet_draws(n, 0.5, 200, 5))
        found = probabilities(differences, rope=rope, n_draws=200, seed=5)
        assert found == pytest.approx(expected) and sum(found) == pytest.approx(1)


def test_turning_the_sign_swaps_the_sides():
    left, rope, right = probabilities(WIDE)
    assert probabilities(-np.array(WIDE)) == (right, rope, left)


def test_equal_methods_are_equivalent_and_without_a_region_neither_is_better():
    assert probabilities([0.0] * 8) == (0, 1, 0)
    assert probabilities([0.0] * 8, rope=0) == (0.5, 0, 0.5)


def test_the_last_bit_of_a_difference_does_not_move_it_over_a_border():
    exact = probabilities([0.01] * 6)
    assert probabilities([0.62 - 0.61] * 6) == exact and 0.62 - 0.61 != 0.01


def test_rank_biserial_by_hand():
    assert rank_biserial([3, 1, -2, 0]) == pytest.approx((3 + 1 - 2) / 6)
    assert rank_biserial([1, -1, 2]) == pytest.approx(3 / 6)  # the first two share rank 1.5
    assert rank_biserial([0, 0]) == 0 and rank_biserial([-1, -5]) == -1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayesian_signed_rank([]), r"got shape \(0,\)"),
        (lambda: rank_biserial([[1, 2]]), r"got shape \(1, 2\)"),
        (lambda: rank_biserial([1, np.nan]), "missing or infinite"),
        (lambda: bayesian_signed_rank([0.1, 0.2], rope=math.nan), "rope is nan; expected a number from 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------ one tidy table


def ranking_by(metric, scores):
    place = list(METRICS).index(metric)
    rows = [
        SummaryRow(
            f"d{i}", f"m{j}", "", "none", 0, 9, tuple(v if k == place else 0.5 for k in range(len(METRICS)))
        )
        for i, line in enumerate(scores)
        for j, v in enumerate(line)
    ]
    return make_rankings(rows, metrics=[metric])[0]


def test_a_row_per_method_best_first_and_the_control_compared_with_nothing():
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(12, 3)) + np.array([0, 0.5, 0.2])
    ranking = ranking_by("gmean", scores)
    rows = compare_methods(ranking)
    assert [row.method for row in rows] == ["m1", "m2", "m0"]
    assert rows[0].control is None and rows[0].p_value is None and rows[0].rank_biserial is None
    for row, test in zip(rows[1:], ranking.comparison.comparisons, strict=True):
        column = scores[:, int(row.method[1])]
        assert (row.holm_threshold, row.p_value, row.p_adjusted) == (
            test.threshold,
            test.p_value,
            test.p_adjusted,
        )
        assert row.mean_difference == pytest.approx((column - scores[:, 1]).mean())
        assert row.rank_biserial == pytest.approx(rank_biserial(column - scores[:, 1]))
        assert (row.p_worse, row.p_equivalent, row.p_better) == probabilities(column - scores[:, 1])
        assert row.difference_low is None
    assert list(pandas.DataFrame(rows).columns) == list(rows[0].header())


def test_better_means_lower_where_lower_is_better():
    low = np.linspace(0.1, 0.2, 8)
    (best, other) = compare_methods(ranking_by("brier", np.stack([low, low + 0.1], axis=1)))
    assert (best.method, other.method) == ("m0", "m1")
    assert other.mean_difference == pytest.approx(0.1) and other.rank_biserial == -1 and other.p_worse > 0.99


def test_the_interval_is_that_of_the_same_draws():
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(500, 1))
    draws = np.hstack([shared, shared - 0.1 + 0.001 * rng.normal(size=(500, 1))])
    drawn = Bootstrap(("m0", "m1"), draws, draws)
    _, other = compare_methods(ranking_by("gmean", [[0.6, 0.5], [0.7, 0.6]]), drawn)
    assert (other.difference_low, other.difference_high) == pytest.approx((-0.1, -0.1), abs=0.005)
    _, other = compare_methods(ranking_by("auc", [[0.6, 0.5], [0.7, 0.6]]), drawn)
    assert other.difference_low is None


def test_an_infinite_score_leaves_the_ranks_and_no_effect():
    _, other = compare_methods(ranking_by("log_loss", [[0.1, np.inf], [0.2, 0.3]]))
    assert other.p_value is not None and other.mean_difference is None and other.p_worse is None


def test_scores_that_are_infinite_for_both_methods_leave_the_tests():
    _, other = compare_methods(ranking_by("log_loss", [[np.inf, np.inf], [0.1, 0.2], [0.2, 0.3]]))
    assert other.wilcoxon_p_value == 0.5 and other.p_value is not None
    assert other.mean_difference is None and other.p_worse is None
