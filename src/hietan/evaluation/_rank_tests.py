"""Ranks of classifiers over datasets, and tests of these ranks (Demsar 2006).

The functions need only SciPy; statsmodels, which comparable packages depend on, would add 65 MB.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

ALTERNATIVES = ("two-sided", "greater")


@dataclass(frozen=True)
class TestResult:
    """A test statistic, its degrees of freedom and its p-value."""

    __test__ = False  # so that pytest does not collect it

    statistic: float
    df: tuple[int, ...]
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """A comparison of two methods.

    `p_adjusted` accounts for all comparisons of the family; `threshold` is Holm's threshold for the raw p-value.
    """

    method: str
    control: str
    difference: float
    statistic: float
    p_value: float
    p_adjusted: float
    threshold: float


@dataclass(frozen=True)
class RankComparison:
    """Average ranks with Friedman's test, Iman and Davenport's test, and Holm's post-hoc test against a control.

    Attributes
    ----------
    average_ranks : dict of str to float
        The average rank of each method, best first.
    n_datasets : int
        The number of datasets.
    control : str
        The method that the others are compared with.
    alternative : str
        "two-sided", or "greater" if only worse methods count.
    friedman, iman_davenport : TestResult
        Tests of whether the methods differ at all.
    comparisons : tuple of Comparison
        The other methods against the control, best first.
    friedman_corrected, iman_davenport_corrected : TestResult or None
        The same two tests, corrected for ties; None if no ties are known.
    """

    average_ranks: dict[str, float]
    n_datasets: int
    control: str
    alternative: str
    friedman: TestResult
    iman_davenport: TestResult
    comparisons: tuple[Comparison, ...]
    friedman_corrected: TestResult | None = None
    iman_davenport_corrected: TestResult | None = None

    def overall_tests(self) -> dict[str, TestResult]:
        """Return the tests of whether the methods differ at all, by name.

        Corrected tests are included if they differ.
        """
        found = {
            "friedman": self.friedman,
            "friedman_corrected": self.friedman_corrected,
            "iman_davenport": self.iman_davenport,
            "iman_davenport_corrected": self.iman_davenport_corrected,
        }
        return {name: test for name, test in found.items() if test is not None}


def rank_rows(scores: ArrayLike, *, greater_is_better: bool = True) -> NDArray[np.float64]:
    """Rank the methods (columns) on each dataset (row). 1 is best, and ties share their mean rank.

    >>> rank_rows([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]])
    array([[1.5, 3. , 1.5],
           [3. , 1. , 2. ]])
    """
    table = _table(scores)
    return stats.rankdata(-table if greater_is_better else table, axis=1)


def average_ranks(scores: ArrayLike, *, greater_is_better: bool = True) -> NDArray[np.float64]:
    """Return the mean of `rank_rows` over the datasets."""
    return np.asarray(rank_rows(scores, greater_is_better=greater_is_better).mean(axis=0))


def wins(scores: ArrayLike, *, greater_is_better: bool = True) -> NDArray[np.float64]:
    """Return the number of datasets on which each method is best. A tie for first place splits the win.

    >>> wins([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]])
    array([0.5, 1. , 0.5])
    """
    table = _table(scores)
    best = table.max(axis=1) if greater_is_better else table.min(axis=1)
    first = table == best[:, None]
    return np.asarray((first / first.sum(axis=1, keepdims=True)).sum(axis=0))


def tie_correction(scores: ArrayLike) -> float:
    """Return the divisor that corrects Friedman's chi-squared for ties, which is 1 without ties.

    It is 1 - (sum of t^3 - t) / (N k (k^2 - 1)), over all groups of t methods that tie on one of the N datasets. This
    is the share of their largest possible variance that the ranks keep. Without the correction, ties make the test
    conservative.

    >>> tie_correction([[0.9, 0.8, 0.7], [0.5, 0.5, 0.6]])
    0.875
    """
    table = _table(scores)
    n, k = table.shape
    sizes = [np.unique(row, return_counts=True)[1].astype(np.float64) for row in table]
    lost = float(sum((t**3 - t).sum() for t in sizes))
    return 1 - lost / float(n * k * (k**2 - 1))


def friedman(ranks: ArrayLike, n_datasets: int, *, correction: float = 1.0) -> TestResult:
    """Compute Friedman's chi-squared from average ranks.

    chi2 = 12 N / (k (k + 1)) (sum of R_j^2 - k (k + 1)^2 / 4), with k - 1 degrees of freedom, divided by `correction`,
    which is 1 (no correction) or the result of `tie_correction`. If all methods tie everywhere, the corrected statistic
    is 0 and p is 1.
    """
    r = np.asarray(ranks, dtype=np.float64)
    k = len(r)
    chi2 = 12 * n_datasets / (k * (k + 1)) * (float((r**2).sum()) - k * (k + 1) ** 2 / 4)
    if correction != 1:
        chi2 = chi2 / correction if correction > 0 else 0.0
    return TestResult(chi2, (k - 1,), float(stats.chi2.sf(chi2, k - 1)))


def iman_davenport(ranks: ArrayLike, n_datasets: int, *, correction: float = 1.0) -> TestResult:
    """Compute Iman and Davenport's F = (N - 1) chi2 / (N (k - 1) - chi2), which is less conservative than
    Friedman's chi2.
    """
    test = friedman(ranks, n_datasets, correction=correction)
    chi2, df = test.statistic, test.df[0]
    room = n_datasets * df - chi2
    statistic = (n_datasets - 1) * chi2 / room if room > 0 else float("inf")
    dfs = (df, df * (n_datasets - 1))
    return TestResult(statistic, dfs, float(stats.f.sf(statistic, *dfs)))


def holm_adjust(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values: the running maximum of (m - i + 1) p, at most 1. The smallest of m has i = 1.

    >>> holm_adjust([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]), 1)
    return adjusted


def holm_thresholds(p_values: ArrayLike, alpha: float = 0.05) -> NDArray[np.float64]:
    """Return Holm's threshold alpha / (m - i + 1) for each raw p-value. The smallest of m has i = 1."""
    p = np.asarray(p_values, dtype=np.float64)
    thresholds = np.empty_like(p)
    thresholds[np.argsort(p, kind="stable")] = alpha / (len(p) - np.arange(len(p)))
    return thresholds


def compare_ranks(
    average_ranks: Mapping[str, float],
    n_datasets: int,
    *,
    alternative: str = "two-sided",
    control: str | None = None,
    alpha: float = 0.05,
    correction: float = 1.0,
) -> RankComparison:
    """Test whether methods differ, from their average ranks alone.

    Parameters
    ----------
    average_ranks : mapping of method to average rank
        The average ranks; 1 is best.
    n_datasets : int
        The number of datasets that the ranks are averages over.
    alternative : {"two-sided", "greater"}
        "greater" is the one-sided alternative that a method's rank is greater (worse) than the control's, as in the
        paper.
    control : str, optional
        The method that the others are compared with [default: the best-ranked one, the first of equals].
    alpha : float
        The significance level, which is divided into Holm's thresholds.
    correction : float
        The result of `tie_correction` for the scores behind the ranks, which cannot be computed from ranks alone. If it
        is not 1, the overall tests are also given with the correction.

    Examples
    --------
    >>> result = compare_ranks({"A": 1.2, "B": 2.1, "C": 2.7}, 10)
    >>> result.control, round(result.friedman.statistic, 2)
    ('A', 11.4)
    >>> [(row.method, round(row.p_value, 4), round(row.p_adjusted, 4)) for row in result.comparisons]
    [('B', 0.0442, 0.0442), ('C', 0.0008, 0.0016)]
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(f"alternative is {alternative!r}; expected one of {', '.join(ALTERNATIVES)}")
    _check_ranks(average_ranks)
    ordered = dict(sorted(average_ranks.items(), key=lambda item: item[1]))
    chosen = control if control is not None else next(iter(ordered))
    if chosen not in ordered:
        raise ValueError(f"control is {chosen!r}; expected one of {', '.join(ordered)}")
    others = [method for method in ordered if method != chosen]
    k = len(ordered)
    difference = np.array([ordered[method] - ordered[chosen] for method in others])
    z = difference / np.sqrt(k * (k + 1) / (6 * n_datasets))
    p = 2 * stats.norm.sf(np.abs(z)) if alternative == "two-sided" else stats.norm.sf(z)
    values = list(ordered.values())
    corrected: dict[str, TestResult] = {}
    if correction != 1:
        corrected = {
            "friedman_corrected": friedman(values, n_datasets, correction=correction),
            "iman_davenport_corrected": iman_davenport(values, n_datasets, correction=correction),
        }
    return RankComparison(
        average_ranks=ordered,
        n_datasets=n_datasets,
        control=chosen,
        alternative=alternative,
        friedman=friedman(values, n_datasets),
        iman_davenport=iman_davenport(values, n_datasets),
        comparisons=_comparisons(others, [chosen] * len(others), difference, z, p, alpha),
        **corrected,
    )


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """Results of Nemenyi's test: a p-value for each pair of methods, and the smallest significant rank difference."""

    methods: tuple[str, ...]
    p_values: NDArray[np.float64]
    critical_difference: float

    def cliques(self, average_ranks: Mapping[str, float]) -> list[tuple[str, ...]]:
        """Return the largest groups of methods in which the best and the worst do not differ significantly, best
        group first.
        """
        ordered = sorted(average_ranks, key=lambda method: average_ranks[method])
        groups: list[tuple[str, ...]] = []
        last_end = 1
        for start in range(len(ordered)):
            reach = average_ranks[ordered[start]] + self.critical_difference
            end = max(i for i in range(len(ordered)) if average_ranks[ordered[i]] <= reach) + 1
            if end - start > 1 and end > last_end:
                groups.append(tuple(ordered[start:end]))
                last_end = end
        return groups


def nemenyi(average_ranks: Mapping[str, float], n_datasets: int, *, alpha: float = 0.05) -> Nemenyi:
    """Run Nemenyi's test on all pairs, with the studentized range.

    >>> result = nemenyi({"A": 1.2, "B": 2.1, "C": 2.7}, 10)
    >>> round(result.critical_difference, 3), result.cliques({"A": 1.2, "B": 2.1, "C": 2.7})
    (1.048, [('A', 'B'), ('B', 'C')])
    """
    _check_ranks(average_ranks)
    r = np.array(list(average_ranks.values()), dtype=np.float64)
    k = len(r)
    error = np.sqrt(k * (k + 1) / (12 * n_datasets))
    q = np.abs(r[:, None] - r) / error
    p = np.ones_like(q)
    pairs = np.triu_indices(k, 1)
    p[pairs] = p.T[pairs] = stats.studentized_range.sf(q[pairs], k, np.inf)
    critical = float(stats.studentized_range.isf(alpha, k, np.inf) * error)
    return Nemenyi(tuple(average_ranks), p, critical)


def wilcoxon_holm(
    scores: Mapping[str, ArrayLike], *, control: str | None = None, alpha: float = 0.05
) -> tuple[Comparison, ...]:
    """Run two-sided Wilcoxon signed-rank tests with Holm's adjustment, on all pairs or on each method and a control.

    `scores` maps each method to its values on the datasets, in the same order for all. Datasets with equal values are
    left out; if all are equal, p is 1. `difference` is the median of the differences.
    """
    table = {method: np.asarray(values, dtype=np.float64) for method, values in scores.items()}
    _table(np.column_stack(list(table.values())))
    if control is not None and control not in table:
        raise ValueError(f"control is {control!r}; expected one of {', '.join(table)}")
    pairs = [(a, b) for a, b in combinations(table, 2) if control is None or control in (a, b)]
    pairs = [(b, a) if a == control else (a, b) for a, b in pairs]
    # Both scores may be infinite, as log losses are; then they do not differ.
    differences = [
        np.subtract(table[a], table[b], out=np.zeros_like(table[a]), where=table[a] != table[b])
        for a, b in pairs
    ]
    tested = np.array([_wilcoxon(difference) for difference in differences])
    medians = [float(np.median(difference)) for difference in differences]
    methods, controls = [a for a, _ in pairs], [b for _, b in pairs]
    return _comparisons(methods, controls, medians, tested[:, 0], tested[:, 1], alpha)


def _wilcoxon(difference: NDArray[np.float64]) -> tuple[float, float]:
    """Return (statistic, p) for the nonzero differences. The test is exact if they are few and have no ties."""
    kept = difference[difference != 0]
    if not kept.size:
        return 0.0, 1.0
    tied = len(np.unique(np.abs(kept))) < len(kept)
    # SciPy before 1.15 warns about few differences, although there is no alternative.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sample size too small", UserWarning)
        result = stats.wilcoxon(kept, method="exact" if len(kept) <= 50 and not tied else "approx")
    return float(result.statistic), float(result.pvalue)


def _comparisons(
    methods: Sequence[str], controls: Sequence[str], difference: Any, statistic: Any, p: Any, alpha: float
) -> tuple[Comparison, ...]:
    columns = (difference, statistic, p, holm_adjust(p), holm_thresholds(p, alpha))
    rows = zip(methods, controls, *columns, strict=True)
    return tuple(Comparison(method, control, *map(float, values)) for method, control, *values in rows)


def _table(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(
            f"scores must have a row per dataset and a column for each of at least two methods, got shape {table.shape}"
        )
    if np.isnan(table).any():
        raise ValueError(
            f"scores contains {int(np.isnan(table).sum())} missing values; remove the methods or datasets that "
            "have them"
        )
    return table


def _check_ranks(ranks: Mapping[str, float]) -> None:
    wrong = {method: rank for method, rank in ranks.items() if not 1 <= rank <= len(ranks)}
    if wrong or len(ranks) < 2:
        raise ValueError(
            "expected at least two average ranks, each from 1 to the number of methods; got "
            f"{list(ranks.values())}"
        )
