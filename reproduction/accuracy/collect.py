"""From kept scores to the files behind the page: docs/accuracy*.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from hietan._runtime.equal_rows import count_equal_rows, has_equal
from reproduction.accuracy import measure
from reproduction.accuracy.methods import (
    METHODS,
    SMOOTHED,
    SMOOTHING_SEEDS,
    SMOOTHINGS,
    planned_seeds,
    smoothed_name,
)
from reproduction.accuracy.scores import (
    METRICS,
    N_BINS,
    Draws,
    Floats,
    Judged,
    Mask,
    auc_of,
    bins_of,
    interval,
    judged,
    metrics_of,
)
from reproduction.accuracy.sets import LOST, Task, tasks, without_losses
from reproduction.pages import write_csv

DOCS = Path(__file__).parents[2] / "docs"
LEADER = "HieLogistic"
# The parts with cross-validation or later genes, and which of their rows count.
KINDS = (
    ("published", "all"),
    ("published", "without an equal"),
    ("packaged", "all"),
    ("packaged", "without an equal"),
    ("later", "all"),
)
Row = Mapping[str, object]
kept = cache(measure.load)


def file_of(name: str) -> Path:
    """Return the path of a file behind the page."""
    return DOCS / (f"accuracy-{name}.csv" if name else "accuracy.csv")


def shown(values: Mapping[str, float]) -> dict[str, str]:
    """Return numbers as the files have them."""
    return {name: f"{value:.4f}" for name, value in values.items()}


@cache
def mask_of(task: Task, kind: str) -> Mask:
    """Return which rows count."""
    if kind == "all":
        return np.ones(len(task.target), dtype=np.bool_)
    return ~has_equal(task.X)


def seeds_of(parts: Sequence[Task], method: str, most: int) -> list[int]:
    """Return the seeds, below the most, with which a method is measured on all of these sets."""
    return [
        seed for seed in range(most) if all(measure.path_of(task, method, seed).exists() for task in parts)
    ]


@cache
def rows_of(task: Task, method: str, seed: int, version: str | None = None) -> tuple[Judged, Mask]:
    """Return the predicted rows, and which rows of the set they are."""
    found = kept(task, method, seed)
    assert found is not None
    balanced = method not in METHODS or METHODS[method].balanced
    return judged(task, found, seed, balanced, version), found.fold >= 0


def judged_rows(
    task: Task, method: str, seeds: Iterable[int], kind: str, version: str | None = None
) -> Iterator[Judged]:
    """Return the rows that count, for each seed."""
    for seed in seeds:
        rows, predicted = rows_of(task, method, seed, version)
        yield rows.of(mask_of(task, kind)[predicted])


def metrics(task: Task, method: str, seeds: Iterable[int], kind: str) -> dict[str, float]:
    """Return the metrics of a method on a set with complete rows, averaged over seeds."""
    found = [metrics_of(rows) for rows in judged_rows(task, method, seeds, kind)]
    return {name: float(np.mean([each[name] for each in found])) for name in METRICS}


def groups_of(parts: Sequence[Task]) -> list[str]:
    """Return the organisms of some sets."""
    return list(dict.fromkeys(task.group for task in parts))


def measured(part: str) -> Iterator[tuple[str, list[int]]]:
    """Return the methods that are measured on a part, and their seeds."""
    for method in METHODS:
        seeds = seeds_of(tasks(part), method, planned_seeds(part, method))
        if seeds:
            yield method, seeds


def results() -> None:
    """Write accuracy.csv: a line for each set, kind of rows and method, averaged over seeds."""
    lines = []
    for part, kind in KINDS:
        for method, seeds in measured(part):
            for task in tasks(part):
                values = metrics(task, method, seeds, kind)
                seconds = [found.seconds for s in seeds if (found := kept(task, method, s))]
                head = {
                    "part": part,
                    "set": task.name,
                    "organism": task.group,
                    "rows": kind,
                    "method": method,
                }
                lines.append(
                    {**head, "seeds": len(seeds), **shown(values), "seconds": f"{np.mean(seconds):.4f}"}
                )
    write_csv(file_of(""), ("part", "set", "organism", "rows", "method", "seeds", *METRICS, "seconds"), lines)


def lost() -> None:
    """Write accuracy-lost.csv: AUC against the share of annotations lost, averaged over the sets of an organism."""
    lines = []
    for part, kind in KINDS:
        for method, seeds in measured(part):
            for group in groups_of(tasks(part)):
                for share in LOST:
                    auc = [
                        auc_of(rows)
                        for task in tasks(part)
                        if task.group == group
                        for rows in judged_rows(task, method, seeds, kind, f"{share:g}")
                    ]
                    head = {"part": part, "organism": group, "rows": kind, "method": method}
                    lines.append({**head, "lost": f"{share:g}", "auc": f"{np.mean(auc):.4f}"})
    write_csv(file_of("lost"), ("part", "organism", "rows", "method", "lost", "auc"), lines)


def differences() -> None:
    """Write accuracy-differences.csv: HieLogistic minus every other method, with intervals over genes."""
    lines: list[Row] = []
    for part, kind in KINDS:
        parts = tasks(part)
        draws = Draws(parts, {task.name: mask_of(task, kind) for task in parts})
        seeds = dict(measured(part))
        for share, metric in (("0", "auc"), ("0", "auc_within_folds"), ("0.7", "auc")):
            drawn = {
                (method, seed): np.stack(
                    [draws.values(t, judged_rows(t, method, [seed], kind, share), metric) for t in parts]
                )
                for method in seeds
                for seed in seeds[method]
            }
            for other in seeds:
                if other != LEADER:
                    common = [seed for seed in seeds[LEADER] if seed in seeds[other]]
                    apart = np.mean([drawn[LEADER, seed] - drawn[other, seed] for seed in common], axis=0)
                    head = {"part": part, "rows": kind, "lost": share, "metric": metric, "other": other}
                    lines += [{**head, **line} for line in by_group(draws.groups, apart)]
    fields = ("part", "rows", "lost", "metric", "other", "organism", "difference", "low", "high")
    write_csv(file_of("differences"), fields, lines)


def by_group(groups: Sequence[str], drawn: Floats) -> Iterator[Row]:
    """Return mean differences and intervals, over all sets and over those of each group."""
    for group in ("all", *dict.fromkeys(groups)):
        chosen = [group in ("all", each) for each in groups]
        numbers = zip(("difference", "low", "high"), interval(drawn[chosen].mean(axis=0)), strict=True)
        yield {"organism": group, **shown(dict(numbers))}


def equal_rows() -> None:
    """Write accuracy-equal-rows.csv: the equal rows of every set."""
    lines = []
    for part in ("published", "packaged"):
        for task in tasks(part):
            found = count_equal_rows(task.X, task.y)
            lines.append(
                {
                    "part": part,
                    "set": task.name,
                    "rows": len(task.y),
                    "rows_with_an_equal": found.rows,
                    "pairs": found.pairs,
                    "contradictions": found.contradictions,
                    "expected": f"{found.expected:.3f}",
                }
            )
    write_csv(file_of("equal-rows"), list(lines[0]), lines)


def years() -> None:
    """Write accuracy-years.csv: trained on one year's annotations, tested on another's, with intervals over genes."""
    lines: list[Row] = []
    parts = tasks("both years")
    draws = Draws(parts, {task.name: mask_of(task, "all") for task in parts})
    for source in ("2014", "2019"):
        own = [task for task in parts if task.name.endswith(source)]
        groups = [task.group for task in own]
        for version in ("2014", "2019", "both"):
            drawn = {}
            for method, seeds in measured("both years"):
                drawn[method] = np.stack(
                    [draws.values(t, judged_rows(t, method, seeds, "all", version), "auc") for t in own]
                )
            for method, values in drawn.items():
                n_seeds = planned_seeds("both years", method)
                head = {"trained_on": source, "tested_on": version, "method": method, "seeds": n_seeds}
                apart = by_group(groups, drawn[LEADER] - values)
                for (group, auc), line in zip(means(groups, values), apart, strict=True):
                    assert line["organism"] == group
                    lines.append({**head, **line, "auc": f"{auc:.4f}"})
    fields = ("trained_on", "tested_on", "method", "seeds", "organism", "auc", "difference", "low", "high")
    write_csv(file_of("years"), fields, lines)


def means(groups: Sequence[str], drawn: Floats) -> Iterator[tuple[str, float]]:
    """Return the mean over all sets, and over those of each group."""
    for group in ("all", *dict.fromkeys(groups)):
        yield group, float(drawn[[group in ("all", each) for each in groups], 0].mean())


def curves() -> None:
    """Write accuracy-curves.csv: AUC against the number of training rows."""
    lines = []
    for task in tasks("curves"):
        _, size, kind = task.name.split(", ")
        for method in METHODS:
            seeds = seeds_of([task], method, planned_seeds("curves", method))
            for share in task.versions(0) if seeds else ():
                auc = [auc_of(r) for r in judged_rows(task, method, seeds, "all", share)]
                head = {"data": task.group, "features": kind, "training_rows": size.partition(" ")[0]}
                spread = {"auc": float(np.mean(auc)), "deviation": float(np.std(auc, ddof=1))}
                lines.append(
                    {**head, "lost": share, "method": method, "repeats": len(seeds), **shown(spread)}
                )
    write_csv(file_of("curves"), list(lines[0]), lines)


def calibration() -> None:
    """Write accuracy-calibration.csv: the share of class 1 among rows of similar probability, over all sets."""
    lines = []
    for part in ("published", "packaged"):
        for method, seeds in measured(part):
            found = [rows_of(task, method, seed, "0")[0] for task in tasks(part) for seed in seeds]
            probability = np.concatenate([rows.probability for rows in found])
            positive = np.concatenate([rows.positive for rows in found])
            bins = bins_of(probability)
            for k in range(N_BINS):
                if (bins == k).any():
                    values = {
                        "probability": probability[bins == k].mean(),
                        "share": positive[bins == k].mean(),
                    }
                    head = {
                        "part": part,
                        "method": method,
                        "bin": k,
                        "rows": round((bins == k).sum() / len(seeds)),
                    }
                    lines.append({**head, **shown(values)})
    write_csv(file_of("calibration"), ("part", "method", "bin", "rows", "probability", "share"), lines)


def smoothing() -> None:
    """Write accuracy-smoothing.csv: every method with every smoothing."""
    lines = []
    for part, kind in KINDS[:4]:
        parts = without_losses(part)
        for key in SMOOTHED:
            for kind_of_smoothing in SMOOTHINGS:
                name = smoothed_name(key, kind_of_smoothing)
                seeds = seeds_of(parts, name, SMOOTHING_SEEDS)
                for group in groups_of(parts) if seeds else ():
                    found = [metrics(task, name, seeds, kind) for task in parts if task.group == group]
                    values = {metric: float(np.mean([each[metric] for each in found])) for metric in METRICS}
                    head = {"part": part, "organism": group, "rows": kind, "method": SMOOTHED[key]}
                    lines.append(
                        {**head, "smoothing": kind_of_smoothing, "seeds": len(seeds), **shown(values)}
                    )
    fields = ("part", "organism", "rows", "method", "smoothing", "seeds", *METRICS)
    write_csv(file_of("smoothing"), fields, lines)


def genes() -> None:
    """Write accuracy-genes.csv: what became of the genes on the way to training and test rows."""
    lines = [
        {"part": part, "set": task.name, "what": what, "count": count}
        for part in ("later", "both years")
        for task in tasks(part)
        for what, count in task.account.items()
    ]
    write_csv(file_of("genes"), list(lines[0]), lines)


def collect() -> None:
    """Write all files that come from kept scores."""
    for write in (results, lost, differences, equal_rows, years, curves, calibration, smoothing, genes):
        write()
