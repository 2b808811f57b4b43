"""The parts of docs/reproduction.md, each made from the rows of docs/reproduction*.csv alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hietan.evaluation import Ranking
from hietan.evaluation._outputs.tables import overall_tests
from hietan.evaluation._outputs.text_table import TextTable
from hietan.evaluation._rank_tests import compare_ranks
from reproduction.paper.claims import TITLES, paper_ranks, read_claims
from reproduction.paper.runs import Choice, Results, Row, seeds_in_words, untuned
from reproduction.paper.variants import (
    ALPHAS,
    BAYES,
    CRITERIA,
    GRAPH,
    KNOWN,
    SMOOTHINGS,
    TENTH,
    VARIANTS,
    chosen_lambda,
)
from reproduction.paper.verdicts import STATEMENTS, Ruling, agreed

Lines = Sequence[Mapping[str, str]]
SHOWN = {"gmean": "GMean", "auc": "AUC"}
ORGANISMS = {"CE": "worm", "DM": "fly", "MM": "mouse", "SC": "yeast"}


def not_measured(part: str) -> str:
    """What the page says where results are missing."""
    return f"(Not measured yet: `python -m reproduction.paper run {part}`.)"


def titled(method: str) -> str:
    """The name of a method as the paper writes it, if it has it."""
    return TITLES.get(method, method)


def points(value: float, sign: str = "") -> str:
    """Return a difference of two GMeans in points."""
    return f"{100 * value:{sign}.1f}"


def score(value: float) -> str:
    """Return the value of a metric with three decimals."""
    return f"{value:.3f}"


# ------------------------------------------------------------------ headline tables


def headline(results: Results, choice: Choice, compared: Lines, title: str, part: str) -> str:
    """Ranks, tests, effect sizes and probabilities of the six methods, and their ranks per organism."""
    ranking, auc = results.ranking(choice), results.ranking(choice, "auc")
    if ranking is None or auc is None or ranking.comparison is None:
        return not_measured(part)
    seeds = seeds_in_words(len(results.seeds(choice)))
    tests = overall_tests(ranking).rpartition("; ")[0]
    printed = compare_ranks(paper_ranks(), len(ranking.datasets))
    words = (
        f"All results are means over {seeds}, with {title}. Two overall tests compare the six methods: {tests}. "
        "The paper does not report these two tests. From the paper's ranks, we computed a Friedman chi-squared of "
        f"{printed.friedman.statistic:.2f} and an Iman-Davenport F of {printed.iman_davenport.statistic:.2f}."
    )
    return f"{words}\n{_rank_table(ranking, auc)}{_organism_table(ranking)}{_effect_table(compared)}"


def _rank_table(ranking: Ranking, auc: Ranking) -> str:
    ranks, means, wins, aucs = ranking.average_ranks(), ranking.means(), ranking.wins(), auc.means()
    assert ranking.comparison is not None
    tests = {c.method: c for c in ranking.comparison.comparisons}
    lines = []
    for method in sorted(ranks, key=ranks.__getitem__):
        test = tests.get(method)
        p = (
            (f"{test.threshold:.2e}", f"{test.p_value:.2e}", f"{test.p_adjusted:.2e}")
            if test
            else ("", "", "")
        )
        scores = (score(means[method]), score(aucs[method]))
        paper = f"{paper_ranks()[method]:.2f}"
        lines.append((titled(method), paper, f"{ranks[method]:.2f}", f"{wins[method]:.3g}", *scores, *p))
    header = (
        "method",
        "rank, paper",
        "rank, here",
        "wins",
        "mean GMean",
        "mean AUC",
        "Holm threshold",
        "p, one-sided",
        "p, adjusted",
    )
    return TextTable("Average ranks by GMean, over 28 datasets", header, tuple(lines)).to_markdown()


def _organism_table(ranking: Ranking) -> str:
    ranks = ranking.average_ranks()
    groups = ranking.group_names
    lines = [
        (titled(m), *(f"{ranking.average_ranks(g)[m]:.2f} ({score(ranking.means(g)[m])})" for g in groups))
        for m in sorted(ranks, key=ranks.__getitem__)
    ]
    header = ("method", *(ORGANISMS[group] for group in groups))
    title = "Average rank (and mean GMean) for each organism (seven datasets are too few for tests)"
    return TextTable(title, header, tuple(lines)).to_markdown()


def _effect_table(compared: Lines) -> str:
    """Differences from the best-ranked method, with sampling error; empty without a bootstrap."""
    rows = [row for row in compared if row["mean_difference"]]
    if not rows:
        return ""
    lines = [
        (
            titled(row["method"]),
            points(float(row["mean_difference"]), "+"),
            f"{points(float(row['difference_low']), '+')} to {points(float(row['difference_high']), '+')}",
            f"{float(row['rank_biserial']):+.2f}",
            *(f"{float(row[name]):.3f}" for name in ("p_worse", "p_equivalent", "p_better")),
        )
        for row in rows
    ]
    control, rope = titled(rows[0]["control"]), points(float(rows[0]["rope"]))
    header = (
        "method",
        "GMean difference, in points",
        "95% interval over genes",
        "rank biserial",
        "P worse",
        "P equivalent",
        "P better",
    )
    title = f"Differences from {control} (differences of at most {rope} point count as equivalent)"
    return TextTable(title, header, tuple(lines)).to_markdown()


# ------------------------------------------------------------------ lambda and its criterion


def criterion_section(results: Results) -> str:
    """proximalGraph with lambda fixed, known and chosen by each criterion."""
    names = (TENTH, KNOWN, *(chosen_lambda(c) for c in CRITERIA))
    lines = []
    for name in names:
        rows = results.by_variant.get((name, GRAPH), [])
        seeds = sorted({row.seed for row in rows})
        if rows:
            fixed = {(row.dataset, row.seed): row.gmean for row in results.by_variant.get((TENTH, GRAPH), [])}
            both = [
                row.gmean - fixed[row.dataset, row.seed] for row in rows if (row.dataset, row.seed) in fixed
            ]
            chosen = [row.chosen for row in rows if row.chosen == row.chosen]
            lam = f"{np.exp(np.mean(np.log(chosen))):.4f}" if chosen else ""
            change = points(float(np.mean(both)), "+") if both else ""
            lines.append((name, str(len(seeds)), lam, *_means(rows), change))
    missing = [name for name in names if (name, GRAPH) not in results.by_variant]
    header = (
        "lambda",
        "seeds",
        "geometric mean of lambda",
        "sens.",
        "spec.",
        "GMean",
        "AUC",
        f"GMean minus GMean with {TENTH}, in points",
    )
    table = TextTable("Means of proximalGraph over 28 datasets", header, tuple(lines)).to_markdown()
    rest = (
        f"\nNot measured yet: {', '.join(missing)} (`python -m reproduction.paper run`)." if missing else ""
    )
    words = (
        "proximalGraph's inner cross-validation can choose lambda by log loss, by AUC, or by GMean at the best "
        "threshold. For the results in this table, predictions use the default threshold. The last column compares "
        "GMeans on the same datasets and seeds."
    )
    return f"{words}\n{table}{rest}"


def _means(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the mean sensitivity, specificity, GMean and AUC."""
    names = ("sensitivity", "specificity", "gmean", "auc")
    return tuple(score(float(np.mean([getattr(row, name) for row in rows]))) for name in names)


# ------------------------------------------------------------------ claims


CLAIM_HEADER = ("claim", "where", "paper", "here", "verdict")
SHOWN_TOPICS = 5  # all about the comparison, redundancy and cost; the file has all topics


def claims_section(rulings: Sequence[Ruling]) -> str:
    """Return the claims about the comparison with their verdicts, topic by topic."""
    parts = []
    for topic in list(dict.fromkeys(ruling.claim.topic for ruling in rulings))[:SHOWN_TOPICS]:
        lines = [
            (r.claim.says, r.claim.where, r.claim.figure, r.here, f"**{r.verdict}**")
            for r in rulings
            if r.claim.topic == topic
        ]
        parts.append(TextTable(topic[0].upper() + topic[1:], CLAIM_HEADER, tuple(lines), (), 5).to_markdown())
    return "".join(parts)


# ------------------------------------------------------------------ noise


def spread_section(spread: Lines) -> str:
    """Standard deviations over seeds and over orders of the columns, per method and per dataset."""
    if not spread:
        return not_measured("orders")
    methods = list(dict.fromkeys(row["method"] for row in spread))
    lines = []
    for method in methods:
        own = [row for row in spread if row["method"] == method]
        cells = []
        for name in ("seeds", "orders"):
            widths = {row["dataset"]: float(row[f"high_{name}"]) - float(row[f"low_{name}"]) for row in own}
            widest = max(widths, key=widths.__getitem__)
            cells.append(score(float(np.mean([float(row[f"sd_{name}"]) for row in own]))))
            cells.append(f"{score(widths[widest])} ({widest})" if widths[widest] else score(0))
        lines.append((titled(method), *cells))
    header = ("method", "SD over seeds", "widest range", "SD over orders", "widest range")
    title = "Spread of GMean, with the mean standard deviation (SD) over 28 datasets"
    return TextTable(title, header, tuple(lines)).to_markdown()


# ------------------------------------------------------------------ other settings


def settings_section(results: Results) -> str:
    """Means and ranks of the six methods under each smoothing, with either fixed lambda."""
    parts = []
    for metric in ("gmean", "auc"):
        lines = []
        for smoothing in SMOOTHINGS:
            for alpha in ALPHAS:
                name = f"alpha {alpha:g}, {smoothing}"
                ranking = results.ranking(dict.fromkeys(BAYES, name), metric)
                if ranking is not None:
                    means, ranks = ranking.means(), ranking.average_ranks()
                    lines.append((name, *(f"{score(means[m])} ({ranks[m]:.2f})" for m in BAYES)))
        title = f"Mean {SHOWN[metric]} (and average rank among these five methods)"
        parts.append(TextTable(title, ("smoothing", *map(titled, BAYES)), tuple(lines)).to_markdown())
    return "".join(parts)


def threshold_section(results: Results) -> str:
    """The same probabilities at the default threshold and at one chosen on the training rows."""
    lines = []
    kinds = [(f"alpha 1, {s}", f"threshold, {s}", BAYES) for s in SMOOTHINGS] + [
        (KNOWN, f"threshold, {KNOWN}", (GRAPH,))
    ]
    for base, changed, methods in kinds:
        for method in methods:
            rows = [results.by_variant.get((name, method), []) for name in (base, changed)]
            before, after = ([row for row in some if row.seed == 0] for some in rows)
            if before and after:
                lines.append((base, titled(method), *_means(before), *_means(after)))
    names = ("sens.", "spec.", "GMean", "AUC")
    header = ("setting", "method", *names, *(f"{name}, tuned" for name in names))
    return TextTable("Means over 28 datasets with seed 0", header, tuple(lines), (), 2).to_markdown()


def distinct_section(results: Results, distinct: Results) -> str:
    """Means, ranks and claims with all rows and on rows without an equal, in the runs that both have."""
    if not distinct.judged:
        return not_measured("untuned")
    lines = []
    for method in untuned():
        cells = []
        for metric in ("gmean", "auc"):
            found = [each.ranking(untuned(), metric) for each in (results, distinct)]
            cells += [score(ranking.means()[method]) for ranking in found if ranking]
            cells += [f"{ranking.average_ranks()[method]:.2f}" for ranking in found if ranking]
        lines.append((titled(method), *cells))
    columns = [
        f"{SHOWN[metric]}{what}, {rows}"
        for metric in ("gmean", "auc")
        for what in ("", " rank")
        for rows in ("all", "unique")
    ]
    title = f"Results without tuning over {seeds_in_words(len(distinct.seeds(untuned())))}, for all and unique rows"
    means = TextTable(title, ("method", *columns), tuple(lines)).to_markdown()
    ours = {run.run.name: run for run in results.judged}
    pairs = [(ours[run.run.name], run) for run in distinct.judged if run.run.name in ours]
    rulings, changed, crossed = [], 0, list[str]()
    for claim in read_claims():
        if claim.kind in STATEMENTS:
            true = [
                sum(STATEMENTS[claim.kind](claim, run) for run in runs) for runs in zip(*pairs, strict=True)
            ]
            rulings.append((claim.says, *(f"{n} of {len(pairs)}" for n in true)))
            changed += len({agreed(n, len(pairs)) for n in true}) > 1
            crossed += [claim.says] if len({2 * n > len(pairs) for n in true}) > 1 else []
    header = ("claim", "all rows: true in", "unique rows: true in")
    verdicts = (
        f"With identical rows removed, the verdict changes for {changed or 'none'} of {len(rulings)} claims. "
    )
    verdicts += (
        f"The following claims are true in most runs for all rows or for unique rows, but not for both: "
        f"{'; '.join(crossed) or 'none'}.\n"
    )
    claims = TextTable("Claims in the runs without tuning", header, tuple(rulings)).to_markdown()
    return means + claims + verdicts


def usage_section(usage: Lines) -> str:
    """The paper's terms by both of its rankings."""
    if not usage:
        return not_measured("untuned")
    lines = []
    for row in (row for row in usage if row["seed"] == "all"):
        seeds = [r for r in usage if (r["dataset"], r["feature"]) == (row["dataset"], row["feature"])]
        seeds = [r for r in seeds if r["seed"] != "all"]
        cells = []
        for name in ("selected", "in_edges"):
            ranks = [int(r[f"rank_{name}"]) for r in seeds]
            tied = int(row[f"tied_{name}"])
            shared = f", shared by {tied}" if tied > 1 else ""
            cells += [row[name], f"{row[f'rank_{name}']}{shared}", f"{min(ranks)} to {max(ranks)}"]
        lines.append((f"{ORGANISMS[row['dataset'][:2]]}", row["feature"], row["name"], row["n_rows"], *cells))
    header = (
        "organism",
        "term",
        "name",
        "rows",
        "Freq. of Selection",
        "rank",
        "rank in single seeds",
        "Freq. in Edges",
        "rank",
        "rank in single seeds",
    )
    return TextTable(
        "Hie-TAN-Lite with alpha 1 and Laplace smoothing, over all five seeds", header, tuple(lines), (), 3
    ).to_markdown()


def time_section(times: Lines) -> str:
    """How long the measurements took."""
    lines = [
        (row["part"], row["measured"], row["of"], _minutes(float(row["processor_seconds"]))) for row in times
    ]
    total = sum(float(row["processor_seconds"]) for row in times)
    lines.append(
        ("total", *(str(sum(int(row[n]) for row in times)) for n in ("measured", "of")), _minutes(total))
    )
    header = ("part", "timed", "cross-validations", "processor time")
    return TextTable("Processor time for cross-validation", header, tuple(lines)).to_markdown()


def missing_section(results: Results) -> str:
    """Which measurements the files do not have yet."""
    lines = []
    for variant in VARIANTS.values():
        for method in variant.methods:
            found = {row.seed for row in results.by_variant.get((variant.name, method), [])}
            lost = [str(seed) for seed in variant.seeds if seed not in found]
            if lost:
                lines.append((variant.name, titled(method), ", ".join(lost), f"`run {variant.part}`"))
    if not lines:
        return "All planned measurements are complete."
    header = ("variant", "method", "seeds", "to measure, run `python -m reproduction.paper`")
    return TextTable("Not measured yet", header, tuple(lines), (), len(header)).to_markdown()


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds else ""
