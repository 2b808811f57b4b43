"""The lists with a stated false discovery rate of docs/fdr.md, tested: python -m reproduction.fdr [write].

Random splits of worm and fly (in the package) and of eight published datasets: 75% of the rows are training rows, the
others are candidates with known classes. Then fresh rows of made-up datasets, with few features (and many equal rows)
or many. Then a test in time: trained on the genes that GenAge listed in 2014, with the genes that it has added by 2025
as candidates. HIETAN_DATA names the folder of both; results go to docs/fdr.csv. `write` only rewrites the tables on
the page.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hietan import HieBAN, HieLogistic, HieTAN
from hietan._io.files import atomic_write
from hietan.catalogue import load_dataset
from hietan.datasets import Dataset, build_dataset, load_ageing_genes, make_hierarchical_classification
from hietan.evaluation._outputs.text_table import TextTable
from hietan.models import rank_rows, read_names, train_model
from hietan.scores.rates import select_rows
from reproduction.pages import fill, read_csv, write_csv

DOCS = Path(__file__).parent.parent / "docs"
METHODS = {"HieLogistic": HieLogistic, "HieBAN": HieBAN, "Hie-TAN": HieTAN}
RATES, WAYS = (0.1, 0.2, 0.3), ("cv", "split")
SPLITS, SEEDS = 600, 20
FEATURES, FRESH_RATES, FRESH_RUNS, FRESH_TRAINING, FRESH_ROWS = (
    (10, 40, 100, 400),
    (0.2, 0.3, 0.4),
    200,
    400,
    600,
)
PUBLISHED = tuple(f"{organism}-{part}" for organism in ("CE", "DM", "MM", "SC") for part in ("BP", "MF"))
ORGANISMS = {"worm": ("CE", "Caenorhabditis elegans"), "fly": ("DM", "Drosophila melanogaster")}
FIELDS = (
    "test",
    "dataset",
    "method",
    "way",
    "wanted",
    "q",
    "runs",
    "candidates",
    "fdp",
    "error",
    "rows",
    "power",
)
WAY_NAMES = {"cv": "cross-validation", "split": "a split"}
LATER, RANDOM, FRESH = "later", "random", "fresh"


def split_results(data: Dataset, method: str, seed: int) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    """The lists from one random split: (way, wanted class, q), and results (see `judged`)."""
    rng = np.random.default_rng(seed)
    is_training = np.zeros(len(data.y), dtype=bool)
    while np.bincount(data.y[is_training], minlength=2).min() < 10:
        is_training[:] = rng.permutation(len(data.y)) < 0.75 * len(data.y)
    return list_results(data, is_training, method, seed, RATES)


def fresh_results(name: str, method: str, seed: int) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    """The lists of rows drawn like the training rows, of a dataset with this many features."""
    data = make_hierarchical_classification(FRESH_ROWS, int(name.split()[0]), random_state=seed)
    return list_results(data, np.arange(FRESH_ROWS) < FRESH_TRAINING, method, seed, FRESH_RATES)


def list_results(
    data: Dataset, is_training: np.ndarray[Any, Any], method: str, seed: int, rates: tuple[float, ...]
) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    """The lists of the rows that are not training rows: (way, wanted class, q), and results (see `judged`)."""
    train, y = data.subset(rows=is_training), data.y[~is_training]
    X = data.X[np.flatnonzero(~is_training)]
    for way in WAYS:
        folds = 5 if way == "cv" else None
        model = train_model(METHODS[method](), train, seed=seed, folds=folds, fdr=way)
        for wanted, name in enumerate(data.target_names):
            turned = model.with_positive(name)
            ranks = turned.p_value_ranks(turned.score(X).log_odds, X)
            for q in rates:
                found = select_rows(ranks, len(turned.held_out), q)
                yield (way, name, q), judged(y[ranks <= found.limit] == wanted, y == wanted)


def judged(listed: np.ndarray[Any, Any], candidates: np.ndarray[Any, Any]) -> list[float]:
    """Share of wrong rows (0 if none is listed), rows, share of all wanted rows that are listed, and candidates."""
    n, right = len(listed), int(listed.sum())
    return [(n - right) / max(n, 1), n, right / max(int(candidates.sum()), 1), len(candidates)]


def later_genes(organism: str) -> tuple[Dataset, Dataset, tuple[str, ...]]:
    """Genes that GenAge listed in 2014, all that it lists in 2025, and the symbols of all listed in 2014."""
    code, species = ORGANISMS[organism]
    folder = Path(os.environ["HIETAN_DATA"])
    old = f"{folder}/ageing-2014/Genage-4ModelOrganisms.zip/genage_models_export_{code}_13062014.tsv"
    files = (
        folder / "go-2019" / "GeneOntology_2019.01.29.obo.gz",
        folder / "go-2019" / f"GO.goa_{organism}_2019.01.29.gz",
    )
    was = {"id_column": "Gene Symbol", "label_column": "Longevity Influence"}
    now = {"id_column": "symbol", "label_column": "longevity influence", "where": {"organism": species}}
    names = {"Anti-Longevity": "anti", "Pro-Longevity": "pro"}
    train = build_dataset(
        *files,
        old,
        namespaces="BP",
        mapping={"anti": "anti", "pro": "pro"},
        name=f"{organism} of 2014",
        **was,
    )
    table = folder / "genage-2025" / "genage_models_2025.csv"
    later = build_dataset(*files, table, features=train, namespaces="BP", mapping=names, name=organism, **now)
    return train, later, read_names(old, "Gene Symbol")


def later_results(organism: str, method: str) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    """The lists of genes that were added after 2014, for each seed of the folds."""
    train, later, listed = later_genes(organism)
    label_of = dict(zip(later.instance_names, later.y.tolist(), strict=True))
    for seed in range(SEEDS):
        for way in WAYS:
            trained = train_model(METHODS[method](), train, seed=seed, fdr=way)
            for wanted in ("anti", "pro"):
                ranked = rank_rows(trained, later, exclude=listed, positive=wanted)
                code = later.target_names.index(wanted)
                is_wanted = {row.instance: label_of[row.instance] == code for row in ranked.new_rows}
                for q in RATES:
                    right = [is_wanted[row.instance] for row in ranked.select(q).new_rows]
                    yield (way, wanted, q), judged(np.array(right), np.array([*is_wanted.values()]))


def measure() -> list[dict[str, object]]:
    """All results, each a mean over splits or seeds."""
    data = {"worm": load_ageing_genes("worm"), "fly": load_ageing_genes("fly")}
    data |= {name: load_dataset(name) for name in PUBLISHED}
    tests = [(FRESH, f"{n} features") for n in FEATURES]
    tests += [*((LATER, name) for name in ORGANISMS), *((RANDOM, name) for name in data)]
    rows: list[dict[str, object]] = []
    for test, dataset in tests:
        for method in METHODS:
            found: dict[tuple[Any, ...], list[list[float]]] = {}
            if test == LATER:
                runs = later_results(dataset, method)
            elif test == FRESH:
                runs = (each for seed in range(FRESH_RUNS) for each in fresh_results(dataset, method, seed))
            else:
                runs = (each for seed in range(SPLITS) for each in split_results(data[dataset], method, seed))
            for key, values in runs:
                found.setdefault(key, []).append(values)
            for (way, wanted, q), listed in found.items():
                table = np.array(listed)
                means, error = table.mean(axis=0), table[:, 0].std(ddof=1) / np.sqrt(len(table))
                row = dict(zip(FIELDS, (test, dataset, method, way, wanted, q, len(table)), strict=False))
                cells = {"fdp": f"{means[0]:.4f}", "error": f"{error:.4f}", "rows": f"{means[1]:.1f}"}
                rows.append(row | {"candidates": int(means[3]), **cells, "power": f"{means[2]:.3f}"})
        print(test, dataset, flush=True)
        write_csv(DOCS / "fdr.csv", FIELDS, rows)
    return rows


def read(test: str) -> list[dict[str, str]]:
    """The results of one test."""
    return [row for row in read_csv(DOCS / "fdr.csv") if row["test"] == test]


def table(title: str, rows: list[dict[str, str]], *, with_error: bool) -> str:
    """A line for each dataset, wanted class, method and way, with the results at each rate."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        error = f" ± {float(row['error']):.3f}" if with_error else ""
        wrong = f"{float(row['fdp']):.3f}{error}" if float(row["rows"]) else "–"
        key = (row["dataset"], row["wanted"], row["method"], WAY_NAMES[row["way"]])
        lines.setdefault(key, []).append(f"{wrong} ({row['rows']}, {row['power']})")
    heading = ("data", "positive class", "method", "p-values from", *(f"q = {q}" for q in RATES))
    return TextTable(title, heading, tuple((*key, *cells) for key, cells in lines.items())).to_markdown()


def summary_table(rows: list[dict[str, str]]) -> str:
    """For each method and way, over all datasets and classes: the largest share of wrong rows and the mean power."""
    lines = []
    for method in METHODS:
        for way in WAYS:
            cells = []
            for q in map(str, RATES):
                part = [r for r in rows if (r["method"], r["way"], r["q"]) == (method, way, q)]
                power = np.mean([float(r["power"]) for r in part])
                cells.append(f"{max(float(r['fdp']) for r in part):.3f} ({power:.2f})")
            lines.append((method, WAY_NAMES[way], *cells))
    heading = ("method", "p-values from", *(f"q = {q}" for q in RATES))
    return TextTable("Ten datasets, both classes", heading, tuple(lines)).to_markdown()


def fresh_table(rows: list[dict[str, str]]) -> str:
    """For each number of features, method and way: the largest share of wrong rows of both classes, and mean power."""
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        for method in METHODS:
            for way in WAYS:
                cells = []
                for q in map(str, FRESH_RATES):
                    key = (dataset, method, way, q)
                    part = [r for r in rows if (r["dataset"], r["method"], r["way"], r["q"]) == key]
                    worst = max(part, key=lambda r: float(r["fdp"]))
                    power = np.mean([float(r["power"]) for r in part])
                    cells.append(f"{float(worst['fdp']):.3f} ± {float(worst['error']):.3f} ({power:.2f})")
                lines.append((dataset, method, WAY_NAMES[way], *cells))
    heading = ("data", "method", "p-values from", *(f"q = {q}" for q in FRESH_RATES))
    return TextTable("Made-up rows, both classes", heading, tuple(lines)).to_markdown()


SHOWN = "HieLogistic"  # the files have all methods


def blocks() -> dict[str, Callable[[], str]]:
    """The tables of the page, by the names of their places."""
    packaged = [row for row in read(RANDOM) if row["dataset"] in ORGANISMS and row["method"] == SHOWN]
    later = [row for row in read(LATER) if row["method"] == SHOWN]
    return {
        "all": lambda: summary_table(read(RANDOM)),
        "fresh": lambda: fresh_table(read(FRESH)),
        "packaged": lambda: table("Random splits of worm and fly", packaged, with_error=True),
        "later": lambda: table("Genes added to GenAge after 2014", later, with_error=False),
    }


def write() -> None:
    """Put the tables on the page."""
    path = DOCS / "fdr.md"
    atomic_write(path, fill(path.read_text(encoding="utf-8"), blocks()))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit("usage: python -m reproduction.fdr [write]")
    if not sys.argv[1:]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # genes without annotations, and columns without names
            measure()
    write()
