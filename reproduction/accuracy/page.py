"""docs/accuracy.md: the tables between its marks are made from docs/accuracy*.csv alone; the text around them stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.accuracy import peers
from reproduction.accuracy.collect import (
    DIFFERENCES,
    DOCS,
    GENES,
    LEADERS,
    RESULTS,
    TEMPORAL,
    TRIED,
    Row,
)
from reproduction.accuracy.methods import METHODS, SEEDS
from reproduction.accuracy.temporal import RELATIONS, RICHER_METHODS
from reproduction.pages import fill, read_csv

PAGE = DOCS / "accuracy.md"
ORGANISMS = {"CE": "worm", "DM": "fly", "MM": "mouse", "SC": "yeast"}
# Title, scale and decimals of each metric.
SHOWN = {
    "auc": ("AUC", 1, 3),
    "auc_within_folds": ("AUC within folds", 1, 3),
    "gmean": ("GMean", 100, 1),
    "gmean_tuned": ("GMean, tuned", 100, 1),
    "average_precision": ("average precision", 1, 3),
    "log_loss": ("log loss", 1, 3),
    "seconds": ("seconds", 1, 2),
    "brier": ("Brier score", 1, 3),
    "calibration_error": ("calibration error", 1, 3),
    "log_loss_equal": ("equal classes: log loss", 1, 3),
    "brier_equal": ("Brier score", 1, 3),
    "calibration_error_equal": ("calibration error", 1, 3),
}
OF_MEANS = tuple(SHOWN)[:7]
OF_PROBABILITIES = (
    "log_loss",
    "brier",
    "calibration_error",
    "log_loss_equal",
    "brier_equal",
    "calibration_error_equal",
)
JUDGED_BY_PROBABILITIES = (
    "HieLogistic",
    "HieLogistic, calibrated",
    "HieLogistic, class_weight None",
    "HieBAN",
    "HieBAN, equal priors",
    "HieBAN, calibrated",
    "Hie-TAN, pooled",
    "HIP + NB, pooled",
    "ridge logistic regression",
    "balanced random forest",
    "XGBoost",
    "CatBoost",
    "naive Bayes (scikit-learn)",
)


def number(metric: str, value: float | None, sign: str = "") -> str:
    """A value as the page shows it; empty if there is none."""
    _, scale, digits = SHOWN[metric]
    return "" if value is None or value != value else f"{scale * value:{sign}.{digits}f}"


def mean_of(rows: Iterable[Row], metric: str) -> float | None:
    """The mean of a metric over rows; None if there are no values."""
    values = [float(row[metric]) for row in rows if row[metric]]
    return float(np.mean(values)) if values else None


def methods_in(rows: Sequence[Row]) -> list[str]:
    """The methods of these rows, the best mean AUC first."""
    names = dict.fromkeys(row["method"] for row in rows)
    return sorted(names, key=lambda name: -(mean_of(of_method(rows, name), "auc") or 0))


def of_method(rows: Iterable[Row], method: str) -> list[Row]:
    """The rows of a method."""
    return [row for row in rows if row["method"] == method]


def marked(method: str) -> str:
    """The name of a method; ours are in bold."""
    return f"**{method}**" if METHODS[method].is_ours else method


def means_table() -> str:
    """Every metric of every method."""
    rows = read_csv(RESULTS)
    lines = []
    for name in methods_in(rows):
        own = of_method(rows, name)
        cells = [number(metric, mean_of(own, metric)) for metric in OF_MEANS]
        lines.append((marked(name), str(len({row["seed"] for row in own})), *cells))
    header = ("method", "seeds", *(SHOWN[metric][0] for metric in OF_MEANS))
    table = TextTable("Means over the 28 datasets; ours in bold", header, tuple(lines)).to_markdown()
    return table + missing(rows)


def probabilities_table() -> str:
    """How far the probabilities can be believed."""
    rows = read_csv(RESULTS)
    lines = [
        (
            marked(name),
            *(number(metric, mean_of(of_method(rows, name), metric)) for metric in OF_PROBABILITIES),
        )
        for name in JUDGED_BY_PROBABILITIES
    ]
    header = ("method", *(SHOWN[metric][0] for metric in OF_PROBABILITIES))
    return TextTable("Probabilities, means over the 28 datasets", header, tuple(lines)).to_markdown()


def missing(rows: Iterable[Row]) -> str:
    """Says which methods are not measured with all their seeds yet."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["method"], set()).add(row["seed"])
    short = {
        name: len(SEEDS) - len(found.get(name, ()))
        for name in METHODS
        if len(found.get(name, ())) < len(SEEDS)
    }
    if not short:
        return ""
    by_number: dict[int, list[str]] = {}
    for name, n in short.items():
        by_number.setdefault(n, []).append(name)
    listed = "; ".join(f"{n} of {'; '.join(names)}" for n, names in sorted(by_number.items()))
    return f"Seeds that are not measured yet: {listed}.\n\n"


def organisms_table() -> str:
    """AUC and GMean of every method, organism by organism."""
    rows = read_csv(RESULTS)
    tables = []
    for metric in ("auc", "gmean", "gmean_tuned"):
        lines = []
        for name in methods_in(rows):
            own = of_method(rows, name)
            parts = ([row for row in own if row["dataset"].startswith(code)] for code in ORGANISMS)
            lines.append((marked(name), *(number(metric, mean_of(part, metric)) for part in parts)))
        title = f"{SHOWN[metric][0]} per organism, means over seven datasets each"
        tables.append(TextTable(title, ("method", *ORGANISMS.values()), tuple(lines)).to_markdown())
    return "".join(tables)


def interval(row: Row) -> str:
    """A difference and its 95 % interval; in bold if the interval excludes 0."""
    metric = row["metric"]
    mean, low, high = (number(metric, float(row[name]), "+") for name in ("difference", "low", "high"))
    if mean == "+nan":
        return ""
    text = f"{mean} ({low} to {high})"
    return f"**{text}**" if float(row["low"]) * float(row["high"]) > 0 else text


def differences_table(part: str) -> str:
    """Our leaders minus each rival, with intervals from the bootstrap over genes."""
    rows = [row for row in read_csv(DIFFERENCES) if row["part"] == part]
    tables = []
    for leader in LEADERS:
        own = [row for row in rows if row["method"] == leader]
        groups = list(dict.fromkeys(row["group"] for row in own))
        for metric in ("auc", "gmean"):
            lines = []
            for rival in dict.fromkeys(row["other"] for row in own):
                cells = {
                    row["group"]: interval(row)
                    for row in own
                    if row["other"] == rival and row["metric"] == metric
                }
                lines.append((rival, *(cells[group] for group in groups)))
            title = f"{SHOWN[metric][0]} of {leader} minus that of"
            header = ("", *(ORGANISMS.get(group, group) for group in groups))
            tables.append(TextTable(title, header, tuple(lines)).to_markdown())
    return "".join(tables)


def genes_table() -> str:
    """What became of the genes on the way to training and test rows."""
    rows = [row for row in read_csv(GENES) if row["dataset"].endswith(" BPMFCC")]
    names = [name for name in (rows[0] if rows else {}) if name != "dataset"]
    lines = tuple((name, *(row[name] for row in rows)) for name in names)
    header = ("genes", *(row["dataset"].partition(" ")[0] for row in rows))
    return TextTable("Genes, with terms of all three namespaces", header, lines).to_markdown()


def temporal_table() -> str:
    """Every metric of every method on the genes added by 2025."""
    rows = [row for row in read_csv(TEMPORAL) if row["dataset"].count(" ") == 1]
    lines = []
    shown = ("auc", "gmean", "gmean_tuned", "average_precision", "log_loss")
    for name in methods_in(rows):
        cells = []
        for organism in ("worm", "fly"):
            own = [row for row in of_method(rows, name) if row["dataset"].startswith(organism)]
            cells += [number(metric, mean_of(own, metric)) for metric in shown]
        lines.append((marked(name), *cells))
    columns = [f"{organism}: {SHOWN[metric][0]}" for organism in ("worm", "fly") for metric in shown]
    title = "Trained on 2014, tested on genes added by 2025; means over seven combinations of namespaces"
    return TextTable(title, ("method", *columns), tuple(lines)).to_markdown()


def relations_table() -> str:
    """AUC and GMean with richer relations between terms."""
    rows = read_csv(TEMPORAL)
    lines = []
    for relations in RELATIONS:
        suffix = "" if relations == "is_a" else f" {relations}"
        part = [row for row in rows if row["dataset"].partition(" ")[2].partition(" ")[2] == suffix.strip()]
        for name in RICHER_METHODS:
            cells = [
                number(
                    metric, mean_of((r for r in of_method(part, name) if r["dataset"].startswith(o)), metric)
                )
                for o in ("worm", "fly")
                for metric in ("auc", "gmean")
            ]
            if any(cells):
                lines.append((relations, marked(name), *cells))
    header = ("relations", "method", "worm: AUC", "worm: GMean", "fly: AUC", "fly: GMean")
    return TextTable("Richer relations when the data are built", header, tuple(lines), (), 2).to_markdown()


def tried_table() -> str:
    """What was tried to improve on HieLogistic: the difference in AUC and GMean, organism by organism."""
    rows = read_csv(TRIED)
    lines = []
    for row in rows:
        cells = []
        for group in ("all", *ORGANISMS):
            auc, gmean = (row[f"{metric}_{group}"] for metric in ("auc", "gmean"))
            cells.append(f"{float(auc):+.3f} / {100 * float(gmean):+.1f}" if auc else "")
        lines.append((row["what"], *cells, row["verdict"]))
    header = ("tried", "all", *ORGANISMS.values(), "verdict")
    title = "AUC / GMean minus those of HieLogistic"
    return TextTable(title, header, tuple(lines)).to_markdown()


def settings_list() -> str:
    """The settings of the peers."""
    grid = f"{peers.C_GRID[0]:g} to {peers.C_GRID[-1]:g}, {len(peers.C_GRID)} values"
    return f"""
- *ridge logistic regression*: scikit-learn, balanced classes; C ({grid}) by the balanced log loss of 5 inner folds.
- *ridge logistic regression, C 0.1*: the same with a value that is known to be good from these very datasets; C differs
  between the folds above, which costs a ranking over all folds together, but none within folds.
- *balanced random forest*: imbalanced-learn, {peers.FOREST_TREES} trees, otherwise its defaults.
- *XGBoost*: {peers.XGBOOST_TREES} trees of depth {peers.XGBOOST_DEPTH}, learning rate {peers.XGBOOST_RATE}, 80 % of the
  rows and 50 % of the columns for each tree, balanced classes.
- *CatBoost*: {peers.CATBOOST_TREES} trees of depth {peers.CATBOOST_DEPTH}, 30 % of the columns for each split, balanced
  classes; it chooses its learning rate.
- *simGIC nearest neighbours*: k of {", ".join(map(str, peers.SimGIC.k_grid))} by the leave-one-out log loss of the
  training rows; information content from the training rows.
- *number of annotations*: a logistic regression on the logarithm of 1 + the number of terms of a gene, nothing else.

"""


BLOCKS: Mapping[str, Callable[[], str]] = {
    "settings": settings_list,
    "means": means_table,
    "probabilities": probabilities_table,
    "organisms": organisms_table,
    "differences": lambda: differences_table("folds"),
    "genes": genes_table,
    "temporal": temporal_table,
    "temporal differences": lambda: differences_table("temporal"),
    "relations": relations_table,
    "tried": tried_table,
}


def filled(page: str) -> str:
    """The page with every table made again from the files."""
    return fill(page, BLOCKS)


def write() -> None:
    """Fill the tables of docs/accuracy.md."""
    atomic_write(PAGE, filled(PAGE.read_text(encoding="utf-8")))
