"""Predictions from ids: the latency of one row, and a million rows from a Parquet file.

Next to both is scikit-learn's LogisticRegression on rows that are ready: sparse, closed, in memory.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from _timing import Case, Part, Timing, alternate, table, verdict
from hietan import Hierarchy
from hietan.catalogue import METHODS
from hietan.datasets import Dataset
from hietan.hierarchy._term_rows import rows_from_lists
from hietan.models import Model, train_model

LEVELS = (12, 80, 400, 1000, 1500)  # a shop's taxonomy of 2,992 categories
N_TRAINING, N_ROWS, BATCH = 20_000, 1_000_000, 50_000
REPEATS = 20  # calls of one row that are timed together
LATENCY = ("hie-logistic", "hie-ban")
OTHERS = ("hip-nb", "tan", "hie-tan", "hie-tan-lite", "hre-tan", "hie-aode-lite")
AT_MOST, OR_MS = 5, 1.5
# An earlier encoder and this one (`HierarchyEncoder.transform`), measured once: us per row of 100,000 such
# rows (median of nine, three alternating processes each), and ms for one row (median of three processes).
BEFORE_US, NOW_US = 9.82, 2.39
BEFORE_ONE_MS, NOW_ONE_MS = 9.01, 0.064


def taxonomy() -> tuple[list[str], Hierarchy]:
    """Return all categories and their hierarchy; each has one parent on the level above."""
    rng, names, edges, above = np.random.default_rng(0), list[str](), list[tuple[str, str]](), list[str]()
    for size in LEVELS:
        level = [f"category {len(names) + i}" for i in range(size)]
        if above:
            parents = rng.integers(len(above), size=size)
            edges += [(above[parent], name) for parent, name in zip(parents, level, strict=True)]
        names, above = names + level, level
    return names, Hierarchy.from_edges(edges)


def random_rows(names: list[str], n: int, seed: int) -> list[list[str]]:
    """Return rows of 1 to 8 categories."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=n)
    drawn = iter(rng.integers(len(names), size=sizes.sum()).tolist())
    return [[names[next(drawn)] for _ in range(size)] for size in sizes.tolist()]


def training(names: list[str], hierarchy: Hierarchy) -> tuple[list[list[str]], Dataset]:
    rows, rng = random_rows(names, N_TRAINING, 1), np.random.default_rng(2)
    X = rows_from_lists(rows, hierarchy._closed).ones.astype(np.uint8)
    y = (X @ rng.normal(size=X.shape[1]) + rng.normal(size=N_TRAINING) > 0).astype(np.int64)
    return rows, Dataset(
        X=X,
        y=y,
        hierarchy=hierarchy,
        feature_names=hierarchy.features,
        term_names=hierarchy.features,
        target_names=("no", "yes"),
        instance_names=tuple(map(str, range(N_TRAINING))),
        name="shop",
    )


def report(rounds: int = 20) -> Part:
    with threadpool_limits(1):
        names, hierarchy = taxonomy()
        rows, data = training(names, hierarchy)
        logistic = LogisticRegression(max_iter=1000).fit(data.X.astype(np.float64), data.y)
        models = {
            name: train_model(METHODS[name].make(n_jobs=1), data, validate=name in LATENCY)
            for name in (*LATENCY, *OTHERS)
        }
        parts = [
            _latency(rounds, rows, data, logistic, models),
            _throughput(names, logistic, models["hie-logistic"]),
        ]
    return Part("\n\n".join(part.text for part in parts), [row for part in parts for row in part.figures])


def _latency(
    rounds: int, rows: list[list[str]], data: Dataset, logistic: Any, models: dict[str, Model]
) -> Part:
    """One row at a time, different rows in turn."""
    ready = [data.X[[i]].astype(np.float64) for i in range(REPEATS)]

    def each_row(predict: Any, given: list[Any], _: object) -> None:
        for row in given:
            predict(row)

    alone = [[row] for row in rows[:REPEATS]]
    cases = [
        Case(
            "LogisticRegression.predict_proba of a ready row",
            partial(each_row, logistic.predict_proba, ready),
        )
    ]
    cases += [
        Case(METHODS[name].title, partial(each_row, model.predict, alone)) for name, model in models.items()
    ]
    timings = [Timing(tuple(s / REPEATS for s in timing.seconds)) for timing in alternate(cases, rounds)]
    floor = 1e3 * timings[0].median
    most = max(AT_MOST * floor, OR_MS)
    cells, figures = [], []
    for case, timing in zip(cases, timings, strict=True):
        ms, (low, high) = 1e3 * timing.median, timing.quartiles
        has_bar = case.name in {METHODS[name].title for name in LATENCY}
        bar = [f"{most:.2f}", verdict(ms, most)] if has_bar else ["", ""]
        cells.append(
            [case.name, f"{ms:.3f}", f"{1e3 * low:.3f} .. {1e3 * high:.3f}", f"{ms / floor:.1f}", *bar]
        )
        if has_bar:
            figures.append((f"one row of ids, ms: {case.name}", f"{ms:.2f}", f"{most:.2f}"))
    text = (
        "The latency is the time from a list of ids to a calibrated probability (`Model.predict` for one row). "
        f"Each row has 1 to 8 of {len(data.feature_names):,} categories in {len(LEVELS)} levels, and models are "
        "trained "
        f"on {N_TRAINING:,} rows. Times are medians of {rounds} alternating rounds of {REPEATS} rows in one thread. "
        f"HieLogistic and HieBAN should need at most {AT_MOST} times as long as scikit-learn, or {OR_MS} ms if "
        "that is longer. The other methods have no limit, and their probabilities are not calibrated in this "
        "measurement. In a profile of HieLogistic on one row, checking and reading the encoded row needs 55% of the "
        "time. Encoding needs 10%, and scoring needs 10%."
    )
    header = ["one row", "median ms", "quartiles", "x scikit-learn", "at most ms", ""]
    return Part("\n\n".join(["## Latency from ids", text, table(header, cells)]), figures)


def _throughput(names: list[str], logistic: Any, trained: Model) -> Part:
    """A million rows from Parquet, in batches, with the time of each step."""
    seconds = dict.fromkeys(("reading", "encoding", "scoring", "predict", "logistic"), 0.0)
    closed = trained.classifier.hierarchy_._closed

    def encode(rows: list[list[str]]) -> Any:
        return rows_from_lists(rows, closed).ones.astype(np.uint8)

    def timed(step: str, run: Any) -> Any:
        start = time.perf_counter()
        found = run()
        seconds[step] += time.perf_counter() - start
        return found

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        with pq.ParquetWriter(path, pa.schema([("terms", pa.list_(pa.string()))])) as writer:
            for k in range(N_ROWS // BATCH):
                writer.write_table(pa.table({"terms": random_rows(names, BATCH, 10 + k)}))
        size = path.stat().st_size / 1e6
        with pq.ParquetFile(path) as source:
            batches: Iterator[Any] = source.iter_batches(BATCH)
            while (batch := timed("reading", partial(next, batches, None))) is not None:
                rows = timed("reading", batch["terms"].to_pylist)
                timed("predict", partial(trained.predict, rows))
                X = timed("encoding", partial(encode, rows))
                timed("scoring", partial(trained.classifier.predict_log_proba, X))
                ready = X.astype(np.float64)
                timed("logistic", partial(logistic.predict_proba, ready))
    micro = {step: 1e6 * taken / N_ROWS for step, taken in seconds.items()}
    total = micro["reading"] + micro["predict"]
    rest = micro["predict"] - micro["encoding"] - micro["scoring"]
    # Before, there were the probabilities of the classifier only: no calibration, and no result for each row.
    before = micro["reading"] + micro["encoding"] * BEFORE_US / NOW_US + micro["scoring"]

    def line(what: str, value: float) -> list[str]:
        return [what, f"{value:.2f}", f"{value / total:.0%}"]

    cells = [
        line("reading batches and turning them into lists", micro["reading"]),
        line("encoding", micro["encoding"]),
        line("scoring", micro["scoring"]),
        line("a `RowPrediction` for each row, calibration", rest),
        line("all", total),
        line("scikit-learn's predict_proba of the encoded rows", micro["logistic"]),
    ]
    text = (
        f"HieLogistic predicts a Parquet file of {N_ROWS:,} rows ({size:.0f} MB) in batches of {BATCH:,}, as in "
        "[Serve a model](../docs/services.md), but without writing the results. It predicts "
        f"{1e6 / total:,.0f} rows per second in one thread."
    )
    steps = micro["reading"] + micro["encoding"] + micro["scoring"]
    after = (
        f"An earlier encoder needed {BEFORE_US} us per row, and the current encoder needs {NOW_US} us. For a "
        "single row, "
        f"the earlier encoder needed {BEFORE_ONE_MS} ms, and the current encoder needs {NOW_ONE_MS} ms. Both were "
        "measured once, in alternating processes. With the earlier encoder, reading, encoding and scoring would need "
        f"about {before:.1f} us per row. Now, these steps need {steps:.1f} us."
    )
    figures = [
        (
            "a million rows of ids: read, encode and score / with the earlier encoder",
            f"{steps / before:.2f}",
            "0.5",
        ),
        ("a million rows of ids, us per row in all", f"{total:.2f}", ""),
    ]
    title = "## A million rows of ids from Parquet"
    return Part("\n\n".join([title, text, table(["step", "us per row", "share"], cells), after]), figures)


if __name__ == "__main__":
    print(report().text)
