"""Every method of the comparison on every dataset, by the predictions of rows that its fits did not see."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hietan.catalogue import METHODS, make_estimator, method_sets
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.scores import cross_validate, metrics_of
from reproduction.aire.nearest import NEAREST
from reproduction.pages import read_csv, write_csv

# As the files of the datasets are named: CE-BP, CE-MF, ...
DATASETS = {f"{organism}-{namespaces}": (organism, namespaces) for organism, namespaces in AGEING_DATASETS}
RESULTS = Path(__file__).parents[2] / "docs" / "aire.csv"
KEYS = ("dataset", "method", "seed")
TITLES = {name: METHODS[name].title for name in method_sets()["aire"]} | {
    one.name: one.title for one in NEAREST
}
"""Every method of the comparison, and its name for readers."""
METRICS = ("gmean", "auc", "sensitivity", "specificity")
Row = dict[str, str]


def read_results() -> list[Row]:
    """What was measured before."""
    return read_csv(RESULTS)


def write_results(rows: list[Row]) -> None:
    """Write all that was measured, in the order of the datasets, methods and seeds."""
    methods, datasets = list(TITLES), list(DATASETS)
    rows = sorted(
        rows,
        key=lambda row: (
            datasets.index(row["dataset"]),
            methods.index(row["method"]),
            int(row["seed"]),
        ),
    )
    write_csv(RESULTS, (*KEYS, *METRICS), rows)


def make_with_laplace(name: str) -> Any:
    """Make a method of the comparison, in which all smoothing is Laplace's, also after an eager selection."""
    model = make_estimator(name)
    smoothings = [key for key in model.get_params() if key.rpartition("__")[2] == "smoothing"]
    return model.set_params(**dict.fromkeys(smoothings, "laplace"))


def run(seeds: range) -> None:
    """Measure whatever is missing; the results so far are written after each dataset."""
    estimators = {name: make_with_laplace(name) for name in method_sets()["aire"]}
    estimators |= {entry.name: entry.make() for entry in NEAREST}
    for seed in seeds:
        for name, where in DATASETS.items():
            rows = read_results()
            known = {tuple(row[key] for key in KEYS) for row in rows}
            data = None
            for method, estimator in estimators.items():
                if (name, method, str(seed)) in known:
                    continue
                data = data or fetch_ageing_genes(*where)
                metrics = metrics_of(cross_validate(estimator, data, seed=seed))
                found = {metric: f"{metrics[metric]:.6f}" for metric in METRICS}
                rows.append({"dataset": name, "method": method, "seed": str(seed), **found})
            write_results(rows)
            print(f"seed {seed}: {name}", file=sys.stderr, flush=True)
