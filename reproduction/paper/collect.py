"""From what is kept in out/reproduction to the files behind the pages: docs/reproduction*.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hietan._runtime.equal_rows import has_equal
from hietan.evaluation import MethodComparison, compare_methods
from hietan.evaluation._usage import FeatureUsage
from hietan.scores import Scores, auc_score, gmean_score, sensitivity_score, specificity_score
from hietan.scores.bootstrap import Bootstrap, bootstrap_gmean
from reproduction.pages import read_csv, write_csv
from reproduction.paper import effects, facts, measure
from reproduction.paper.claims import read_claims
from reproduction.paper.measure import NAMES, Measured, dataset_of
from reproduction.paper.runs import Choice, Results, Row, tuned, untuned
from reproduction.paper.variants import BAYES, DEFAULT, GRAPH, KNOWN, ORDERS, SEEDS, TENTH, VARIANTS

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, USAGE = DOCS / "reproduction.csv", DOCS / "reproduction-usage.csv"
DISTINCT = DOCS / "reproduction-distinct.csv"
SPREAD, COMPARED = DOCS / "reproduction-spread.csv", DOCS / "reproduction-comparisons.csv"
POINTS, COUNTS = DOCS / "reproduction-points.csv", DOCS / "reproduction-counts.csv"
FACTS, TIMES = DOCS / "reproduction-facts.csv", DOCS / "reproduction-time.csv"
HEADLINES: Mapping[str, Choice] = {
    "untuned": untuned(),
    "tuned": tuned(),
    "lambda 0.002": untuned(DEFAULT, KNOWN),
}
"""The rankings whose effect sizes are given, with the variant of each method."""


def read_results(path: Path = RESULTS) -> Results:
    """The rows of docs/reproduction.csv."""
    return Results(Row.from_dict(line) for line in read_csv(path))


def row_of(task: measure.Task, found: Measured, *, distinct: bool = False) -> Row:
    """The scores of a measurement, on all rows or on those without an equal."""
    variant, method, dataset, seed = task
    data = dataset_of(*NAMES[dataset])
    tested = ~has_equal(data.X) if distinct else np.ones(len(data.y), dtype=bool)
    parts = {name: getattr(found, name)[tested] for name in ("predicted", "score", "fold")}
    y, found = data.y[tested] == 1, replace(found, **parts)
    folds = [found.fold == k for k in np.unique(found.fold)]
    return Row(
        variant,
        method,
        dataset,
        seed,
        len(y),
        gmean_score(y, found.predicted),
        float(np.mean([_fold_gmean(y[rows], found.predicted[rows]) for rows in folds])),
        sensitivity_score(y, found.predicted),
        specificity_score(y, found.predicted),
        auc_score(y, found.score),
        float(np.median(found.chosen)),
    )


def _fold_gmean(y: np.ndarray, predicted: np.ndarray) -> float:
    """The GMean of a fold; NaN if it has rows of one class only."""
    return gmean_score(y, predicted) if len(np.unique(y)) == 2 else np.nan


def _line(row: Row) -> dict[str, object]:
    return {
        name: (f"{value:.6g}" if value == value else "") if isinstance(value, float) else value
        for name, value in row._asdict().items()
    }


def collect_results() -> None:
    """Write docs/reproduction.csv: a method's seed is in it once all of its datasets are measured.

    Seeds that are not measured here stay as they are in the file.
    """
    before: dict[tuple[str, str, int], list[Row]] = {}
    for row in read_results().rows:
        before.setdefault((row.variant, row.method, row.seed), []).append(row)
    rows: list[Row] = []
    for variant in VARIANTS.values():
        for method in variant.methods:
            for seed in variant.seeds:
                tasks = [(variant.name, method, dataset, seed) for dataset in NAMES]
                if all(measure.path_of(task).exists() for task in tasks):
                    kept = ((task, measure.load(task)) for task in tasks)
                    rows += [row_of(task, found) for task, found in kept if found is not None]
                else:
                    rows += before.get((variant.name, method, seed), [])
    write_csv(RESULTS, Row._fields, map(_line, rows))


def collect_distinct() -> None:
    """Write docs/reproduction-distinct.csv: the runs without tuning, scored on rows without an equal."""
    before = {row[:4]: row for row in (read_results(DISTINCT).rows if DISTINCT.exists() else ())}
    rows: list[Row] = []
    for task in measure.tasks(("untuned", "orders")):
        found = None if "pooled" in task[0] else measure.load(task)
        rows += [row_of(task, found, distinct=True)] if found else [before[task]] if task in before else []
    write_csv(DISTINCT, Row._fields, map(_line, rows))


def collect_usage() -> None:
    """Write docs/reproduction-usage.csv: the terms that the paper names, in each seed and in all of them together."""
    lines = []
    for claim in (claim for claim in read_claims() if claim.kind == "usage"):
        data = dataset_of(*NAMES[claim.versus])
        tasks = [(DEFAULT, measure.USAGE_METHOD, claim.versus, seed) for seed in SEEDS]
        found = {task[3]: kept for task in tasks if (kept := measure.load(task)) is not None}
        usages = {
            str(seed): FeatureUsage(len(data.y), *kept.usage)
            for seed, kept in found.items()
            if kept.usage is not None
        }
        if len(usages) < len(SEEDS):
            return
        first, *others = usages.values()
        usages["all"] = sum(others, first)
        j = data.feature_names.index(claim.subject)
        lines += [_usage_line(claim.versus, data, j, seed, usage) for seed, usage in usages.items()]
    write_csv(USAGE, list(lines[0]), lines)


def _usage_line(dataset: str, data: Any, j: int, seed: str, usage: FeatureUsage) -> dict[str, object]:
    """Both counts of a term, with its ranks and with how many others it shares them."""
    return {
        "dataset": dataset,
        "feature": data.feature_names[j],
        "name": data.term_names[j],
        "seed": seed,
        "n_rows": usage.n_rows,
        "n_features": len(data.feature_names),
        "selected": usage.selected[j],
        "rank_selected": usage.ranks("selected")[j],
        "tied_selected": int((usage.selected == usage.selected[j]).sum()),
        "in_edges": usage.in_edges[j],
        "rank_in_edges": usage.ranks("in_edges")[j],
        "tied_in_edges": int((usage.in_edges == usage.in_edges[j]).sum()),
    }


def collect_spread() -> None:
    """Write docs/reproduction-spread.csv: GMean over seeds and over orders of the columns."""
    results = read_results()
    lines = []
    for method in (*BAYES, GRAPH):
        own = DEFAULT if method in BAYES else TENTH
        seeds = results.by_variant.get((own, method), [])
        shuffled = [f"order {k}" if method in BAYES else f"order {k}, {TENTH}" for k in ORDERS]
        orders = [row for name in shuffled for row in results.by_variant.get((name, method), [])]
        for dataset in results.datasets:
            by_seed = [row.gmean for row in seeds if row.dataset == dataset]
            by_order = [row.gmean for row in orders if row.dataset == dataset]
            if len(by_seed) == len(SEEDS) and len(by_order) == len(ORDERS):
                first = next(row.gmean for row in seeds if (row.dataset, row.seed) == (dataset, 0))
                lines.append({"dataset": dataset, "method": method, "file_order": f"{first:.6g}"})
                for name, values in (("seeds", by_seed), ("orders", by_order)):
                    lines[-1] |= {
                        f"sd_{name}": f"{np.std(values, ddof=1):.6g}",
                        f"low_{name}": f"{min(values):.6g}",
                        f"high_{name}": f"{max(values):.6g}",
                    }
    if lines:
        write_csv(SPREAD, list(lines[0]), lines)


def collect_comparisons() -> None:
    """Write docs/reproduction-comparisons.csv: effect sizes and probabilities of the headline rankings."""
    results, lines = read_results(), []
    for name, choice in HEADLINES.items():
        ranking = results.ranking(choice)
        drawn = None if ranking is None else _bootstrap(choice, results.seeds(choice))
        if ranking is None or drawn is None:
            lines += [line for line in read_csv(COMPARED) if line["table"] == name]
            continue
        for row in compare_methods(ranking, drawn):
            cells = dict(zip(MethodComparison.header(), row.values(), strict=True))
            shown = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in cells.items()}
            ends = drawn.interval(drawn.average_rank)[:, drawn.methods.index(row.method)]
            ranks = {"rank_low": f"{ends[0]:.6g}", "rank_high": f"{ends[1]:.6g}"}
            lines.append({"table": name, "seeds": len(results.seeds(choice)), **shown, **ranks})
    fields = ("table", "seeds", *MethodComparison.header(), "rank_low", "rank_high")
    write_csv(COMPARED, fields, lines)


def _bootstrap(choice: Choice, seeds: Sequence[int]) -> Bootstrap | None:
    """Draws of genes; None if some predictions are not kept here."""
    predictions: dict[tuple[str, str, int], Scores] = {}
    for method, variant in choice.items():
        for dataset in NAMES:
            for seed in seeds:
                found = measure.load((variant, method, dataset, seed))
                if found is None:
                    return None
                y = dataset_of(*NAMES[dataset]).y == 1
                predicted = found.predicted.astype(np.intp)
                scores = Scores(("0", "1"), predicted, truth=y.astype(np.intp), fold=found.fold)
                predictions[dataset, method, seed] = scores
    genes = {dataset: dataset_of(*pair).instance_names for dataset, pair in NAMES.items()}
    groups = {dataset: dataset.partition("-")[0] for dataset in NAMES}
    return bootstrap_gmean(predictions, genes, list(choice), groups=groups)


def collect_facts() -> None:
    """Write docs/reproduction-facts.csv."""
    write_csv(FACTS, ("id", "found"), facts.check_facts())


def collect_points() -> None:
    """Write docs/reproduction-points.csv and -counts.csv: the effects of what the paper leaves open."""
    write_csv(POINTS, effects.FIELDS, effects.measured_changes(read_results()))
    found = effects.counts().items()
    write_csv(COUNTS, ("what", "number"), ({"what": what, "number": number} for what, number in found))


def collect_times() -> None:
    """Write docs/reproduction-time.csv: the processor time of each part, for what is kept here."""
    before = {line["part"]: line for line in read_csv(TIMES)}
    lines = []
    for part in dict.fromkeys(variant.part for variant in VARIANTS.values()):
        kept = [found for task in measure.tasks([part]) if (found := measure.load(task)) is not None]
        n = sum(1 for _ in measure.tasks([part]))
        if part not in before or len(kept) >= int(before[part]["measured"]):
            seconds = sum(found.seconds for found in kept)
            lines.append(
                {"part": part, "measured": len(kept), "of": n, "processor_seconds": f"{seconds:.0f}"}
            )
        else:
            lines.append(dict(before[part]))
    write_csv(TIMES, ("part", "measured", "of", "processor_seconds"), lines)


def collect() -> None:
    """Write all files of results."""
    collect_results()
    collect_distinct()
    collect_usage()
    collect_spread()
    collect_comparisons()
    collect_facts()
    collect_points()
    collect_times()
