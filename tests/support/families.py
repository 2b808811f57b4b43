"""The public classifiers, asked what they are: a new one joins every test of its family by itself."""

from __future__ import annotations

from functools import cache
from inspect import signature

import numpy as np

from hietan import classifiers
from hietan.structure._counts import PairCounts

CLASSIFIERS = [
    member
    for member in (getattr(classifiers, name) for name in classifiers.__all__)
    if hasattr(member, "fit") and hasattr(member, "predict")
]


def takes(make: type, parameter: str) -> bool:
    """Whether a classifier has a parameter of this name."""
    return parameter in signature(make).parameters


@cache
def counts_pairs(make: type) -> bool:
    """Whether a classifier keeps the counts of pairs of features."""
    counts = make().fit(np.eye(4), [0, 1, 0, 1]).counts_
    return isinstance(counts, PairCounts) and counts.is_dense and counts.pairs.size > 0


BAYES = [make for make in CLASSIFIERS if hasattr(make, "predict_joint_log_proba")]
TREES = [make for make in BAYES if hasattr(make(), "trees")]
EAGER_TREES = [make for make in TREES if hasattr(make, "tree_")]
LAZY_TREES = [make for make in TREES if make not in EAGER_TREES]
AVERAGED = [make for make in BAYES if takes(make, "min_frequency")]
OF_PAIRS = [make for make in BAYES if counts_pairs(make)]
SELECTING = [make for make in BAYES if hasattr(make, "selected")]


def name_of(make: type) -> str:
    """For the ids of tests."""
    return make.__name__


def seeded(make: type, seed: int = 0) -> dict[str, int]:
    """`random_state`, where the classifier draws anything."""
    return {"random_state": seed} if takes(make, "random_state") else {}
