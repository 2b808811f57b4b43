"""The paper's walk, recorded: its worked examples step by step, the kernel's trees, reasons that hold when given."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from hietan import HRETAN, TAN, Hierarchy, HieTAN, HieTANLite
from hietan.datasets import fetch_ageing_genes
from reproduction.paper.walk import Direction, Verdict, trace_row, trace_tree
from support import twins
from support.comparison import fitted, frame, ontology, ranking_of
from support.families import LAZY_TREES, TREES
from support.strategies import examples, larger_problems, problems

NAMES = list("ABCDEF")
FIGURE = Hierarchy.from_edges(
    [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")], features=NAMES
)
BEST = ["CF", "AE", "AC", "CD", "BD", "BF", "BE"]
ROW = [0, 0, 1, 0, 1, 1]


def figure(**options):
    """The trace of the paper's figures: its DAG and the beginning of its ranking."""
    pairs = BEST + [pair for pair in map("".join, itertools.combinations(NAMES, 2)) if pair not in BEST]
    ranked = [(k + 1, *map(NAMES.index, pair), 1 - 0.01 * k) for k, pair in enumerate(pairs)]
    return trace_tree(ranked, FIGURE, range(6), **options)


def steps(trace):
    return [(edge.first + edge.second, edge.verdict, edge.reason) for edge in trace.considered]


def test_figure_2_step_by_step():
    trace = figure(directed=True)
    assert trace.tree.edges == (("F", "C"), ("C", "D"), ("D", "B"), ("B", "E"), ("E", "A"))
    assert steps(trace) == [
        ("CF", Verdict.ALONG_HIERARCHY, "added: F is an ancestor of C"),
        ("AE", Verdict.ALONG_HIERARCHY, "added: E is an ancestor of A"),
        ("AC", Verdict.BOTH_HAVE_PARENTS, "skipped: both already have a parent"),
        ("CD", Verdict.ALONG_HIERARCHY, "added: C is an ancestor of D"),
        ("BD", Verdict.FROM_PARENT, "added: D already has a parent, and B has none"),
        ("BF", Verdict.CYCLE, "skipped: B and F are already connected"),
        ("BE", Verdict.FROM_PARENT, "added: B already has a parent, and E has none"),
    ]
    assert trace.directions == {
        ("F", "C"): Direction.HIERARCHY,
        ("C", "D"): Direction.HIERARCHY,
        ("D", "B"): Direction.PARENT,
        ("B", "E"): Direction.PARENT,
        ("E", "A"): Direction.HIERARCHY,
    }
    assert trace.n_edges == 15 and not trace.removed_by


def test_figure_3_step_by_step():
    trace = figure(directed=True, values=ROW)
    assert trace.tree.edges == (("F", "B"), ("B", "E"), ("E", "A"))
    assert steps(trace) == [
        ("CF", Verdict.REDUNDANT, "skipped: F is an ancestor of C, and both are 1"),
        ("AE", Verdict.ALONG_HIERARCHY, "added: E is an ancestor of A"),
        ("AC", Verdict.REMOVED, "skipped: C was removed, because it has the same value as its ancestor E"),
        ("CD", Verdict.REMOVED, "skipped: C was removed, because it has the same value as its ancestor E"),
        ("BD", Verdict.REMOVED, "skipped: D was removed, because it has the same value as its ancestor A"),
        ("BF", Verdict.ALONG_HIERARCHY, "added: F is an ancestor of B"),
        ("BE", Verdict.FROM_PARENT, "added: B already has a parent, and E has none"),
    ]
    assert trace.considered[1].removed == ("C", "D") and trace.removed_by == {"C": "E", "D": "A"}
    assert trace.directions[("B", "E")] is Direction.PARENT


def test_figure_3_without_directions_from_the_hierarchy():
    trace = figure(directed=False, values=ROW)
    assert trace.tree.root == "A"  # the first that is left in the order of the roots
    assert [edge.verdict for edge in trace.taken] == [Verdict.OPEN] * 3
    assert set(trace.directions.values()) == {Direction.ROOT}


def test_open_edges_are_directed_by_a_parent_that_comes_later():
    names = list("pqrs")
    hierarchy = Hierarchy.from_edges([("s", "r")], features=names)
    ranked = [(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.7), (0, 2, 0.6), (0, 3, 0.5), (1, 3, 0.4)]
    trace = trace_tree(((k, *edge) for k, edge in enumerate(ranked, 1)), hierarchy, range(4), directed=True)
    assert trace.tree.edges == (("s", "r"), ("r", "q"), ("q", "p"))
    assert [(edge.verdict, edge.direction) for edge in trace.considered] == [
        (Verdict.OPEN, Direction.PARENT),
        (Verdict.OPEN, Direction.PARENT),
        (Verdict.ALONG_HIERARCHY, Direction.HIERARCHY),
    ]
    blocked = trace_tree(
        [(1, 1, 2, 0.9), (2, 0, 2, 0.8), (3, 0, 1, 0.7)],
        Hierarchy.from_edges([("a", "c"), ("b", "c")], features=list("abc")),
        range(3),
        directed=True,
    )
    assert steps(blocked)[1][1:] == (
        Verdict.HAS_PARENT,
        "skipped: c is a descendant of a and already has a parent",
    )


# ------------------------------------------------------------------ the kernel's trees


def rows_of(problem, n=4):
    return frame(problem, np.unique(problem.X_test, axis=0)[:n])


@examples(40)
@given(problem=problems(min_features=1))
def test_the_tree_is_the_kernels_and_every_reason_holds(problem):
    rows = rows_of(problem)
    for make in TREES:
        clf = fitted(problem, make, hierarchy=ontology(problem))
        for r, tree in enumerate(clf.trees(rows)):
            trace = trace_row(clf, rows.iloc[[r]])
            assert trace.tree == tree
            assert tuple(trace.directions) == tree.edges
            assert set(trace.removed_by) == set(problem.names) - set(tree.features)
            ranked = [(problem.names[i], problem.names[j]) for i, j in ranking_of(problem)]
            assert [(e.first, e.second) for e in trace.considered] == ranked[: len(trace.considered)]
            information = [edge.information for edge in trace.considered]
            assert information == sorted(information, reverse=True)
            assert [edge.rank for edge in trace.considered] == list(range(1, trace.n_considered + 1))


@examples(10)
@given(problem=larger_problems())
def test_the_tree_is_the_kernels_in_larger_problems(problem):
    rows = rows_of(problem, 2)
    for make in TREES:
        clf = fitted(problem, make)
        assert [trace_row(clf, rows.iloc[[r]]).tree for r in range(len(rows))] == clf.trees(rows)


@examples(40)
@given(problem=problems(min_features=2))
def test_the_steps_of_hie_tan_and_lite_are_those_of_the_literal_twin(problem):
    """After every edge the twin says what is directed, open and removed: a reason must be true at its step."""
    row = rows_of(problem, 1)
    x = row.to_numpy()[0].tolist()
    for make, values in ((HieTAN, None), (HieTANLite, x)):
        states = []
        twins.hie_walk(
            ranking_of(problem), problem.ancestors, values, watch=lambda *state, s=states: s.append(state)
        )
        before = [(set(), set(), set()), *states]
        trace = trace_row(fitted(problem, make), row)
        for k, edge in enumerate(trace.considered):
            (directed, undirected, removed), (then_directed, then_undirected, then_removed) = before[
                k : k + 2
            ]
            i, j = problem.names.index(edge.first), problem.names.index(edge.second)
            related = i in problem.ancestors[j] or j in problem.ancestors[i]
            has = [twins.has_parent(v, directed) for v in (i, j)]
            assert edge.verdict.is_taken == (then_directed | then_undirected != directed | undirected)
            assert {problem.names.index(name) for name in edge.removed} == then_removed - removed
            holds = {
                Verdict.ALONG_HIERARCHY: related and len(then_directed) > len(directed),
                Verdict.FROM_PARENT: not related and sum(has) == 1,
                Verdict.OPEN: (i, j) in then_undirected,
                Verdict.CYCLE: twins.connected(i, j, directed | undirected),
                Verdict.HAS_PARENT: related and has[0 if j in problem.ancestors[i] else 1],
                Verdict.BOTH_HAVE_PARENTS: not related and all(has),
                Verdict.REDUNDANT: related and x[i] == x[j],
                Verdict.REMOVED: i in removed or j in removed,
            }
            assert holds[edge.verdict], edge
        assert all(state == before[len(trace.considered)] for state in before[len(trace.considered) :])


@examples(40)
@given(problem=problems(min_features=1))
def test_removed_features_are_those_of_the_explanation(problem):
    rows = rows_of(problem)
    for make in LAZY_TREES:
        clf = fitted(problem, make)
        for r, explanation in enumerate(clf.explain(rows)):
            trace = trace_row(clf, rows.iloc[[r]])
            assert trace.removed_by == {removal.feature: removal.by for removal in explanation.removed}


def test_a_chain_of_equal_values_leaves_one_feature_and_says_so():
    X = pd.DataFrame([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]] * 3, columns=["animal", "bird", "owl"])
    hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    y = [1, 1, 0, 0] * 3
    for make in (HieTANLite, HRETAN):
        clf = make(hierarchy=hierarchy, random_state=0).fit(X, y)
        trace = trace_row(clf, X[:1])
        assert trace.tree == clf.trees(X[:1])[0] and len(trace.tree) == 1
        assert [edge.verdict for edge in trace.considered] == [Verdict.REDUNDANT] * 3
        assert trace.removed_by == {"animal": "bird", "owl": "bird"} and not trace.taken


@pytest.mark.slow
@pytest.mark.parametrize("make", [TAN, HieTAN, HieTANLite, HRETAN])
def test_real_data(real_data, make):
    data = fetch_ageing_genes("mouse", "CC", data_home=real_data)
    clf = make(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    assert trace_row(clf, data.X[:1].toarray()).tree == clf.trees(data.X[:1])[0]
