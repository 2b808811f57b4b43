"""The figures of docs/accuracy.md come from accuracy.csv, and a sample of those from the library as it is."""

import csv
import importlib.util
import itertools
from pathlib import Path

import pytest

from hietan import AODE, HIPNB, HRETAN, TAN, HieAODELite, HieTAN, HieTANLite, ProximalGraph
from hietan.datasets import fetch_ageing_genes
from hietan.evaluation import pooled_predictions

DOCS = Path(__file__).parents[2] / "docs"
with open(DOCS / "accuracy.csv", encoding="utf-8", newline="") as file:
    ROWS = {(row["dataset"], row["method"], row["smoothing"]): row for row in csv.DictReader(file)}


METHODS = {
    "TAN": TAN,
    "Hie-TAN": HieTAN,
    "Hie-TAN-Lite": HieTANLite,
    "HRE-TAN": HRETAN,
    "AODE": AODE,
    "Hie-AODE-Lite": HieAODELite,
    "HIP + NB": HIPNB,
}
# Every method with either smoothing, on each dataset in turn.
SAMPLE = [
    (dataset, name, smoothing)
    for dataset, (name, smoothing) in zip(
        itertools.cycle(["DM-CC", "MM-MF", "SC-MFCC"]),
        itertools.product(METHODS, ["laplace", "pooled"]),
        strict=False,
    )
]


@pytest.mark.parametrize(("dataset", "name", "smoothing"), SAMPLE)
def test_a_sample_is_recomputed(real_data, dataset, name, smoothing):
    values = pooled_predictions(
        METHODS[name](smoothing=smoothing), fetch_ageing_genes(*dataset.split("-")), seed=0
    ).metrics()
    row = ROWS[dataset, name, smoothing]
    for field in ("gmean", "sensitivity", "specificity", "auc"):
        assert float(row[field]) == pytest.approx(values[field], abs=5.1e-5)


def test_a_sample_of_proximal_graph_is_recomputed(real_data):
    values = pooled_predictions(ProximalGraph(lam=0.002), fetch_ageing_genes("fly", "CC"), seed=0).metrics()
    row = ROWS["DM-CC", "proximalGraph, lambda 0.002", ""]
    assert float(row["gmean"]) == pytest.approx(values["gmean"], abs=0.02)  # a row on the threshold may turn
    assert float(row["auc"]) == pytest.approx(values["auc"], abs=0.002)


def test_the_page_shows_the_means_of_the_table():
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    methods = {method for _, method, _ in ROWS}
    assert len({dataset for dataset, _, _ in ROWS}) == 28
    for method in methods:
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {method} ")]
        shown = [cell.strip() for cell in line.strip("|").split("|")][1:]
        smoothings = ("laplace", "pooled") if any(s for _, m, s in ROWS if m == method) else ("",)
        columns = itertools.product(smoothings, (("gmean", 100, 1), ("auc", 1, 3)))
        for k, (smoothing, (field, scale, digits)) in enumerate(columns):
            values = [float(row[field]) for (_, m, s), row in ROWS.items() if (m, s) == (method, smoothing)]
            assert shown[k] == (f"{scale * sum(values) / len(values):.{digits}f}" if values else "")


def test_the_script_measures_what_the_page_shows():
    """The methods come from the catalogue; each setting of the page must be one that the script still makes."""
    spec = importlib.util.spec_from_file_location("accuracy", DOCS.parent / "reproduction" / "accuracy.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = [(name, smoothing) for name, smoothing, _ in script.settings()]
    assert sorted(made) == sorted({(name, smoothing) for _, name, smoothing in ROWS})
