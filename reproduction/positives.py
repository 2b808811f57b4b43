"""Positives and unlabelled rows, tested on hidden labels: python -m reproduction.positives [write].

Labels of one class are hidden at random, or preferentially in rows with few annotations. The hidden rows join the other
class as unlabelled rows, so their true classes are known here. Each run draws other hidden labels. Worm and fly are in
the package; HIETAN_DATA names the folder of the published datasets. Results go to docs/positives.csv. `write` only
rewrites the tables on the page.
"""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from hietan import HieLogistic
from hietan._io.files import atomic_write
from hietan._runtime.two_classes import rank_auc
from hietan.catalogue import load_dataset
from hietan.datasets import Dataset, build_dataset, load_ageing_genes, make_hierarchical_classification
from hietan.evaluation._outputs.text_table import TextTable
from hietan.models import rank_rows, read_names, train_model
from hietan.models.names import RowNames, match_rows
from hietan.scores import reliability_curve
from hietan.scores.lifts import LEAST_POSITIVES
from reproduction.pages import fill, read_csv, write_csv

DOCS = Path(__file__).parent.parent / "docs"
RUNS, HIDDEN = 200, (0.3, 0.5, 0.7)
PUBLISHED = ("CE-BPMFCC", "DM-BPMFCC", "MM-BPMFCC", "SC-BPMFCC")
RANDOM, SELECTIVE = "random", "few annotations first"
MEASURES = (
    "share",
    "bound",
    "holds",
    "probability",
    "calibration_error",
    "auc",
    "corrected_auc",
    "true_auc",
    "lift",
    "no_lift",
)
ORGANISMS = {"worm": ("CE", "Caenorhabditis elegans"), "fly": ("DM", "Drosophila melanogaster")}
CIRCULAR = ("GO:0008340", "GO:0007568")  # determination of adult lifespan, aging
LATER_FIELDS = (
    *("organism", "listed in 2014", "unlabelled", "listed later", "AUC, model", "AUC, number of annotations"),
    *("in the first 100, model", "in the first 100, annotations", "in 100 by chance"),
)
FIELDS = ("dataset", "positive", "hidden", "labels hidden", "runs", *MEASURES)


def hide(
    data: Dataset, positive: int, hidden: float, how: str, rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Which rows of the positive class lose their label.

    Selectively: rows are drawn with odds that halve with each doubling of their number of annotations.
    """
    rows = np.flatnonzero(data.y == positive)
    n = np.asarray(data.X.sum(axis=1)).ravel()[rows] if how == SELECTIVE else np.zeros(len(rows))
    drawn = rng.choice(rows, round(hidden * len(rows)), replace=False, p=(1 / (1 + n)) / (1 / (1 + n)).sum())
    found = np.zeros(len(data.y), dtype=bool)
    found[drawn] = True
    return found


def run(data: Dataset, positive: int, hidden: float, how: str, seed: int) -> list[float]:
    """The measures of one run."""
    is_hidden = hide(data, positive, hidden, how, np.random.default_rng(seed))
    is_known = (data.y == positive) & ~is_hidden
    mixed = replace(data, y=is_known.astype(np.intp), target_names=("unlabelled", "known"), positive="known")
    trained = train_model(HieLogistic(), mixed, seed=seed, unlabelled="unlabelled")
    share = is_hidden.sum() / (~is_known).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a true share above the bound
        ranked = rank_rows(trained, mixed, match=("id",), prior=share)
    candidates = ranked.order[: ranked.n_new]
    truth = data.y[candidates] == positive
    bound, auc = trained.unlabelled_bound, trained.quality["auc"]
    calibrated = [np.nan] * 2
    if ranked.probabilities is not None:
        p = ranked.probabilities[candidates]
        calibrated = [p.mean(), reliability_curve(truth.astype(int), p).expected_calibration_error]
    everything = rank_auc(data.y == positive, trained.held_out.log_odds)
    lift = np.nan if ranked.lifts is None else ranked.lifts[candidates].mean()
    corrected = (auc - share / 2) / (1 - share)
    return [share, bound, share <= bound, *calibrated, auc, corrected, everything, lift, np.isnan(lift)]


def measure() -> None:
    """Measure all combinations, each as a mean over the runs."""
    data = {"worm": load_ageing_genes("worm"), "fly": load_ageing_genes("fly")}
    data |= {name: load_dataset(name) for name in PUBLISHED}
    data["made up"] = make_hierarchical_classification(2000, 200, random_state=0)
    rows: list[dict[str, object]] = [*read_csv(DOCS / "positives.csv")]  # a run that was interrupted goes on
    done = {tuple(str(row[name]) for name in FIELDS[:4]) for row in rows}
    for name, each in data.items():
        for positive, label in enumerate(each.target_names):
            for how in (RANDOM, SELECTIVE):
                for hidden in HIDDEN:
                    n = int(np.sum(each.y == positive))
                    if (name, label, str(hidden), how) in done or n - round(hidden * n) < LEAST_POSITIVES:
                        continue
                    jobs = (delayed(run)(each, positive, hidden, how, seed) for seed in range(RUNS))
                    found = np.array(Parallel(n_jobs=2)(jobs))
                    cells = {m: f"{v:.4f}" for m, v in zip(MEASURES, np.nanmean(found, axis=0), strict=True)}
                    key = {"dataset": name, "positive": label, "hidden": hidden, "labels hidden": how}
                    rows.append(key | {"runs": RUNS} | cells)
                    print(*rows[-1].values(), flush=True)
                    write_csv(DOCS / "positives.csv", FIELDS, rows)


def later(organism: str) -> dict[str, object]:
    """Where a model of the genes listed in 2014 ranks those that were added by 2025."""
    code, species = ORGANISMS[organism]
    folder = Path(os.environ["HIETAN_DATA"])
    old = f"{folder}/ageing-2014/Genage-4ModelOrganisms.zip/genage_models_export_{code}_13062014.tsv"
    go = folder / "go-2019"
    files = (go / "GeneOntology_2019.01.29.obo.gz", go / f"GO.goa_{organism}_2019.01.29.gz")
    options: dict[str, Any] = {"namespaces": "BP", "others": "other", "match": ("symbol", "id", "synonym")}
    options["drop_terms"] = CIRCULAR
    then = build_dataset(*files, dict.fromkeys(read_names(old, "Gene Symbol"), "listed"), **options)
    now = build_dataset(*files, dict.fromkeys(listed_genes(species), "listed"), **options)
    trained = train_model(HieLogistic(), then, unlabelled="other")
    ranked = rank_rows(trained, then)
    listed = now.subset(rows=now.y == now.target_names.index("listed"))
    matches = match_rows(RowNames.of(ranked.data), RowNames.of(listed), ("id", "symbol"))
    candidates = ranked.order[: ranked.n_new]
    is_later = np.array([matches[i] is not None for i in candidates])
    annotations = np.asarray(then.X.sum(axis=1)).ravel()[candidates]
    by_annotations = np.argsort(-annotations, kind="stable")
    aucs = rank_auc(is_later, ranked.log_odds[candidates]), rank_auc(is_later, annotations.astype(float))
    first = is_later[:100].sum(), is_later[by_annotations[:100]].sum(), 100 * is_later.mean()
    cells = (len(then.y) - ranked.n_new, len(candidates), is_later.sum(), *aucs, *first)
    return {"organism": organism} | dict(
        zip(LATER_FIELDS[1:], (f"{cell:.3f}".removesuffix(".000") for cell in cells), strict=True)
    )


def listed_genes(species: str) -> list[str]:
    """The symbols of the genes that GenAge lists in 2025."""
    path = Path(os.environ["HIETAN_DATA"]) / "genage-2025" / "genage_models_2025.csv"
    with path.open(encoding="utf-8") as file:
        return [row["symbol"] for row in csv.DictReader(file) if row["organism"] == species]


HIDING = {RANDOM: "at random", SELECTIVE: "from sparsely annotated rows first"}
SHOWN = ("worm", "fly", "made up")  # the file has all datasets


def later_table() -> str:
    """The genes listed later, as a table."""
    rows = tuple(tuple(row[name] for name in LATER_FIELDS) for row in read_csv(DOCS / "positives-later.csv"))
    return TextTable("Genes added to GenAge after 2014", LATER_FIELDS, rows).to_markdown()


def bounds_table(how: str) -> str:
    """For each dataset and class shown: the true share, the mean bound, and how often the share is below the bound."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in read_csv(DOCS / "positives.csv"):
        if row["labels hidden"] == how and row["dataset"] in SHOWN:
            share, bound, holds = (float(row[name]) for name in ("share", "bound", "holds"))
            cell = f"{share:.3f} of {bound:.3f} ({holds:.1%})"
            lines.setdefault((row["dataset"], row["positive"]), {})[row["hidden"]] = cell
    heading = ("data", "positive", *(f"{hidden:.0%} hidden" for hidden in HIDDEN))
    table = tuple((*key, *(cells.get(str(h), "–") for h in HIDDEN)) for key, cells in lines.items())
    title = f"True share, mean bound and how often the bound holds, if labels are hidden {HIDING[how]}"
    return TextTable(title, heading, table).to_markdown()


def quality_table() -> str:
    """The AUC against unlabelled and true classes, and the probabilities with the true share, half hidden."""
    names = ("auc", "corrected_auc", "true_auc", "share", "probability", "calibration_error")
    lines = []
    for row in read_csv(DOCS / "positives.csv"):
        if row["hidden"] == "0.5" and row["dataset"] in SHOWN:
            lines.append(
                (
                    row["dataset"],
                    row["positive"],
                    row["labels hidden"],
                    *(f"{float(row[n]):.3f}" for n in names),
                )
            )
    heading = (
        *("data", "positive", "labels hidden", "AUC, unlabelled", "AUC, corrected", "AUC, true classes"),
        *("true share", "mean probability", "calibration error"),
    )
    return TextTable("Half of the labels hidden", heading, tuple(lines)).to_markdown()


def blocks() -> dict[str, Callable[[], str]]:
    """The tables of the page, by the names of their places."""
    return {
        "later": later_table,
        "random": lambda: bounds_table(RANDOM),
        "selective": lambda: bounds_table(SELECTIVE),
        "quality": quality_table,
    }


def write() -> None:
    """Put the tables on the page."""
    path = DOCS / "positives.md"
    atomic_write(path, fill(path.read_text(encoding="utf-8"), blocks()))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit("usage: python -m reproduction.positives [write]")
    if not sys.argv[1:]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # genes without annotations
            write_csv(DOCS / "positives-later.csv", LATER_FIELDS, [later(name) for name in ORGANISMS])
            measure()
    write()
