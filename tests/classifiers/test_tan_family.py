"""TAN, Hie-TAN, Hie-TAN-Lite and HRE-TAN against their plain Python twins."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from hietan import AODE, HRETAN, TAN, HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.structure import EdgeRanking
from support.comparison import frame, ontology, twin_answers
from support.reference import (
    METHODS,
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
from support.strategies import Problem, fixed_problems, larger_problems, problems, visible_ancestors
from support.walks import walk

pytestmark = pytest.mark.usefixtures("storage")

ESTIMATORS = {"tan": TAN, "hie_tan": HieTAN, "hie_tan_lite": HieTANLite, "hre_tan": HRETAN}
EAGER = ("tan", "hie_tan")
SMALL = problems(min_features=1)
FIXED = fixed_problems()

every_method = pytest.mark.parametrize("method", METHODS)


def estimator(problem: Problem, method: str, **options):
    options.setdefault("hierarchy", ontology(problem).restrict(problem.names))
    return ESTIMATORS[method](
        alpha=problem.alpha,
        smoothing=problem.smoothing,
        random_state=problem.seed,
        **options,
    )


def fitted(problem: Problem, method: str, **options):
    return estimator(problem, method, **options).fit(frame(problem, problem.X_train), problem.y)


def parents(model, X) -> np.ndarray:
    return np.array([tree.parent for tree in model.trees(X)])


def answers(model, X) -> tuple[np.ndarray, np.ndarray]:
    return parents(model, X), model.predict_joint_log_proba(X)


def assert_identical(one, two) -> None:
    """Trees and joint log-probabilities, to the last bit."""
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def disagreements(problem: Problem, method: str, rules: Rules = RULES) -> list[str]:
    """What the library and the twin say differently about a problem; nothing, one hopes."""
    model = fitted(problem, method)
    found_trees, found_joint = answers(model, frame(problem, problem.X_test))
    trees, joint = twin_answers(problem, method, model.root_order_.tolist(), rules)
    report = []
    if not np.array_equal(found_trees, trees):
        row = int(np.flatnonzero((found_trees != trees).any(axis=1))[0])
        x = problem.X_test[row].tolist()
        report.append(f"tree of row {row}, {x}: {found_trees[row].tolist()}, twin {trees[row].tolist()}")
    worst = np.abs(found_joint - joint).max()
    if not worst <= 1e-9:
        report.append(f"joint log-probabilities differ by {worst}")
    return report


# --------------------------------------------------------------------------------------- against the twins


@every_method
@given(problem=SMALL)
@settings(max_examples=80)
def test_agrees_with_its_twin(method, problem):
    assert disagreements(problem, method) == []


@every_method
@given(problem=larger_problems())
@settings(max_examples=25)
def test_agrees_with_its_twin_on_more_features(method, problem):
    assert disagreements(problem, method) == []


@every_method
def test_agrees_with_its_twin_on_fixed_problems(method):
    assert [disagreements(problem, method) for problem in FIXED] == [[]] * len(FIXED)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_comparison_notices_a_wrong_rule(mutant):
    methods, rules = MUTANTS[mutant]
    for method in methods:
        assert any(disagreements(problem, method, rules) for problem in FIXED), method


@pytest.mark.parametrize("method", ["hie_tan", "hie_tan_lite", "hre_tan"])
def test_comparison_notices_lost_relations(method):
    """Relations through terms that are not features count as relations."""
    lost = [replace(problem, ancestors=visible_ancestors(problem)) for problem in FIXED]
    assert any(disagreements(problem, method) for problem in lost)


@every_method
def test_comparison_notices_wrong_probabilities(method):
    other = {"laplace": "pooled", "pooled": "laplace"}
    for problem in FIXED[:5]:
        model = fitted(problem, method)
        joint = model.predict_joint_log_proba(frame(problem, problem.X_test))
        for wrong in (
            replace(problem, smoothing=other[problem.smoothing]),
            replace(problem, alpha=problem.alpha * 1.001),
        ):
            _, twin = twin_answers(wrong, method, model.root_order_.tolist())
            assert np.abs(joint - twin).max() > 1e-9


@every_method
@given(problem=SMALL, weights=st.lists(st.integers(1, 9), min_size=4, max_size=4))
@settings(max_examples=10)
def test_class_prior_replaces_the_estimated_one(method, problem, weights):
    prior = np.array(weights[: problem.n_classes]) / sum(weights[: problem.n_classes])
    model = fitted(problem, method, class_prior=prior)
    joint = model.predict_joint_log_proba(frame(problem, problem.X_test))
    _, twin = twin_answers(problem, method, model.root_order_.tolist(), class_prior=prior.tolist())
    np.testing.assert_allclose(joint, twin, rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------------- fitted results


@every_method
@given(problem=SMALL)
@settings(max_examples=20)
def test_fitted_attributes_and_predictions(method, problem):
    model = fitted(problem, method)
    X = frame(problem, problem.X_test)
    np.testing.assert_array_equal(model.classes_, np.arange(problem.n_classes))
    np.testing.assert_array_equal(model.class_count_, np.bincount(problem.y))
    np.testing.assert_array_equal(
        model.root_order_, check_random_state(problem.seed).permutation(problem.n_features)
    )
    joint = model.predict_joint_log_proba(X)
    assert joint.shape == (len(problem.X_test), problem.n_classes)
    np.testing.assert_array_equal(model.predict(X), model.classes_[joint.argmax(axis=1)])
    odds = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


@every_method
@given(problem=SMALL)
@settings(max_examples=10)
def test_labels_of_any_kind(method, problem):
    """The order of the classes is that of the sorted labels."""
    labels = np.array(["anti", "neutral", "pro", "unknown"])
    X = frame(problem, problem.X_test)
    plain = fitted(problem, method)
    named = estimator(problem, method).fit(frame(problem, problem.X_train), labels[problem.y])
    np.testing.assert_array_equal(named.classes_, labels[: problem.n_classes])
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert_identical(answers(named, X), answers(plain, X))


@every_method
@given(problem=SMALL)
@settings(max_examples=10)
def test_one_tree_for_all_rows_or_one_per_row(method, problem):
    model = fitted(problem, method)
    trees = model.trees(frame(problem, problem.X_test))
    assert len(trees) == len(problem.X_test)
    for tree in trees:
        assert np.count_nonzero(tree.parent == ROOT) == 1
    if method in EAGER:
        assert all(tree is model.tree_ for tree in trees)


@every_method
def test_tie_goes_to_the_first_class(method):
    """Two classes with the same rows."""
    X = np.array([[1, 0], [0, 1]] * 2)
    model = ESTIMATORS[method](random_state=0).fit(X, [1, 1, 0, 0])
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_array_equal(joint[:, 0], joint[:, 1])
    np.testing.assert_array_equal(model.predict(X), [0] * 4)


@every_method
@given(problem=SMALL)
@settings(max_examples=10)
def test_without_a_hierarchy_it_is_tan(method, problem):
    X = problem.X_test
    options = {"alpha": problem.alpha, "smoothing": problem.smoothing, "random_state": problem.seed}
    model = ESTIMATORS[method](**options).fit(problem.X_train, problem.y)
    tan = TAN(**options).fit(problem.X_train, problem.y)
    assert_identical(answers(model, X), answers(tan, X))


@every_method
@given(problem=SMALL)
@settings(max_examples=20)
def test_whole_ontology_is_matched_by_name(method, problem):
    X = frame(problem, problem.X_test)
    whole = fitted(problem, method, hierarchy=ontology(problem))
    assert_identical(answers(whole, X), answers(fitted(problem, method), X))


# ---------------------------------------------------------------------- what must not change the last bit


@every_method
@given(problem=SMALL, random=st.randoms(use_true_random=True))
@settings(max_examples=20)
def test_partial_fit_in_chunks(method, problem, random):
    X = frame(problem, problem.X_test)
    n = len(problem.y)
    order = np.array(random.sample(range(n), n))
    cuts = sorted(random.sample(range(1, n), random.randint(0, min(4, n - 1))))
    model = estimator(problem, method)
    for chunk in np.split(order, cuts):
        model.partial_fit(
            frame(problem, problem.X_train[chunk]), problem.y[chunk], classes=np.arange(problem.n_classes)
        )
    assert_identical(answers(model, X), answers(fitted(problem, method), X))


@every_method
@given(problem=SMALL)
@settings(max_examples=20)
def test_partial_fit_after_predictions(method, problem):
    """Nothing learned for earlier predictions outlives more data."""
    X = frame(problem, problem.X_test)
    model = estimator(problem, method)
    half = (len(problem.y) + 1) // 2
    for rows in (slice(None, half), slice(half, None)):
        if len(problem.y[rows]) == 0:
            continue
        model.partial_fit(
            frame(problem, problem.X_train[rows]), problem.y[rows], classes=np.arange(problem.n_classes)
        )
        answers(model, X)
    assert_identical(answers(model, X), answers(fitted(problem, method), X))


@every_method
@given(problem=SMALL, as_sparse=st.sampled_from([sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array]))
@settings(max_examples=20)
def test_sparse_equals_dense(method, problem, as_sparse):
    dense = estimator(problem, method).fit(problem.X_train, problem.y)
    sparse = estimator(problem, method).fit(as_sparse(problem.X_train), problem.y)
    expected = answers(dense, problem.X_test)
    assert_identical(answers(sparse, as_sparse(problem.X_test)), expected)
    assert_identical(answers(dense, as_sparse(problem.X_test)), expected)
    assert_identical(answers(sparse, problem.X_test), expected)


@every_method
@given(problem=SMALL, dtype=st.sampled_from([bool, np.int8, np.int64, np.float32, np.float64]))
@settings(max_examples=20)
def test_kind_of_input(method, problem, dtype):
    """Frames and arrays, any numeric type, either memory order, read-only or not."""
    expected = answers(fitted(problem, method), frame(problem, problem.X_test))
    X_train = np.asfortranarray(problem.X_train.astype(dtype))
    X_test = np.asfortranarray(problem.X_test.astype(dtype))
    X_train.setflags(write=False)
    X_test.setflags(write=False)
    model = estimator(problem, method).fit(X_train, problem.y)
    assert_identical(answers(model, X_test), expected)


@every_method
@given(problem=SMALL)
@settings(max_examples=10)
def test_binarize(method, problem):
    """A value above the threshold is a 1."""
    X = problem.X_test
    plain = estimator(problem, method).fit(problem.X_train, problem.y)
    scaled = estimator(problem, method, binarize=0.25).fit(problem.X_train * 0.5 + 0.25, problem.y)
    assert_identical(answers(scaled, X * 0.5 + 0.25), answers(plain, X))


@every_method
@given(problem=SMALL, random=st.randoms(use_true_random=True))
@settings(max_examples=20)
def test_a_row_does_not_depend_on_the_others(method, problem, random):
    model = fitted(problem, method)
    trees, joint = answers(model, frame(problem, problem.X_test))
    n = len(problem.X_test)
    rows = random.sample(range(n), random.randint(1, n))
    some = answers(model, frame(problem, problem.X_test[rows]))
    assert_identical(some, (trees[rows], joint[rows]))


@every_method
def test_number_of_jobs(method):
    """Several threads, the same result, also for enough rows to be worth sharing out."""
    for problem in sorted(FIXED, key=lambda p: -len(p.X_test))[:4]:
        for X in (frame(problem, problem.X_test), frame(problem, np.tile(problem.X_test, (15, 1)))):
            one = fitted(problem, method, n_jobs=1)
            expected = answers(one, X)
            assert_identical(answers(fitted(problem, method, n_jobs=2), X), expected)
            assert_identical(answers(one.set_params(n_jobs=2), X), expected)


@every_method
def test_same_seed_same_result(method):
    for problem in FIXED[:5]:
        X = frame(problem, problem.X_test)
        assert_identical(answers(fitted(problem, method), X), answers(fitted(problem, method), X))


@every_method
def test_order_of_training_rows(method):
    for problem in FIXED[:10]:
        X = frame(problem, problem.X_test)
        n = len(problem.y)
        order = Random(problem.seed).sample(range(n), n)
        shuffled = replace(problem, X_train=problem.X_train[order], y=problem.y[order])
        assert_identical(answers(fitted(shuffled, method), X), answers(fitted(problem, method), X))


@pytest.mark.parametrize("seed", range(3))
def test_trees_over_several_blocks_of_edges(seed, monkeypatch):
    """Here the last edges count too: those of terms that no training row has."""
    monkeypatch.setattr("hietan.structure.edges._BLOCK", 1000)
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
        clf = method(hierarchy=data.hierarchy, random_state=seed).fit(X, data.y)
        ranked = EdgeRanking(clf.counts_, clf.hierarchy_)
        edges, lone, order = ranked.edges().tolist(), ranked.lone_feature, clf.root_order_.tolist()
        if method is HieTAN:
            assert clf.tree_.parent.tolist() == walk(edges, ancestors, order, directed=True)
            continue
        for x, tree in zip(rows.tolist(), clf.trees(rows), strict=True):
            assert tree.parent.tolist() == walk(edges, ancestors, order, directed=directed, x=x, lone=lone)
        assert clf._ranking.kernel.n_sorted > 4 * 1000  # several blocks were read


@pytest.mark.parametrize("smoothing", ["laplace", "pooled"])
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


@every_method
def test_data_larger_than_memory_come_in_parts(method):
    """An iterator of (X, y), sparse, some of them without a class: the model of one fit."""
    data = make_hierarchical_classification(500, 60, n_classes=3, random_state=0)
    chunks = ((data.X[k : k + 40], data.y[k : k + 40]) for k in range(0, 500, 40))
    model = ESTIMATORS[method](hierarchy=data.hierarchy, random_state=0)
    for X, y in chunks:
        model.partial_fit(X, y, classes=[0, 1, 2])
    whole = ESTIMATORS[method](hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    assert_identical(answers(model, data.X), answers(whole, data.X))
