"""GMean and AUC of every method on the 28 ageing-gene datasets: python reproduction/accuracy.py [write].

10-fold cross-validation with seed 0, alpha 1 and both smoothings; predictions are pooled over the folds. The results go
into docs/accuracy.csv and their means into docs/accuracy.md. Most of the time is spent on the tuned lambda of
proximalGraph, so finished datasets are kept in out/accuracy and not computed again. `write` only rewrites the means on
the page, from docs/accuracy.csv.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.naive_bayes import BernoulliNB

import hietan
from hietan import ProximalGraph
from hietan.catalogue import METHODS as CATALOGUE
from hietan.classifiers import SMOOTHINGS
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.evaluation import pooled_predictions
from hietan.evaluation.outputs import TextTable

ROOT = Path(__file__).parent.parent
DOCS, DONE = ROOT / "docs", ROOT / "out" / "accuracy"
# The Bayesian classifiers: those that smooth.
METHODS: dict[str, Any] = {
    entry.title: entry.make for entry in CATALOGUE.values() if "smoothing" in signature(entry.make).parameters
}
FIELDS = ["dataset", "method", "smoothing", "gmean", "sensitivity", "specificity", "auc"]


def settings() -> Iterator[tuple[str, str, Any]]:
    """Method, smoothing and a classifier that is not fitted yet."""
    for name, method in METHODS.items():
        for smoothing in SMOOTHINGS:
            yield name, smoothing, method(smoothing=smoothing)
    yield "naive Bayes (scikit-learn)", "laplace", BernoulliNB()
    yield "proximalGraph, lambda 0.002", "", ProximalGraph(lam=0.002)
    yield "proximalGraph, lambda tuned", "", ProximalGraph()


def measure(organism: str, namespaces: str) -> list[dict[str, str]]:
    """A row per setting for one dataset."""
    data = fetch_ageing_genes(organism, namespaces)
    done = DONE / f"{data.name}.json"
    if done.exists():
        return json.loads(done.read_text())
    rows = []
    for name, smoothing, classifier in settings():
        values = pooled_predictions(classifier, data, n_splits=10, seed=0).metrics()
        shown = {field: f"{values[field]:.4f}" for field in FIELDS[3:]}
        rows.append({"dataset": data.name, "method": name, "smoothing": smoothing, **shown})
    done.write_text(json.dumps(rows))
    return rows


def means(rows: list[dict[str, str]]) -> str:
    """Markdown tables of the means over the datasets: of methods that smooth, and of those that do not."""
    smoothed = _means([row for row in rows if row["smoothing"]], SMOOTHINGS)
    columns = [f"{what}, {smoothing}" for smoothing in SMOOTHINGS for what in ("GMean", "AUC")]
    other = _means([row for row in rows if not row["smoothing"]], ("",))
    caption = f"Means over the 28 datasets, hietan {hietan.__version__}; GMean in per cent"
    tables = [
        TextTable(caption, ("method", *columns), smoothed),
        TextTable("Methods without smoothing", ("method", "GMean", "AUC"), other),
    ]
    return "".join(table.to_markdown() for table in tables)


def _means(rows: list[dict[str, str]], smoothings: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = [name]
        for smoothing in smoothings:
            chosen = [row for row in rows if (row["method"], row["smoothing"]) == (name, smoothing)]
            for field, scale, digits in (("gmean", 100, 1), ("auc", 1, 3)):
                mean = scale * np.mean([float(row[field]) for row in chosen]) if chosen else None
                cells.append("" if mean is None else f"{mean:.{digits}f}")
        lines.append(tuple(cells))
    return tuple(lines)


def run() -> None:
    """Measure all datasets, two at a time, and write docs/accuracy.csv."""
    DONE.mkdir(parents=True, exist_ok=True)
    parts = Parallel(n_jobs=2)(delayed(measure)(*pair) for pair in AGEING_DATASETS)
    with open(DOCS / "accuracy.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for part in parts for row in part)


def write() -> None:
    """Put the means of docs/accuracy.csv on the page."""
    with open(DOCS / "accuracy.csv", newline="", encoding="utf-8") as file:
        shown = means(list(csv.DictReader(file)))
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    head, _, rest = page.partition("<!-- means -->\n")
    _, _, tail = rest.partition("<!-- end of means -->")
    text = f"{head}<!-- means -->\n{shown}<!-- end of means -->{tail}"
    (DOCS / "accuracy.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit("usage: accuracy.py [write]")
    if not sys.argv[1:]:
        run()
    write()
