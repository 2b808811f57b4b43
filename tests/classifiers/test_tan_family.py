"""TAN, Hie-TAN, Hie-TAN-Lite and HRE-TAN against their plain Python twins."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from hietan import AODE, HRETAN, TAN, HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.structure._edges import EdgeRanking
from support.comparison import (
    TREE_TWINS,
    answers,
    assert_identical,
    estimator,
    fitted,
    frame,
    ontology,
    twin_answers,
)
from support.families import EAGER_TREES, TREES, name_of
from support.storages import kept
from support.strategies import Problem, examples, fixed_problems, larger_problems, problems, visible_ancestors
from support.twins import (
    MUTANTS,
    ROOT,
    RULES,
    Counts,
    Rules,
    aode_joint_log,
    joint_log,
    ranking,
    tan_tree,
)
from support.twins.quick_walks import walk

SMALL = problems(min_features=1)
FIXED = fixed_problems()
CLASSIFIERS = {method: make for make, method in TREE_TWINS.items()}

every_classifier = pytest.mark.parametrize("make", TREES, ids=name_of)


@lru_cache(maxsize=1000)
def own_answers(problem: Problem, make: type) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Trees and joint log-probabilities of a problem's test rows, and the order in which roots are tried."""
    model = fitted(problem, make)
    return *answers(model, frame(problem, problem.X_test)), model.root_order_.tolist()


def disagreements(
    problem: Problem, make: type, rules: Rules = RULES, twin: Problem | None = None
) -> list[str]:
    """What the library and its twin say differently about a problem; nothing, one hopes.

    The twin is given `twin` instead, where a test wants to see it go wrong.
    """
    found_trees, found_joint, root_order = own_answers(problem, make)
    trees, joint = twin_answers(twin or problem, TREE_TWINS[make], root_order, rules)
    report = []
    if not np.array_equal(found_trees, trees):
        row = int(np.flatnonzero((found_trees != trees).any(axis=1))[0])
        x = problem.X_test[row].tolist()
        report.append(
            f"{make.__name__}, tree of row {row}, {x}: {found_trees[row].tolist()}, twin {trees[row].tolist()}"
        )
    worst = np.abs(found_joint - joint).max()
    if not worst <= 1e-9:
        report.append(f"{make.__name__}: joint log-probabilities differ by {worst}")
    return report


def all_disagreements(problem: Problem) -> list[str]:
    return [line for make in TREES for line in disagreements(problem, make)]


# --------------------------------------------------------------------------------------- against the twins


def test_every_classifier_of_trees_has_a_twin():
    assert set(TREE_TWINS) == set(TREES)


@given(problem=SMALL)
@examples(150)
def test_all_agree_with_their_twins(problem):
    assert all_disagreements(problem) == []


@given(problem=larger_problems())
@examples(40)
def test_all_agree_with_their_twins_on_more_features(problem):
    assert all_disagreements(problem) == []


@pytest.mark.slow
@every_classifier
def test_agrees_with_its_twin_on_fixed_problems(make):
    assert [disagreements(problem, make) for problem in FIXED] == [[]] * len(FIXED)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_comparison_notices_a_wrong_rule(mutant):
    methods, rules = MUTANTS[mutant]
    for method in methods:
        assert any(disagreements(problem, CLASSIFIERS[method], rules) for problem in FIXED), method


@pytest.mark.parametrize("make", [make for make in TREES if make is not TAN], ids=name_of)
def test_comparison_notices_lost_relations(make):
    """Relations through terms that are not features count as relations."""
    assert any(
        disagreements(problem, make, twin=replace(problem, ancestors=visible_ancestors(problem)))
        for problem in FIXED
    )


@every_classifier
def test_comparison_notices_wrong_probabilities(make):
    other = {"laplace": "pooled", "pooled": "odds", "odds": "laplace"}
    for problem in FIXED[:5]:
        for wrong in (
            replace(problem, smoothing=other[problem.smoothing]),
            replace(problem, alpha=problem.alpha * 1.001),
        ):
            (line,) = disagreements(problem, make, twin=wrong)
            assert "joint log-probabilities differ" in line


# ----------------------------------------------------------------- claims about every problem and classifier


@dataclass(frozen=True)
class Case:
    """A problem that was fitted once, for all claims to start from."""

    problem: Problem
    make: type
    model: object
    X: pd.DataFrame  # the test rows
    expected: tuple[np.ndarray, np.ndarray]

    def new(self, **options):
        """The same classifier, not fitted."""
        return estimator(self.problem, self.make, **options)


CLAIMS: list[Callable[[Case, Random], None]] = []


def claim(check: Callable[[Case, Random], None]) -> Callable[[Case, Random], None]:
    """Have a claim checked for every problem that is drawn."""
    CLAIMS.append(check)
    return check


@claim
def fitted_attributes_and_predictions(case, random):
    problem, model = case.problem, case.model
    np.testing.assert_array_equal(model.classes_, np.arange(problem.n_classes))
    np.testing.assert_array_equal(model.class_count_, np.bincount(problem.y))
    np.testing.assert_array_equal(
        model.root_order_, check_random_state(problem.seed).permutation(problem.n_features)
    )
    joint = case.expected[1]
    assert joint.shape == (len(problem.X_test), problem.n_classes)
    np.testing.assert_array_equal(model.predict(case.X), model.classes_[joint.argmax(axis=1)])
    odds = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        model.predict_proba(case.X), odds / odds.sum(axis=1, keepdims=True), atol=1e-12
    )


@claim
def one_tree_for_all_rows_or_one_per_row(case, random):
    trees = case.model.trees(case.X)
    assert len(trees) == len(case.problem.X_test)
    for tree in trees:
        assert np.count_nonzero(tree.parent == ROOT) == 1
    if case.make in EAGER_TREES:
        assert all(tree is case.model.tree_ for tree in trees)


@claim
def labels_of_any_kind(case, random):
    """The order of the classes is that of the sorted labels."""
    labels = np.array(["anti", "neutral", "pro", "unknown"])
    named = case.new().fit(frame(case.problem, case.problem.X_train), labels[case.problem.y])
    np.testing.assert_array_equal(named.classes_, labels[: case.problem.n_classes])
    np.testing.assert_array_equal(named.predict(case.X), labels[case.model.predict(case.X)])
    assert_identical(answers(named, case.X), case.expected)


@claim
def class_prior_replaces_the_estimated_one(case, random):
    problem = case.problem
    weights = np.array([random.randint(1, 9) for _ in range(problem.n_classes)])
    prior = weights / weights.sum()
    joint = fitted(problem, case.make, class_prior=prior).predict_joint_log_proba(case.X)
    roots = case.model.root_order_.tolist()
    _, twin = twin_answers(problem, TREE_TWINS[case.make], roots, class_prior=prior.tolist())
    np.testing.assert_allclose(joint, twin, rtol=0, atol=1e-9)


@claim
def without_a_hierarchy_it_is_tan(case, random):
    X_train, X_test, y = case.problem.X_train, case.problem.X_test, case.problem.y
    model = case.new(hierarchy=None).fit(X_train, y)
    tan = estimator(case.problem, TAN, hierarchy=None).fit(X_train, y)
    assert_identical(answers(model, X_test), answers(tan, X_test))


@claim
def the_whole_ontology_is_matched_by_name(case, random):
    whole = fitted(case.problem, case.make, hierarchy=ontology(case.problem))
    assert_identical(answers(whole, case.X), case.expected)


@claim
def partial_fit_in_chunks(case, random):
    problem, n = case.problem, len(case.problem.y)
    order = np.array(random.sample(range(n), n))
    cuts = sorted(random.sample(range(1, n), random.randint(0, min(4, n - 1))))
    model = case.new()
    for chunk in np.split(order, cuts):
        rows = frame(problem, problem.X_train[chunk])
        model.partial_fit(rows, problem.y[chunk], classes=np.arange(problem.n_classes))
    assert_identical(answers(model, case.X), case.expected)


@claim
def partial_fit_after_predictions(case, random):
    """Nothing learned for earlier predictions outlives more data."""
    problem, model = case.problem, case.new()
    half = (len(problem.y) + 1) // 2
    for part in (slice(None, half), slice(half, None)):
        if len(problem.y[part]) == 0:
            continue
        rows = frame(problem, problem.X_train[part])
        model.partial_fit(rows, problem.y[part], classes=np.arange(problem.n_classes))
        answers(model, case.X)
    assert_identical(answers(model, case.X), case.expected)


@claim
def sparse_equals_dense(case, random):
    as_sparse = random.choice([sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
    X_train, X_test = case.problem.X_train, case.problem.X_test
    dense = case.new().fit(X_train, case.problem.y)
    sparse = case.new().fit(as_sparse(X_train), case.problem.y)
    for model, X in ((sparse, as_sparse(X_test)), (dense, as_sparse(X_test)), (sparse, X_test)):
        assert_identical(answers(model, X), case.expected)


@claim
def the_kind_of_input(case, random):
    """Frames and arrays, any numeric type, either memory order, read-only or not."""
    dtype = random.choice([bool, np.int8, np.int64, np.float32, np.float64])
    X_train = np.asfortranarray(case.problem.X_train.astype(dtype))
    X_test = np.asfortranarray(case.problem.X_test.astype(dtype))
    X_train.setflags(write=False)
    X_test.setflags(write=False)
    assert_identical(answers(case.new().fit(X_train, case.problem.y), X_test), case.expected)


@claim
def binarize(case, random):
    """A value above the threshold is a 1."""
    scaled = case.new(binarize=0.25).fit(case.problem.X_train * 0.5 + 0.25, case.problem.y)
    assert_identical(answers(scaled, case.problem.X_test * 0.5 + 0.25), case.expected)


@claim
def a_row_does_not_depend_on_the_others(case, random):
    n = len(case.problem.X_test)
    rows = random.sample(range(n), random.randint(1, n))
    trees, joint = case.expected
    some = answers(case.model, frame(case.problem, case.problem.X_test[rows]))
    assert_identical(some, (trees[rows], joint[rows]))


@claim
def the_order_of_training_rows(case, random):
    problem, n = case.problem, len(case.problem.y)
    order = random.sample(range(n), n)
    shuffled = case.new().fit(frame(problem, problem.X_train[order]), problem.y[order])
    assert_identical(answers(shuffled, case.X), case.expected)


@given(problem=SMALL, random=st.randoms(use_true_random=False))
@examples(20)
def test_every_claim_about_every_problem(problem, random):
    X = frame(problem, problem.X_test)
    for make in TREES:
        model = fitted(problem, make)
        case = Case(problem, make, model, X, answers(model, X))
        for check in CLAIMS:
            check(case, random)


# ------------------------------------------------------------------------------------ claims of their own


@every_classifier
def test_tie_goes_to_the_first_class(make):
    """Two classes with the same rows."""
    X = np.array([[1, 0], [0, 1]] * 2)
    model = make(random_state=0).fit(X, [1, 1, 0, 0])
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_array_equal(joint[:, 0], joint[:, 1])
    np.testing.assert_array_equal(model.predict(X), [0] * 4)


@pytest.mark.slow
@every_classifier
def test_number_of_jobs(make):
    """Several threads, the same result, also for enough rows to be worth sharing out."""
    for problem in sorted(FIXED, key=lambda p: -len(p.X_test))[:4]:
        one, two = fitted(problem, make, n_jobs=1), fitted(problem, make, n_jobs=2)
        for X in (frame(problem, problem.X_test), frame(problem, np.tile(problem.X_test, (15, 1)))):
            expected = answers(one.set_params(n_jobs=1), X)
            assert_identical(answers(two, X), expected)
            assert_identical(answers(one.set_params(n_jobs=2), X), expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_trees_over_several_blocks_of_edges(seed):
    """Here the last edges count too: those of terms that no training row has."""
    data = make_hierarchical_classification(60, 330, density=0.1, multi_parent=0.5, random_state=seed)
    index = {name: v for v, name in enumerate(data.feature_names)}
    ancestors = [{index[a] for a in data.hierarchy.ancestors(name)} for name in data.feature_names]
    rng = np.random.default_rng(seed)
    X = data.X.toarray()
    unseen = rng.choice([v for v in range(330) if ancestors[v]], 40, replace=False)
    X[:, [v for v in range(330) if v in unseen or ancestors[v] & set(unseen)]] = 0  # them and all below
    rows = np.vstack([X[:6], data.hierarchy.close((rng.random((6, 330)) < 0.05).astype(np.uint8))])
    rows = np.vstack([rows, rng.integers(0, 2, (4, 330)).astype(np.uint8)])  # not closed
    for method, directed in ((HieTAN, True), (HieTANLite, True), (HRETAN, False)):
        with kept(None, block=1000):
            clf = method(hierarchy=data.hierarchy, random_state=seed).fit(X, data.y)
        ranked = EdgeRanking(clf.counts_, clf.hierarchy_)
        edges, lone, order = ranked.edges().tolist(), ranked.lone_feature, clf.root_order_.tolist()
        if method is HieTAN:
            assert clf.tree_.parent.tolist() == walk(edges, ancestors, order, directed=True)
            continue
        for x, tree in zip(rows.tolist(), clf.trees(rows), strict=True):
            assert tree.parent.tolist() == walk(edges, ancestors, order, directed=directed, x=x, lone=lone)
        assert clf._ranking.kernel.n_sorted > 4 * 1000  # several blocks were read


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
@pytest.mark.parametrize("make", [TAN, AODE])
def test_more_rows_than_the_tables_of_logarithms_hold(make, smoothing):
    """Past 65,536 rows of a class logarithms are computed, not looked up."""
    rng = np.random.default_rng(0)
    X = (rng.random((200_000, 5)) < [0.9, 0.5, 1e-4, 0.9999, 0.3]).astype(np.uint8)
    y = (rng.random(200_000) < 0.6).astype(int)
    pairs = [(X[y == c].T.astype(np.int64) @ X[y == c]).tolist() for c in (0, 1)]
    counts = Counts(np.bincount(y).tolist(), pairs, 5)
    rows = np.array(list(itertools.product([0, 1], repeat=5)))
    clf = make(smoothing=smoothing).fit(X, y)
    if make is AODE:
        expected = [aode_joint_log(x, counts, 1.0, smoothing) for x in rows.tolist()]
    else:
        parent = tan_tree(5, ranking(counts), clf.root_order_.tolist())
        assert parent == clf.tree_.parent.tolist()
        expected = [joint_log(x, parent, counts, 1.0, smoothing) for x in rows.tolist()]
    np.testing.assert_allclose(clf.predict_joint_log_proba(rows), expected, rtol=0, atol=1e-9)


@every_classifier
def test_data_larger_than_memory_come_in_parts(make):
    """An iterator of (X, y), sparse, some of them without a class: the model of one fit."""
    data = make_hierarchical_classification(500, 60, n_classes=3, random_state=0)
    chunks = ((data.X[k : k + 40], data.y[k : k + 40]) for k in range(0, 500, 40))
    model = make(hierarchy=data.hierarchy, random_state=0)
    for X, y in chunks:
        model.partial_fit(X, y, classes=[0, 1, 2])
    whole = make(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    assert_identical(answers(model, data.X), answers(whole, data.X))
