"""docs/reproduction.md holds what its two tables say, and a sample of those is recomputed from the data."""

import csv
import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from hietan.catalogue import make_methods
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.evaluation import METRICS, SummaryRow, pooled_predictions

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("experiment", ROOT / "reproduction" / "experiment.py")
reproduction = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reproduction)
CSV = ROOT / "docs" / "reproduction.csv"
needs_page = pytest.mark.skipif(not CSV.exists(), reason="docs/reproduction.csv has not been made yet")


def made_up():
    """Rows as the studies give them, with scores out of the air."""
    rng = np.random.default_rng(0)
    settings = [f"alpha={a},smoothing={s}" for a in ("1", "0.5", "0.05") for s in ("laplace", "pooled")]
    paper, bayes = (
        list(reproduction.PAPER_RANKS),
        [m for m in reproduction.PAPER_RANKS if m != "proximal-graph"],
    )
    kinds = [(m, s, "none", seed) for m in bayes for s in settings for seed in range(5)]
    kinds += [("proximal-graph", "", "none", seed) for seed in range(5)]
    kinds += [(m, "", "none", 0) for m in ("logistic-l2", "random-forest")]
    kinds += [(m, f"alpha=1,smoothing={s}", "threshold", 0) for m in paper for s in ("laplace", "pooled")]
    kinds += [(m, f"smoothing={s}", "nested", 0) for m in bayes for s in ("laplace", "pooled")]
    kinds += [("proximal-graph", "", "nested", 0)]
    names = [f"{a}-{b}" for a, b in AGEING_DATASETS]
    return [
        SummaryRow(d, *kind, 100, tuple(rng.random(len(METRICS))))
        for d, kind in itertools.product(names, kinds)
    ]


def test_a_whole_page_can_be_made(tmp_path):
    reproduction.write_rows(made_up(), tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").stat().st_size < 2_000_000
    rows = reproduction.read_rows(tmp_path / "rows.csv")
    assert len(rows) == len(made_up())
    text = reproduction.page(rows, [])
    assert "over 6 settings" in text and "| hie-tan-lite | 1.89 |" in text
    assert text.count("Not run yet") == 1  # the usage
    table = text.partition("**Mean gmean (average rank)**")[2]
    line = next(line for line in table.splitlines() if line.startswith("| alpha=0.5,smoothing=pooled"))
    chosen = [
        r for r in rows if (r.setting, r.tuning, r.method) == ("alpha=0.5,smoothing=pooled", "none", "tan")
    ]
    assert f"{100 * np.mean([r['gmean'] for r in chosen]):.1f} (" in line


def test_a_page_of_nothing_says_what_to_run():
    assert "run settings" in reproduction.page([], [])


@needs_page
def test_the_page_is_made_of_the_tables():
    with open(ROOT / "docs" / "reproduction-usage.csv", newline="", encoding="utf-8") as file:
        usage = list(csv.DictReader(file))
    shown = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert shown == reproduction.page(reproduction.read_rows(CSV), usage)


@needs_page
@pytest.mark.parametrize("dataset", ["SC-MF", "MM-CC"])
@pytest.mark.parametrize("name", ["hie-tan-lite", "tan", "hie-aode-lite"])
def test_a_sample_is_recomputed(real_data, dataset, name):
    rows = [
        r for r in reproduction.read_rows(CSV) if (r.dataset, r.method, r.tuning) == (dataset, name, "none")
    ]
    row = rows[len(rows) // 2]
    alpha, smoothing = (part.partition("=")[2] for part in row.setting.split(","))
    (method,) = make_methods([name], alphas=[float(alpha)], smoothings=[smoothing])
    data = fetch_ageing_genes(*dataset.split("-"), data_home=real_data)
    values = pooled_predictions(method.estimator, data, seed=row.seed).metrics()
    for metric in ("gmean", "sensitivity", "specificity", "auc"):
        assert row[metric] == pytest.approx(values[metric], abs=1e-6)
