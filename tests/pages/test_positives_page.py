"""docs/positives.md: its commands run, its tables come from CSV files, and its sentences follow from the numbers."""

import csv
import importlib.util
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hietan.cli._app import make_app
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import DataWarning
from pages.test_code_blocks import blocks, commands

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "positives.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("positives", ROOT / "reproduction" / "positives.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_csv_files(script):
    for name, make in script.blocks().items():
        shown = PAGE.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")[0]
        assert shown == make()


def test_what_is_said_about_the_bound(script):
    rows = script.read_csv(script.DOCS / "positives.csv")
    assert len(rows) == 7 * 2 * 2 * 3 - 2 and {row["runs"] for row in rows} == {"200"}
    for row in rows:
        if row["labels hidden"] == script.RANDOM:
            assert float(row["holds"]) == 1, row  # 0.95 was required
            assert abs(float(row["lift"]) - 1) < 0.06, row
            assert abs(float(row["probability"]) - float(row["share"])) < 0.025, row
    failing = {
        (row["dataset"], row["positive"]): float(row["holds"])
        for row in rows
        if (row["labels hidden"], row["hidden"]) == (script.SELECTIVE, "0.7")
    }
    assert failing["worm", "anti"] == 0.505 and failing["made up", "class1"] == 0.035
    assert "in 50.5% of the runs for the worm's anti genes" in TEXT
    assert "For class1 in the synthetic data, the bound holds in only 3.5% of the runs" in TEXT


def test_what_is_said_about_genes_listed_later(script):
    for row in script.read_csv(script.DOCS / "positives-later.csv"):
        model, annotations = float(row["AUC, model"]), float(row["AUC, number of annotations"])
        assert 0.5 < model < annotations, row
        assert float(row["in the first 100, model"]) > float(row["in 100 by chance"]), row


def test_one_run_of_the_script_by_hand(script):
    """One draw of hidden labels, from the definitions alone."""
    data = make_hierarchical_classification(300, 40, random_state=1)
    found = dict(zip(script.MEASURES, script.run(data, 1, 0.5, script.SELECTIVE, 2), strict=True))
    is_hidden = script.hide(data, 1, 0.5, script.SELECTIVE, np.random.default_rng(2))
    n_hidden = int(is_hidden.sum())
    assert n_hidden == round(0.5 * (data.y == 1).sum()) and (data.y[is_hidden] == 1).all()
    assert found["share"] == pytest.approx(n_hidden / (n_hidden + (data.y == 0).sum()))
    n = np.asarray(data.X.sum(axis=1)).ravel()
    assert n[is_hidden].mean() < n[(data.y == 1) & ~is_hidden].mean()


@pytest.mark.patient
def test_the_worm_genes_of_the_page(script, real_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIETAN_DATA", str(real_data))
    files = {"go.obo.gz": "GeneOntology_2019.01.29.obo.gz", "worm.gaf.gz": "GO.goa_worm_2019.01.29.gz"}
    for name, path in files.items():
        Path(name).symlink_to(Path(real_data) / "go-2019" / path)
    Path("genage.txt").write_text("\n".join(script.listed_genes("Caenorhabditis elegans")))
    printed = []
    for program, *words in commands("positives.md"):
        result = CliRunner().invoke(make_app(), words)
        assert program == "hietan" and result.exit_code == 0, (words, result.output)
        printed.append(" ".join(result.output.split()))
    _, fitted, _ = printed
    alone, model = re.search(r"alone: AUC (\S+) .*\(unlabelled\): AUC (\S+)", fitted).groups()
    assert f"alone has an AUC of {alone}, and the model has an AUC of {model.rstrip('.')}" in TEXT
    assert fitted.index("number of annotations") < fitted.index(
        "cross-validated"
    )  # the study bias comes first
    bound = re.search(r"at most (\S+%) of the unlabelled genes", fitted)[1]
    assert f"at most {bound} of the unlabelled genes" in TEXT
    rows = list(csv.DictReader(Path("ranked.csv").read_text().splitlines()[1:]))
    first = [(row["instance"], float(row["lift"])) for row in rows[:5]]
    (name, lift), *others = first
    shown = f"{name} (lift {lift:.0f}), " + ", ".join(f"{n} ({v:.0f})" for n, v in others[:-1])
    assert f"{shown} and {others[-1][0]} ({others[-1][1]:.0f})" in TEXT
    (code,) = [text for words, text in blocks("positives.md") if words == ["python"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        exec(compile(code, "positives.md", "exec"), found := {})
    ranked = found["ranked"]
    assert [row.instance for row in ranked.new_rows] == [row["instance"] for row in rows if row["rank"]]
