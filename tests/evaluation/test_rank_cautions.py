"""Rank tests over few datasets, or over datasets that share rows, carry a caution wherever they are shown."""

from dataclasses import replace

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

from hietan.datasets import load_ageing_genes, make_hierarchical_classification
from hietan.evaluation import Method, compare_methods, compare_studies, run_study
from hietan.evaluation._outputs.tables import write_tables
from hietan.evaluation._study.plan import plan_study
from hietan.exceptions import StudyError
from hietan.report._study_page import study_summary
from hietan.selection import MinSupport

PLAN = {
    "cv": 3,
    "seeds": 1,
    "groups": None,
    "row_groups": None,
    "usage": False,
    "command": "",
    "positive": "",
}
METHODS = {"NB": BernoulliNB(), "coin": DummyClassifier()}


def test_few_datasets_that_share_rows(tmp_path):
    datasets = [load_ageing_genes("fly", namespace) for namespace in ("BP", "MF", "CC")]
    results = run_study(datasets, METHODS, cv=3, output=tmp_path, usage=False)
    few, shared = results.rankings[0].cautions
    assert few == "Rank tests over 3 datasets have little power; use at least 6 datasets."
    assert shared.startswith(
        "3 of the 3 datasets share rows with another dataset (more than half of the smaller "
        "dataset's rows), such as fly-BP"
    )
    (compared,) = compare_studies([tmp_path])
    assert compared.cautions == (few, shared)
    assert study_summary(tmp_path)["rankings"][0]["cautions"] == [few, shared]
    (table,) = [path for path in write_tables(results, tmp_path) if path.name == "gmean-untuned-tests.md"]
    assert few in table.read_text() and shared in table.read_text()


def test_six_datasets_of_their_own_rows():
    made = make_hierarchical_classification(60, 10, random_state=0)
    named = [replace(made, name=f"d{i}") for i in range(6)]
    results = run_study(named, METHODS, cv=3, usage=False)
    assert results.rankings[0].cautions == ()  # row0, row1, ... are no names
    ids = tuple(map(str, range(7, 67)))
    numbered = plan_study([replace(made, name=n, instance_names=ids) for n in "ab"], METHODS, **PLAN)
    assert numbered.shared_rows == {}
    assert compare_methods(results) == results.comparisons()
    (one,) = run_study(named[:1], METHODS, cv=3, usage=False).rankings[:1]
    assert one.comparison is None and one.cautions == ()


def test_gmean_of_methods_with_and_without_class_weights(tmp_path):
    data = make_hierarchical_classification(60, 10, random_state=0)
    plain, balanced = LogisticRegression(), LogisticRegression(class_weight="balanced")
    methods = {"plain": plain, "weights": MinSupport(balanced, 1)}
    results = run_study([data], methods, cv=3, output=tmp_path, usage=False)
    cautions = {ranking.metric: ranking.cautions for ranking in results.rankings}
    (caution,) = cautions["gmean"]
    assert caution.startswith("GMean favours methods with class weights (weights) over methods without;")
    assert "AUC" in caution and "--tune-threshold" in caution and cautions["auc"] == ()
    assert compare_studies([tmp_path], metric="gmean")[0].cautions == (caution,)
    assert compare_studies([tmp_path])[0].metric == "auc"
    shown = {ranking["metric"]: ranking["cautions"] for ranking in study_summary(tmp_path)["rankings"]}
    assert shown["gmean"] == [caution] and shown["auc"] == []
    tuned = [Method(name, model, tuning="threshold") for name, model in methods.items()]
    same = {"one": balanced, "other": balanced}
    for others in (tuned, same, {"plain": plain}):
        rankings = run_study([data], others, cv=3, usage=False).rankings
        assert all(ranking.cautions == () for ranking in rankings)


def test_a_changed_method_is_named_by_its_parameters(tmp_path):
    made = make_hierarchical_classification(60, 10, random_state=0)
    run_study([made], {"mine": BernoulliNB(alpha=0.1)}, cv=3, output=tmp_path)
    with pytest.raises(StudyError, match=r"from BernoulliNB\(alpha=0\.1\) to BernoulliNB\(alpha=0\.5\)"):
        run_study([made], {"mine": BernoulliNB(alpha=0.5)}, cv=3, output=tmp_path)


def test_studies_of_different_positive_classes_are_not_compared_by_metrics_that_depend_on_them(tmp_path):
    made = make_hierarchical_classification(60, 10, random_state=0)
    for name, positive in (("NB", "class0"), ("coin", "class1")):
        run_study([made], {name: METHODS[name]}, cv=3, output=tmp_path / name, positive=positive)
    folders = [tmp_path / "NB", tmp_path / "coin"]
    with pytest.raises(
        StudyError,
        match="depends on the positive class, which for synthetic is class0 in one study and class1 in another",
    ):
        compare_studies(folders, metric="average_precision")
    assert compare_studies(folders, metric="auc")[0].methods == ("NB", "coin")
    run_study([made], {"NB": METHODS["NB"]}, cv=3, output=tmp_path / "again", positive="class1")
    with pytest.raises(
        StudyError, match="the positive class of synthetic is class0 in one study and class1 in another"
    ):
        compare_studies([tmp_path / "NB", tmp_path / "again"])
    assert (
        compare_studies(folders[:1], metric="average_precision")[0].title
        == "average_precision (class0), untuned"
    )
