"""Every method of the comparison on every dataset, by the predictions of rows that its fits did not see."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from hietan._io import atomic_write
from hietan.catalogue import make_methods, method_sets
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.evaluation import pooled_predictions

# As the files of the datasets are named: CE-BP, CE-MF, ...
DATASETS = {f"{organism}-{namespaces}": (organism, namespaces) for organism, namespaces in AGEING_DATASETS}
RESULTS = Path(__file__).parents[2] / "docs" / "aire.csv"
KEYS = ("dataset", "method", "seed")
METRICS = ("gmean", "auc", "sensitivity", "specificity")
Row = dict[str, str]


def read_results() -> list[Row]:
    """What was measured before."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_results(rows: list[Row]) -> None:
    """Write all that was measured, in the order of the datasets, methods and seeds."""
    methods, datasets = method_sets()["aire"], list(DATASETS)
    rows = sorted(
        rows,
        key=lambda row: (
            datasets.index(row["dataset"]),
            methods.index(row["method"]),
            int(row["seed"]),
        ),
    )
    text = io.StringIO()
    writer = csv.DictWriter(text, [*KEYS, *METRICS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    atomic_write(RESULTS, text.getvalue())


def run(seeds: range) -> None:
    """Measure whatever is missing; the results so far are written after each dataset."""
    for seed in seeds:
        for name, where in DATASETS.items():
            rows = read_results()
            known = {tuple(row[key] for key in KEYS) for row in rows}
            data = None
            for method in make_methods(["aire"]):
                if (name, method.name, str(seed)) in known:
                    continue
                data = data or fetch_ageing_genes(*where)
                metrics = pooled_predictions(method.estimator, data, seed=seed).metrics()
                found = {metric: f"{metrics[metric]:.6f}" for metric in METRICS}
                rows.append({"dataset": name, "method": method.name, "seed": str(seed), **found})
            write_results(rows)
            print(f"seed {seed}: {name}", file=sys.stderr, flush=True)
