"""The tables of a study whose names are formulas: no spreadsheet runs them, and all of them are read back."""

import csv
import re
from dataclasses import replace

import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import HieTAN
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import read_summary, restore_text, run_study
from hietan.evaluation._outputs.tables import write_tables
from hietan.evaluation._study import journal
from hietan.exceptions import StudyError
from hietan.hierarchy import Hierarchy
from hietan.report._study_page import study_summary

pytestmark = pytest.mark.filterwarnings("ignore::hietan.exceptions.FailedMethodWarning")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?( ± .*)?")


class Fails(BernoulliNB):
    """A classifier whose error is a formula."""

    def fit(self, X, y):
        raise ValueError("=boom")


def formulas(n, sign):
    return tuple(f"{sign}cmd|' /C calc'!A{i}\r" for i in range(n))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    data = make_hierarchical_classification(40, 12, random_state=1)
    features = formulas(12, "@")
    rename = dict(zip(data.feature_names, features, strict=True))
    data = replace(
        data,
        name="=dataset",
        feature_names=features,
        term_names=formulas(12, "-"),
        hierarchy=Hierarchy.from_edges(
            [(rename[a], rename[b]) for a, b in data.hierarchy.edges], features=features
        ),
        instance_names=formulas(40, "="),
    )
    folder = tmp_path_factory.mktemp("study")
    methods = {"+tan": HieTAN(), "@fails": Fails()}
    return data, run_study([data], methods, cv=2, output=folder), folder


def tables(folder):
    for path in sorted(folder.rglob("*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        yield path.relative_to(folder).as_posix(), rows


def test_no_cell_runs(study):
    _, results, folder = study
    write_tables(results, folder)
    seen = dict(tables(folder))
    assert {"summary.csv", "predictions.csv", "feature_usage.csv", "failures.csv", "times.csv"} <= set(seen)
    assert any(name.startswith("tables/") for name in seen)
    for name, rows in seen.items():
        assert {len(row) for row in rows} == {len(rows[0])}, name
        for cell in (cell for row in rows for cell in row):
            assert not cell.startswith((*"=+-@\t\r",)) or NUMBER.fullmatch(cell), (name, cell)
    assert seen["predictions.csv"][1][0] == "'=dataset"
    assert ["'=dataset", "'+tan"] in [row[:2] for row in seen["times.csv"]]  # in the order in which jobs end


def test_names_are_read_back(study):
    data, results, folder = study
    assert read_summary(folder) == results.summary and results.summary[0].dataset == "=dataset"
    rows = dict(tables(folder))["feature_usage.csv"]
    assert tuple(restore_text(row[5]) for row in rows[1:]) == data.feature_names
    report = study_summary(folder)
    (shown,) = report["datasets"]
    assert shown["name"] == "=dataset" and tuple(shown["genes"]) == data.instance_names
    assert tuple(shown["features"]) == data.feature_names and tuple(shown["names"]) == data.term_names
    assert report["methods"][0]["name"] == "+tan"
    assert {line[1] for line in report["about"]["failures"]} == {"@fails @ tuned none"}


def test_resuming_finds_the_times_again(study):
    data, _, folder = study
    before = (folder / "times.csv").read_bytes()
    run_study([data], {"+tan": HieTAN(), "@fails": Fails()}, cv=2, output=folder)
    assert (folder / "times.csv").read_bytes() == before


def test_names_that_share_a_file_are_refused_where_case_is_ignored(tmp_path, monkeypatch):
    data = make_hierarchical_classification(40, 12, random_state=1)
    both = [replace(data, name="A"), replace(data, name="a")]
    run_study(both, {"tan": HieTAN()}, cv=2, output=tmp_path / "apart")
    monkeypatch.setattr(journal, "ignores_case", lambda path: True)
    with pytest.raises(StudyError, match="names of the datasets 'A' and 'a' differ only in case"):
        run_study(both, {"tan": HieTAN()}, cv=2, output=tmp_path / "together")
    with pytest.raises(
        StudyError, match="names of the methods 'TAN @ tuned none' and 'tan @ .*' differ only in case"
    ):
        run_study([data], {"TAN": HieTAN(), "tan": HieTAN()}, cv=2, output=tmp_path / "together")
    assert not (tmp_path / "together" / "study.json").exists()
