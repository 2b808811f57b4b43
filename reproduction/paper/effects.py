"""How much each point that the paper leaves open changes GMean: docs/reproduction-points.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hietan import HieTANLite
from reproduction.paper import measure
from reproduction.paper.measure import NAMES, dataset_of
from reproduction.paper.runs import Results, Row
from reproduction.paper.variants import (
    BAYES,
    CRITERIA,
    DEFAULT,
    GRAPH,
    KNOWN,
    ORDERS,
    ROOTS,
    TENTH,
    chosen_lambda,
)

FIELDS = ("change", "method", "seeds", "mean", "mean_absolute", "low", "low_dataset", "high", "high_dataset")


@dataclass(frozen=True)
class Change:
    """Variants compared with the one that the headline table uses, at the same seeds.

    Attributes
    ----------
    name : str
        What is changed.
    variants : tuple of str
        The changed variants; if there are several, each counts alike.
    base : str
        What they are compared with.
    value : callable
        The score of a row of the changed variants.
    """

    name: str
    variants: tuple[str, ...]
    base: str = DEFAULT
    value: Callable[[Row], float] = lambda row: row.gmean


def _changes() -> list[Change]:
    found = [
        Change("alpha 0.5", ("alpha 0.5, laplace",)),
        Change("alpha 0.05", ("alpha 0.05, laplace",)),
        Change("pooled smoothing", ("alpha 1, pooled",)),
        Change("alpha chosen", ("alpha chosen, laplace",)),
        Change("unstratified folds", ("unstratified folds",)),
        Change("mean of the folds", (DEFAULT,), value=lambda row: row.gmean_of_folds),
        Change("order of the columns", tuple(f"order {k}" for k in ORDERS)),
        Change("order of the columns", tuple(f"order {k}, {TENTH}" for k in ORDERS), TENTH),
        Change("random root", tuple(f"root {k}" for k in ROOTS)),
        Change("classes exchanged", ("classes exchanged",)),
        Change("identical rows", ("identical rows left out of training",)),
        Change("support", ("support of 3 in training rows",)),
        Change("threshold", ("threshold, laplace",)),
        Change("threshold", (f"threshold, {KNOWN}",), KNOWN),
        Change("lambda 0.002", (KNOWN,), TENTH),
    ]
    found += [Change(chosen_lambda(c), (chosen_lambda(c),), TENTH) for c in CRITERIA]
    return found


CHANGES = _changes()


def measured_changes(results: Results) -> list[dict[str, object]]:
    """A line for each change and method that is measured."""
    lines = []
    for change in CHANGES:
        for method in (*BAYES, GRAPH):
            base = {
                (row.dataset, row.seed): row.gmean
                for row in results.by_variant.get((change.base, method), [])
            }
            rows = [row for name in change.variants for row in results.by_variant.get((name, method), [])]
            found = [
                (row.dataset, row.seed, change.value(row) - base[row.dataset, row.seed])
                for row in rows
                if (row.dataset, row.seed) in base and not np.isnan(change.value(row))
            ]
            if found:
                lines.append({"change": change.name, "method": method, **_summed_up(found)})
    return lines


def _summed_up(found: Iterable[tuple[str, int, float]]) -> dict[str, object]:
    """The mean change, and the datasets whose mean change is lowest and highest."""
    found = list(found)
    datasets = list(dict.fromkeys(dataset for dataset, _, _ in found))
    means = {d: float(np.mean([value for name, _, value in found if name == d])) for d in datasets}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return {
        "seeds": len({seed for _, seed, _ in found}),
        "mean": f"{np.mean([value for _, _, value in found]):.6f}",
        "mean_absolute": f"{np.mean([abs(value) for _, _, value in found]):.6f}",
        "low": f"{means[low]:.6f}",
        "low_dataset": low,
        "high": f"{means[high]:.6f}",
        "high_dataset": high,
    }


def counts() -> Mapping[str, int]:
    """How often what is left open occurs, over all 28 datasets."""
    found = dict.fromkeys(
        (
            "rows",
            "identical",
            "contradictory",
            "pairs",
            "opposed",
            "lone",
            "constant",
            "columns",
            "duplicates",
            "even",
        ),
        0,
    )
    for name, pair in NAMES.items():
        data = dataset_of(*pair)
        X = data.X.toarray()
        found["rows"] += len(X)
        found["columns"] += X.shape[1]
        found["duplicates"] += X.shape[1] - len(np.unique(X, axis=1).T)
        found["constant"] += int((X.min(axis=0) == X.max(axis=0)).sum())
        groups: dict[bytes, list[int]] = {}
        for row, label in zip(X, data.y.tolist(), strict=True):
            groups.setdefault(row.tobytes(), []).append(label)
        found["identical"] += sum(len(labels) for labels in groups.values() if len(labels) > 1)
        found["contradictory"] += sum(len(labels) for labels in groups.values() if len(set(labels)) > 1)
        found["pairs"] += data.equal_rows.pairs
        found["opposed"] += data.equal_rows.contradictions
        model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
        found["lone"] += sum(len(tree) == 1 for tree in model.trees(data.X))
        for method in BAYES:
            kept = measure.load((DEFAULT, method, name, 0))
            found["even"] += 0 if kept is None else int((kept.score == 0).sum())
    return found
