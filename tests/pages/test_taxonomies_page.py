"""The sections of docs/taxonomies.md, from the raw files of others to a ranked list: every command is run as it is."""

import contextlib
import csv
import io
import re
import shlex
from pathlib import Path

import pytest

from hietan.datasets import Dataset

PAGE = (Path(__file__).parents[2] / "docs" / "taxonomies.md").read_text(encoding="utf-8")
# For each section: the dataset, the ranked list, the new rows in their order, and all features of one of the rows.
SECTIONS = {
    "Product categories": (
        "shop",
        ["n01", "n02"],
        "p04",
        {
            "Apparel & Accessories",
            "Apparel & Accessories > Clothing",
            "Apparel & Accessories > Clothing > Outerwear",
            "Apparel & Accessories > Clothing > Outerwear > Coats & Jackets",
        },
    ),
    "Articles with MeSH headings": (
        "mesh",
        ["b1", "b2"],
        "a1",
        {"Asthma", "C08", "C08.127", "C08.127.108", "C08.381", "C08.381.495", "C08.381.495.108"},
    ),
    "Patients with ICD-10 codes": (
        "icd",
        ["q1", "q2"],
        "m1",
        {"E08-E13", "E11", "E11.6", "E11.65", "I10-I16", "I11", "I11.0"},
    ),
    "Patients in OMOP tables": ("omop", ["109", "110"], "101", {"201820", "201826"}),
    "Samples with lineages": (
        "sites",
        ["t1", "t2"],
        "s2",
        {
            "otu2",
            "k__Bacteria",
            "k__Bacteria;p__Firmicutes",
            "k__Bacteria;p__Firmicutes;c__Bacilli",
            "k__Bacteria;p__Firmicutes;c__Bacilli;o__Lactobacillales",
            "k__Bacteria;p__Firmicutes;c__Bacilli;o__Lactobacillales;f__Lactobacillaceae",
        },
    ),
    "Patients in phenopackets": ("cases", ["new1", "new2"], "proband A", {"HP:0001250"}),
}


def blocks(title):
    """The fenced blocks of a section: (words after the fence, content) of each."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    found = re.findall(r"^```([^\n]*)\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    return [(info.split(), text) for info, text in found]


def set_up(title):
    """Write the files of a section, and run its programs, which must print what the page shows."""
    printed = ""
    for words, text in blocks(title):
        if len(words) == 2:
            path = Path(words[1])
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif words == ["python"]:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(text, "taxonomies.md", "exec"), {})
            printed = output.getvalue()
        elif words == ["text"]:
            assert text == printed


def run_commands(title):
    from typer.testing import CliRunner

    from hietan.cli._app import make_app

    for words, text in blocks(title):
        for line in text.replace("\\\n", " ").splitlines() if words == ["sh"] else ():
            program, *rest = shlex.split(line)
            ended = CliRunner().invoke(make_app(), rest)
            assert program == "hietan" and ended.exit_code == 0, (line, ended.output)


@pytest.mark.parametrize("title", SECTIONS)
def test_raw_files_become_a_ranked_list(title, tmp_path, monkeypatch):
    pytest.importorskip("typer")
    monkeypatch.chdir(tmp_path)
    name, ranked, row, features = SECTIONS[title]
    set_up(title)
    run_commands(title)
    lines = Path(f"{name}.csv").read_text().splitlines()[1:]
    assert [each["instance"] for each in csv.DictReader(lines)] == ranked
    data = Dataset.load(f"{name}.hietan")
    at = data.instance_names.index(row)
    assert {data.feature_names[j] for j in data.X[[at]].indices} == features
    assert data.hierarchy.is_closed(data.X) and len(data.instance_names) == len(data.y)
    dropped = set(data.provenance["account"]["annotations"]["dropped"])
    assert dropped <= {"NOT: states the opposite", f"{data.row_noun} is not a row"}


def test_binary_tables(tmp_path, monkeypatch):
    for library in ("pandas", "pyarrow", "openpyxl"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    set_up("Patients with ICD-10 codes")
    set_up("Parquet, Arrow and Excel")
