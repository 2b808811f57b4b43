"""From the rows of docs/reproduction.csv to rankings: a run is one cross-validation of all six methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hietan.evaluation import Ranking, SummaryRow, average_ranks, make_rankings, wins
from hietan.evaluation._rank_tests import RankComparison, compare_ranks
from hietan.scores import METRICS
from reproduction.paper.variants import (
    ALPHAS,
    BAYES,
    CRITERIA,
    DEFAULT,
    GRAPH,
    KNOWN,
    ORDERS,
    TENTH,
    chosen_lambda,
)

PAPERS_BEST = "hie-tan-lite"
Choice = Mapping[str, str]


class Row(NamedTuple):
    """A line of docs/reproduction.csv: the pooled scores of a method on a dataset, with one variant and seed."""

    variant: str
    method: str
    dataset: str
    seed: int
    n_rows: int
    gmean: float
    gmean_of_folds: float
    sensitivity: float
    specificity: float
    auc: float
    chosen: float

    @classmethod
    def from_dict(cls, line: Mapping[str, str]) -> Row:
        """The row of a line of the file."""
        numbers = (float(line[name]) if line[name] else np.nan for name in cls._fields[5:])
        return cls(
            line["variant"], line["method"], line["dataset"], int(line["seed"]), int(line["n_rows"]), *numbers
        )


def untuned(bayes: str = DEFAULT, graph: str = TENTH) -> Choice:
    """The variant of each method in a run without tuning."""
    return {**dict.fromkeys(BAYES, bayes), GRAPH: graph}


def tuned(smoothing: str = "laplace", criterion: str = CRITERIA[0]) -> Choice:
    """The variant of each method in a run where alpha and lambda are chosen within the training rows."""
    return {**dict.fromkeys(BAYES, f"alpha chosen, {smoothing}"), GRAPH: chosen_lambda(criterion)}


def in_order(order: int) -> Choice:
    """The variant of each method in an untuned run with its columns in a random order."""
    return untuned(f"order {order}", f"order {order}, {TENTH}")


class Results:
    """All rows, and rankings made from them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)

    @cached_property
    def by_variant(self) -> dict[tuple[str, str], list[Row]]:
        """The rows of each variant and method."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.variant, row.method), []).append(row)
        return found

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets, in the order of the file."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    def seeds(self, choice: Choice) -> tuple[int, ...]:
        """The seeds that all methods of a choice have."""
        have = [{row.seed for row in self.by_variant.get((v, m), [])} for m, v in choice.items()]
        return tuple(sorted(set.intersection(*have))) if have else ()

    def ranking(
        self,
        choice: Choice,
        metric: str = "gmean",
        *,
        seeds: Sequence[int] | None = None,
    ) -> Ranking | None:
        """Rank the methods of a choice, by means over the seeds that all of them have; None if there are none."""
        wanted = set(self.seeds(choice) if seeds is None else seeds)
        place = list(METRICS).index(metric)
        summary = []
        for method, variant in choice.items():
            for row in self.by_variant.get((variant, method), []):
                if row.seed in wanted:
                    values = [np.nan] * len(METRICS)
                    values[place] = getattr(row, metric)
                    summary.append(
                        SummaryRow(row.dataset, method, "", "none", row.seed, row.n_rows, tuple(values))
                    )
        if not summary or len({row.method for row in summary}) < len(choice):
            return None
        groups = {row.dataset: row.dataset.partition("-")[0] for row in summary}
        made = make_rankings(summary, groups=groups, metrics=[metric], alternative="greater", rank_decimals=2)
        return made[0] if made else None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Every cross-validation of all six methods that a reader of the paper could have made."""
        found = []
        for alpha in ALPHAS:
            for graph in (TENTH, KNOWN):
                choice = untuned(f"alpha {alpha:g}, laplace", graph)
                found += [Run(f"alpha {alpha:g}, {graph}, seed {k}", choice, k) for k in self.seeds(choice)]
        for graph in (TENTH, KNOWN):
            choice = untuned(DEFAULT, graph)
            found += [
                Run(f"mean of the folds, {graph}, seed {k}", choice, k, True) for k in self.seeds(choice)
            ]
        for order in ORDERS:
            choice = in_order(order)
            found += [Run(f"order {order}, seed {k}", choice, k) for k in self.seeds(choice)]
        found += [Run(f"tuned, seed {k}", tuned(), k) for k in self.seeds(tuned())]
        return tuple(found)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """The runs with their ranks and tests, except those without a score of every method on every dataset."""
        return tuple(
            judge_run(run, scores, self._scores(run, "auc"))
            for run in self.runs
            if (scores := self._scores(run, "gmean")).shape[0] and not np.isnan(scores).any()
        )

    def _scores(self, run: Run, metric: str) -> NDArray[np.float64]:
        """The GMeans or AUCs of a run: a row for each dataset, a column for each method."""
        scores = np.full((len(self.datasets), len(run.choice)), np.nan)
        for k, (method, variant) in enumerate(run.choice.items()):
            for row in self.by_variant[variant, method]:
                if row.seed == run.seed:
                    of_folds = metric == "gmean" and run.averages_folds
                    value = row.gmean_of_folds if of_folds else getattr(row, metric)
                    scores[self.datasets.index(row.dataset), k] = value
        return scores


@dataclass(frozen=True)
class Run:
    """One cross-validation: the variant of each method, the seed, and whether GMean is averaged over folds."""

    name: str
    choice: Choice
    seed: int
    averages_folds: bool = False


@dataclass(frozen=True)
class Judged:
    """A run with its ranks, wins and tests by GMean, and its ranks by AUC."""

    run: Run
    ranks: Mapping[str, float]
    wins: Mapping[str, float]
    ranks_by_auc: Mapping[str, float]
    comparison: RankComparison

    def place(self, method: str) -> int:
        """The place of a method by average rank, from 1."""
        return 1 + sum(rank < self.ranks[method] for rank in self.ranks.values())

    def p_value(self, method: str) -> float:
        """The one-sided p-value of a method against the paper's best one."""
        return next(c.p_value for c in self.comparison.comparisons if c.method == method)

    def is_significant(self, method: str) -> bool:
        """Whether the paper's best method is significantly better than this one, by Holm's procedure."""
        return next(c.p_adjusted for c in self.comparison.comparisons if c.method == method) <= 0.05


def judge_run(run: Run, scores: NDArray[np.float64], auc: NDArray[np.float64]) -> Judged:
    """Rank and test the scores of a run as the paper does: one-sided, from ranks rounded to two decimals."""
    ranks = average_ranks(scores)
    rounded = dict(zip(run.choice, ranks.round(2).tolist(), strict=True))
    compared = compare_ranks(rounded, len(scores), alternative="greater", control=PAPERS_BEST)
    named = (
        dict(zip(run.choice, values.tolist(), strict=True))
        for values in (ranks, wins(scores), average_ranks(auc))
    )
    return Judged(run, *named, compared)


def seeds_in_words(n: int) -> str:
    """How many seeds, in words.

    >>> seeds_in_words(1), seeds_in_words(5)
    ('one seed', '5 seeds')
    """
    return "one seed" if n == 1 else f"{n} seeds"
