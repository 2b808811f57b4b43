"""Lazy selections and their two models against plain Python twins, and what users may rely on."""

import itertools
import json
import pickle
from random import Random

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import hietan
from hietan import HIPNB, Hierarchy, LazySelection
from hietan._runtime import parallel
from support import twins
from support.comparison import counts_of, estimator, fitted, frame, ontology, ranking_of
from support.strategies import closed_upwards, larger_problems, problems, random_problem

SELECTIONS = ("hip", "mr", "hip-mr", "hnb", "rnb")
MODELS = ("naive-bayes", "tan")
ALL = list(itertools.product(SELECTIONS, MODELS))
FEW = 3


def expected(problem, selection, model, x, root_order):
    """(what is kept, the tree or None, joint log-probabilities) of the twin."""
    counts = counts_of(problem)
    kept = twins.lazily_selected(selection, x, counts, problem.ancestors, FEW)
    tree = None
    if model == "tan":
        tree = twins.selected_tree(kept, ranking_of(problem), root_order, problem.n_features)
    joint = twins.selected_joint_log(kept, x, tree, counts, problem.alpha, problem.smoothing)
    return kept, tree, joint


def assert_agrees(problem, selection, model):
    options = {"selection": selection, "model": model, "n_features": FEW}
    clf = fitted(problem, LazySelection, hierarchy=ontology(problem), **options)
    rows = np.unique(problem.X_test, axis=0)
    order = clf.root_order_.tolist() if model == "tan" else []
    X = frame(problem, rows)
    answers = clf.predict_joint_log_proba(X)
    selected = clf.selected(X)
    trees = clf.trees(X) if model == "tan" else None
    for r, x in enumerate(rows.tolist()):
        kept, tree, scores = expected(problem, selection, model, x, order)
        assert selected[r] == tuple(problem.names[v] for v in sorted(kept))
        if trees is not None:
            assert trees[r].parent.tolist() == tree
        np.testing.assert_allclose(answers[r], scores, rtol=0, atol=1e-9)


@given(problem=problems(min_features=1), which=st.sampled_from(ALL))
def test_small_problems_agree_with_the_twins(problem, which):
    assert_agrees(problem, *which)


@pytest.mark.patient
@given(problem=larger_problems())
def test_larger_problems_agree_with_the_twins(problem):
    for selection, model in ALL:
        assert_agrees(problem, selection, model)


@given(problem=problems(min_features=1))
def test_the_closed_form_of_mr_is_its_walk_through_all_paths(problem):
    counts = counts_of(problem)
    R = [twins.relevance(v, counts) for v in range(problem.n_features)]
    coarse = [round(r, 1) for r in R]  # with ties
    for x in np.unique(problem.X_test, axis=0).tolist():
        closed = closed_upwards(x, problem.ancestors)
        for scores in (R, coarse):
            by_paths = twins.mr_by_paths(closed, problem.ancestors, scores)
            assert twins.mr_selected(closed, problem.ancestors, scores) == by_paths


def test_mr_prefers_the_most_specific_one_and_the_most_general_zero_of_equals():
    chain = [set(), {0}, {0, 1}]
    assert twins.mr_by_paths([1, 1, 1], chain, [0.5, 0.5, 0.5]) == {2}
    assert twins.mr_by_paths([0, 0, 0], chain, [0.5, 0.5, 0.5]) == {0}
    X = np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]])
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    clf = LazySelection(selection="mr", hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    assert clf.selected(X[1:3]) == [("c",), ("a",)]


@given(problem=problems(min_features=1), data=st.data())
def test_storage_threads_and_parts_change_no_bit(problem, data):
    selection, model = data.draw(st.sampled_from(ALL))
    X, y, T = problem.X_train, problem.y, problem.X_test
    options = {"selection": selection, "model": model, "n_features": FEW}
    clf = estimator(problem, LazySelection, **options).fit(X, y)
    expected = clf.predict_joint_log_proba(T)
    for table in (sp.csr_array(T), T.astype(float), sp.csc_array(T)):
        np.testing.assert_array_equal(clf.predict_joint_log_proba(table), expected)
    again = estimator(problem, LazySelection, **options).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(again.predict_joint_log_proba(T), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_joint_log_proba(T), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "MAX_CHUNK_ROWS", 64)
        np.testing.assert_array_equal(clf.set_params(n_jobs=2).predict_joint_log_proba(T), expected)
    if len(y) > 1:
        cut = data.draw(st.integers(1, len(y) - 1))
        parts = estimator(problem, LazySelection, **options)
        parts.partial_fit(X[:cut], y[:cut], classes=range(problem.n_classes)).partial_fit(X[cut:], y[cut:])
        np.testing.assert_array_equal(parts.predict_joint_log_proba(T), expected)


@given(problem=problems(min_features=1))
def test_hip_nb_is_the_short_name_of_hip_with_naive_bayes(problem):
    T = problem.X_test
    short = estimator(problem, HIPNB).fit(problem.X_train, problem.y)
    long = estimator(problem, LazySelection).fit(problem.X_train, problem.y)
    np.testing.assert_array_equal(short.predict_joint_log_proba(T), long.predict_joint_log_proba(T))
    assert short.selected(T) == long.selected(T)
    assert not hasattr(short, "trees") and hasattr(short, "partial_fit")


@pytest.mark.parametrize(("selection", "model"), ALL)
def test_explanations_add_up_and_give_reasons(selection, model):
    problem = random_problem(Random(5), min_features=12, max_features=16)
    clf = fitted(
        problem, LazySelection, hierarchy=ontology(problem), selection=selection, model=model, n_features=FEW
    )
    X = frame(problem, problem.X_test[:20])
    proba, selected = clf.predict_proba(X), clf.selected(X)
    for r, explanation in enumerate(clf.explain(X, term_names={problem.names[0]: "first"})):
        np.testing.assert_allclose(explanation.probabilities, proba[r], atol=1e-12)
        assert {removal.feature for removal in explanation.removed} == set(problem.names) - set(selected[r])
        assert all(removal.by != removal.feature for removal in explanation.removed)
        json.dumps(explanation.to_dict(), allow_nan=False)
        assert explanation.text(3) and explanation._repr_html_() and explanation.to_frame() is not None
        assert explanation.total() == pytest.approx(explanation.log_odds, abs=1e-9)
        assert {part.feature for part in explanation.contributions} == set(selected[r])


def test_the_reasons_of_each_selection():
    hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    reasons = {}
    for selection in SELECTIONS:
        clf = LazySelection(selection=selection, n_features=1, hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
        reasons[selection] = [str(removal) for removal in clf.explain(X[:1])[0].removed]
    assert reasons["hip"] == [
        "animal removed: implied by its descendant bird, which is 1",
        "bird removed: implied by its descendant owl, which is 1",
    ]
    assert reasons["mr"] == [
        "animal removed: not more relevant than its descendant bird",
        "owl removed: not more relevant than its ancestor bird",
    ]
    assert reasons["hip-mr"] == ["animal removed: implied by its descendant bird, which is 1"]
    assert reasons["hnb"] == [
        *reasons["hip-mr"],
        "owl removed: not among the most relevant features, the last of which is bird",
    ]
    last = "not among the most relevant features, the last of which is bird"
    assert reasons["rnb"] == [f"animal removed: {last}", f"owl removed: {last}"]


def test_a_row_that_loses_every_feature_gets_the_prior():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    X = np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]])
    for model in MODELS:
        clf = LazySelection(model=model, hierarchy=hierarchy).fit(X, [1, 0, 0, 0])
        odd = np.array([[1, 0, 1]])  # not closed: each removes the other
        assert clf.selected(odd) == [()]
        np.testing.assert_allclose(clf.predict_proba(odd), [[4 / 6, 2 / 6]])
        assert clf.explain(odd)[0].probability == pytest.approx(2 / 6)
        assert clf.set_params(class_prior=[0.1, 0.9]).predict_proba(odd)[0].tolist() == pytest.approx(
            [0.1, 0.9]
        )


@pytest.mark.parametrize("model", ["naive-bayes", "tan"])
def test_blocks_of_dask_give_the_bits_of_one_machine(model):
    da = pytest.importorskip("dask.array")
    problem = random_problem(Random(9), min_features=10, max_features=12)
    options = {"selection": "mr", "model": model}
    expected = estimator(problem, LazySelection, **options).fit(problem.X_train, problem.y)
    blocks = da.from_array(problem.X_train, chunks=(4, -1)), da.from_array(problem.y, chunks=4)
    found = estimator(problem, LazySelection, **options).fit(*blocks)
    joint = found.predict_joint_log_proba(da.from_array(problem.X_test, chunks=(64, -1)))
    np.testing.assert_array_equal(np.asarray(joint), expected.predict_joint_log_proba(problem.X_test))


def test_parameters_may_change_after_the_fit():
    problem = random_problem(Random(3), min_features=10, max_features=12)
    clf = fitted(problem, LazySelection, model="tan")
    X = frame(problem, problem.X_test)
    for options in ({"selection": "mr"}, {"selection": "hnb", "n_features": 2}, {"model": "naive-bayes"}):
        fresh = clone(clf).set_params(**options).fit(frame(problem, problem.X_train), problem.y)
        clf.set_params(**options)
        np.testing.assert_array_equal(clf.predict_joint_log_proba(X), fresh.predict_joint_log_proba(X))
    clf.fit(frame(problem, problem.X_train), problem.y)
    with pytest.raises(ValueError, match="changed to 'tan' after fit"):
        clf.set_params(model="tan").predict(X)


@pytest.mark.parametrize(
    "options",
    [
        {"selection": "HIP"},
        {"selection": None},
        {"model": "knn"},
        {"n_features": 0},
        {"n_features": 2.0},
        {"n_features": 2**31},
        {"n_features": True},
    ],
)
def test_wrong_parameters_are_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        LazySelection(**options).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(("selection", "model"), [("hip", "naive-bayes"), ("mr", "tan")])
def test_models_are_stored(selection, model, tmp_path):
    problem = random_problem(Random(7), min_features=10, max_features=12)
    clf = fitted(problem, LazySelection, selection=selection, model=model, n_features=4)
    hietan.save(clf, tmp_path / "model.hietan")
    again = hietan.load(tmp_path / "model.hietan")
    X = frame(problem, problem.X_test)
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert again.get_params() == clf.get_params() and again.selected(X) == clf.selected(X)
    hietan.save(again, tmp_path / "again.hietan")
    assert (tmp_path / "again.hietan").read_bytes() == (tmp_path / "model.hietan").read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")  # about numbers that are not 0 and 1
@parametrize_with_checks(
    [LazySelection(selection="mr", model="tan")]
)  # HIP is checked with the other classifiers
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
