"""The twins themselves: worked examples, what is known of the trees, normalisation, wrong versions."""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given

from hietan import classifiers
from support import twins as ref
from support.comparison import counts_of, twin_answers
from support.families import CLASSIFIERS
from support.strategies import Problem, fixed_problems, problems, random_problem, with_hidden_relation
from support.twins import ABSENT, METHODS, MUTANTS, ROOT
from support.twins.quick_walks import walk

A, B, C, D, E, F = range(6)
FIGURE_DAG = [{E}, {F}, {E, F}, {A, C, E, F}, set(), set()]
FIGURE_RANKING_BEGINS = [(C, F), (A, E), (A, C), (C, D), (B, D), (B, F), (B, E)]
FIGURE_INSTANCE = [0, 0, 1, 0, 1, 1]


# The reference implementation of each classifier's scores or objective, and the test that compares the two.
REFERENCES = {
    "AODE": ("aode_joint_log", "classifiers/test_aode_and_hip.py"),
    "HIPNB": ("hip_joint_log", "classifiers/test_aode_and_hip.py"),
    "HRETAN": ("hre_tan_tree", "classifiers/test_tan_family.py"),
    "TAN": ("tan_tree", "classifiers/test_tan_family.py"),
    "HieAODE": ("aode_joint_log", "classifiers/test_aode_and_hip.py"),
    "HieAODELite": ("aode_joint_log", "classifiers/test_aode_and_hip.py"),
    "HieBAN": ("ban_joint_log", "classifiers/test_hie_ban.py"),
    "HieLogistic": ("logistic_objective", "classifiers/regressions/test_hie_logistic.py"),
    "HieTAN": ("hie_tan_tree", "classifiers/test_tan_family.py"),
    "HieTANLite": ("hie_tan_lite_tree", "classifiers/test_tan_family.py"),
    "LazySelection": ("selected_joint_log", "classifiers/test_lazy_selection.py"),
    "ProximalGraph": ("prox_by_projections", "classifiers/regressions/test_proximal_graph.py"),
}
TESTS = Path(__file__).parents[1]


def test_every_classifier_has_a_reference_implementation():
    missing = {make.__name__ for make in CLASSIFIERS} - set(REFERENCES)
    assert not missing, f"add reference implementations to tests/support/twins: {', '.join(sorted(missing))}"
    assert set(REFERENCES) <= set(classifiers.__all__)
    defined = {}
    for path in (TESTS / "support" / "twins").glob("*.py"):
        defined |= {
            node.name: path for node in ast.parse(path.read_text("utf-8")).body if hasattr(node, "name")
        }
    for name, (reference, comparison) in REFERENCES.items():
        assert reference in defined, name
        names = {
            getattr(node, "id", "") for node in ast.walk(ast.parse((TESTS / comparison).read_text("utf-8")))
        }
        assert name in names, f"{comparison} does not compare {name} with {reference}"


def orders(problem: Problem) -> list[int]:
    return Random(problem.seed).sample(range(problem.n_features), problem.n_features)


def distinct(problem: Problem) -> list[list[int]]:
    return np.unique(problem.X_test, axis=0).tolist()


def edges_of(parent: list[int]) -> set[tuple[int, int]]:
    return {(p, v) for v, p in enumerate(parent) if p >= 0}


def without_direction(edges: set[tuple[int, int]]) -> set[frozenset[int]]:
    return {frozenset(edge) for edge in edges}


def assert_one_tree(parent: list[int]) -> None:
    kept = {v for v, p in enumerate(parent) if p != ABSENT}
    edges = edges_of(parent)
    roots = [v for v, p in enumerate(parent) if p == ROOT]
    assert len(roots) == 1
    assert ref.reachable(roots[0], edges) == kept
    assert ref.away_from(roots[0], edges) == edges


# ------------------------------------------------------------------------------------------ worked examples


def figure_rankings() -> list[list[tuple[int, int]]]:
    rest = [e for e in itertools.combinations(range(6), 2) if e not in FIGURE_RANKING_BEGINS]
    return [FIGURE_RANKING_BEGINS + Random(k).sample(rest, len(rest)) for k in range(10)]


@pytest.mark.parametrize("ranked", figure_rankings())
def test_figure_2(ranked):
    for root_order in itertools.islice(itertools.permutations(range(6)), 0, 720, 97):
        tree = ref.hie_tan_tree(ranked, FIGURE_DAG, root_order)
        assert edges_of(tree) == {(F, C), (C, D), (D, B), (B, E), (E, A)}
        assert tree[F] == ROOT


@pytest.mark.parametrize("ranked", figure_rankings())
def test_figure_3(ranked):
    tree = ref.hie_tan_lite_tree(FIGURE_INSTANCE, ranked, FIGURE_DAG, range(6))
    assert edges_of(tree) == {(F, B), (B, E), (E, A)}
    assert tree[F] == ROOT
    assert tree[C] == tree[D] == ABSENT


def test_figure_3_without_directions():
    """The same edges without their directions, and the root where the order says."""
    for root in (A, B, E, F):
        order = [C, D, root, *({A, B, E, F} - {root})]
        tree = ref.hre_tan_tree(FIGURE_INSTANCE, figure_rankings()[0], FIGURE_DAG, order)
        assert without_direction(edges_of(tree)) == {frozenset(e) for e in [(F, B), (B, E), (E, A)]}
        assert tree[root] == ROOT


def test_open_edges_wait_for_a_direction():
    """1 - 2 - 3 stay open until 0 becomes the parent of 1; then 2 and 3 follow."""
    seen = []
    ranked = [(1, 2), (2, 3), (0, 1), (0, 2), (0, 3), (1, 3)]
    ref.hie_walk(ranked, [set(), {0}, set(), set()], None, watch=lambda *state: seen.append(state))
    assert seen[1] == (set(), {(1, 2), (2, 3)}, set())
    assert seen[2] == ({(0, 1), (1, 2), (2, 3)}, set(), set())
    assert seen[-1] == seen[2]


def test_feature_kept_alone_has_most_information():
    rows, labels = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]], [1, 1, 0, 0]
    counts = ref.count(rows, labels, 2, 3)
    chain = [set(), {0}, {0, 1}]
    ranked = ref.ranking(counts)
    for tree in (ref.hie_tan_lite_tree, ref.hre_tan_tree):
        assert tree([1, 1, 1], ranked, chain, range(3), counts) == [ABSENT, ROOT, ABSENT]
        assert tree([1, 1, 0], ranked, chain, range(3), counts) != [ABSENT, ROOT, ABSENT]


def test_no_feature_and_one_feature():
    none, one = ref.count([[], []], [0, 1], 2, 0), ref.count([[1], [0]], [0, 1], 2, 1)
    for counts, ancestors, x, expected in [(none, [], [], []), (one, [set()], [1], [ROOT])]:
        d, ranked = counts.n_features, ref.ranking(counts)
        assert ranked == []
        assert ref.tan_tree(d, ranked, range(d)) == expected
        assert ref.hie_tan_tree(ranked, ancestors, range(d)) == expected
        assert ref.hie_tan_lite_tree(x, ranked, ancestors, range(d), counts) == expected
        assert ref.hre_tan_tree(x, ranked, ancestors, range(d), counts) == expected


def test_hip_judges_at_once():
    """0 -> 1 -> 2 with the middle one missing: 1 removes 2 although 2 removes 1."""
    ancestors = [set(), {0}, {0, 1}]
    descendants = ref.descendants_of(ancestors)
    assert ref.hip_selected([1, 0, 1], ancestors, descendants) == set()
    assert ref.hip_selected([1, 1, 0], ancestors, descendants) == {1, 2}
    assert ref.hip_selected([0, 0, 0], ancestors, descendants) == {0}


# ---------------------------------------------------------------------------------- counts and information


@given(problem=problems(min_features=2, max_features=6))
def test_cells_and_information(problem):
    counts = counts_of(problem)
    X, y = problem.X_train, problem.y
    for i, j in itertools.combinations(range(problem.n_features), 2):
        for c, a, b in itertools.product(range(problem.n_classes), (0, 1), (0, 1)):
            assert counts.pair(c, i, a, j, b) == np.sum((y == c) & (X[:, i] == a) & (X[:, j] == b))
        assert ref.cmi_key(i, j, counts) == ref.cmi_key(j, i, counts)
        assert ref.cmi_key(i, j, counts) / 1e12 == pytest.approx(
            ref.cmi_equation_1(i, j, counts), rel=0, abs=1e-12
        )
    for i in range(problem.n_features):
        assert ref.mi(i, counts) == pytest.approx(ref.mi_textbook(i, counts), rel=0, abs=1e-12)


@given(problem=problems())
def test_ranking_descends_and_breaks_ties_by_column(problem):
    counts = counts_of(problem)
    ranked = ref.ranking(counts)
    assert sorted(ranked) == list(itertools.combinations(range(problem.n_features), 2))
    for before, after in itertools.pairwise(ranked):
        one, two = ref.cmi_key(*before, counts), ref.cmi_key(*after, counts)
        assert one > two or (one == two and before < after)


# --------------------------------------------------------------------------------------------------- trees


@given(problem=problems(min_features=1))
def test_tan_is_the_maximum_spanning_tree(problem):
    """Every edge left out comes after all edges of the path that joins its ends in the tree."""
    ranked = ref.ranking(counts_of(problem))
    order = orders(problem)
    tree = ref.tan_tree(problem.n_features, ranked, order)
    assert_one_tree(tree)
    assert tree[order[0]] == ROOT
    chosen = {tuple(sorted(edge)) for edge in edges_of(tree)}
    place = {edge: k for k, edge in enumerate(ranked)}
    for i, j in set(ranked) - chosen:
        better = {edge for edge in chosen if place[edge] < place[i, j]}
        assert ref.connected(i, j, better)


class RootClusters:
    """Checks, after every step of the walk, what holds of the vertices without a parent."""

    def __init__(self, d: int):
        self.d = d
        self.parented: set[int] = set()
        self.clusters: list[set[int]] = []

    def __call__(self, directed, undirected, removed):
        edges = directed | undirected
        children = [child for _, child in directed]
        assert len(children) == len(set(children))
        parented = set(children)
        assert self.parented <= parented
        for cluster in self.clusters:  # a parent for one vertex of a root cluster is a parent for all
            assert cluster <= parented or not cluster & parented
        components = {frozenset(ref.reachable(v, edges)) for v in range(self.d)}
        assert len(edges) == self.d - len(components)  # a forest
        self.clusters = []
        for component in components:
            orphans = set(component - parented)
            assert orphans
            assert ref.reachable(min(orphans), undirected) == orphans
            self.clusters.append(orphans)
        self.parented = parented
        assert not removed & {v for edge in edges for v in edge}


@given(problem=problems(min_features=1))
def test_root_clusters(problem):
    ranked = ref.ranking(counts_of(problem))
    for x in [None, *distinct(problem)]:
        ref.hie_walk(ranked, problem.ancestors, x, watch=RootClusters(problem.n_features))


@given(problem=problems(min_features=1))
def test_hie_tan_is_one_spanning_tree(problem):
    d = problem.n_features
    ranked = ref.ranking(counts_of(problem))
    directed, undirected, _ = ref.hie_walk(ranked, problem.ancestors, None)
    cluster = set(range(d)) - {child for _, child in directed}
    for root in range(d):
        order = [root, *(v for v in orders(problem) if v != root)]
        tree = ref.hie_tan_tree(ranked, problem.ancestors, order)
        assert_one_tree(tree)
        assert ABSENT not in tree
        assert without_direction(edges_of(tree)) == without_direction(directed | undirected)
        assert tree.index(ROOT) == (root if root in cluster else ref.first_in_order(cluster, order))
        assert all(p not in ref.descendants_of(problem.ancestors)[v] for p, v in edges_of(tree))


@given(problem=problems(min_features=1))
def test_kept_features_form_one_tree_and_excuse_the_removed(problem):
    counts = counts_of(problem)
    ranked = ref.ranking(counts)
    order = orders(problem)
    for x in distinct(problem):
        for build in (ref.hie_tan_lite_tree, ref.hre_tan_tree):
            tree = build(x, ranked, problem.ancestors, order, counts)
            assert_one_tree(tree)
            kept = {v for v, p in enumerate(tree) if p != ABSENT}
            for v in kept:
                assert not kept & ref.redundant_to(v, x, problem.ancestors)
            for v in set(range(problem.n_features)) - kept:
                assert kept & ref.redundant_to(v, x, problem.ancestors)


@given(problem=problems(min_features=1))
def test_kept_alone_only_where_all_are_redundant(problem):
    counts = counts_of(problem)
    ranked = ref.ranking(counts)
    pairs = list(itertools.combinations(range(problem.n_features), 2))
    for x in distinct(problem):
        all_redundant = all(ref.related(i, j, problem.ancestors) and x[i] == x[j] for i, j in pairs)
        for build in (ref.hie_tan_lite_tree, ref.hre_tan_tree):
            tree = build(x, ranked, problem.ancestors, orders(problem), counts)
            assert (len(edges_of(tree)) == 0) == all_redundant


@given(problem=problems(min_features=1))
def test_without_a_hierarchy_all_methods_find_the_same_edges(problem):
    counts = counts_of(problem)
    ranked = ref.ranking(counts)
    order = orders(problem)
    unrelated = [set() for _ in range(problem.n_features)]
    expected = ref.tan_tree(problem.n_features, ranked, order)
    assert ref.hie_tan_tree(ranked, unrelated, order) == expected
    for x in distinct(problem):
        assert ref.hie_tan_lite_tree(x, ranked, unrelated, order, counts) == expected
        assert ref.hre_tan_tree(x, ranked, unrelated, order, counts) == expected


# ------------------------------------------------------------------------------------------- normalisation


def total_probability(joint_log, d: int, *arguments, **options) -> float:
    """Sum over all rows and classes."""
    rows = itertools.product((0, 1), repeat=d)
    return math.fsum(math.exp(value) for x in rows for value in joint_log(x, *arguments, **options))


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
@given(problem=problems(max_features=5))
def test_a_tree_over_all_features_is_a_distribution(smoothing, problem):
    d, counts = problem.n_features, counts_of(problem)
    ranked, order = ref.ranking(counts), orders(problem)
    uniform = [1.0 / problem.n_classes] * problem.n_classes
    for tree in (ref.tan_tree(d, ranked, order), ref.hie_tan_tree(ranked, problem.ancestors, order)):
        for prior in (None, uniform):
            total = total_probability(ref.joint_log, d, tree, counts, problem.alpha, smoothing, prior)
            assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
@given(problem=problems(max_features=5))
def test_averaged_estimators_are_a_distribution(smoothing, problem):
    """Except Lite: leaving the k ancestors of i out counts each of i's rows 2^k times."""
    d, counts = problem.n_features, counts_of(problem)
    expected = {"aode": 1.0, "hie": 1.0, "lite": 1.0}
    if d:
        expected["lite"] = sum(2 ** len(above) for above in problem.ancestors) / d
    every_value_occurs = all(counts.value_all(i, a) > 0 for i in range(d) for a in (0, 1))
    for min_frequency in (0, 1) if every_value_occurs else (0,):
        for variant, total in expected.items():
            options = {"ancestors": problem.ancestors, "variant": variant}
            found = total_probability(
                ref.aode_joint_log, d, counts, problem.alpha, smoothing, min_frequency, **options
            )
            assert found == pytest.approx(total, rel=1e-12)


@given(problem=problems(max_features=6))
def test_averaged_estimators_where_few_or_none_qualify(problem):
    """One estimator alone is its own mean; none is naive Bayes."""
    d, counts = problem.n_features, counts_of(problem)
    settings = (problem.alpha, problem.smoothing)
    for x in distinct(problem):
        naive = ref.joint_log(x, [ROOT] * d, counts, *settings)
        for variant in ("aode", "hie", "lite"):
            options = {"ancestors": problem.ancestors, "variant": variant}
            too_many = counts.n_rows + 1
            assert ref.aode_joint_log(x, counts, *settings, too_many, **options) == naive
            frequency = [counts.value_all(i, x[i]) for i in range(d)]
            if d and frequency.count(max(frequency)) == 1:
                i = frequency.index(max(frequency))
                alone = ref.aode_joint_log(x, counts, *settings, max(frequency), **options)
                assert alone == pytest.approx(
                    [
                        ref.one_dependence_log(i, c, x, counts, *settings, problem.ancestors, variant)
                        for c in range(problem.n_classes)
                    ],
                    abs=1e-12,
                )


@given(problem=problems(max_features=6))
def test_hip_keeps_no_redundant_pair_in_closed_rows(problem):
    counts = counts_of(problem)
    descendants = ref.descendants_of(problem.ancestors)
    for x in distinct(problem):
        selected = ref.hip_selected(x, problem.ancestors, descendants)
        for v in selected:
            assert not selected & ref.redundant_to(v, x, problem.ancestors)
        everything = ref.joint_log(x, [ROOT] * len(x), counts, problem.alpha, problem.smoothing)
        joint = ref.hip_joint_log(x, counts, problem.alpha, problem.smoothing, problem.ancestors, descendants)
        if len(selected) == len(x):
            assert joint == everything
        closed = all(x[u] == 1 for v, value in enumerate(x) if value for u in problem.ancestors[v])
        if closed and x:
            assert selected


@given(problem=problems(min_features=1, max_features=6))
def test_pooled_tables_of_equal_classes_say_nothing_about_the_class(problem):
    """Where each class holds the same rows, no feature moves the odds."""
    rows = problem.X_train.tolist()
    counts = ref.count(rows + rows, [0] * len(rows) + [1] * len(rows), 2, problem.n_features)
    tree = ref.tan_tree(problem.n_features, ref.ranking(counts), orders(problem))
    for x in distinct(problem):
        for smoothing in ("laplace", "pooled", "odds"):
            joint = ref.joint_log(x, tree, counts, problem.alpha, smoothing)
            assert joint[0] == joint[1]


# ------------------------------------------------------------------------------------------------- mutants

FIXED = fixed_problems()


def test_the_fixed_problems_are_varied():
    assert sum(map(with_hidden_relation, FIXED)) > 5
    assert {p.n_classes for p in FIXED} == {2, 3, 4}
    assert {p.smoothing for p in FIXED} == {"laplace", "pooled", "odds"}
    assert max(len(p.X_test) for p in FIXED) > 64
    assert min(len(p.X_test) for p in FIXED) == 1
    assert any(not any(p.ancestors) for p in FIXED)
    columns = [p.X_train.T.tolist() for p in FIXED]
    assert any(len({tuple(column) for column in table}) < len(table) for table in columns)
    assert any(len(set(column)) == 1 for table in columns for column in table)
    assert repr(random_problem(Random(0))) == repr(random_problem(Random(0)))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_wrong_versions_give_other_trees(mutant):
    methods, rules = MUTANTS[mutant]
    for method in METHODS:
        differs = (
            not np.array_equal(
                twin_answers(problem, method, orders(problem), rules)[0],
                twin_answers(problem, method, orders(problem))[0],
            )
            for problem in FIXED
        )
        if method in methods:
            assert any(differs), f"{method} does not notice: {mutant}"


@given(problems(min_features=1))
def test_the_quick_walks_are_the_literal_ones(problem):
    counts = counts_of(problem)
    ranked = ref.ranking(counts)
    order = Random(problem.seed).sample(range(problem.n_features), problem.n_features)
    above = problem.ancestors
    assert walk(ranked, above, order, directed=True) == ref.hie_tan_tree(ranked, above, order)
    lone = ref.lone_feature(problem.n_features, counts).index(ROOT)
    for x in problem.X_test[:5].tolist():
        lite = ref.hie_tan_lite_tree(x, ranked, above, order, counts)
        assert walk(ranked, above, order, directed=True, x=x, lone=lone) == lite
        hre = ref.hre_tan_tree(x, ranked, above, order, counts)
        assert walk(ranked, above, order, directed=False, x=x, lone=lone) == hre
