"""The plain dict of a report: what it says agrees with the files of the study and with the models."""

import json
import re
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import AODE, HIPNB, TAN, HieTAN, HieTANLite
from hietan.catalogue import load_datasets
from hietan.evaluation import run_study
from hietan.evaluation._outputs.report_data import Reasons, compact
from hietan.exceptions import StudyError
from hietan.report import write_report
from hietan.report._study_page import study_summary
from hietan.scores import METRICS
from support.processes import contents

METHODS = {"TAN": TAN(), "lite": HieTANLite(), "HIP": HIPNB(), "NB": BernoulliNB()}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    data = load_datasets(["synthetic-0", "synthetic-1", "synthetic-2"])
    groups = {"synthetic-0": "A", "synthetic-1": "A", "synthetic-2": "B"}
    results = run_study(data, METHODS, cv=3, output=folder, groups=groups, command="a command", rows=["row7"])
    return folder, results


@pytest.fixture(scope="module")
def summary(study):
    return study_summary(study[0])


def test_it_is_json_and_all_that_the_page_shows(summary, study, tmp_path):
    page = write_report(study[0], tmp_path / "report.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert json.loads(data) == json.loads(json.dumps(summary, allow_nan=False))


def test_a_report_only_reads(study, tmp_path):
    folder = Path(shutil.copytree(study[0], tmp_path / "study"))
    (folder / "summary.json").unlink()
    before = contents(folder)
    expected = write_report(folder, tmp_path / "first.html").read_bytes()
    assert contents(folder) == before
    assert write_report(folder) == folder / "report.html"
    assert (folder / "report.html").read_bytes() == expected


def test_it_says_how_metrics_are_shown(summary):
    assert summary["metrics"].keys() == METRICS.keys()
    assert summary["metrics"]["gmean"] == {
        "label": "GMean",
        "lower_is_better": False,
    }
    for name, shown in deepcopy(summary["metrics"]).items():
        assert shown.pop("label") == METRICS[name].label_of("class1")
        assert shown == {key: getattr(METRICS[name], key) for key in shown} and len(shown) == 1


def test_effects_are_those_of_the_study(study, summary):
    _, results = study
    compared = [row for row in results.comparisons() if row.mean_difference is not None]
    number = {method["name"]: i for i, method in enumerate(summary["methods"])}
    for ranking in summary["rankings"]:
        expected = [row for row in compared if row.metric == ranking["metric"]]
        effects = ranking["effects"]
        assert (
            effects["control"] == number[expected[0].control] == ranking["control"]
            and effects["rope"] == 0.01
        )
        for line, row in zip(effects["rows"], expected, strict=True):
            numbers = (row.mean_difference, row.difference_low, row.difference_high, row.rank_biserial)
            numbers += (row.p_worse, row.p_equivalent, row.p_better)
            assert line == [number[row.method], *(None if v is None else round(v, 6) for v in numbers)]


def test_ranks_scores_and_groups_are_those_of_the_study(study, summary):
    _, results = study
    assert [m["name"] for m in summary["methods"]] == list(METHODS)
    of_metric = {ranking.metric: ranking for ranking in results.rankings}
    assert len(summary["rankings"]) == len(of_metric) and summary["rankings"][0]["metric"] == "auc"
    for shown in summary["rankings"]:
        ranking = of_metric[shown["metric"]]
        assert shown["ranks"] == pytest.approx(list(ranking.average_ranks().values()), abs=1e-4)
        assert np.array(shown["scores"]) == pytest.approx(ranking.scores, abs=1e-4)
        assert shown["group_ranks"].keys() == {"A", "B"}
        for name in ("friedman", "friedman_corrected"):
            test = getattr(ranking.comparison, name)
            expected = None if test is None else pytest.approx([test.statistic, test.p_value], rel=1e-3)
            assert shown[name] == expected
        assert len(shown["intervals"]) == (4 if ranking.metric == "gmean" else 0)


def test_predictions_and_usage_are_those_of_the_study(study, summary):
    _, results = study
    for data in summary["datasets"]:
        for i, method in enumerate(summary["methods"]):
            pooled = results.predictions[data["name"], method["key"], 0]
            shown = data["predictions"][i]
            assert shown["predicted"] == pooled.predicted.tolist() and data["truth"] == pooled.truth.tolist()
            assert shown["log_odds"] == pytest.approx(pooled.log_odds, abs=1e-3)
        assert {summary["methods"][i]["name"] for i in data["usage"]} == {"TAN", "lite"}
        counted = results.usage[data["name"], summary["methods"][1]["key"]]
        assert data["usage"][1]["selected"] == counted.selected.tolist()
        assert data["usage"][1]["in_edges"] == counted.in_edges.tolist()


def test_the_curves_count_every_row_once(summary):
    for curves in summary["reliability"].values():
        rows = {sum(counts) for _, _, counts in curves.values()}
        assert len(rows) == 1 and len(curves) == 4


def test_every_explanation_adds_up_and_every_method_explains_the_same_rows(summary):
    for data in summary["datasets"]:
        entries = data["explained"]
        assert {entry["why"] for entry in entries} == {"drawn", "asked for"}
        assert any(data["genes"][entry["row"]] == "row7" for entry in entries)
        for entry in entries:
            assert set(entry["methods"]) == {0, 1, 2}
            for i, why in entry["methods"].items():
                parts = sum(why["contributions"]) + why["rest"][1] + sum(v for _, v in why["other"])
                assert why["base"] + parts == pytest.approx(why["log_odds"], abs=0.02)
                assert why["log_odds"] == pytest.approx(
                    data["predictions"][i]["log_odds"][entry["row"]], abs=2e-3
                )


def test_the_smaller_tree_is_whole_and_hangs_together():
    (data,) = load_datasets(["synthetic-3"])
    for model in (HieTAN(), HieTANLite()):
        fitted = model.set_params(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
        (explanation,) = fitted.explain(data.X[:1])
        whole = compact(explanation, Reasons())
        names = [data.feature_names[j] for j in whole["features"]]
        edges = {(names[p], names[i]) for i, p in enumerate(whole["parents"]) if p >= 0}
        assert edges == set(explanation.to_networkx().edges) and whole["rest"] == [0, 0.0]
        part = compact(explanation, Reasons(), shown=2)
        assert part["rest"][0] == len(names) - len(part["features"]) > 0
        assert all(p < len(part["features"]) for p in part["parents"])
        assert part["parents"].count(-1) <= whole["parents"].count(-1)


def test_removed_terms_come_back_with_their_reasons():
    (data,) = load_datasets(["synthetic-0"])
    for model in (HieTANLite(hierarchy=data.hierarchy, random_state=0), HIPNB(hierarchy=data.hierarchy)):
        (explanation,) = model.fit(data.X, data.y).explain(data.X[3:4])
        reasons = Reasons()
        shown = compact(explanation, reasons)
        told = {
            (data.feature_names[j], reasons.texts[reason].replace("{}", data.feature_names[by]))
            for by, reason, _, columns in shown["removed"]
            for j in columns
        }
        assert told == {(r.feature, r.reason) for r in explanation.removed}
        assert len(reasons.texts) <= 2


def test_an_average_of_estimators_has_no_tree_and_no_probabilities():
    (data,) = load_datasets(["synthetic-0"])
    (explanation,) = AODE(hierarchy=data.hierarchy).fit(data.X, data.y).explain(data.X[:1])
    shown = compact(explanation, Reasons())
    assert not shown["tree"] and shown["probabilities"] is None and shown["other"]


def test_a_study_without_details_still_has_a_report(tmp_path):
    run_study(load_datasets(["synthetic-0"]), {"TAN": TAN()}, cv=3, output=tmp_path, usage=False)
    summary = study_summary(tmp_path)
    (data,) = summary["datasets"]
    assert data["explained"] == [] and data["usage"] == {} and data["classes"] == ["0", "1"]
    assert write_report(tmp_path).stat().st_size > 10_000


def test_a_directory_without_a_study_is_refused(tmp_path):
    with pytest.raises(StudyError, match="it does not contain a study"):
        write_report(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["NaN", '"caf\\udce9"'])
def test_what_no_page_can_hold_is_an_error_that_names_the_study(study, tmp_path, damage):
    folder, _ = study
    for file in ("study.json", "details/synthetic-0.json"):
        shutil.rmtree(tmp_path, ignore_errors=True)
        shutil.copytree(folder, tmp_path)
        text = (tmp_path / file).read_text()
        key = '"command": ' if file == "study.json" else '"why":'
        assert key in text
        (tmp_path / file).write_text(re.sub(f'{key}"[^"]*"', (key + damage).replace("\\", r"\\"), text))
        with pytest.raises(
            StudyError, match=f"the files of the study in {re.escape(str(tmp_path))} are damaged"
        ):
            write_report(tmp_path)


def test_labels_that_are_no_indices_keep_their_names(tmp_path):
    (data,) = load_datasets(["synthetic-0"])

    class Labelled:
        name, X, y, hierarchy = "labelled", data.X, data.y + 1, data.hierarchy

    run_study([Labelled()], {"lite": HieTANLite()}, cv=3, output=tmp_path, explain=True)
    (shown,) = study_summary(tmp_path)["datasets"]
    # Plain labels have scikit-learn's order: the last is positive and explained.
    assert shown["labels"] == shown["classes"] == ["1", "2"] and np.mean(shown["truth"]) > 0.5
    assert shown["explained"][0]["methods"][0]["target"] == "2" and shown["genes"][:2] == ["0", "1"]
