"""The commands report, explain and demo, the report of predictions, and the one at the end of a study."""

import csv
import gzip
import json
import re
from collections import Counter
from itertools import islice

import pytest

from hietan.catalogue import METHODS, load_dataset
from hietan.datasets import make_hierarchical_classification
from hietan.report._study_page import study_summary


@pytest.fixture(scope="module")
def study(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported") / "study"
    words = "--data synthetic-0 --data synthetic-1 --methods tan --methods hie-tan-lite".split()
    result = run("study", *words, "--folds", 3, "--no-figures", "--genes", "row3", "-o", folder)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.output
    return folder


@pytest.fixture(scope="module")
def model(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.hietan"
    assert run("fit", "synthetic-0", "-m", "hie-tan-lite", "-o", path).exit_code == 0
    return path


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_a_study_ends_with_its_report(run, study, tmp_path):
    shown = data_of(study / "report.html")
    assert shown == json.loads(json.dumps(study_summary(study)))
    assert "report" not in json.loads((study / "summary.json").read_text(encoding="utf-8"))
    assert shown["about"]["command"].startswith("hietan study --data synthetic-0")
    assert any(shown["datasets"][0]["genes"][e["row"]] == "row3" for e in shown["datasets"][0]["explained"])
    result = run("report", study, "-o", tmp_path / "r.html")
    assert result.exit_code == 0 and "MB" in result.output
    assert (tmp_path / "r.html").read_bytes() == (study / "report.html").read_bytes()


def test_predict_can_write_a_page_of_candidates(run, model, tmp_path):
    result = run("predict", model, "synthetic-0", "--report", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    shown = data_of(tmp_path / "p.html")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines[2:]] == shown["datasets"][0]["genes"]
    assert "separates class0 from class1; rows that are neither are also ranked" in shown["about"]["caution"]
    assert shown["about"]["command"].endswith("m.hietan synthetic-0")
    assert shown["datasets"][0]["symbols"] == [] and ",name," not in lines[1]
    assert set(shown["datasets"][0]["genes"]) == set(load_dataset("synthetic-0").instance_names)


def test_symbols_are_shown_where_the_data_have_them(run, real_data, tmp_path):
    """The first genes of a real GAF, by their UniProt ids."""
    with gzip.open(f"{real_data}/go-2019/GO.goa_worm_2019.01.29.gz", "rt") as file:
        lines = list(islice(file, 2000))
    (tmp_path / "some.gaf").write_text("".join(lines))
    columns = [line.split("\t") for line in lines if not line.startswith("!")]
    symbol_of = {fields[1]: fields[2] for fields in columns}
    ids = list(symbol_of)
    labels = "".join(f"{gene},{'even' if k % 2 else 'odd'}\n" for k, gene in enumerate(ids))
    (tmp_path / "labels.csv").write_text("gene,label\n" + labels)
    ontology = f"{real_data}/go-2019/GeneOntology_2019.01.29.obo.gz"
    inputs = ["--ontology", ontology, "--annotations", tmp_path / "some.gaf"]
    data, model = tmp_path / "some.hietan", tmp_path / "model.hietan"
    for words in (
        ["build", *inputs, "--labels", tmp_path / "labels.csv", "--namespaces", "CC", "-o", data],
        ["fit", data, "-m", "hip-nb", "-o", model],
        ["predict", model, data, "--report", "-o", tmp_path / "p.csv"],
    ):
        result = run(*words)
        assert result.exit_code == 0, result.output
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()[1:]))
    assert list(rows[0])[:4] == ["rank", "instance", "name", "log_odds"]
    assert len(rows) > 100 and all(row["name"] == symbol_of[row["instance"]] for row in rows)
    shown = data_of(tmp_path / "p.html")["datasets"][0]
    assert shown["symbols"] == [symbol_of[gene] for gene in shown["genes"]] == [row["name"] for row in rows]
    times = Counter(symbol_of.values())
    gene = next(row["instance"] for row in rows if times[row["name"]] == 1)
    by_id, by_symbol = (run("explain", model, data, "--gene", which) for which in (gene, symbol_of[gene]))
    assert by_id.exit_code == by_symbol.exit_code == 0 and by_id.output == by_symbol.output
    assert f"HIPNB, {gene} ({symbol_of[gene]}): " in by_id.output
    assert "This gene is in the training data" in by_id.output


@pytest.mark.slow
def test_the_demo_reports_the_comparison_that_it_prints(run, tmp_path):
    page = tmp_path / "out" / "r.html"
    result = run("demo", "--data", "fly-CC", "--folds", 2, "--genes", 3, "--report", page)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == f"report: {page}"
    (shown,) = data_of(page)["datasets"]
    assert shown["name"] == "fly-CC" and len(shown["genes"]) == 177
    lines = [re.split(r" {2,}", line.strip()) for line in result.output.splitlines()]
    printed = {line[0]: line[2] for line in lines if len(line) == 4 and line[2].replace(".", "").isdigit()}
    titles = {entry.name: entry.title for entry in METHODS.values() if entry.in_demo}
    assert len(titles) == 9 and list(titles.values()) == list(printed)
    (ranking,) = [each for each in data_of(page)["rankings"] if each["metric"] == "gmean"]
    names = [data_of(page)["methods"][i]["name"] for i in ranking["methods"]]
    reported = {titles[name]: value for name, value in zip(names, ranking["means"], strict=True)}
    assert reported.keys() == printed.keys()
    assert all(abs(value - float(printed[title])) < 0.0006 for title, value in reported.items())
    explained = {shown["genes"][row["row"]] for row in shown["explained"] if row["why"] == "asked for"}
    ranked = [line[0] for line in lines if len(line) == 4 and line[0] in shown["genes"]]
    assert len(ranked) == 3 and explained <= set(ranked)
    assert set(ranked) <= {shown["genes"][row["row"]] for row in shown["explained"]}


def test_the_demo_needs_two_classes(run, tmp_path):
    data = make_hierarchical_classification(30, 6, n_classes=3, random_state=0)
    data.save(tmp_path / "three.hietan")
    result = run("demo", "--data", tmp_path / "three.hietan", "--folds", 2)
    assert result.exit_code == 2 and "a dataset with two classes" in result.stderr
