"""The twins' answers to a whole problem: one tree and one row of joint log-probabilities per test row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hietan import Hierarchy
from support import reference
from support.reference import RULES, Counts, Edge, Rules
from support.strategies import Problem


def ontology(problem: Problem) -> Hierarchy:
    """With the terms that are not features, in no order related to the columns."""
    terms = sorted({*problem.names, *(term for edge in problem.edges for term in edge)})
    return Hierarchy.from_edges(problem.edges, features=terms)


def frame(problem: Problem, X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=problem.names)


def counts_of(problem: Problem) -> Counts:
    return reference.count(
        problem.X_train.tolist(), problem.y.tolist(), problem.n_classes, problem.n_features
    )


def twin_tree(
    problem: Problem,
    method: str,
    x: Sequence[int],
    counts: Counts,
    ranked: Sequence[Edge],
    root_order: Sequence[int],
    rules: Rules = RULES,
) -> list[int]:
    if method == "tan":
        return reference.tan_tree(problem.n_features, ranked, root_order, rules)
    if method == "hie_tan":
        return reference.hie_tan_tree(ranked, problem.ancestors, root_order, rules)
    lazy = {"hie_tan_lite": reference.hie_tan_lite_tree, "hre_tan": reference.hre_tan_tree}[method]
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
    ranked = reference.ranking(counts, rules)
    rows, where = np.unique(problem.X_test, axis=0, return_inverse=True)
    parents, joints = [], []
    for x in rows.tolist():
        parent = twin_tree(problem, method, x, counts, ranked, root_order, rules)
        parents.append(parent)
        joints.append(reference.joint_log(x, parent, counts, problem.alpha, problem.smoothing, class_prior))
    where = where.reshape(-1)
    return np.array(parents, dtype=int).reshape(len(rows), -1)[where], np.array(joints)[where]
