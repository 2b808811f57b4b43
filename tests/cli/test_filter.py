"""The command filter."""

import csv

import pytest
from typer.testing import CliRunner

from hietan.cli._app import make_app

OBO = """format-version: 1.2

[Term]
id: GO:1
name: process

[Term]
id: GO:2
name: death
is_a: GO:1

[Term]
id: GO:3
name: apoptosis
is_a: GO:2
"""
RESULT = 'ID,name,p.adjust\nGO:1,"process, any",0.5\nGO:2,death,1e-9\nGO:3,apoptosis,0.01\nGO:9,other,0.9\n'


@pytest.fixture
def run(tmp_path):
    (tmp_path / "go.obo").write_text(OBO)
    (tmp_path / "result.csv").write_text(RESULT)
    app = make_app()
    out = tmp_path / "out.csv"

    def call(*words, table="result.csv"):
        files = [str(tmp_path / table), "--hierarchy", str(tmp_path / "go.obo"), "-o", str(out)]
        return CliRunner().invoke(app, ["filter", *files, *words])

    call.rows = lambda: list(csv.reader(out.read_text().splitlines()))
    call.folder = tmp_path
    return call


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((), ["GO:3", "GO:9"]),
        (("--keep", "general"), ["GO:1", "GO:9"]),
        (("--keep", "relevant", "--score", "p.adjust"), ["GO:2", "GO:9"]),
        (("--keep", "relevant", "--score", "p.adjust", "--best", "largest"), ["GO:1", "GO:9"]),
        (("--column", "ID", "--relations", "is_a"), ["GO:3", "GO:9"]),
    ],
)
def test_rows_are_left(run, words, left):
    result = run(*words)
    assert result.exit_code == 0, result.output
    header, *rows = run.rows()
    assert header == ["ID", "name", "p.adjust"] and [row[0] for row in rows] == left
    assert f"{len(left)} of 4 rows are left" in result.output


def test_tables_of_other_tools(run):
    (run.folder / "enrichr.tsv").write_text("Gene_set\tTerm\nGO\tdeath (GO:2)\nGO\tapoptosis (GO:3)\n")
    assert run("--column", "Term", table="enrichr.tsv").exit_code == 0
    assert run.rows()[1:] == [["GO", "apoptosis (GO:3)"]]


@pytest.mark.parametrize(
    ("words", "content", "message"),
    [
        (("--column", "term"), RESULT, "has no column 'term'; its columns are 'ID', 'name', 'p.adjust'"),
        (("--keep", "best"), RESULT, "keep must be one of ('specific', 'general', 'relevant'), got 'best'"),
        (("--keep", "relevant"), RESULT, 'keep="relevant" needs scores'),
        (("--score", "name"), RESULT, "row 1 has 'process, any' in the column 'name'; expected a number"),
        (("--relations", "part_of"), RESULT, "the ontology has no relation 'part_of'; it has is_a"),
        ((), "", "is empty; expected a line of headings"),
        ((), "ID,p\nGO:1\n", "row 1 has 1 cells for 2 headings"),
    ],
)
def test_errors_are_lines(run, words, content, message):
    (run.folder / "result.csv").write_text(content)
    result = run(*words)
    assert result.exit_code == 2 and message in result.stderr and not (run.folder / "out.csv").exists()
