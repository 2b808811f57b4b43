"""Ranking tables from scores. Scores are averaged over seeds, then methods are ranked once per dataset.

Tuned and untuned methods are never ranked in the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hietan.evaluation._rank_tests import (
    Comparison,
    Nemenyi,
    RankComparison,
    average_ranks,
    compare_ranks,
    nemenyi,
    tie_correction,
    wilcoxon_holm,
    wins,
)
from hietan.scores.metrics import METRICS

FEWEST_DATASETS = 6
"""The number of datasets below which rank tests come with a caution."""
RANKED = tuple(name for name, metric in METRICS.items() if metric.ranks_methods)
"""The metrics by which a study ranks its methods."""


@dataclass(frozen=True)
class SummaryRow:
    """One method's pooled metrics on one dataset for one seed. `metrics` follows the order of `METRICS`.

    ``row["auc"]`` is the value of one metric. Sensitivity, specificity and average precision refer to the class
    `positive`, which is empty if there are not two classes.
    """

    dataset: str
    method: str
    setting: str
    tuning: str
    seed: int
    n_rows: int
    metrics: tuple[float, ...]
    positive: str = ""

    def __getitem__(self, metric: str) -> float:
        return self.metrics[list(METRICS).index(metric)]

    @staticmethod
    def header() -> tuple[str, ...]:
        """Return the column names of `summary.csv`."""
        return ("dataset", "method", "setting", "tuning", "seed", "n_rows", "positive", *METRICS)

    def values(self) -> list[Any]:
        """Return the line's cells for `summary.csv`, in the order of `header`."""
        which = [self.dataset, self.method, self.setting, self.tuning, self.seed, self.n_rows, self.positive]
        return [*which, *self.metrics]

    @classmethod
    def from_dict(cls, row: Mapping[str, str]) -> SummaryRow:
        """Return the `SummaryRow` for a line in `summary.csv`.

        A metric that the line lacks is NaN, so studies written before the metric existed can still be read.
        """
        # Always the same NaN: tuples compare equal if they contain the same object.
        metrics = tuple(float(text) if (text := row.get(name)) else np.nan for name in METRICS)
        which = (row["dataset"], row["method"], row["setting"], row["tuning"])
        return cls(*which, int(row["seed"]), int(row["n_rows"]), metrics, row["positive"])


@dataclass(frozen=True, eq=False)
class Ranking:
    """Methods ranked over datasets by one metric, with their tests.

    Attributes
    ----------
    tuning, setting, metric : str
        What is ranked: methods of this tuning and setting, by this metric.
    methods, datasets : tuple of str
        The columns and the rows of the table.
    scores : array of shape (n_datasets, n_methods)
        Means over the seeds.
    spread : array of the same shape
        Standard deviation over the seeds: the noise of the splits, not sampling error. NaN for one seed.
    left_out : tuple of str
        Methods without a result on some dataset.
    comparison : RankComparison or None
        Friedman's test and Holm's post-hoc test; None if fewer than two methods or datasets are left.
    nemenyi : Nemenyi or None
        Nemenyi's test of all pairs; None in the same cases.
    wilcoxon : tuple of Comparison
        Wilcoxon's signed-rank tests against the control of `comparison`.
    groups : dict of str to str
        Each dataset's group. Ranks are also given per group, without tests: groups are few.
    shared_rows : dict of str to list of str
        For each dataset that shares more than half of its rows with other datasets, those datasets.
    positive : str
        The positive class, if the metric depends on it and all datasets have the same one.
    class_weighted : tuple of str
        The methods with class weights.
    """

    RANKS: ClassVar = (
        "tuning",
        "setting",
        "metric",
        "scope",
        "n_datasets",
        "method",
        "average_rank",
        "wins",
        "mean",
    )
    TESTS: ClassVar = (
        "tuning",
        "setting",
        "metric",
        "test",
        "n_datasets",
        "method",
        "control",
        "difference",
        "statistic",
        "df",
        "p_value",
        "p_adjusted",
        "holm_threshold",
    )

    tuning: str
    setting: str
    metric: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]
    left_out: tuple[str, ...]
    comparison: RankComparison | None
    nemenyi: Nemenyi | None
    wilcoxon: tuple[Comparison, ...]
    groups: dict[str, str]
    shared_rows: dict[str, list[str]] = field(default_factory=dict)
    positive: str = ""
    class_weighted: tuple[str, ...] = ()

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences that explain why the ranking is weak evidence. Empty if there is no reason for caution."""
        found, n = [], len(self.datasets)
        shared = [(d, o) for d in self.datasets for o in self.shared_rows.get(d, ()) if o in self.datasets]
        if self.comparison is not None and n < FEWEST_DATASETS:
            found.append(
                f"Rank tests over {n} datasets have little power; use at least {FEWEST_DATASETS} datasets."
            )
        if self.comparison is not None and shared:
            (name, other), n_shared = shared[0], len({d for d, _ in shared})
            found.append(
                f"{n_shared} of the {n} datasets share rows with another dataset (more than half of the smaller "
                f"dataset's rows), such as {name} with {other}. These datasets are not independent, so the "
                "p-values are too small."
            )
        is_mixed = 0 < len(self.class_weighted) < len(self.methods)
        if self.metric == "gmean" and is_mixed and "threshold" not in self.tuning:
            named = ", ".join(self.class_weighted)
            found.append(
                f"GMean favours methods with class weights ({named}) over methods without; compare these by AUC, or "
                "choose every method's threshold (--tune-threshold)."
            )
        return tuple(found)

    @property
    def title(self) -> str:
        """The ranking's title: metric, setting and tuning."""
        tuned = "untuned" if self.tuning == "none" else f"tuned: {self.tuning}"
        metric = f"{self.metric} ({self.positive})" if self.positive else self.metric
        return ", ".join([metric, *([self.setting] if self.setting else []), tuned])

    def average_ranks(self, group: str | None = None) -> dict[str, float]:
        """Return each method's average rank, over all datasets or one group's datasets."""
        rows = self._rows(group)
        if len(self.methods) < 2:
            return dict.fromkeys(self.methods, 1.0)
        return self._named(
            average_ranks(self.scores[rows], greater_is_better=_greater_is_better(self.metric))
        )

    def wins(self, group: str | None = None) -> dict[str, float]:
        """Return how often each method is best, over all datasets or over one group's datasets."""
        rows = self._rows(group)
        if len(self.methods) < 2:
            return dict.fromkeys(self.methods, float(len(rows)))
        return self._named(wins(self.scores[rows], greater_is_better=_greater_is_better(self.metric)))

    def means(self, group: str | None = None) -> dict[str, float]:
        """Return each method's mean score, over all datasets or one group's datasets."""
        return self._named(self.scores[self._rows(group)].mean(axis=0))

    @property
    def group_names(self) -> tuple[str, ...]:
        """The ranked datasets' groups, in dataset order."""
        return tuple(dict.fromkeys(self.groups[d] for d in self.datasets if d in self.groups))

    def _rows(self, group: str | None) -> list[int]:
        return [i for i, d in enumerate(self.datasets) if group is None or self.groups.get(d) == group]

    def _named(self, values: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(self.methods, values.tolist(), strict=True))

    def rank_lines(self) -> Iterable[list[Any]]:
        """Return the lines of `ranks.csv`, best first."""
        for group in (None, *self.group_names):
            ranks, won, means = self.average_ranks(group), self.wins(group), self.means(group)
            n = len(self._rows(group))
            for method in sorted(ranks, key=lambda m: ranks[m]):
                which = [self.tuning, self.setting, self.metric, group or "all", n, method]
                yield [*which, ranks[method], won[method], means[method]]

    def test_lines(self) -> Iterable[list[Any]]:
        """Return the lines of `tests.csv`."""
        head = [self.tuning, self.setting, self.metric]
        n = len(self.datasets)
        if self.comparison is None or self.nemenyi is None:
            return
        for name, test in self.comparison.overall_tests().items():
            df = " ".join(map(str, test.df))
            yield [*head, name, n, "", "", None, test.statistic, df, test.p_value, None, None]
        for name, rows in (("holm", self.comparison.comparisons), ("wilcoxon", self.wilcoxon)):
            for c in rows:
                values = [c.difference, c.statistic, None, c.p_value, c.p_adjusted, c.threshold]
                yield [*head, name, n, c.method, c.control, *values]
        yield [
            *head,
            "nemenyi_critical_difference",
            n,
            "",
            "",
            None,
            self.nemenyi.critical_difference,
            *[None] * 4,
        ]
        for i, a in enumerate(self.methods):
            for j, b in enumerate(self.methods[:i]):
                p = float(self.nemenyi.p_values[i, j])
                yield [*head, "nemenyi", n, a, b, None, None, None, None, p, None]

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain numbers, strings, lists and dicts."""
        test = self.comparison
        return {
            "tuning": self.tuning,
            "setting": self.setting,
            "metric": self.metric,
            "n_datasets": len(self.datasets),
            "average_ranks": self.average_ranks(),
            "wins": self.wins(),
            "means": self.means(),
            "left_out": list(self.left_out),
            "cautions": list(self.cautions),
            "friedman": None if test is None else [test.friedman.statistic, test.friedman.p_value],
            "holm": {} if test is None else {c.method: [c.p_value, c.p_adjusted] for c in test.comparisons},
        }


def make_rankings(
    summary: Sequence[SummaryRow],
    *,
    groups: Mapping[str, str] | None = None,
    shared_rows: Mapping[str, list[str]] | None = None,
    class_weighted: Iterable[str] = (),
    names: Iterable[str] | None = None,
    metrics: Sequence[str] = RANKED,
    alternative: str = "two-sided",
    control: str | None = None,
    rank_decimals: int | None = None,
) -> tuple[Ranking, ...]:
    """Rank the methods by each metric, separately for each tuning and setting.

    Parameters
    ----------
    summary : sequence of SummaryRow
        The scores.
    groups : mapping of str to str, optional
        Each dataset's group; ranks are also given per group.
    shared_rows : mapping of str to list of str, optional
        For each dataset that shares more than half of its rows with other datasets, those datasets. The tests then
        carry a caution.
    class_weighted : iterable of str
        The methods with class weights. A ranking by GMean that has some of them carries a caution.
    names : iterable of str, optional
        The datasets to rank over [default: all datasets of the summary].
    metrics : sequence of str
        The metrics to rank by.
    alternative : {"two-sided", "greater"}
        The alternative hypothesis of Holm's post-hoc test, as in `compare_ranks`.
    control : str, optional
        The method that the others are compared with, in the rankings that contain it [default: the best-ranked
        method].
    rank_decimals : int, optional
        Decimals to round the average ranks to before testing, from 1 to 15. The paper used 2; the p-values change in
        their third digit.

    Returns
    -------
    tuple of Ranking
        A method without a setting is ranked with every setting. A ranking is left out if no method has all its
        results.
    """
    datasets = tuple(dict.fromkeys(names if names is not None else (row.dataset for row in summary)))
    how: dict[str, Any] = {
        "alternative": alternative,
        "control": control,
        "rank_decimals": rank_decimals,
    }
    rankings, with_weights = [], set(class_weighted)
    for tuning in dict.fromkeys(row.tuning for row in summary):
        here = [row for row in summary if row.tuning == tuning]
        settings = [s for s in dict.fromkeys(row.setting for row in here) if s] or [""]
        for setting in settings:
            rows = [row for row in here if row.setting in (setting, "")]
            for metric in metrics:
                known = (dict(groups or {}), dict(shared_rows or {}))
                ranking = _rank(tuning, setting, metric, rows, datasets, known, how)
                if ranking is not None:
                    weighted = tuple(m for m in ranking.methods if m in with_weights)
                    rankings.append(replace(ranking, class_weighted=weighted))
    return tuple(rankings)


def rank_incomplete(
    rows: Mapping[float, Sequence[SummaryRow]], names: Iterable[str]
) -> list[dict[float, Ranking]]:
    """Rank the methods by GMean, AUC and average precision for each share of lost annotations."""
    found = dict[tuple[str, ...], dict[float, Ranking]]()
    metrics = (*RANKED, "average_precision")
    for share, summary in rows.items():
        for ranking in make_rankings(summary, names=names, metrics=metrics):
            found.setdefault((ranking.tuning, ranking.setting, ranking.metric), {})[share] = ranking
    return list(found.values())


def _rank(
    tuning: str,
    setting: str,
    metric: str,
    rows: Sequence[SummaryRow],
    datasets: tuple[str, ...],
    known: tuple[dict[str, str], dict[str, list[str]]],
    how: dict[str, Any],
) -> Ranking | None:
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((row.dataset, row.method), []).append(row[metric])
    everyone = tuple(dict.fromkeys(row.method for row in rows))
    n_seeds = max(map(len, values.values()))
    complete = [
        m
        for m in everyone
        if all(
            len(seeds := values.get((d, m), [])) == n_seeds and not np.isnan(seeds).any() for d in datasets
        )
    ]
    if not complete:
        return None
    cube = np.array([[values[d, m] for m in complete] for d in datasets])
    scores = cube.mean(axis=2)
    spread = cube.std(axis=2, ddof=1) if n_seeds > 1 else np.full_like(scores, np.nan)
    tests = _test(tuple(complete), scores, metric, **how)
    left_out = tuple(m for m in everyone if m not in complete)
    positives = {row.positive for row in rows} if METRICS[metric].is_of_positive else set()
    positive = positives.pop() if len(positives) == 1 else ""
    which = (tuning, setting, metric, tuple(complete), datasets)
    return Ranking(*which, scores, spread, left_out, *tests, *known, positive)


def _test(
    methods: tuple[str, ...],
    scores: NDArray[np.float64],
    metric: str,
    *,
    alternative: str,
    control: str | None,
    rank_decimals: int | None,
) -> tuple[RankComparison | None, Nemenyi | None, tuple[Comparison, ...]]:
    if len(methods) < 2 or len(scores) < 2:
        return None, None, ()
    averages = average_ranks(scores, greater_is_better=_greater_is_better(metric))
    if rank_decimals is not None:
        averages = averages.round(rank_decimals)
    ranks = dict(zip(methods, averages.tolist(), strict=True))
    compared = compare_ranks(
        ranks,
        len(scores),
        alternative=alternative,
        control=control if control in methods else None,
        correction=tie_correction(scores),
    )
    columns = dict(zip(methods, scores.T, strict=True))
    return compared, nemenyi(ranks, len(scores)), wilcoxon_holm(columns, control=compared.control)


def _greater_is_better(metric: str) -> bool:
    return not METRICS[metric].lower_is_better


def score_rows_html(rankings: Sequence[Ranking]) -> str:
    """Return rankings as HTML tables, best method first.

    They show ranks and means, or scores if there is one dataset.
    """
    tables = []
    for ranking in rankings:
        metric, means, ranks = METRICS[ranking.metric], ranking.means(), ranking.average_ranks()
        several = len(ranking.datasets) > 1
        cells = {
            name: [
                f"{means[name]:.3f}",
                *([f"{ranks[name]:.2f}"] if several else []),
            ]
            for name in sorted(ranks, key=lambda name: ranks[name])
        }
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(name)}</td>{"".join(f"<td>{c}</td>" for c in found)}</tr>'
            for name, found in cells.items()
        )
        head = f"<th></th><th>{escape(metric.label)}</th>" + ("<th>average rank</th>" if several else "")
        tables.append(
            f'<details open><summary style="cursor:pointer">{escape(ranking.title)}</summary>'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
        )
    return "".join(tables)
