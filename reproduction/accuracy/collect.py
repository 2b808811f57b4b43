"""From kept scores to the files behind the page: docs/accuracy*.csv."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hietan.datasets import AGEING_DATASETS
from reproduction.accuracy import measure, temporal
from reproduction.accuracy.measure import FoldScores, dataset_of
from reproduction.accuracy.methods import METHODS, SEEDS
from reproduction.accuracy.scores import COMPARED, Draws, Labelled, bootstrap, metrics_of
from reproduction.pages import write_csv

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, DIFFERENCES = DOCS / "accuracy.csv", DOCS / "accuracy-differences.csv"
TEMPORAL, GENES = DOCS / "accuracy-temporal.csv", DOCS / "accuracy-temporal-genes.csv"
TRIED = DOCS / "accuracy-tried.csv"  # trials that were not taken up: their figures stay, their code is gone
METRICS = (
    "auc",
    "auc_within_folds",
    "gmean",
    "gmean_tuned",
    "sensitivity",
    "specificity",
    "average_precision",
    "log_loss",
    "brier",
    "calibration_error",
    "log_loss_equal",
    "brier_equal",
    "calibration_error_equal",
    "seconds",
)
FIELDS = ("dataset", "method", "seed", *METRICS)
Row = Mapping[str, str]
# What the differences are measured from, and the methods that the page compares it with.
LEADERS = ("HieLogistic", "HieBAN, equal priors")
RIVALS = (
    "ridge logistic regression",
    "ridge logistic regression, C 0.1",
    "balanced random forest",
    "XGBoost",
    "CatBoost",
    "HIP + NB, pooled",
    "HIP + NB, laplace",
    "Hie-TAN, pooled",
    "simGIC nearest neighbours",
    "naive Bayes (scikit-learn)",
    "number of annotations",
)


def _row(dataset: str, method: str, seed: int, values: Mapping[str, float]) -> Row:
    shown = {name: "" if values[name] != values[name] else f"{values[name]:.4f}" for name in METRICS}
    return {"dataset": dataset, "method": method, "seed": str(seed), **shown}


def collect_results() -> None:
    """Write docs/accuracy.csv: a method's seed is in it once all of its datasets are measured."""
    rows = []
    for method in METHODS:
        for seed in sorted(complete_seeds(method)):
            for data in (dataset_of(*pair) for pair in AGEING_DATASETS):
                for found in _present([measure.load(data.name, method, seed)]):
                    rows.append(_row(data.name, method, seed, metrics_of(data.y, found)))
    write_csv(RESULTS, FIELDS, rows)


def complete_seeds(method: str) -> set[int]:
    """The seeds for which a method is measured on all datasets."""
    names = [dataset_of(*pair).name for pair in AGEING_DATASETS]
    return {seed for seed in SEEDS if all(measure.path_of(name, method, seed).exists() for name in names)}


def complete_temporal_seeds(method: str, relations: str = "is_a") -> set[int]:
    """The seeds for which a method is measured on all sets of the test in time."""
    held = list(temporal.sets(relations))
    return {seed for seed in SEEDS if all(temporal.path_of(each, method, seed).exists() for each in held)}


def fold_draws(methods: Sequence[str], seeds: Sequence[int]) -> Draws:
    """Bootstrap draws of the cross-validated scores."""
    data, found = {}, {}
    for organism, namespaces in AGEING_DATASETS:
        each = dataset_of(organism, namespaces)
        data[each.name] = Labelled(organism, each.instance_names, each.y)
        for method in methods:
            found[each.name, method] = _present(measure.load(each.name, method, seed) for seed in seeds)
    return bootstrap(data, found, methods)


def temporal_draws(methods: Sequence[str], seeds: Sequence[int], relations: str = "is_a") -> Draws:
    """Bootstrap draws of the genes added by 2025."""
    data, found = {}, {}
    for held in temporal.sets(relations):
        data[held.name] = Labelled(held.name.partition(" ")[0], held.test.instance_names, held.test.y)
        for method in methods:
            found[held.name, method] = _present(temporal.load(held, method, seed) for seed in seeds)
    return bootstrap(data, found, methods)


def _present(found: Iterable[FoldScores | None]) -> list[FoldScores]:
    return [each for each in found if each is not None]


def differences(part: str, draws: Draws, pairs: Iterable[tuple[str, str]]) -> list[Row]:
    """A row for each pair of methods, metric, and group of datasets (and all of them)."""
    rows = []
    for a, b in pairs:
        for metric in COMPARED:
            for group in (None, *dict.fromkeys(draws.groups)):
                mean, low, high = draws.difference(metric, a, b, group)
                numbers = {"difference": mean, "low": low, "high": high}
                shown = {name: f"{number:.4f}" for name, number in numbers.items()}
                rows.append(
                    {
                        "part": part,
                        "group": group or "all",
                        "metric": metric,
                        "method": a,
                        "other": b,
                        **shown,
                    }
                )
    return rows


def collect_differences() -> None:
    """Write docs/accuracy-differences.csv, from the seeds that all compared methods have."""
    rows: list[Row] = []
    for part, complete, draws in (
        ("folds", complete_seeds, fold_draws),
        ("temporal", complete_temporal_seeds, temporal_draws),
    ):
        done = {name: complete(name) for name in (*LEADERS, *RIVALS)}
        usable = [name for name, seeds in done.items() if seeds]
        pairs = [(a, b) for a in LEADERS for b in (*RIVALS, *LEADERS) if {a, b} <= set(usable) and a != b]
        if pairs:
            seeds = sorted(set.intersection(*(done[name] for name in usable)))
            rows += differences(part, draws(usable, seeds), pairs)
    write_csv(DIFFERENCES, ("part", "group", "metric", "method", "other", "difference", "low", "high"), rows)


def collect_temporal() -> None:
    """Write docs/accuracy-temporal.csv and docs/accuracy-temporal-genes.csv."""
    rows, genes = [], []
    for relations in temporal.RELATIONS:
        held_sets = list(temporal.sets(relations))
        for held in held_sets:
            genes.append({"dataset": held.name, **{name: str(count) for name, count in held.account.items()}})
        for method in METHODS:
            for seed in sorted(complete_temporal_seeds(method, relations)):
                for held in held_sets:
                    for found in _present([temporal.load(held, method, seed)]):
                        rows.append(_row(held.name, method, seed, metrics_of(held.test.y, found)))
    write_csv(TEMPORAL, FIELDS, rows)
    write_csv(GENES, list(genes[0]), genes)


def collect() -> None:
    """Write all files that come from kept scores."""
    collect_results()
    collect_temporal()
    collect_differences()
