"""Studies written by an earlier release are read, compared, reported on and recognised; `data/study-0.1` is one.

Release 0.1.0 wrote it with the call in `run_again`, then its tables and details; `report.html`, tables and explanations
were left out of the copy.
"""

import csv
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from typer.testing import CliRunner

from hietan import HIPNB, TAN
from hietan.cli.app import make_app
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import METRICS, Method, StudyError, make_rankings, read_summary, run_study
from hietan.evaluation.study import read_manifest
from hietan.evaluation.study.fingerprint import method_fingerprint
from hietan.report import study_summary, write_report

OLD = Path(__file__).parents[2] / "data" / "study-0.1"


def lines_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


NEW_FILES = ("comparisons.csv",)
NEW_TESTS = ("friedman_corrected", "iman_davenport_corrected")
COLUMNS = list(lines_of(OLD / "summary.csv")[0])
USAGE = [name for name in lines_of(OLD / "feature_usage.csv")[0] if name != "seed"]


def run_again(folder, progress):
    data = [
        replace(make_hierarchical_classification(40, 12, random_state=k), name=f"tiny set {k}")
        for k in range(2)
    ]
    methods = [Method("TAN", TAN(), "alpha=1"), Method("HIP-NB", HIPNB(), "alpha=1")]
    groups = {"tiny set 0": "A", "tiny set 1": "A"}
    return run_study(
        data, methods, cv=3, output=folder, groups=groups, command="a command", progress=progress
    )


def results_in(folder):
    """The files of a study that hold results and that the old release wrote, too.

    In its summary count the metrics of the old study, and not its report; in its tests, those that the old release had;
    in its feature usage, the columns that both releases have; in its predictions, all but the probabilities, which are
    those of `probabilities_in`.
    """
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".csv", ".jsonl", ".json", ".txt")]
    paths = [path for path in paths if path.name not in NEW_FILES]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    summary = json.loads(files["summary.json"])
    summary.pop("report", None)
    assert summary.pop("format", 1) == 1  # the old release did not name it
    summary["summary"] = [{name: row[name] for name in COLUMNS} for row in summary["summary"]]
    lines = [[line[name] for name in COLUMNS] for line in lines_of(folder / "summary.csv")]
    tests = [line for line in lines_of(folder / "tests.csv") if line["test"] not in NEW_TESTS]
    used = [[line[name] for name in USAGE] for line in lines_of(folder / "feature_usage.csv")]
    predicted = [
        {name: cell for name, cell in line.items() if name != "probabilities"}
        for line in lines_of(folder / "predictions.csv")
    ]
    files |= {"summary.json": summary, "summary.csv": lines, "tests.csv": tests, "feature_usage.csv": used}
    return files | {"predictions.csv": predicted}


def probabilities_in(folder):
    """Those of all predictions: NumPy's exponentials of what the journal holds."""
    return [
        [float(p) for p in line["probabilities"].split()] for line in lines_of(folder / "predictions.csv")
    ]


def assert_as_it_was(folder, **but):
    """The results are those of the old study, but for the content of some files.

    NumPy's exponentials differ in the last bit between processors.
    """
    assert results_in(folder) | but == results_in(OLD) | but
    np.testing.assert_allclose(probabilities_in(folder), probabilities_in(OLD), rtol=4e-16, atol=0)


@pytest.fixture
def old(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "old"))


@pytest.fixture
def its_versions(monkeypatch):
    """The versions that the old study was run with: they are part of what a study is."""
    versions = read_manifest(OLD)["versions"]
    major = versions["numpy"].partition(".")[0]
    if np.__version__.partition(".")[0] != major:  # its logarithms may differ in the last bit
        pytest.skip(
            f"the old study was run with NumPy {major}, and results are the same bits with the same versions"
        )
    monkeypatch.setattr("hietan.evaluation.study.plan.versions", lambda: versions)
    monkeypatch.setattr(
        "hietan.evaluation.study.fingerprint.package_version", lambda kind: versions["hietan"]
    )


def test_it_is_read():
    summary = read_summary(OLD)
    assert [(row.dataset, row.method) for row in summary] == [
        (f"tiny set {k}", method) for k in range(2) for method in ("TAN", "HIP-NB")
    ]
    assert summary[2]["gmean"] == pytest.approx(np.sqrt(0.3 * 0.95)) and summary[3]["specificity"] == 1
    (gmean, _) = make_rankings(summary, groups=read_manifest(OLD)["groups"])
    assert gmean.average_ranks("A") == {"TAN": 1.0, "HIP-NB": 2.0}


def test_it_is_compared():
    result = CliRunner().invoke(make_app(), ["compare", str(OLD), "--metric", "brier"])
    assert result.exit_code == 0, result.output
    assert "TAN" in result.output and "HIP-NB" in result.output


def test_its_report_shows_the_details_under_their_former_names(tmp_path):
    assert (OLD / "details" / "tiny-set-0.json").exists()  # now it would be named "tiny set 0.json"
    assert write_report(OLD, tmp_path / "report.html").stat().st_size > 50_000
    for data in study_summary(OLD)["datasets"]:
        details = json.loads((OLD / "details" / f"{data['name'].replace(' ', '-')}.json").read_text())
        assert data["features"] == details["features"] and len(data["features"]) == 12
        assert [entry["row"] for entry in data["explained"]] == [e["row"] for e in details["explained"]]
        assert all(set(entry["methods"]) == {0, 1} for entry in data["explained"])


@pytest.mark.usefixtures("its_versions")
def test_the_same_call_finds_it_finished_and_changes_nothing(old):
    seen = []
    run_again(old, seen.append)
    assert [(p.done, p.total, p.resumed, p.failed) for p in seen] == [(12, 12, 12, 0)]
    assert_as_it_was(old)


class Model(ClassifierMixin, BaseEstimator):
    """A classifier as an earlier release had it."""

    def __init__(self, a=1):
        self.a = a


class ModelWithMore(ClassifierMixin, BaseEstimator):
    __qualname__ = "Model"  # it is the same class in a later release
    __added_parameters__ = frozenset({"b"})

    def __init__(self, a=1, b=None):
        self.a, self.b = a, b


def composed(make, **parameters):
    """Estimators that have others in lists."""
    model = make(**parameters)
    pipeline = Pipeline([("scale", MaxAbsScaler()), ("model", model)])
    columns = ColumnTransformer(
        [("one", FeatureUnion([("scale", MaxAbsScaler())]), [0]), ("rest", "drop", [1])]
    )
    return [
        model,
        pipeline,
        GridSearchCV(pipeline, {"model": [make(a=2), model], "model__a": [1, 2]}),
        VotingClassifier([("pipeline", pipeline), ("search", GridSearchCV(model, {"a": [1, 2]}))]),
        Pipeline([("columns", columns), ("inner", pipeline)]),
    ]


def test_methods_in_lists_of_others_are_recognised(monkeypatch):
    old = [method_fingerprint(method) for method in composed(Model)]
    others = [method_fingerprint(method) for method in composed(Model, a=3)]
    monkeypatch.setattr(sys.modules[__name__], "Model", ModelWithMore)
    again = composed(ModelWithMore)
    assert [method_fingerprint(method) for method in again] == old
    assert all(
        method.get_params()[name] is None for method, name in zip(again, ["b", "model__b"], strict=False)
    )
    assert [method_fingerprint(method) for method in composed(ModelWithMore, a=3)] == others
    added = [method_fingerprint(method) for method in composed(ModelWithMore, b=2)]
    assert len({*old, *others, *added}) == 15


def test_the_names_and_classes_of_steps_count():
    steps = [("scale", MaxAbsScaler()), ("model", TAN())]
    pipelines = [
        Pipeline(steps),
        Pipeline([("scaled", MaxAbsScaler()), ("model", TAN())]),
        Pipeline([("scale", StandardScaler()), ("model", TAN())]),
        Pipeline([("scale", MaxAbsScaler()), ("model", HIPNB())]),
        Pipeline([("scale", "passthrough"), ("model", TAN())]),
        Pipeline([("scale", MaxAbsScaler()), ("model", TAN(class_weight="balanced"))]),
        Pipeline([("scale", MaxAbsScaler()), ("again", MaxAbsScaler()), ("model", TAN())]),
        Pipeline([("model", TAN()), ("scale", MaxAbsScaler())]),
        VotingClassifier(steps),
    ]
    assert len({method_fingerprint(pipeline) for pipeline in pipelines}) == len(pipelines)
    assert method_fingerprint(Pipeline([("scale", MaxAbsScaler()), ("model", TAN())])) == method_fingerprint(
        pipelines[0]
    )


@pytest.mark.usefixtures("its_versions")
def test_the_same_call_resumes_it(old):
    journal = next((old / "jobs").rglob("TAN*"))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:1]))
    seen = []
    run_again(old, seen.append)
    assert (seen[0].resumed, seen[-1].done) == (10, 12)
    times = "times.csv"
    assert_as_it_was(old, **{times: b""})


@pytest.mark.usefixtures("its_versions")
def test_it_keeps_its_format_and_new_studies_have_another(old, tmp_path):
    run_again(old, None)
    run_again(tmp_path / "new", None)
    manifests = [read_manifest(folder) for folder in (old, tmp_path / "new")]
    assert [manifest.pop("format") for manifest in manifests] == [1, 2] and manifests[0] == manifests[1]
    for path in (old / "jobs").rglob("*.jsonl"):
        new = (tmp_path / "new" / path.relative_to(old)).read_bytes().splitlines()
        lines = path.read_bytes().splitlines()
        assert [line.partition(b" ")[2] for line in lines] == [line.partition(b" ")[2] for line in new]
        assert {len(line.partition(b" ")[0]) for line in lines} == {8}
        assert {len(line.partition(b" ")[0]) for line in new} == {16}


@pytest.mark.usefixtures("its_versions")
def test_its_lines_count_only_in_its_own_format(old):
    """Lines of format 1 in a study of format 2 are run again, and so are lines of format 2 in one of format 1."""
    for new_format in (2, 1):
        text = (old / "study.json").read_text()
        (old / "study.json").write_text(
            text.replace(f'"format": {3 - new_format}', f'"format": {new_format}')
        )
        seen = []
        run_again(old, seen.append)
        assert (seen[0].resumed, seen[-1].done) == (0, 12)
    times = "times.csv"
    assert_as_it_was(old, **{times: b""})


@pytest.mark.parametrize("content", ['{"a": ' * 100_000, '{"format": true}', '{"format": 3}', "[1]", '"'])
def test_a_description_that_cannot_be_read(old, content):
    (old / "study.json").write_text(content)
    for call in (read_manifest, study_summary, lambda folder: run_again(folder, None)):
        with pytest.raises(StudyError, match=r"study\.json (cannot be read|has format)"):
            call(old)


def test_another_version_does_not_go_on_with_it(old, monkeypatch):
    monkeypatch.setattr("hietan.evaluation.study.plan.versions", lambda: {"hietan": "9.9"})
    with pytest.raises(
        StudyError, match=r"belongs to a different study: version 'hietan' has changed from 0\.1\.0"
    ):
        run_again(old, None)
    assert_as_it_was(old)


def test_a_metric_that_it_does_not_have_is_missing_and_nothing_else(old, tmp_path):
    """As after a new metric: every older summary has a column fewer."""
    lines = lines_of(old / "summary.csv")
    with open(old / "summary.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [name for name in COLUMNS if name != "mcc"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
    for row, whole in zip(read_summary(old), read_summary(OLD), strict=True):
        assert np.isnan(row["mcc"]) and not np.isnan(whole["mcc"])
        assert all(row[name] == whole[name] for name in METRICS if name in COLUMNS and name != "mcc")
    assert read_summary(old) == read_summary(old)  # rows with missing values are equal to themselves
    app = make_app()
    outputs = [CliRunner().invoke(app, ["compare", str(folder), "--metric", "auc"]) for folder in (old, OLD)]
    assert outputs[0].exit_code == 0 and outputs[0].output == outputs[1].output
    assert CliRunner().invoke(app, ["compare", str(old), str(old)]).exit_code == 0
    assert (
        write_report(old, tmp_path / "a.html").read_bytes()
        == write_report(OLD, tmp_path / "b.html").read_bytes()
    )


DAMAGES = int(os.environ.get("HIETAN_DAMAGES", "8"))
REPORTED = [
    "study.json",
    "summary.csv",
    "predictions.csv",
    "feature_usage.csv",
    "bootstrap.csv",
    "failures.csv",
]


def damaged(rng, content):
    """The bytes of a file with a piece missing, doubled or replaced."""
    start = int(rng.integers(len(content)))
    stop = start + int(rng.integers(1, 60))
    piece = [b"", content[start:stop] * 2, b"x", b"-1", b"\xff", b'"', b"\n", b"[" * 3000, b"1e999"]
    return content[:start] + piece[rng.integers(len(piece))] + content[stop:]


@pytest.mark.parametrize("name", [*REPORTED, "details/tiny-set-0.json"])
def test_a_damaged_study_is_reported_on_or_refused(tmp_path, name):
    folder, rng = tmp_path / "study", np.random.default_rng(5)
    shutil.copytree(OLD, folder)
    for _ in range(DAMAGES):
        (folder / name).write_bytes(damaged(rng, (OLD / name).read_bytes()))
        try:
            write_report(folder, tmp_path / "report.html")
        except StudyError as error:
            assert str(folder) in str(error)  # noqa: PT017
