"""Explanations are the predictions' own intermediates: they add up, name the tree, and say who removed whom."""

import json
import pickle

import matplotlib as mpl
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from hietan import AODE, HIPNB, TAN, HieTAN, HieTANLite, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from support import twins
from support.comparison import counts_of, frame, ontology, ranking_of
from support.comparison import fitted as fitted_over_columns
from support.families import BAYES, LAZY_TREES, TREES, takes
from support.strategies import larger_problems, problems

mpl.use("Agg")


def fitted(problem, make, **options):
    return fitted_over_columns(problem, make, hierarchy=ontology(problem), **options)


def own_log_odds(joint, target):
    rest = np.delete(joint, target, axis=1)
    return joint[:, target] - logsumexp(rest, axis=1)


@given(
    problem=st.one_of(problems(min_features=1), larger_problems()),
    min_frequency=st.sampled_from([0, 1, 3, 1000]),
    data=st.data(),
)
def test_contributions_add_up_to_the_models_own_log_odds(problem, min_frequency, data):
    rows = frame(problem, np.unique(problem.X_test, axis=0))
    target = data.draw(st.integers(0, problem.n_classes - 1))
    for make in BAYES:
        options = {"min_frequency": min_frequency} if takes(make, "min_frequency") else {}
        clf = fitted(problem, make, **options)
        log_odds = own_log_odds(clf.predict_joint_log_proba(rows), target)
        for explanation, expected in zip(clf.explain(rows, target=target), log_odds, strict=True):
            assert explanation.log_odds == pytest.approx(expected, abs=1e-9)
            assert explanation.total() == pytest.approx(expected, abs=1e-9)
            assert explanation.target == target


@given(problem=problems(min_features=1), data=st.data())
def test_contributions_come_with_their_base_values(problem, data):
    rows = frame(problem, problem.X_test[:4])
    target = data.draw(st.none() | st.integers(0, problem.n_classes - 1))
    for make in BAYES:
        clf = fitted(problem, make)
        found, base = clf.contributions(rows, target=target, return_base=True)
        np.testing.assert_array_equal(found.toarray(), clf.contributions(rows, target=target).toarray())
        explained = clf.explain(rows, target=target)
        expected = [one.base + sum(value for _, value in one.other) for one in explained]
        np.testing.assert_allclose(base, expected, rtol=0, atol=1e-9)


@given(problem=problems(min_features=1))
def test_contributions_are_like_a_tuple_of_records(problem):
    rows = frame(problem, problem.X_test[:3])
    for make in BAYES:
        for explanation in fitted(problem, make).explain(rows, term_names={problem.names[0]: "the first"}):
            lazy, records = explanation.contributions, tuple(explanation.contributions)
            assert lazy == records and records == lazy and hash(lazy) == hash(records)
            assert pickle.loads(pickle.dumps(lazy)) == lazy and repr(lazy) == repr(records)
            assert len(lazy) == len(records) and lazy[1:] == records[1:] and lazy[::-1] == records[::-1]
            assert lazy != records[1:] or not records
            assert [lazy[k] for k in range(-len(lazy), 0)] == list(records)
            with pytest.raises(IndexError):
                lazy[len(lazy)]
            by_size = sorted(records, key=lambda part: -abs(part.contribution))
            assert explanation.strongest == tuple(by_size)
            assert explanation.contributing == [part.feature for part in records]
            assert explanation.amounts == [part.contribution for part in records]
            places = [k for k in range(len(lazy)) if k % 2]
            assert lazy.at(places) == [records[k] for k in places]
            for part in records:
                assert part.name == ("the first" if part.feature == problem.names[0] else part.feature)
                assert type(part.value) is int and type(part.contribution) is float


@given(problem=problems(min_features=1))
def test_the_default_target_and_the_probabilities(problem):
    rows = frame(problem, problem.X_test[:5])
    for make in BAYES:
        clf = fitted(problem, make)
        predicted, probabilities = clf.predict(rows), clf.predict_proba(rows)
        for k, explanation in enumerate(clf.explain(rows)):
            assert explanation.target == (1 if problem.n_classes == 2 else predicted[k])
            assert explanation.predicted == predicted[k]
            np.testing.assert_allclose(explanation.probabilities, probabilities[k], rtol=1e-12)


@given(problem=problems(min_features=1))
def test_trees_are_explained_by_what_they_consist_of(problem):
    """Once for a problem: its own factors and, where features were removed, by whom."""
    for make in TREES:
        clf = fitted(problem, make)
        assert_explained_by_own_factors(clf, problem)
        if make in LAZY_TREES:
            assert_removed_by_the_first_to_enter(clf, problem)


def assert_explained_by_own_factors(clf, problem):
    rows, counts = problem.X_test[:4], counts_of(problem)
    for x, tree, explanation in zip(
        rows.tolist(), clf.trees(frame(problem, rows)), clf.explain(frame(problem, rows)), strict=True
    ):
        assert explanation.has_tree
        assert tuple(part.feature for part in explanation.contributions) == tree.features
        assert {(p.parent, p.feature) for p in explanation.contributions if p.parent} == set(tree.edges)
        for part in explanation.contributions:
            v = problem.names.index(part.feature)
            p = twins.ROOT if part.parent is None else problem.names.index(part.parent)
            assert part.value == x[v] and part.parent_value == (None if part.parent is None else x[p])
            for c, probability in enumerate(part.probabilities):
                log = twins.log_probability(
                    v,
                    x[v],
                    p,
                    0 if part.parent is None else x[p],
                    c,
                    counts,
                    problem.alpha,
                    problem.smoothing,
                )
                assert np.log(probability) == pytest.approx(log, abs=1e-9)


def assert_removed_by_the_first_to_enter(clf, problem):
    """The first relative of the same value that got an edge; edges enter in the order of the ranking."""
    rows = problem.X_test[:4]
    order = [tuple(problem.names[v] for v in edge) for edge in ranking_of(problem)]
    for x, tree, explanation in zip(
        rows.tolist(), clf.trees(frame(problem, rows)), clf.explain(frame(problem, rows)), strict=True
    ):
        value = dict(zip(problem.names, x, strict=True))
        assert {r.feature for r in explanation.removed} == set(problem.names) - set(tree.features)
        edges = {frozenset(edge) for edge in tree.edges}
        entry = [edge for edge in order if frozenset(edge) in edges]
        for removal in explanation.removed:
            assert (
                removal.by in tree.features and value[removal.by] == value[removal.feature] == removal.value
            )
            kin = {
                u
                for u in tree.features
                if clf.hierarchy_.related(u, removal.feature) and value[u] == removal.value
            }
            if edges:
                first = next(edge for edge in entry if kin & set(edge))
                assert removal.by in kin & set(first)
            above = removal.by in clf.hierarchy_.ancestors(removal.feature)
            assert removal.reason == f"same value as its {'ancestor' if above else 'descendant'} {removal.by}"


@given(problem=problems(min_features=1))
def test_who_removed_whom_in_hip(problem):
    rows = problem.X_test[:4]
    clf = fitted(problem, HIPNB)
    for x, kept, explanation in zip(
        rows.tolist(), clf.selected(frame(problem, rows)), clf.explain(frame(problem, rows)), strict=True
    ):
        value = dict(zip(problem.names, x, strict=True))
        assert tuple(part.feature for part in explanation.contributions) == kept
        assert {r.feature for r in explanation.removed} == set(problem.names) - set(kept)
        for removal in explanation.removed:
            below = removal.by in clf.hierarchy_.descendants(removal.feature)
            assert below or removal.by in clf.hierarchy_.ancestors(removal.feature)
            assert value[removal.by] == (1 if below else 0)


@pytest.fixture(scope="module")
def example():
    data = make_hierarchical_classification(200, 60, density=0.15, random_state=0)
    X = pd.DataFrame(data.X.toarray(), columns=data.feature_names, index=[f"gene{k}" for k in range(200)])
    return X, np.array(["anti", "pro"])[data.y], data.hierarchy


def explain(example, make=HieTANLite, **options):
    X, y, hierarchy = example
    return make(hierarchy=hierarchy).fit(X, y).explain(X.iloc[:3], **options)[0]


def test_text(example):
    explanation = explain(example, term_names={f: f"name of {f}" for f in example[0].columns})
    text = explanation.text(limit=4)
    assert text.startswith(f"HieTANLite, gene0: {explanation.predicted}. P(pro) = ")
    for part in explanation.strongest[:4]:
        assert f"{part.feature} = {part.value} (name of {part.feature})" in text
    assert f"{len(explanation.contributions) - 4} weaker features" in text
    assert str(explanation.removed[0]) in text
    assert str(explanation) == explanation.text()


def test_several_explanations_print_one_after_the_other(example):
    X, y, hierarchy = example
    several = HieTANLite(hierarchy=hierarchy).fit(X, y).explain(X.iloc[:3])
    assert str(several).split("HieTANLite, ")[1:] == [
        one.text().removeprefix("HieTANLite, ") + gap
        for one, gap in zip(several, ["\n\n", "\n\n", ""], strict=True)
    ]


def test_frame_dict_and_graph(example):
    explanation = explain(example)
    table = explanation.to_frame()
    assert table["contribution"].sum() + explanation.base == pytest.approx(explanation.log_odds)
    assert table["contribution"].abs().is_monotonic_decreasing
    assert np.log(table["p(pro)"] / table["p(anti)"]).to_numpy() == pytest.approx(
        table["contribution"].to_numpy()
    )
    again = json.loads(json.dumps(explanation.to_dict()))
    assert again["contributions"][0]["feature"] == explanation.contributions[0].feature
    assert len(again["removed"]) == len(explanation.removed) > 0
    assert nx.is_arborescence(explanation.to_networkx())


def test_html_shows_names_as_text():
    evil = "<script>alert('x')</script>"
    X = pd.DataFrame([[1, 0], [0, 1], [1, 1], [0, 0]], columns=[evil, '"quoted" & <b>'])
    html = TAN().fit(X, ["<i>a</i>", "b", "b", "<i>a</i>"]).explain(X)[0]._repr_html_()
    assert "<script>" not in html and "<i>" not in html and "<b>" not in html
    assert "&lt;script&gt;" in html and "&amp; &lt;b&gt;" in html


def test_waterfall_ends_at_the_log_odds(example):
    explanation = explain(example)
    ax = explanation.plot_contributions(limit=5)
    last, before = ax.patches[-1], ax.patches[-2]
    assert last.get_x() + last.get_width() == pytest.approx(explanation.log_odds)
    assert before.get_x() + before.get_width() == pytest.approx(explanation.log_odds)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len(labels) == 5 + 3 and labels[-1] == "log-odds"
    plt.close(ax.figure)


def test_tree_plot_shows_the_tree(example):
    explanation = explain(example)
    figure, given = plt.subplots()
    ax = explanation.plot_tree(given, labels=3)
    assert ax is given
    learned = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert len(learned) == len(explanation.contributions) - 1
    assert len(ax.collections[0].get_offsets()) == len(explanation.contributions)
    assert len(ax.get_legend().get_texts()) == 3
    plt.close(figure)


@pytest.mark.parametrize("make", [AODE, HIPNB])
def test_no_tree_no_plot_of_it(example, make):
    with pytest.raises(ValueError, match="does not learn a tree; use plot_contributions"):
        explain(example, make).plot_tree()


def test_bad_input(example):
    with pytest.raises(ValueError, match=r"target must be one of the classes \['anti', 'pro'\], got 'yes'"):
        explain(example, target="yes")
    with pytest.raises(ValueError, match="1 term_names for 60 features"):
        explain(example, term_names=["only one"])


def test_rows_without_labels_are_numbered(example):
    X, y, hierarchy = example
    clf = HieTAN(hierarchy=hierarchy.restrict(X.columns)).fit(X.to_numpy(), y)
    assert [e.row for e in clf.explain(X.to_numpy()[:2])] == ["row 0", "row 1"]
    assert [e.row for e in clf.explain(X.to_numpy()[:2].tolist())] == ["row 0", "row 1"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_model_adds_up_to_its_log_odds(n_classes):
    data = make_hierarchical_classification(120, 40, n_classes=n_classes, density=0.2, random_state=1)
    clf = ProximalGraph(hierarchy=data.hierarchy, lam=0.01).fit(data.X, data.y)
    scores, proba = clf.decision_function(data.X[:9]), clf.predict_proba(data.X[:9])
    for target in range(n_classes):
        for k, explanation in enumerate(clf.explain(data.X[:9], target=target)):
            p = proba[k, target]
            expected = np.log(p / (1 - p)) if n_classes > 2 else scores[k] * (1 if target else -1)
            assert explanation.total() == pytest.approx(expected, abs=1e-9)
            assert explanation.log_odds == pytest.approx(expected, abs=1e-9)
            assert explanation.probabilities == pytest.approx(proba[k])
            assert {part.feature for part in explanation.contributions} <= set(clf.selected_features_)
    assert [e.predicted for e in clf.explain(data.X[:9])] == clf.predict(data.X[:9]).tolist()
