"""From factors to contributions: log-odds of one class against the others, taken apart without remainder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from hietan._runtime.parallel import map_chunks
from hietan.explain.explanation import Explanation, Explanations
from hietan.explain.records import Contribution, Contributions, Removal
from hietan.explain.score_parts import (
    LinearParts,
    RemovalKind,
    RemovedFeature,
    RowEntries,
    ScoreParts,
    TabledParts,
    join_entries,
    with_all_entries,
)
from hietan.hierarchy import Hierarchy
from hietan.structure.tree import ABSENT

_BATCH = 64  # rows that are taken apart together: what their features add takes memory
MOST_FACTORS = 1 << 23
"""What features add to classes, in the rows of a table that are taken apart together: 64 MB."""


def explain_rows(
    parts_of: Callable[[int, int], ScoreParts],
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
) -> Explanations:
    """One explanation per row of a Bayesian classifier.

    Parameters
    ----------
    parts_of : callable
        Called as ``parts_of(start, stop)`` for one batch of rows after another, the parts that add up to their joint
        log-probabilities.
    method : str
        The name of the classifier.
    rows : sequence of str
        The labels of the rows.
    classes : sequence
        The labels of the classes.
    target : label or None
        The class whose log-odds are explained. None means the second of two classes, or the predicted class if there
        are more.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    names : mapping
        Readable names of the features; features that are not in it keep their own names.
    """
    explanations = Explanations()
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        parts = parts_of(start, start + len(batch))
        explanations += _explain_batch(parts, method, batch, classes, target, hierarchy, names)
    return explanations


def contribution_matrix(
    parts_of: Callable[[int, int], ScoreParts],
    n_rows: int,
    *,
    n_features: int,
    classes: Sequence[Any],
    target: Any = None,
    n_jobs: int | None = None,
    most_factors: int = MOST_FACTORS,
    chunks_per_job: int = 4,
) -> sp.csr_array[np.float64]:
    """What every feature adds to the log-odds of a class, in every row: shape (n_rows, n_features), sparse.

    The numbers are those of `explain_rows`, whose parameters these are. A feature that takes part in the score of a row
    has an entry there, even if it adds 0; one that is left out has none. `n_jobs` threads share the rows, in
    `chunks_per_job` chunks each; they take as many rows apart at a time as have `most_factors` factors.
    """
    if target is not None:
        target_index(
            target, classes, np.zeros(len(classes))
        )  # refuses what is not a class, even without rows

    size = max(1, most_factors // (n_features * len(classes) * _BATCH)) * _BATCH

    def entries(start: int, stop: int) -> list[RowEntries]:
        batches = range(start, stop, size)
        return [_entries(parts_of(first, min(stop, first + size)), classes, target) for first in batches]

    chunks = map_chunks(entries, n_rows, n_jobs, chunks_per_job=chunks_per_job)
    found = [batch for chunk in chunks for batch in chunk]
    return join_entries(found, n_rows, n_features)


def contributions_by_state(
    parts: TabledParts, target: int, *, n_jobs: int | None = None
) -> sp.csr_array[np.float64]:
    """The numbers of `contribution_matrix` for one of two classes, looked up rather than computed row by row."""
    return parts.look_up(parts.factors[..., target] - parts.factors[..., 1 - target], n_jobs)


def filled_contributions(
    fill: Callable[[int, int, NDArray[np.float64]], None],
    n_rows: int,
    n_features: int,
    *,
    n_jobs: int | None = None,
    most_entries: int = MOST_FACTORS,
    chunks_per_job: int = 4,
) -> sp.csr_array[np.float64]:
    """The numbers of `contribution_matrix` if no feature is left out, written where they stay.

    ``fill(start, stop, array)`` writes those of some rows into an array, at most `most_entries` at a time.
    """
    whole = np.empty((n_rows, n_features))
    size = max(1, most_entries // (n_features * _BATCH)) * _BATCH

    def write(start: int, stop: int) -> None:
        for first in range(start, stop, size):
            last = min(stop, first + size)
            fill(first, last, whole[first:last])

    map_chunks(write, n_rows, n_jobs, chunks_per_job=chunks_per_job)
    return with_all_entries(whole)


def _entries(parts: ScoreParts, classes: Sequence[Any], target: Any) -> RowEntries:
    takes_part = parts.parents != ABSENT
    n_rows, n_features = takes_part.shape
    has_all = bool(takes_part.all())
    if len(classes) == 2:  # the share of the only other class is 1, exactly
        t = target_index(target, classes, np.zeros(2))
        adds = parts.factors[..., t] - parts.factors[..., 1 - t]
    else:
        rows = zip(parts.joint, parts.factors, strict=True)
        adds = np.array([_log_odds_terms(factors, joint, classes, target) for joint, factors in rows])
    if has_all:  # no need to look for the columns
        columns = np.tile(np.arange(n_features, dtype=np.int32), n_rows)
        return np.full(n_rows, n_features), columns, adds.ravel()
    columns = (np.flatnonzero(takes_part) % n_features).astype(np.int32)
    return takes_part.sum(axis=1), columns, adds[takes_part]


def _log_odds_terms(
    factors: NDArray[np.float64], joint: NDArray[np.float64], classes: Sequence[Any], target: Any
) -> NDArray[np.float64]:
    """What each feature of a row adds to the log-odds."""
    t = target_index(target, classes, joint)
    rest = np.array([c for c in range(len(classes)) if c != t])
    terms: NDArray[np.float64] = factors[:, t] - factors[:, rest] @ softmax(joint[rest])
    return terms


def _explain_batch(
    parts: ScoreParts,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
) -> list[Explanation]:
    features = hierarchy.features
    labels = tuple(names.get(feature, feature) for feature in features)
    explanations = []
    for r, row in enumerate(rows):
        joint = parts.joint[r]
        t = target_index(target, classes, joint)
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
                contributions=_contributions(parts, r, difference, features, labels),
                other=tuple(other),
                removed=removals(parts.removed[r] if parts.removed else (), parts.values[r], features, names),
                hierarchy=hierarchy,
                has_tree=parts.has_tree,
                base_name="class prior" if parts.has_probabilities else "intercept",
            )
        )
    return explanations


def removals(
    removed: Sequence[RemovedFeature],
    values: NDArray[np.uint8],
    features: tuple[str, ...],
    names: Mapping[str, str],
) -> tuple[Removal, ...]:
    """What was left out of a row, in words.

    Parameters
    ----------
    removed : sequence of RemovedFeature
        The features that were left out.
    values : array of shape (n_features,)
        The row.
    features : tuple of str
        The names of the columns.
    names : mapping
        Readable names of the features; features that are not in it keep their own names.
    """
    reasons: dict[tuple[int, RemovalKind], str] = {}  # many features are removed by the same one
    found, value_of = [], values.tolist()
    for v, by, kind in removed:
        feature, reason = features[v], reasons.get((by, kind))
        if reason is None:
            reason = reasons[by, kind] = kind.reason(features[by])
        found.append(Removal(feature, names.get(feature, feature), value_of[v], features[by], reason))
    return tuple(found)


def target_index(target: Any, classes: Sequence[Any], scores: NDArray[np.float64]) -> int:
    """The place of the class to explain: the one asked for, the second of two, or else that of the largest score."""
    if target is not None:
        for c, label in enumerate(classes):
            if label == target:
                return c
        raise ValueError(f"target must be one of the classes {list(classes)}, got {target!r}")
    return 1 if len(classes) == 2 else int(np.argmax(scores))


def _contributions(
    parts: ScoreParts,
    r: int,
    difference: NDArray[np.float64],
    features: tuple[str, ...],
    names: tuple[str, ...],
) -> Contributions:
    kept = np.flatnonzero(parts.parents[r] != ABSENT)
    has_probabilities = parts.averaging is None and parts.has_probabilities
    return Contributions(
        features=features,
        names=names,
        row=parts.values[r].copy(),
        columns=kept,
        parents=parts.parents[r, kept],
        amounts=difference[kept],
        probabilities=np.exp(parts.factors[r, kept]) if has_probabilities else None,
    )


def explain_linear(
    parts: LinearParts,
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
) -> Explanations:
    """One explanation per row of a linear model: weight times value of each feature.

    The parameters are those of `explain_rows`, except that `parts` is a `LinearParts`.
    """
    features = hierarchy.features
    explanations = Explanations()
    for r, row in enumerate(rows):
        t = target_index(target, classes, parts.scores[r])
        held = slice(parts.rows.indptr[r], parts.rows.indptr[r + 1])
        columns, values = parts.rows.indices[held], parts.rows.data[held]
        weights = parts.weights[t, columns]
        explanations.append(
            Explanation(
                method=method,
                row=row,
                classes=tuple(classes),
                probabilities=tuple(parts.probabilities[r].tolist()),
                target=classes[t],
                log_odds=float(parts.scores[r, t]),
                base=float(parts.intercepts[t]),
                contributions=tuple(
                    Contribution(features[v], names.get(features[v], features[v]), float(x), float(x * w))
                    for v, x, w in zip(columns, values, weights, strict=True)
                    if w != 0 and x != 0
                ),
                hierarchy=hierarchy,
                base_name="intercept",
            )
        )
    return explanations


def linear_contributions(
    rows: Any, weights: NDArray[np.float64], chosen: NDArray[np.intp]
) -> sp.csr_array[np.float64]:
    """Weight times value of each feature in each row, without zeros: the numbers of `explain_linear`.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_rows, n_features)
        The values of the features.
    weights : array of shape (n_classes, n_features)
        The weights of each class.
    chosen : array of shape (n_rows,)
        The class whose score is explained, for each row.
    """
    found: sp.csr_array[np.float64] = sp.csr_array(rows, copy=True)
    found.data *= weights[np.repeat(chosen, np.diff(found.indptr)), found.indices]
    found.eliminate_zeros()
    return found
