"""Rank tests: the paper's Table 3, the peers, and what must hold by definition."""

import numpy as np
import pytest
from scipy import stats

from hietan.evaluation import (
    average_ranks,
    friedman,
    holm_adjust,
    iman_davenport,
    nemenyi,
    tie_correction,
    wilcoxon_holm,
    wins,
)
from hietan.evaluation._rank_tests import compare_ranks, rank_rows
from support.paper import TABLE_3


def printed(value):
    """As in the paper: 0.0808 is 8.08e-2."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return rng.normal(size=(28, 5)) + 0.4 * np.arange(5)


def test_table_3_to_every_printed_digit():
    result = compare_ranks({m: row[0] for m, row in TABLE_3.items()}, 28, alternative="greater")
    assert result.control == "Hie-TAN-Lite"
    found = {row.method: (printed(row.threshold), printed(row.p_value)) for row in result.comparisons}
    assert found == {m: row[1:] for m, row in TABLE_3.items() if row[1]}
    assert f"{result.friedman.statistic:.2f}" == "50.87" and result.friedman.df == (5,)
    assert f"{result.iman_davenport.statistic:.2f}" == "15.41" and result.iman_davenport.df == (5, 135)


def test_two_sided_doubles_the_p_values_and_adjusts_them():
    ranks = {m: row[0] for m, row in TABLE_3.items()}
    one, two = (compare_ranks(ranks, 28, alternative=a) for a in ("greater", "two-sided"))
    for a, b in zip(one.comparisons, two.comparisons, strict=True):
        assert b.p_value == pytest.approx(2 * a.p_value)
    assert two.comparisons[0].p_adjusted == pytest.approx(two.comparisons[0].p_value)
    assert two.comparisons[-1].p_adjusted == pytest.approx(5 * two.comparisons[-1].p_value)


def test_another_control():
    result = compare_ranks({"a": 1.5, "b": 1.9, "c": 2.6}, 12, control="c")
    assert [(row.method, row.control) for row in result.comparisons] == [("a", "c"), ("b", "c")]
    assert result.comparisons[0].statistic == pytest.approx(-1.1 / np.sqrt(12 / 72))


def test_friedman_is_scipys_where_nothing_ties(scores):
    theirs = stats.friedmanchisquare(*scores.T)
    ours = friedman(average_ranks(scores), len(scores))
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_corrected_for_ties_friedman_is_scipys(scores):
    tied = scores.round(0)
    theirs = stats.friedmanchisquare(*tied.T)
    correction = tie_correction(tied)
    ours = friedman(average_ranks(tied), len(tied), correction=correction)
    assert 0 < correction < 0.9
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert ours.statistic > friedman(average_ranks(tied), len(tied)).statistic
    assert tie_correction(scores) == 1


def test_the_corrected_tests_are_there_where_they_differ(scores):
    ranks = dict(zip("abcde", average_ranks(scores.round(0)), strict=True))
    with_ties = compare_ranks(ranks, 28, correction=tie_correction(scores.round(0)))
    assert list(with_ties.overall_tests()) == [
        "friedman",
        "friedman_corrected",
        "iman_davenport",
        "iman_davenport_corrected",
    ]
    chi2 = with_ties.friedman_corrected.statistic
    assert with_ties.iman_davenport_corrected.statistic == pytest.approx(27 * chi2 / (28 * 4 - chi2))
    assert list(compare_ranks(ranks, 28).overall_tests()) == ["friedman", "iman_davenport"]


def test_methods_that_always_tie_do_not_differ():
    assert tie_correction(np.ones((6, 3))) == 0
    result = friedman([2, 2, 2], 6, correction=0.0)
    assert (result.statistic, result.p_value) == (0, 1)


def test_agreement_of_all_datasets_is_the_largest_statistic():
    result = iman_davenport([1, 2, 3], 10)
    assert result.statistic == np.inf and result.p_value == 0


def test_ranks_and_wins():
    table = [[0.9, 0.9, 0.1], [0.2, 0.3, 0.4]]
    np.testing.assert_array_equal(rank_rows(table), [[1.5, 1.5, 3], [3, 2, 1]])
    np.testing.assert_array_equal(wins(table), [0.5, 0.5, 1])
    np.testing.assert_array_equal(wins(table, greater_is_better=False), [1, 0, 1])
    assert rank_rows(table, greater_is_better=False)[1].tolist() == [1, 2, 3]


def test_wilcoxon_is_scipys(scores):
    rows = wilcoxon_holm(dict(zip("abcde", scores.T, strict=True)))
    assert len(rows) == 10
    first = stats.wilcoxon(scores[:, 0], scores[:, 1])
    assert (rows[0].method, rows[0].control, rows[0].p_value) == ("a", "b", pytest.approx(first.pvalue))
    assert [row.p_adjusted for row in rows] == pytest.approx(holm_adjust([row.p_value for row in rows]))
    against = wilcoxon_holm(dict(zip("abcde", scores.T, strict=True)), control="c")
    assert [(row.method, row.control) for row in against] == [(m, "c") for m in "abde"]


def test_wilcoxon_of_equal_methods():
    rows = wilcoxon_holm({"a": [1, 2, 3], "b": [1, 2, 3]})
    assert rows[0].p_value == 1


def test_wilcoxon_leaves_out_what_is_infinite_in_both():
    (found,) = wilcoxon_holm({"a": [1, np.inf, 3, 5, np.inf], "b": [2, np.inf, 2.5, 3, 4]})
    (expected,) = wilcoxon_holm({"a": [1, 3, 5, 1e9], "b": [2, 2.5, 3, 4]})
    assert (found.statistic, found.p_value) == (expected.statistic, expected.p_value)
    assert found.difference == 0.5  # the median of -1, 0, 0.5, 2 and infinity


def test_nemenyi_cliques():
    ranks = {"c": 3.6, "a": 1.2, "b": 1.6, "d": 3.6}
    result = nemenyi(ranks, 20)
    assert result.critical_difference == pytest.approx(2.569032 * np.sqrt(4 * 5 / 120), abs=1e-4)
    assert result.cliques(ranks) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_ranks({"a": 1, "b": 2}, 10, alternative="less"), "alternative is 'less'"),
        (lambda: compare_ranks({"a": 1, "b": 2}, 10, control="z"), "control is 'z'; expected one of a, b"),
        (lambda: compare_ranks({"a": 1}, 10), "expected at least two average ranks"),
        (
            lambda: compare_ranks({"a": 1, "b": 3}, 10),
            "from 1 to the number of methods; got \\[1, 3\\]",
        ),
        (lambda: average_ranks([[1, np.nan]]), "1 missing values"),
        (lambda: average_ranks([1, 2]), "got shape \\(2,\\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------ the peers, where they are installed

PEERS = "the peers are not here: pip install --group peers"


@pytest.mark.filterwarnings("ignore")
def test_against_scikit_posthocs(scores):
    peers = pytest.importorskip("scikit_posthocs", reason=PEERS)
    ranks = dict(zip("abcde", average_ranks(scores), strict=True))
    theirs = peers.posthoc_nemenyi_friedman(scores).to_numpy()
    assert nemenyi(ranks, len(scores)).p_values == pytest.approx(theirs, abs=1e-6)
    pairs = peers.posthoc_wilcoxon(list(scores.T), p_adjust="holm").to_numpy()[np.triu_indices(5, 1)]
    rows = wilcoxon_holm(dict(zip("abcde", scores.T, strict=True)))
    assert [row.p_adjusted for row in rows] == pytest.approx(pairs)
