"""The stories of docs/candidates.md: every command and every line of Python is run, on real or generated files."""

import csv
import re
import shlex
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hietan.cli._app import make_app
from hietan.datasets import Dataset
from hietan.exceptions import DataWarning
from hietan.models import Model

PAGE = Path(__file__).parents[2] / "docs" / "candidates.md"
FILES = {
    "go.obo.gz": "go-2019/GeneOntology_2019.01.29.obo.gz",
    "worm.gaf.gz": "go-2019/GO.goa_worm_2019.01.29.gz",
    "genage.csv": "genage-2025/genage_models_2025.csv",
}


def story(heading):
    """The blocks of a section of the page: a list of (language, text)."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}")[1].split("\n## ")[0]
    return re.findall(r"^```(\w+)\n(.*?)^```", section, flags=re.M | re.S)


def run_commands(text):
    """Run the commands of a block, and return what each of them printed."""
    lines = text.replace("\\\n", " ").strip().splitlines()
    assert len(lines) <= 5
    printed = []
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "hietan"
        result = CliRunner().invoke(make_app(), words)
        assert result.exit_code == 0, (line, result.output)
        printed.append(result.output)
    return printed


def run_python(text):
    assert len([line for line in text.splitlines() if line.strip()]) <= 15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # genes of GenAge without annotations
        exec(compile(text, str(PAGE), "exec"), found := {})
    return found


def names_of(data, i):
    return {data.instance_names[i], *data.symbols[i : i + 1], *(data.synonyms[i] if data.synonyms else ())}


def table(path):
    return list(csv.DictReader(Path(path).read_text().splitlines()[1:]))


@pytest.mark.patient
def test_worm_genes(real_data, tmp_path, monkeypatch):
    """No training gene is among the candidates, by any of its names."""
    monkeypatch.chdir(tmp_path)
    for name, path in FILES.items():
        (tmp_path / name).symlink_to(Path(real_data) / path)
    (shell, commands), (language, code) = story("Worm genes")
    assert (shell, language) == ("sh", "python")
    printed = run_commands(commands)
    assert "GO:0008340" in printed[1] and "--drop-term" in printed[1]
    genome, worm = Dataset.load("genome.hietan"), Dataset.load("worm.hietan")
    known = {name.casefold() for i in range(len(worm.y)) for name in names_of(worm, i)} - {""}
    row_of = {name: i for i, name in enumerate(genome.instance_names)}
    rows = table("candidates.csv")
    candidates = [row for row in rows if row["rank"]]
    assert len(candidates) > 8000 and [row["in_training"] for row in candidates] == ["False"] * len(
        candidates
    )
    for row in candidates:
        names = {name.casefold() for name in names_of(genome, row_of[row["instance"]])} - {""}
        assert not names & known, row
    page, found = Path("candidates.html").read_text(), run_python(code)
    assert "How good the model is" in page and '"row_noun":"gene"' in page
    assert [row.instance for row in found["ranked"].new_rows] == [row["instance"] for row in candidates]
    assert "GO:0008340" in [close.feature for close in found["named"]]
    # The two branches that the page names, recomputed for the first 50 candidates.
    ranked = found["ranked"]
    first = ranked.model.classifier.explain(ranked.X[ranked.order[:50]], target=ranked.model.positive_label)
    means = dict(zip(first.by_branch().features, first.by_branch().mean, strict=True))
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    transport, development = f"{means['GO:0006810']:+.2f}", f"{means['GO:0032502']:+.2f}"
    assert f"*transport* ({transport} on average) and *developmental process* ({development})" in page


@pytest.mark.patient
def test_a_genome_is_ranked_with_default_options(real_data, tmp_path, monkeypatch):
    """All 679 training genes are recognised, though the training data name them otherwise than the genome."""
    monkeypatch.chdir(tmp_path)
    for name, path in FILES.items():
        (tmp_path / name).symlink_to(Path(real_data) / path)
    build, _, _, genome, _ = story("Worm genes")[0][1].replace("\\\n", " ").strip().splitlines()
    fit = "hietan fit worm.hietan -m hip-nb"
    printed = run_commands("\n".join([build, genome, fit, "hietan predict worm-hip-nb.hietan genome.hietan"]))
    assert "training genes are listed last" in printed[-1]
    rows, trained = table("predictions.csv"), Model.load("worm-hip-nb.hietan")
    assert {row["training_name"] for row in rows} - {""} == set(trained.training.names.ids)
    everyone = Dataset.load("genome.hietan")
    position = {name: i for i, name in enumerate(everyone.instance_names)}
    names = trained.training.names
    known = {*names.ids, *names.symbols}.union(*names.synonyms) - {""}
    assert len(names.ids) == 679
    assert not any(known & names_of(everyone, position[row["instance"]]) for row in rows if row["rank"])


def test_patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (_, generator), (shell, commands), (language, code) = story("Patients")
    assert (shell, language) == ("sh", "python")
    run_python(generator)
    printed = run_commands(commands)
    assert "100 candidates of 500 patients; 400 training patients are listed last" in printed[3]
    assert (
        "HieLogistic, P450: " in printed[4]
        and "the training patients of each class with this value" in printed[4]
    )
    rows = table("ranked.csv")
    assert {row["instance"] for row in rows if row["rank"]} == {f"P{i}" for i in range(400, 500)}
    written = Path("ranked.html").read_text()
    assert '"row_noun":"patient"' in written and "icd.who.int/browse10/2019/en#/{id}" in written
    found = run_python(code)
    assert [row.instance for row in found["ranked"].rows] == [row["instance"] for row in rows]
