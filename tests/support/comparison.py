"""A problem put to the library and to the twins: models, trees and joint log-probabilities of its test rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from hietan import HRETAN, TAN, Hierarchy, HieTAN, HieTANLite
from support import twins
from support.families import seeded
from support.strategies import Problem
from support.twins import RULES, Counts, Edge, Rules

# The twin of each classifier that learns trees.
TREE_TWINS = {TAN: "tan", HieTAN: "hie_tan", HieTANLite: "hie_tan_lite", HRETAN: "hre_tan"}


# What depends only on a problem is computed once; problems are distinguished by identity.
@lru_cache(maxsize=256)
def ontology(problem: Problem) -> Hierarchy:
    """With the terms that are not features, in no order related to the columns."""
    terms = sorted({*problem.names, *(term for edge in problem.edges for term in edge)})
    return Hierarchy.from_edges(problem.edges, features=terms)


@lru_cache(maxsize=256)
def own_hierarchy(problem: Problem) -> Hierarchy:
    """Over the columns alone, in their order."""
    return ontology(problem).restrict(problem.names)


@lru_cache(maxsize=256)
def counts_of(problem: Problem) -> Counts:
    """The twin's counts of the training rows."""
    return twins.count(problem.X_train.tolist(), problem.y.tolist(), problem.n_classes, problem.n_features)


@lru_cache(maxsize=256)
def ranking_of(problem: Problem, rules: Rules = RULES) -> list[Edge]:
    """The twin's ranking of the edges."""
    return twins.ranking(counts_of(problem), rules)


def frame(problem: Problem, X: np.ndarray) -> pd.DataFrame:
    """Rows with the names of the columns."""
    return pd.DataFrame(X, columns=problem.names)


def estimator(problem: Problem, make: type, **options):
    """A classifier with the settings of a problem, not fitted."""
    options.setdefault("hierarchy", own_hierarchy(problem))
    settings = {"alpha": problem.alpha, "smoothing": problem.smoothing, **seeded(make, problem.seed)}
    return make(**settings, **options)


def fitted(problem: Problem, make: type, **options):
    """A classifier fitted to the training rows of a problem."""
    return estimator(problem, make, **options).fit(frame(problem, problem.X_train), problem.y)


def answers(model, X) -> tuple[np.ndarray, np.ndarray]:
    """The parents in the tree of each row, and the joint log-probabilities."""
    return np.array([tree.parent for tree in model.trees(X)]), model.predict_joint_log_proba(X)


def assert_identical(one, two) -> None:
    """Trees and joint log-probabilities, to the last bit."""
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def twin_tree(
    problem: Problem,
    method: str,
    x: Sequence[int],
    root_order: Sequence[int],
    rules: Rules = RULES,
) -> list[int]:
    """The twin's tree for one row."""
    counts, ranked = counts_of(problem), ranking_of(problem, rules)
    if method == "tan":
        return twins.tan_tree(problem.n_features, ranked, root_order, rules)
    if method == "hie_tan":
        return twins.hie_tan_tree(ranked, problem.ancestors, root_order, rules)
    lazy = {"hie_tan_lite": twins.hie_tan_lite_tree, "hre_tan": twins.hre_tan_tree}[method]
    return lazy(x, ranked, problem.ancestors, root_order, counts, rules)


def twin_answers(
    problem: Problem,
    method: str,
    root_order: Sequence[int],
    rules: Rules = RULES,
    class_prior: Sequence[float] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Parents, one row per test row, and joint log-probabilities; repeated rows are worked out once."""
    counts = counts_of(problem)
    rows, where = np.unique(problem.X_test, axis=0, return_inverse=True)
    parents, joints = [], []
    same_for_all = None
    for x in rows.tolist():
        parent = same_for_all or twin_tree(problem, method, x, root_order, rules)
        if method in ("tan", "hie_tan"):
            same_for_all = parent
        parents.append(parent)
        joints.append(twins.joint_log(x, parent, counts, problem.alpha, problem.smoothing, class_prior))
    where = where.reshape(-1)
    return np.array(parents, dtype=int).reshape(len(rows), -1)[where], np.array(joints)[where]
