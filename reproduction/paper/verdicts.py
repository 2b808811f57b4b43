"""Which claims of the paper hold: each is judged in every run, and the verdict is what the runs agree on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reproduction.paper.claims import Claim, read_claims
from reproduction.paper.facts import CHECKS
from reproduction.paper.runs import Judged, Results

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be known"
VERDICTS = (HOLDS, FAILS, UNKNOWN)
TOP = 10
"""How many terms count as the most used: the length of the paper's Table S1 is not known."""
Lines = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Ruling:
    """A claim with its verdict.

    Attributes
    ----------
    claim : Claim
        What the paper says.
    verdict : str
        One of `VERDICTS`.
    here : str
        What was found here, in numbers.
    """

    claim: Claim
    verdict: str
    here: str


# For claims that are true or false in a run.
STATEMENTS: Mapping[str, Callable[[Claim, Judged], bool]] = {
    "best": lambda claim, run: run.place(claim.subject) == 1,
    "place": lambda claim, run: run.place(claim.subject) == int(claim.figure),
    "better": lambda claim, run: run.ranks[claim.subject] < run.ranks[claim.versus],
    "better by AUC": lambda claim, run: run.ranks_by_auc[claim.subject] < run.ranks_by_auc[claim.versus],
    "significant": lambda claim, run: run.is_significant(claim.versus),
    "not significant": lambda claim, run: not run.is_significant(claim.versus),
}
# For claims about selections: the metric.
SELECTIONS = {"selection": "gmean", "selection by AUC": "auc"}
# For claims that are a figure: its value in a run, and how it is shown.
FIGURES: Mapping[str, tuple[Callable[[Claim, Judged], float], str]] = {
    "rank": (lambda claim, run: run.ranks[claim.subject], ".2f"),
    "wins": (lambda claim, run: run.wins[claim.subject], ".3g"),
    "p-value": (lambda claim, run: run.p_value(claim.subject), ".2e"),
}


def judge(
    results: Results, facts: Mapping[str, str], usage: Lines, selected: Lines = ()
) -> tuple[Ruling, ...]:
    """A ruling for every claim, in the order of the table of claims."""
    return tuple(
        _rule_on_selections(claim, selected)
        if claim.kind in SELECTIONS
        else _rule(claim, results.judged, facts, usage)
        for claim in read_claims()
    )


def _rule(claim: Claim, runs: Sequence[Judged], facts: Mapping[str, str], usage: Lines) -> Ruling:
    if claim.kind in CHECKS:
        if claim.id not in facts:
            return Ruling(claim, UNKNOWN, "not checked yet")
        found = facts[claim.id]
        return Ruling(claim, HOLDS if found == claim.figure else FAILS, found or "yes")
    if claim.kind == "usage":
        return _rule_on_term(claim, usage)
    if claim.kind in STATEMENTS and runs:
        true = sum(STATEMENTS[claim.kind](claim, run) for run in runs)
        return Ruling(claim, agreed(true, len(runs)), f"true in {true} of {len(runs)} runs")
    if claim.kind in FIGURES and runs:
        value_of, shown = FIGURES[claim.kind]
        values = [value_of(claim, run) for run in runs]
        low, high = min(values), max(values)
        inside = low <= float(claim.figure) <= high
        return Ruling(
            claim, UNKNOWN if inside else FAILS, f"{low:{shown}} to {high:{shown}} in {len(runs)} runs"
        )
    return Ruling(claim, UNKNOWN, "")


def _rule_on_term(claim: Claim, usage: Lines) -> Ruling:
    """Whether a term is among the first ten by either count, in every seed or in none."""
    rows = [row for row in usage if (row["feature"], row["dataset"]) == (claim.subject, claim.versus)]
    seeds = [row for row in rows if row["seed"] != "all"]
    if not seeds:
        return Ruling(claim, UNKNOWN, "not counted yet")
    true = sum(min(int(row["rank_selected"]), int(row["rank_in_edges"])) <= TOP for row in seeds)
    (all_seeds,) = (row for row in rows if row["seed"] == "all")
    ranks = []
    for name, words in (("selected", "selection"), ("in_edges", "edges")):
        tied = int(all_seeds[f"tied_{name}"])
        shared = f" (shared by {tied})" if tied > 1 else ""
        ranks.append(f"{all_seeds[f'rank_{name}']} by {words}{shared}")
    listed = ", ".join(ranks)
    return Ruling(
        claim, agreed(true, len(seeds)), f"rank {listed}; in the first {TOP} in {true} of {len(seeds)} seeds"
    )


def _rule_on_selections(claim: Claim, selected: Lines) -> Ruling:
    """Whether each method with a selection has a higher mean over the datasets than one without, in every seed."""
    scores: dict[tuple[str, str], list[float]] = {}
    for row in selected:
        scores.setdefault((row["method"], row["seed"]), []).append(float(row[SELECTIONS[claim.kind]]))
    pairs = [
        (np.mean(scores[method, seed]), np.mean(scores[claim.versus, seed]))
        for method, seed in scores
        if method in claim.subject.split()
    ]
    if not pairs:
        return Ruling(claim, UNKNOWN, "not measured yet")
    true = sum(bool(mean > other) for mean, other in pairs)
    return Ruling(claim, agreed(true, len(pairs)), f"true in {true} of {len(pairs)} comparisons")


def agreed(true: int, n: int) -> str:
    """The verdict on a statement that is true in so many of n runs."""
    return HOLDS if true == n else FAILS if true == 0 else UNKNOWN
