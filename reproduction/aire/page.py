"""docs/selections.md: the tables between its marks are made from docs/aire.csv alone; the text around them stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from hietan._io.files import atomic_write
from reproduction.aire.measure import RESULTS, Row, read_results
from reproduction.pages import fill

PAGE = RESULTS.parent / "selections.md"
MODELS = {
    "nb": "naive Bayes",
    "tan": "TAN",
    "nearest": "3 nearest neighbours",
    "logistic-balanced": "logistic regression, balanced",
}
# The methods of each line: a selection, and the method of each model.
SELECTIONS: Mapping[str, Mapping[str, str]] = {
    "none": {
        "nb": "bernoulli-nb",
        "tan": "tan",
        "nearest": "nearest",
        "logistic-balanced": "logistic-l2-balanced",
    },
    **{
        title: {model: f"{title.lower()}-{model}" for model in ("nb", "tan", "nearest")}
        for title in ("HIP", "MR", "HIP-MR")
    },
    "HNB, 50 features": {"nb": "hnb"},
    "RNB, 50 features": {"nb": "rnb"},
    **{title: {model: f"{title.lower()}-{model}" for model in MODELS} for title in ("GTD", "SHSEL", "TSEL")},
}


def mean(rows: Iterable[Row], metric: str) -> float:
    """The mean over datasets of the mean over seeds."""
    by_dataset: dict[str, list[float]] = {}
    for row in rows:
        by_dataset.setdefault(row["dataset"], []).append(float(row[metric]))
    return float(np.mean([np.mean(values) for values in by_dataset.values()]))


def both(rows: Sequence[Row]) -> str:
    """Return the mean GMean and AUC as the text of a cell."""
    return f"{mean(rows, 'gmean'):.3f} / {mean(rows, 'auc'):.3f}"


def of(rows: Iterable[Row], method: str) -> list[Row]:
    """The rows of a method."""
    return [row for row in rows if row["method"] == method]


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, ruler, *lines))


def means_table() -> str:
    """A line per selection, a column per model."""
    rows = read_results()
    lines = [
        [title, *(both(of(rows, methods[model])) if model in methods else "" for model in MODELS)]
        for title, methods in SELECTIONS.items()
    ]
    return table(["selection", *MODELS.values()], lines)


def settings_text() -> str:
    """How the figures were made."""
    rows = read_results()
    seeds = len({row["seed"] for row in rows})
    datasets = len({row["dataset"] for row in rows})
    times = "come from one seed" if seeds == 1 else f"are means over {seeds} seeds"
    return (
        f"Each cell shows the mean GMean and the mean AUC over {datasets} datasets, with stratified 10-fold\n"
        f"cross-validation. Each metric is computed from the pooled predictions of all folds. The values {times}.\n"
        "Alpha is 1 with Laplace smoothing, and thresholds are not tuned.\n"
    )


BLOCKS: Mapping[str, Callable[[], str]] = {
    "settings": settings_text,
    "means": means_table,
}


def filled(page: str) -> str:
    """The page with every table made again from the file."""
    return fill(page, BLOCKS)


def write() -> None:
    """Fill the tables of docs/selections.md."""
    atomic_write(PAGE, filled(PAGE.read_text(encoding="utf-8")))
