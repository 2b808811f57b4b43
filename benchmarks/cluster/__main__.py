"""Counting many rows on a Dask cluster with 1 and 2 worker processes: python benchmarks/cluster [rows in millions].

Writes the measurements into docs/clusters.csv, and a table of them with the model of the costs into docs/clusters.md.
Blocks are made on the workers, as they would be read there from files, and making them is timed apart.
"""

from __future__ import annotations

import csv
import pickle
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import blocks
import dask
import numpy as np
from dask.distributed import Client, LocalCluster

from hietan import HieBAN, HieTAN
from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "clusters.csv", DOCS / "clusters.md"
METHODS = {"HieBAN": HieBAN, "Hie-TAN": HieTAN}
FIELDS = (
    "method",
    "rows",
    "features",
    "workers",
    "seconds",
    "make_seconds",
    "count_seconds",
    "add_seconds",
    "learn_seconds",
    "bytes",
    "blocks",
)


def measure(name: str, n_blocks: int, workers: int) -> tuple[dict[str, Any], Any]:
    """Fit a method on a cluster, and its steps one by one on a single block."""
    hierarchy = blocks.base().hierarchy
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.run(blocks.base)  # the sample behind the blocks is made once per worker
        made = [dask.delayed(blocks.make)(i) for i in range(n_blocks)]
        X, y = [m[0] for m in made], [m[1] for m in made]
        model = METHODS[name](hierarchy=hierarchy)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    row = {"method": name, "rows": n_blocks * blocks.ROWS, "features": blocks.FEATURES, "workers": workers}
    return {**row, "seconds": seconds, "blocks": n_blocks, **steps(name, hierarchy)}, model


def steps(name: str, hierarchy: Any) -> dict[str, float]:
    """The seconds of each step on one block, here, and the bytes of its counts as they are sent."""
    clock = [time.perf_counter()]
    X, y = blocks.make(0)
    clock.append(time.perf_counter())
    model = METHODS[name](hierarchy=hierarchy).partial_fit(X, y, classes=np.unique(y))
    clock.append(time.perf_counter())
    counts = model.counts_
    _ = counts + counts
    clock.append(time.perf_counter())
    model.predict(X[:1])  # learns the structure
    clock.append(time.perf_counter())
    taken = np.diff(clock)
    names = ("make_seconds", "count_seconds", "add_seconds", "learn_seconds")
    return {**dict(zip(names, taken.tolist(), strict=True)), "bytes": len(pickle.dumps(counts, protocol=5))}


def run(millions: float) -> None:
    """Measure both methods with 1 and 2 workers; the models must be the same."""
    rows = []
    for name in METHODS:
        models = []
        for workers in (1, 2):
            row, model = measure(name, max(2, round(millions * 1e6 / blocks.ROWS)), workers)
            rows.append({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})
            models.append(model)
            print(rows[-1], flush=True)
        sample = blocks.base().X[:1000]
        found, expected = (m.predict_joint_log_proba(sample) for m in models)
        assert np.array_equal(found, expected), f"{name} differs between 1 and 2 workers"
    with open(RESULTS, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def predicted(row: Mapping[str, str], rows: float, workers: int, bandwidth: float = 1e9) -> float:
    """Seconds by the model of the costs: blocks over workers, then a reduction eight at a time, then the structure.

    `bandwidth` is in bits per second; every count of a block is sent once, and so is every sum of eight.
    """
    n_blocks = rows / (float(row["rows"]) / float(row["blocks"]))
    per_block = float(row["make_seconds"]) + float(row["count_seconds"])
    sent = 8 * float(row["bytes"]) / bandwidth
    per_sum = float(row["add_seconds"]) + sent
    return n_blocks * (per_block + per_sum) / workers + 8 * per_sum + float(row["learn_seconds"])


def table() -> str:
    """The measurements and the model."""
    with open(RESULTS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines, forecast = [], []
    for row in rows:
        model = predicted(row, float(row["rows"]), int(row["workers"]))
        per_block = 1000 * (float(row["make_seconds"]) + float(row["count_seconds"]))
        lines.append(
            (
                row["method"],
                f"{float(row['rows']):,.0f}",
                row["workers"],
                f"{float(row['seconds']):.1f}",
                f"{model:.1f}",
                f"{per_block:.0f}",
                f"{float(row['bytes']) / 1e6:.2f}",
                f"{1000 * float(row['add_seconds']):.1f}",
            )
        )
        if row["workers"] == "1":
            seconds = [predicted(row, 1e8, workers) for workers in (1, 8, 32)]
            forecast.append((row["method"], *(f"{s:,.0f}" for s in seconds)))
    header = (
        "method",
        "rows",
        "workers",
        "measured s",
        "formula s",
        "ms per block",
        "MB of counts",
        "ms to add two",
    )
    title = f"Blocks of {blocks.ROWS:,} rows, {blocks.FEATURES:,} features, {blocks.ONES} ones per row"
    measured = TextTable(title, header, tuple(lines)).to_markdown()
    ahead = TextTable(
        "Forecast for 100 million rows, in seconds",
        ("method", "1 worker", "8 workers", "32 workers"),
        tuple(forecast),
    )
    return measured + ahead.to_markdown()


def write() -> None:
    """Fill the tables of docs/clusters.md."""
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(r"(<!-- measured -->\n).*?(<!-- end of measured -->)", re.DOTALL)
    atomic_write(PAGE, pattern.sub(lambda match: match[1] + table() + match[2], page))


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        run(float(sys.argv[1]) if sys.argv[1:] else 10.0)
    write()
