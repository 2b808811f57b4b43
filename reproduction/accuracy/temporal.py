"""A test in time: trained on the genes that GenAge listed in 2014, tested on those that it has added by 2025.

Worm and fly, Gene Ontology and annotations of January 2019, seven combinations of namespaces. Features are chosen on
the training rows alone: terms of at least 3 of them that not all of them have.
"""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from hietan._io.files import safe_file_name
from hietan.datasets import Dataset, build_dataset, read_annotations, read_labels, read_obo
from hietan.datasets._readers.labels import Labels
from hietan.evaluation._cross_validation import configure
from reproduction.accuracy import measure
from reproduction.accuracy.measure import FoldScores
from reproduction.accuracy.methods import METHODS, ORDER, SEEDS, Measured

ORGANISMS = {"worm": ("CE", "Caenorhabditis elegans"), "fly": ("DM", "Drosophila melanogaster")}
NAMESPACES = ("BP", "MF", "CC", "BPMF", "BPCC", "MFCC", "BPMFCC")
RELATIONS = {
    "is_a": ("is_a",),
    "is_a and part_of": ("is_a", "part_of"),
    "is_a, part_of and regulates": (
        "is_a",
        "part_of",
        "regulates",
        "positively_regulates",
        "negatively_regulates",
    ),
}


@dataclass(frozen=True, eq=False)
class Held:
    """Training and test rows over the same columns, and what became of the genes on the way."""

    name: str
    train: Dataset
    test: Dataset
    account: dict[str, int]


def data_directory() -> Path:
    """Where the files are: HIETAN_DATA."""
    return Path(os.environ["HIETAN_DATA"])


def labels_of(organism: str) -> tuple[Labels, Labels, dict[str, int]]:
    """Labels of the genes listed in 2014, labels of those added since, and counts of both."""
    code, species = ORGANISMS[organism]
    directory = data_directory()
    archive = directory / "ageing-2014" / "Genage-4ModelOrganisms.zip"
    old_table = f"{archive}/genage_models_export_{code}_13062014.tsv"
    new_table = directory / "genage-2025" / "genage_models_2025.csv"
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # 17 fields under 16 names: the columns that are used count from the left
        old = read_labels(
            old_table,
            id_column="Gene Symbol",
            label_column="Longevity Influence",
            mapping={"anti": "anti", "pro": "pro"},
        )
        entrez = read_labels(
            old_table, id_column="Entrez Gene ID", label_column="Gene Symbol", on_conflict="first"
        )
        numbers = read_labels(old_table, id_column="Gene ID", label_column="Gene Symbol", on_conflict="first")
    new = read_labels(
        new_table,
        id_column="symbol",
        label_column="longevity influence",
        mapping={"Anti-Longevity": "anti", "Pro-Longevity": "pro"},
        where={"organism": species},
    )
    with open(new_table, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["organism"] == species]
    listed = set(entrez.by_id.values()) | set(old.by_id) | set(old.conflicting)
    # A gene is new if neither its symbol nor its Entrez or GenAge number was listed.
    added = {
        row["symbol"]
        for row in rows
        if row["symbol"] not in listed
        and row["entrez gene id"] not in entrez.by_id
        and row["GenAge ID"] not in numbers.by_id
    }
    clear = {symbol: label for symbol, label in new.by_id.items() if symbol in added}
    counts = {
        "listed in 2014": len(listed),
        "listed with both labels or none": len(listed) - len(old.by_id),
        "added by 2025": len(added),
        "added with both labels or none": len(added) - len(clear),
    }
    return old, Labels(clear, ("anti", "pro")), counts


@cache
def _ontology() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_obo(data_directory() / "go-2019" / "GeneOntology_2019.01.29.obo.gz")


@cache
def _annotations(organism: str) -> list[Any]:
    return list(read_annotations(data_directory() / "go-2019" / f"GO.goa_{organism}_2019.01.29.gz"))


@cache
def hold_out(organism: str, namespaces: str, relations: str = "is_a") -> Held:
    """Build the training and the test rows of an organism."""
    old, new, counts = labels_of(organism)
    options: dict[str, Any] = {"namespaces": namespaces, "relations": RELATIONS[relations]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # genes without annotations are counted below
        train = build_dataset(_ontology(), _annotations(organism), old, drop_constant=True, **options)
        test = build_dataset(
            _ontology(), _annotations(organism), new, features=train.feature_names, **options
        )
    known = set(train.instance_names) | {symbol for symbol in train.symbols if symbol}
    symbols = test.symbols or test.instance_names
    fresh = [
        i
        for i, (name, symbol) in enumerate(zip(test.instance_names, symbols, strict=True))
        if name not in known and symbol not in known
    ]
    counts = {
        **counts,
        "listed and labelled, but without annotation": len(old) - len(train.y),
        "training genes": len(train.y),
        "of the training genes, pro": int(train.y.sum()),
        "added and labelled, but without annotation": len(new) - len(test.y),
        "test genes": len(fresh),
        "of the test genes, pro": int(test.y[fresh].sum()),
        "test genes under another name of a training gene, left out": len(test.y) - len(fresh),
        "test genes without any of the features": int((np.diff(test.X.indptr)[fresh] == 0).sum()),
        "features": len(train.feature_names),
    }
    name = f"{organism} {namespaces}" + ("" if relations == "is_a" else f" {relations}")
    return Held(name, train, test.subset(rows=fresh), counts)


def path_of(held: Held, method: str, seed: int) -> Path:
    """Where the scores of the test rows are kept."""
    return (
        measure.OUT
        / "temporal"
        / f"seed-{seed}"
        / safe_file_name(method)
        / f"{safe_file_name(held.name)}.npz"
    )


def measure_held(method: Measured, held: Held, seed: int) -> FoldScores:
    """Fit to the training rows and score the test rows; the seed is that of the classifier and of inner folds."""
    model = configure(method.make(), held.train.hierarchy, seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(held.train.X, held.train.y)
    score = measure.scores_of(fitted, held.test.X)
    seconds = time.process_time() - start
    inner = measure.out_of_sample_scores(fitted, model, held.train.X, held.train.y, seed)
    threshold = np.array([measure.best_threshold(held.train.y == 1, inner)])
    return FoldScores(score, None, threshold, np.zeros(len(score), dtype=np.int64), seconds)


def load(held: Held, method: str, seed: int) -> FoldScores | None:
    """The scores that are kept, or None."""
    return measure.load_file(path_of(held, method, seed))


def sets(relations: str = "is_a") -> Iterator[Held]:
    """The fourteen pairs of training and test rows."""
    for organism in ORGANISMS:
        for namespaces in NAMESPACES:
            yield hold_out(organism, namespaces, relations)


def run(relations: tuple[str, ...] = tuple(RELATIONS)) -> None:
    """Measure whatever is not kept yet; the richer relations with the methods that the page compares there."""
    for kind in relations:
        for seed in SEEDS:
            for name in ORDER:
                method = METHODS[name]
                if kind != "is_a" and name not in RICHER_METHODS:
                    continue
                for held in sets(kind):
                    if not path_of(held, name, seed).exists():
                        measure.save(measure_held(method, held, seed), path_of(held, name, seed))
            print(time.strftime("%H:%M:%S"), kind, f"seed {seed}", flush=True)


RICHER_METHODS = (
    "HieLogistic",
    "HieBAN, equal priors",
    "ridge logistic regression",
    "ridge logistic regression, C 0.1",
    "balanced random forest",
    "XGBoost",
)
