"""The study runner: what is on disk, what is noticed, what is refused."""

import csv
import importlib
import json
import linecache
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, PredefinedSplit, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from hietan import TAN, HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import Method, read_summary, run_study
from hietan.evaluation._study.journal import Journal, read_manifest
from hietan.exceptions import StudyError
from hietan.report import show_report
from hietan.scores import cross_validate, metrics_of
from support.processes import contents

pytestmark = pytest.mark.filterwarnings("ignore::hietan.exceptions.FailedMethodWarning")
DATASETS = [replace(make_hierarchical_classification(90, 25, random_state=k), name=f"d{k}") for k in range(4)]
METHODS = {"TAN": TAN(), "Hie-TAN-Lite": HieTANLite(), "NB": make_pipeline(MaxAbsScaler(), BernoulliNB())}


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("out of\norder")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "out"
    groups = {"d0": "a", "d1": "a", "d2": "b", "d3": "b"}
    return run_study(DATASETS, METHODS, cv=5, seeds=2, output=path, groups=groups), path


def test_the_summary_is_that_of_cross_validation(study):
    results, path = study
    assert len(results.summary) == 4 * 3 * 2
    row = next(r for r in results.summary if (r.dataset, r.method, r.seed) == ("d2", "Hie-TAN-Lite", 1))
    expected = metrics_of(cross_validate(HieTANLite(), DATASETS[2], n_splits=5, seed=1))
    assert row.metrics == pytest.approx(tuple(expected.values()))
    assert read_summary(path) == results.summary


def test_all_files_are_there_and_agree(study):
    results, path = study
    predictions = rows(path / "predictions.csv")
    assert len(predictions) == 4 * 90 * 3 * 2
    mine = [r for r in predictions if (r["dataset"], r["method"], r["seed"]) == ("d0", "TAN", "0")]
    hits = [np.mean([r["y_pred"] == c for r in mine if r["y_true"] == c]) for c in "01"]
    first = results.summary[0]
    assert (first["specificity"], first["sensitivity"]) == pytest.approx(tuple(hits))
    assert {r["instance"] for r in mine} == set(DATASETS[0].instance_names)
    drawn = rows(path / "bootstrap.csv")
    assert [r["method"] for r in drawn] == list(METHODS)
    means = results.rankings[0].means()
    assert all(float(r["mean_gmean_low"]) < means[r["method"]] < float(r["mean_gmean_high"]) for r in drawn)
    compared = rows(path / "comparisons.csv")
    expected = [[("" if v is None else str(v)) for v in row.values()] for row in results.comparisons()]
    assert [list(row.values()) for row in compared] == expected and len(compared) == 2 * 3
    interval = [(r["metric"], bool(r["difference_low"])) for r in compared if r["control"]]
    assert interval == [("gmean", True)] * 2 + [("auc", False)] * 2
    used = rows(path / "feature_usage.csv")
    assert [list(row.values()) for row in used] == [
        list(map(str, row.values())) for row in results.feature_usage(by=None)
    ]
    assert len(rows(path / "folds.csv")) == 4 * 3 * 2 * 5
    assert len(rows(path / "times.csv")) == 4 * 3 * 2 * 5
    assert rows(path / "failures.csv") == []
    summary = json.loads((path / "summary.json").read_text())
    assert summary["study"]["seeds"] == [0, 1] and len(summary["rankings"]) == 2
    assert "seconds" not in (path / "summary.json").read_text()


def test_folds_may_lack_a_class(tmp_path):
    """Metrics of a fold that need the missing class are empty; those of all rows together do not change."""
    data = replace(make_hierarchical_classification(24, 5, random_state=0), name="two")
    fold = np.arange(24) % 3
    fold[np.flatnonzero(data.y == 0)[:4]] = 3
    results = run_study([data], {"TAN": TAN()}, cv=PredefinedSplit(fold), output=tmp_path / "two")
    lines = rows(tmp_path / "two" / "folds.csv")
    predicted = results.predictions["two", "TAN @ tuned none", 0].predicted
    assert [line["n_rows"] for line in lines][3] == "4" and all(line["gmean"] for line in lines[:3])
    assert [lines[3][name] for name in ("gmean", "sensitivity", "auc")] == [""] * 3
    assert float(lines[3]["specificity"]) == np.mean(predicted[fold == 3] == 0)
    assert read_summary(tmp_path / "two") == results.summary
    assert np.isfinite(results.summary[0].metrics).all()

    three = replace(make_hierarchical_classification(30, 5, n_classes=3, random_state=0), name="three")
    results = run_study([data, three], {"TAN": TAN()}, cv=LeaveOneOut(), output=tmp_path / "all")
    lines = rows(tmp_path / "all" / "folds.csv")
    assert len(lines) == 24 + 30 and {line["gmean"] + line["auc"] for line in lines} == {""}
    mine = [line["specificity"] + line["sensitivity"] for line in lines]
    assert set(mine[:24]) <= {"0.0", "1.0"} and set(mine[24:]) == {""}
    assert "24 to 30 folds" in repr(results) and "<b>24 to 30</b>" in results._repr_html_()
    assert np.isfinite([results.summary[1]["gmean"], results.summary[1]["auc"]]).all()
    content = show_report(results).content
    assert [d["quality"] is None for d in content["datasets"]] == [False, True]


def test_ranks_are_over_datasets_with_the_seeds_averaged(study):
    results, path = study
    ranking = results.rankings[0]
    assert ranking.scores.shape == (4, 3) and ranking.comparison.n_datasets == 4
    both = [r["gmean"] for r in results.summary if (r.dataset, r.method) == ("d3", "NB")]
    assert ranking.scores[3, 2] == pytest.approx(np.mean(both))
    scopes = {(r["scope"], r["n_datasets"]) for r in rows(path / "ranks.csv")}
    assert scopes == {("all", "4"), ("a", "2"), ("b", "2")}


def test_feature_usage_is_counted_over_all_seeds(study):
    _, path = study
    usage = [r for r in rows(path / "feature_usage.csv") if r["dataset"] == "d1"]
    assert {r["method"] for r in usage} == {"TAN", "Hie-TAN-Lite"}
    assert {(r["n_seeds"], r["n_rows"]) for r in usage} == {("2", "180")}
    tan = [r for r in usage if r["method"] == "TAN"]
    assert {r["selected"] for r in tan} == {"180"}  # TAN keeps all
    assert {r["rank_selected"] for r in tan} == {"1"}  # and so all of them share the best rank
    assert (
        sum(int(r["in_edges"]) for r in tan) == 2 * 24 * 180
    )  # 24 edges for each of 180 rows, two ends each
    lite = [r for r in usage if r["method"] == "Hie-TAN-Lite"]
    kept = sum(int(r["selected"]) for r in lite)
    assert sum(int(r["in_edges"]) for r in lite) == 2 * (kept - 180)


def test_feature_usage_of_a_seed_is_that_of_its_trees(study):
    results, _ = study
    counted = np.zeros(25, dtype=int)
    for seed in (0, 1):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        for train, test in folds.split(DATASETS[1].X, DATASETS[1].y):
            model = HieTANLite(hierarchy=DATASETS[1].hierarchy, random_state=seed)
            model.fit(DATASETS[1].X[train], DATASETS[1].y[train])
            counted += sum(np.array(tree.parent) != -2 for tree in model.trees(DATASETS[1].X[test]))
    assert results.usage["d1", "Hie-TAN-Lite @ tuned none"].selected.tolist() == counted.tolist()


@pytest.mark.parametrize(("by", "other"), [("selected", "in_edges"), ("in_edges", "selected")])
def test_features_are_ranked_by_either_count(study, by, other):
    results, _ = study
    found = results.feature_usage("d2", "Hie-TAN-Lite @ tuned none", by=by)
    counts = [(getattr(row, by), getattr(row, other)) for row in found]
    assert len(found) == 25 and counts == sorted(counts, reverse=True)
    for row in found:
        assert getattr(row, f"rank_{by}") == 1 + sum(count > getattr(row, by) for count, _ in counts)
        assert getattr(row, f"rank_{other}") == 1 + sum(count > getattr(row, other) for _, count in counts)
    assert len(results.feature_usage(by=by)) == 4 * 2 * 25
    assert results.feature_usage("d2", "Hie-TAN-Lite @ tuned none", by=by, top=3) == found[:3]
    with pytest.raises(ValueError, match="by is 'edges'; expected one of selected, in_edges"):
        results.feature_usage(by="edges")


def test_a_finished_study_is_not_run_again(study):
    _, path = study
    seen = []
    before = contents(path)
    groups = {"d0": "a", "d1": "a", "d2": "b", "d3": "b"}
    run_study(DATASETS, METHODS, cv=5, seeds=2, output=path, groups=groups, progress=seen.append)
    assert [(p.done, p.total, p.resumed) for p in seen] == [(120, 120, 120)]
    assert contents(path) == before


def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path)
    before = contents(tmp_path)
    path = Journal(tmp_path, read_manifest(tmp_path), "d0", "TAN @ tuned none").path
    data = path.read_bytes()
    for damaged in (data[:-7], data[:-1], data.replace(b"predicted", b"predictet", 1), b""):
        path.write_bytes(damaged)
        seen = []
        run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path, progress=seen.append)
        assert seen[0].resumed == 9 - (3 if not damaged else 1)
        assert contents(tmp_path) == before


def test_a_failing_method_is_recorded_and_the_others_go_on(tmp_path):
    methods = {"broken": Broken(), "TAN": TAN()}
    results = run_study(DATASETS[:2], methods, cv=3, output=tmp_path)
    assert {row.method for row in results.summary} == {"TAN"}
    assert len(results.failures) == 6
    assert rows(tmp_path / "failures.csv")[0]["error"] == "RuntimeError: out of order"
    assert 'raise RuntimeError("out of\\norder")' in (tmp_path / "failures.txt").read_text()
    assert results.rankings[0].methods == ("TAN",)
    seen = []
    run_study(DATASETS[:2], methods, cv=3, output=tmp_path, progress=seen.append)
    assert seen[-1].done == seen[0].done and seen[-1].failed == 6
    run_study(DATASETS[:2], methods, cv=3, output=tmp_path, retry_failed=True, progress=seen.append)
    assert seen[-1].failed == 6 and seen[-1].resumed == 6


def test_methods_are_ranked_by_setting_and_tuning():
    methods = [
        Method("TAN", TAN(), "alpha=1"),
        Method("TAN", TAN(alpha=0.1), "alpha=0.1"),
        Method("NB", BernoulliNB()),
        Method("TAN", TAN(), "alpha=1", "threshold"),
    ]
    results = run_study(DATASETS[:2], methods, cv=3)
    tables = {(r.tuning, r.setting): r.methods for r in results.rankings if r.metric == "gmean"}
    assert tables == {
        ("none", "alpha=1"): ("TAN", "NB"),
        ("none", "alpha=0.1"): ("TAN", "NB"),
        ("threshold", "alpha=1"): ("TAN",),
    }


def changed_data():
    X = DATASETS[0].X.copy()
    X.data[0] = 0
    return [replace(DATASETS[0], X=X), *DATASETS[1:2]]


@pytest.mark.parametrize(
    ("datasets", "methods", "options", "message"),
    [
        (changed_data(), METHODS, {}, "dataset 'd0' has changed"),
        (DATASETS[:3], METHODS, {}, "dataset 'd2' is new"),
        (DATASETS[:2], {**METHODS, "TAN": TAN(alpha=2)}, {}, "method 'TAN @ tuned none' has changed"),
        (DATASETS[:2], {"TAN": TAN()}, {}, "method 'Hie-TAN-Lite @ tuned none' is no longer in it"),
        (DATASETS[:2], METHODS, {"cv": 4}, "cv was 3 and is now 4"),
        (DATASETS[:2], METHODS, {"seeds": [5]}, "seeds was \\[0\\] and is now \\[5\\]"),
    ],
)
def test_another_study_is_not_mixed_in(datasets, methods, options, message, tmp_path):
    run_study(DATASETS[:2], METHODS, cv=3, output=tmp_path)
    before = contents(tmp_path)
    with pytest.raises(StudyError, match=message):
        run_study(datasets, methods, **{"cv": 3, "output": tmp_path, **options})
    assert contents(tmp_path) == before


OWN_CLASS = """
from sklearn.dummy import DummyClassifier

class Ratio(DummyClassifier):
    def predict(self, X):
        return super().predict(X)  # {note}
"""


def test_an_edited_class_of_no_package_is_noticed(tmp_path, monkeypatch):
    """Its package has no version, so the source of the class stands for it, as a part of a pipeline too."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, wrapped in (("alone", lambda model: model), ("inside", make_pipeline)):
        for note, message in (
            ("first", ""),
            ("first", ""),
            ("second", f"method '{name} @ tuned none' has changed"),
        ):
            module = f"own_{name}"
            (tmp_path / f"{module}.py").write_text(OWN_CLASS.format(note=note))
            linecache.clearcache()
            sys.modules.pop(module, None)
            importlib.invalidate_caches()
            model = {name: wrapped(importlib.import_module(module).Ratio(strategy="prior"))}
            with pytest.raises(StudyError, match=message) if message else nullcontext():
                run_study(DATASETS[:1], model, cv=3, output=tmp_path / name)
        monkeypatch.delitem(sys.modules, module)


OWN_MODULES = {
    "own_base.py": "class Base:\n    step = 1\n",
    "own_method.py": "from own_base import Base\nfrom sklearn.dummy import DummyClassifier\nK = 1.0\n\n\n"
    "def score(X):\n    return K\n\n\nclass Scored(Base, DummyClassifier):\n    pass\n",
}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("own_method.py", "K = 1.0", "K = -1.0"),
        ("own_method.py", "return K", "return 2 * K"),
        ("own_base.py", "step = 1", "step = 2"),
    ],
)
def test_edited_code_that_a_class_uses_is_noticed(tmp_path, monkeypatch, file, old, new):
    monkeypatch.syspath_prepend(tmp_path)

    def study():
        linecache.clearcache()
        importlib.invalidate_caches()
        for module in ("own_method", "own_base"):
            sys.modules.pop(module, None)
        method = importlib.import_module("own_method").Scored(strategy="prior")
        run_study(DATASETS[:1], {"own": method}, cv=3, output=tmp_path / "study")

    for name, text in OWN_MODULES.items():
        (tmp_path / name).write_text(text)
    study()
    study()
    (tmp_path / file).write_text(OWN_MODULES[file].replace(old, new))
    with pytest.raises(StudyError, match="method 'own @ tuned none' has changed"):
        study()
    for module in ("own_method", "own_base"):
        monkeypatch.delitem(sys.modules, module)


def test_another_version_is_noticed(tmp_path, monkeypatch):
    run_study(DATASETS[:1], {"TAN": TAN()}, cv=3, output=tmp_path)
    monkeypatch.setattr("hietan.evaluation._study.plan.versions", lambda: {"hietan": "9.9"})
    with pytest.raises(StudyError, match="version 'hietan' has changed from .* to 9.9"):
        run_study(DATASETS[:1], {"TAN": TAN()}, cv=3, output=tmp_path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run_study([], METHODS), "no dataset"),
        (lambda: run_study(DATASETS, {}), "no method"),
        (lambda: run_study([DATASETS[0]] * 2, METHODS), "dataset 'd0' is given twice"),
        (lambda: run_study(DATASETS, METHODS, cv=1), "cv is 1"),
        (lambda: run_study(DATASETS, METHODS, seeds=0), "seeds is 0"),
        (lambda: run_study(DATASETS, METHODS, n_jobs=0), "n_jobs is 0"),
        (
            lambda: run_study(DATASETS, METHODS, backend="magic"),
            "backend is 'magic'; expected one of threads",
        ),
        (
            lambda: run_study(DATASETS, METHODS, cv=60),
            "dataset d0: class class0 has .. rows, fewer than the 60 folds",
        ),
        (
            lambda: run_study(DATASETS, {"f": make_pipeline(FunctionTransformer(lambda X: X), TAN())}),
            "replace lambdas with named functions",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_directory_that_is_not_a_study_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(StudyError, match="not empty and does not contain a study"):
        run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path)
    with pytest.raises(StudyError, match=r"thesis.txt is a file"):
        run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path / "thesis.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_runs_at_once_are_refused(tmp_path):
    def meddle(progress):
        if progress.job is not None:
            with pytest.raises(StudyError, match="another run is writing"):
                run_study(DATASETS[:1], {"dummy": DummyClassifier()}, cv=3, output=tmp_path)

    run_study(DATASETS[:1], {"dummy": DummyClassifier()}, cv=3, output=tmp_path, progress=meddle)


def test_without_a_directory_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    results = run_study(DATASETS[:1], {"lr": LogisticRegression(), "Hie-TAN": HieTAN()}, cv=3)
    assert results.directory is None and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [b'"never closed\n', b"a,b\n", b"\x00\n"],
)
def test_damaged_times_cost_no_results(tmp_path, damage):
    run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path)
    before, path = contents(tmp_path), tmp_path / "times.csv"
    times = path.read_bytes()
    path.write_bytes(times + damage)
    run_study(DATASETS[:1], METHODS, cv=3, output=tmp_path)
    assert contents(tmp_path) == before
    assert path.read_bytes() == times


class Verbose(Broken):
    """Fails with a message that no cell of a table can hold."""

    def fit(self, X, y):
        raise RuntimeError("x" * 200_000)


def test_a_very_long_error_is_cut_in_tables_and_whole_in_the_text(tmp_path):
    results = run_study(DATASETS[:1], {"long": Verbose(), "TAN": TAN()}, cv=3, output=tmp_path)
    assert len(results.failures) == 3
    assert all(10_000 < len(row["error"]) < 10_010 for row in rows(tmp_path / "failures.csv"))
    assert "x" * 200_000 in (tmp_path / "failures.txt").read_text()
