"""A tidy table that compares every ranked method with the control by ranks, p-values, effect sizes and
probabilities.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hietan.evaluation._rank_tables import Ranking
from hietan.scores.bootstrap import Bootstrap
from hietan.scores.effect_sizes import ROPE, bayesian_signed_rank, rank_biserial
from hietan.scores.metrics import METRICS

if TYPE_CHECKING:
    from hietan.evaluation._study.results import StudyResults


@dataclass(frozen=True)
class MethodComparison:
    """A comparison of a ranked method with the control, as in a line of `comparisons.csv`.

    Comparisons are None for the control itself and if fewer than two methods or datasets are ranked. Effect sizes and
    probabilities are also None if a score is infinite.

    Attributes
    ----------
    tuning, setting, metric : str
        The ranking.
    n_datasets : int
        The number of ranked datasets.
    method : str
        The method.
    average_rank, wins, mean : float
        Its average rank, the number of datasets on which it is best, and its mean score.
    control : str or None
        The method that it is compared with.
    holm_threshold, p_value, p_adjusted : float or None
        Holm's post-hoc test by ranks.
    wilcoxon_p_value, wilcoxon_p_adjusted : float or None
        Wilcoxon's signed-rank test.
    mean_difference : float or None
        The method's mean minus the control's mean, in units of the metric.
    difference_low, difference_high : float or None
        The 95% bootstrap interval of this difference, if rows were resampled; for GMean only.
    rank_biserial : float or None
        The matched-pairs rank-biserial correlation: 1 if the method is better than the control on every dataset, -1 if
        it is worse on every dataset.
    rope : float or None
        Differences up to this size count as equivalent.
    p_worse, p_equivalent, p_better : float or None
        The probabilities that the method is worse than the control, equivalent to it and better, by the Bayesian
        signed-rank test.
    """

    tuning: str
    setting: str
    metric: str
    n_datasets: int
    method: str
    average_rank: float
    wins: float
    mean: float
    control: str | None = None
    holm_threshold: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    wilcoxon_p_value: float | None = None
    wilcoxon_p_adjusted: float | None = None
    mean_difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    rank_biserial: float | None = None
    rope: float | None = None
    p_worse: float | None = None
    p_equivalent: float | None = None
    p_better: float | None = None

    @classmethod
    def header(cls) -> tuple[str, ...]:
        """Return the column names of `comparisons.csv`."""
        return tuple(field.name for field in fields(cls))

    def values(self) -> list[Any]:
        """Return the line's cells for `comparisons.csv`, in the order of `header`."""
        return list(astuple(self))


def compare_methods(
    ranking: Ranking | StudyResults, drawn: Bootstrap | None = None, *, rope: float = ROPE
) -> tuple[MethodComparison, ...]:
    """Compare every method in a ranking with the control, best method first.

    Parameters
    ----------
    ranking : Ranking or StudyResults
        The ranking, with its tests; or the results of a study, to compare in all of its rankings.
    drawn : Bootstrap, optional
        Draws of rows, for the intervals of the mean differences. They are draws of GMean, so rankings by another
        metric do not use them.
    rope : float
        Differences of the metric up to this size count as equivalent; GMean and AUC are at most 1.

    Examples
    --------
    >>> from hietan.evaluation import SummaryRow, make_rankings
    >>> from hietan.scores import METRICS
    >>> empty = (float("nan"),) * (len(METRICS) - 1)
    >>> rows = [
    ...     SummaryRow(f"data {i}", method, "", "none", 0, 10, (0.5 + 0.05 * good + 0.01 * i, *empty))
    ...     for i in range(8)
    ...     for good, method in enumerate(["TAN", "Hie-TAN"])
    ... ]
    >>> (ranking,) = make_rankings(rows, metrics=["gmean"])
    >>> best, other = compare_methods(ranking)
    >>> other.method, other.control, round(other.mean_difference, 3), other.rank_biserial
    ('TAN', 'Hie-TAN', -0.05, -1.0)
    >>> other.p_worse > 0.99
    True
    """
    if not isinstance(ranking, Ranking):
        return ranking.comparisons(rope=rope)
    ranks, won, means = ranking.average_ranks(), ranking.wins(), ranking.means()
    wilcoxon = {row.method: row for row in ranking.wilcoxon}
    holm = {row.method: row for row in ranking.comparison.comparisons} if ranking.comparison else {}
    rows = []
    for method in sorted(ranks, key=lambda m: ranks[m]):
        against: dict[str, Any] = {}
        if method in holm:
            tests = {
                "control": holm[method].control,
                "holm_threshold": holm[method].threshold,
                "p_value": holm[method].p_value,
                "p_adjusted": holm[method].p_adjusted,
                "wilcoxon_p_value": wilcoxon[method].p_value,
                "wilcoxon_p_adjusted": wilcoxon[method].p_adjusted,
            }
            against = tests | _effects(ranking, method, holm[method].control, rope)
            if drawn is not None and ranking.metric == "gmean":
                low, high = drawn.difference(method, holm[method].control)
                against |= {"difference_low": low, "difference_high": high}
        which = (ranking.tuning, ranking.setting, ranking.metric, len(ranking.datasets), method)
        rows.append(MethodComparison(*which, ranks[method], won[method], means[method], **against))
    return tuple(rows)


def _effects(ranking: Ranking, method: str, control: str, rope: float) -> dict[str, Any]:
    scores = dict(zip(ranking.methods, ranking.scores.T, strict=True))
    if not np.isfinite([scores[method], scores[control]]).all():  # a log loss may be infinite
        return {}
    difference = scores[method] - scores[control]
    gain = -difference if METRICS[ranking.metric].lower_is_better else difference
    posterior = bayesian_signed_rank(gain, rope=rope)
    return {
        "mean_difference": float(difference.mean()),
        "rank_biserial": rank_biserial(gain),
        "rope": rope,
        "p_worse": posterior.left,
        "p_equivalent": posterior.rope,
        "p_better": posterior.right,
    }
