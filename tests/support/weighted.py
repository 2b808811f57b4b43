"""Rows with weights over a small hierarchy, and models that count them."""

from __future__ import annotations

import numpy as np

from hietan import Hierarchy
from support.families import seeded

EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e")]
HIERARCHY = Hierarchy.from_edges(EDGES)
NAMES = list(HIERARCHY.features)


def made(make, **parameters):
    fast = {"lam": 0.01} if make.__name__ == "ProximalGraph" else {}
    return make(hierarchy=HIERARCHY, **{**seeded(make), **fast, **parameters})


def problem(n=40, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = HIERARCHY.close((rng.random((n, 5)) < 0.4).astype(np.uint8))
    return X, np.arange(n) % n_classes, rng.integers(0, 4, n)


def state(model, X):
    """What a model predicts, and everything that was counted."""
    counts = getattr(model, "counts_", None)
    counted = [] if counts is None else [counts.class_count, counts.ones]
    return [model.predict_proba(X), *counted]


def assert_same(a, b, X):
    for left, right in zip(state(a, X), state(b, X), strict=True):
        np.testing.assert_array_equal(left, right)


def literal_importances(model, X, w):
    sums = dict.fromkeys(model.hierarchy_.features, 0.0)
    for explanation, weight in zip(model.explain(X), w, strict=True):
        for part in explanation.contributions:
            sums[part.feature] += weight * abs(part.contribution)
    return np.array(list(sums.values())) / w.sum()
