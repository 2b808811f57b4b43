"""From factors to contributions: log-odds of one class against the others, taken apart without remainder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from hietan.explain.explanation import Contribution, Explanation, Removal
from hietan.hierarchy import Hierarchy

ROOT, ABSENT = -1, -2


@dataclass(frozen=True)
class Parts:
    """What the joint log-probabilities of some rows are the sums of.

    `joint` is (n, C), the model's own; `values` (n, d) are the binary features, `parents` (n, d) the trees (-1 for a
    feature without a parent, -2 for one that is left out), `factors` (n, d, C) their log-probabilities, `base` (n, C)
    the log-priors and `averaging` (n, C) the term of an average of estimators, or None. `removals(row)` tells what
    was left out of a row and why. Factors of averages are no probabilities.
    """

    joint: NDArray[np.float64]
    values: NDArray[np.uint8]
    parents: NDArray[np.int32]
    factors: NDArray[np.float64]
    base: NDArray[np.float64]
    averaging: NDArray[np.float64] | None = None
    removals: Callable[[int], Iterable[tuple[int, int, str]]] = lambda row: ()
    has_tree: bool = False


def explain_rows(
    parts: Parts,
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
) -> list[Explanation]:
    """One explanation per row; `target` None means the second of two classes, else the predicted class."""
    features = hierarchy.features
    explanations = []
    for r, row in enumerate(rows):
        joint = parts.joint[r]
        t = _target_index(target, classes, joint)
        rest = np.array([c for c in range(len(classes)) if c != t])
        # ln sum p = sum w ln p + H(w) with w the shares of the other classes: for two classes w is 1 and H is 0.
        weights = softmax(joint[rest])
        difference = parts.factors[r][:, t] - parts.factors[r][:, rest] @ weights
        other = []
        if parts.averaging is not None:
            averaging = parts.averaging[r]
            other.append(("averaging of the estimators", float(averaging[t] - averaging[rest] @ weights)))
        if len(rest) > 1:
            entropy = -float(np.sum(weights * np.log(np.maximum(weights, 1e-300))))
            other.append(("summing of the other classes", -entropy))
        explanations.append(
            Explanation(
                method=method,
                row=row,
                classes=tuple(classes),
                probabilities=tuple(softmax(joint).tolist()),
                target=classes[t],
                log_odds=float(joint[t] - logsumexp(joint[rest])),
                base=float(parts.base[r][t] - parts.base[r][rest] @ weights),
                contributions=_contributions(parts, r, difference, features, names),
                other=tuple(other),
                removed=tuple(
                    Removal(
                        features[v],
                        names.get(features[v], features[v]),
                        int(parts.values[r, v]),
                        features[by],
                        reason,
                    )
                    for v, by, reason in parts.removals(r)
                ),
                hierarchy=hierarchy,
                has_tree=parts.has_tree,
            )
        )
    return explanations


def _target_index(target: Any, classes: Sequence[Any], scores: NDArray[np.float64]) -> int:
    if target is not None:
        for c, label in enumerate(classes):
            if label == target:
                return c
        raise ValueError(f"target must be one of the classes {list(classes)}, got {target!r}")
    return 1 if len(classes) == 2 else int(np.argmax(scores))


def _contributions(
    parts: Parts, r: int, difference: NDArray[np.float64], features: tuple[str, ...], names: Mapping[str, str]
) -> tuple[Contribution, ...]:
    contributions = []
    for v in np.flatnonzero(parts.parents[r] != ABSENT).tolist():
        p = int(parts.parents[r, v])
        contributions.append(
            Contribution(
                feature=features[v],
                name=names.get(features[v], features[v]),
                value=int(parts.values[r, v]),
                contribution=float(difference[v]),
                parent=features[p] if p >= 0 else None,
                parent_value=int(parts.values[r, p]) if p >= 0 else None,
                probabilities=None
                if parts.averaging is not None
                else tuple(np.exp(parts.factors[r, v]).tolist()),
            )
        )
    return tuple(contributions)


def explain_linear(
    products: Any,
    scores: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
) -> list[Explanation]:
    """One explanation per row of a linear model.

    `products(row, c)` gives (columns, values, weights) of what is not zero for class c, `scores` (n, C) the decision
    function of each class (for two classes: of the second, minus it for the first), `intercepts` (C,) its constant.
    """
    features = hierarchy.features
    explanations = []
    for r, row in enumerate(rows):
        t = _target_index(target, classes, scores[r])
        columns, values, weights = products(r, t)
        explanations.append(
            Explanation(
                method=method,
                row=row,
                classes=tuple(classes),
                probabilities=tuple(probabilities[r].tolist()),
                target=classes[t],
                log_odds=float(scores[r, t]),
                base=float(intercepts[t]),
                contributions=tuple(
                    Contribution(features[v], names.get(features[v], features[v]), float(x), float(x * w))
                    for v, x, w in zip(columns, values, weights, strict=True)
                ),
                hierarchy=hierarchy,
            )
        )
    return explanations
