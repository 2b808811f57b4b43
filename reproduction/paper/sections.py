"""The parts of docs/reproduction.md, each made from the rows of docs/reproduction*.csv alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hietan.evaluation import METRICS, Ranking
from hietan.evaluation._outputs.tables import overall_tests, score_table
from hietan.evaluation._outputs.text_table import TextTable
from hietan.evaluation._rank_tests import compare_ranks
from reproduction.paper.claims import TITLES, paper_ranks, read_claims
from reproduction.paper.runs import Choice, Results, Row, seeds_in_words, tuned, untuned
from reproduction.paper.variants import (
    ALPHAS,
    BAYES,
    CRITERIA,
    DEFAULT,
    GRAPH,
    KNOWN,
    MODERN,
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
    """A GMean, or a difference of two, in points."""
    return f"{100 * value:{sign}.1f}"


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
        f"{title}, mean of {seeds}. {tests}. The paper does not print these two tests; from its ranks they would be "
        f"{printed.friedman.statistic:.2f} and {printed.iman_davenport.statistic:.2f}."
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
        scores = (points(means[method]), f"{aucs[method]:.3f}")
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
    return TextTable("Average ranks by GMean over 28 datasets", header, tuple(lines)).to_markdown()


def _organism_table(ranking: Ranking) -> str:
    ranks = ranking.average_ranks()
    groups = ranking.group_names
    lines = [
        (titled(m), *(f"{ranking.average_ranks(g)[m]:.2f} ({points(ranking.means(g)[m])})" for g in groups))
        for m in sorted(ranks, key=ranks.__getitem__)
    ]
    header = ("method", *(ORGANISMS[group] for group in groups))
    title = "Average rank (mean GMean) per organism, seven datasets each, too few for tests"
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
        "GMean differs by",
        "95 % over genes",
        "rank biserial",
        "P worse",
        "P equivalent",
        "P better",
    )
    title = f"Differences from {control}; equivalent up to {rope} point"
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
        "geometric mean",
        "sens.",
        "spec.",
        "GMean",
        "AUC",
        f"GMean minus that of {TENTH}",
    )
    table = TextTable("proximalGraph, means over 28 datasets", header, tuple(lines)).to_markdown()
    rest = (
        f"\nNot measured yet: {', '.join(missing)} (`python -m reproduction.paper run`)." if missing else ""
    )
    words = (
        "The inner cross-validation of proximalGraph can choose lambda by its log loss, its AUC, or its GMean at the "
        "best threshold. The prediction itself is always made at the default threshold. The last column compares the "
        "same datasets and seeds."
    )
    return f"{words}\n{table}{rest}"


def _means(rows: Sequence[Row]) -> tuple[str, ...]:
    """Mean sensitivity, specificity and GMean in points, and mean AUC."""
    scores = (
        np.mean([getattr(row, name) for row in rows]) for name in ("sensitivity", "specificity", "gmean")
    )
    return (*(points(float(score)) for score in scores), f"{np.mean([row.auc for row in rows]):.3f}")


# ------------------------------------------------------------------ claims


def claims_section(rulings: Sequence[Ruling]) -> str:
    """Every claim with its verdict, topic by topic."""
    parts = []
    for topic in dict.fromkeys(ruling.claim.topic for ruling in rulings):
        lines = [
            (r.claim.says, r.claim.where, r.claim.figure, r.here, f"**{r.verdict}**")
            for r in rulings
            if r.claim.topic == topic
        ]
        header = ("claim", "where", "paper", "here", "verdict")
        parts.append(TextTable(topic[0].upper() + topic[1:], header, tuple(lines), (), 5).to_markdown())
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
            cells.append(points(float(np.mean([float(row[f"sd_{name}"]) for row in own]))))
            cells.append(f"{points(widths[widest])} ({widest})" if widths[widest] else "0.0")
        lines.append((titled(method), *cells))
    header = ("method", "SD over seeds", "widest range", "SD over orders", "widest range")
    short = TextTable(
        "GMean in points; SD: mean of the standard deviations of 28 datasets", header, tuple(lines)
    )
    cells_of = {(row["dataset"], row["method"]): row for row in spread}
    every = [
        (dataset, *(_spread_cell(cells_of[dataset, method]) for method in methods))
        for dataset in dict.fromkeys(row["dataset"] for row in spread)
    ]
    title = "Every dataset: GMean in file order with seed 0; its range over seeds; its range over orders of the columns"
    full = TextTable(title, ("dataset", *map(titled, methods)), tuple(every)).to_markdown()
    return short.to_markdown() + full


def _spread_cell(row: Mapping[str, str]) -> str:
    seeds, orders = (
        f"{points(float(row[f'low_{n}']))}-{points(float(row[f'high_{n}']))}" for n in ("seeds", "orders")
    )
    return f"{points(float(row['file_order']))}; {seeds}; {orders}"


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
                    lines.append(
                        (name, *(f"{METRICS[metric].text(means[m])} ({ranks[m]:.2f})" for m in BAYES))
                    )
        title = f"Mean {SHOWN[metric]} (average rank among these five)"
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
    return TextTable("Seed 0, means over 28 datasets", header, tuple(lines), (), 2).to_markdown()


def others_section(results: Results) -> str:
    """The untuned methods of the paper beside classifiers that a user might take instead."""
    choice = {
        **untuned(DEFAULT, TENTH if results.seeds(untuned()) else KNOWN),
        **dict.fromkeys(MODERN, "modern"),
    }
    parts = []
    for metric in ("gmean", "auc"):
        ranking = results.ranking(choice, metric, seeds=(0,))
        if ranking is None:
            return not_measured("modern")
        ranks, means, wins = ranking.average_ranks(), ranking.means(), ranking.wins()
        lines = [
            (titled(m), f"{ranks[m]:.2f}", f"{wins[m]:.3g}", METRICS[metric].text(means[m]))
            for m in sorted(ranks, key=ranks.__getitem__)
        ]
        title = f"By {SHOWN[metric]}, untuned, seed 0"
        parts.append(TextTable(title, ("method", "average rank", "wins", "mean"), tuple(lines)).to_markdown())
    return "".join(parts)


def distinct_section(results: Results, distinct: Results) -> str:
    """Means, ranks and claims with all rows and on rows without an equal, in the runs that both have."""
    if not distinct.judged:
        return not_measured("untuned")
    lines = []
    for method in untuned():
        cells = []
        for metric in ("gmean", "auc"):
            found = [each.ranking(untuned(), metric) for each in (results, distinct)]
            cells += [METRICS[metric].text(ranking.means()[method]) for ranking in found if ranking]
            cells += [f"{ranking.average_ranks()[method]:.2f}" for ranking in found if ranking]
        lines.append((titled(method), *cells))
    columns = [
        f"{SHOWN[metric]}{what}, {rows}"
        for metric in ("gmean", "auc")
        for what in ("", " rank")
        for rows in ("all", "no equal")
    ]
    title = "Untuned, five seeds: all rows, and rows without an equal"
    means = TextTable(title, ("method", *columns), tuple(lines)).to_markdown()
    ours = {run.run.name: run for run in results.judged}
    pairs = [(ours[run.run.name], run) for run in distinct.judged if run.run.name in ours]
    rulings, changed = [], 0
    for claim in read_claims():
        if claim.kind in STATEMENTS:
            true = [
                sum(STATEMENTS[claim.kind](claim, run) for run in runs) for runs in zip(*pairs, strict=True)
            ]
            rulings.append((claim.says, *(f"{n} of {len(pairs)}" for n in true)))
            changed += len({agreed(n, len(pairs)) for n in true}) > 1
    header = ("claim", "all rows: true in", "no equal: true in")
    verdicts = (
        f"Without equal rows, {changed or 'none'} of these {len(rulings)} claims gets another verdict.\n"
    )
    claims = TextTable("Claims, in the runs without tuning", header, tuple(rulings)).to_markdown()
    return means + claims + verdicts


def datasets_section(results: Results) -> str:
    """GMean and AUC of each dataset, best in bold, untuned and tuned."""
    parts = []
    for title, choice in (
        ("untuned", untuned()),
        ("tuned", tuned()),
        (f"{KNOWN}, a value known from these datasets", untuned(DEFAULT, KNOWN)),
    ):
        for metric in ("gmean", "auc"):
            ranking = results.ranking(choice, metric)
            if ranking is not None:
                table = score_table(ranking)
                named = (table.header[0], *map(titled, table.header[1:]))
                seeds = seeds_in_words(len(results.seeds(choice)))
                heading = f"{SHOWN[metric]}, {title}, {seeds}"
                parts.append(
                    TextTable(
                        heading, named, table.rows[: len(ranking.datasets)], (), 1, table.bold
                    ).to_markdown()
                )
    return "".join(parts)


# ------------------------------------------------------------------ terms, and the time it took


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
        "Hie-TAN-Lite, alpha 1, Laplace, five seeds together", header, tuple(lines), (), 3
    ).to_markdown()


def time_section(times: Lines) -> str:
    """How long the measurements took."""
    lines = [
        (row["part"], row["measured"], row["of"], _minutes(float(row["processor_seconds"]))) for row in times
    ]
    total = sum(float(row["processor_seconds"]) for row in times)
    lines.append(
        ("together", *(str(sum(int(row[n]) for row in times)) for n in ("measured", "of")), _minutes(total))
    )
    header = ("part", "timed", "cross-validations", "processor time")
    return TextTable("Processor time of the cross-validations", header, tuple(lines)).to_markdown()


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
        return "Everything that this page is meant to show is measured."
    header = ("variant", "method", "seeds", "measured by `python -m reproduction.paper`")
    return TextTable("Not measured yet", header, tuple(lines), (), len(header)).to_markdown()


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds else ""
