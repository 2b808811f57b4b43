"""Split a class's log-odds into contributions that add up exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from hietan import _kernel
from hietan._runtime.parallel import map_chunks, run_ordered
from hietan.explain._explanation import Contributions, Explanation, Explanations, Removal
from hietan.explain._score_parts import LinearParts, RemovedFeature, ScoreParts, StateParts
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import BinaryRows
from hietan.structure._tree import ABSENT, ROOT

_BATCH = 64  # rows to explain together, which limits the memory
MOST_FACTORS = 1 << 23
"""The number of contributions to compute together, which need 64 MB."""
_FITTED = (
    "The contributions are weights that were fitted to all features together, not computed from these counts."
)
_PACKED_BATCH = 512  # rows: their packed states should stay in the cache


def explain_rows(
    parts_of: Callable[[int, int], ScoreParts],
    *,
    method: str,
    rows: Sequence[str],
    classes: Sequence[Any],
    target: Any,
    hierarchy: Hierarchy,
    names: Mapping[str, str],
    counts_note: str = "",
) -> Explanations:
    """Return an explanation for each row, for a Bayesian classifier.

    Parameters
    ----------
    parts_of : callable
        Called as ``parts_of(start, stop)`` for one batch of rows after another; returns the parts that add up to their
        joint log-probabilities.
    method : str
        The classifier's name.
    rows : sequence of str
        The row labels.
    classes : sequence
        The class labels.
    target : label or None
        The class whose log-odds are explained. None means the second of two classes, or the predicted class if there
        are more.
    hierarchy : Hierarchy
        The hierarchy over the columns.
    names : mapping
        Readable feature names; features that are not in it keep their own names.
    counts_note : str
        How the contributions follow from the counts, in sentences, unless they are simply their logarithms.
    """
    explanations = Explanations()
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        parts = parts_of(start, start + len(batch))
        explanations += _explain_batch(parts, method, batch, classes, target, hierarchy, names, counts_note)
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
    """Return each feature's contribution to a class's log-odds in every row, as a sparse matrix (n_rows, n_features).

    The numbers and the parameters are the same as in `explain_rows`. A feature that is used in a row's score has an
    entry there, even if its contribution is 0. A feature that is left out has no entry. `n_jobs` threads share the
    rows, in `chunks_per_job` chunks each; they process as many rows at a time as have `most_factors` factors.
    """
    if target is not None:  # an error for a label that is not a class, even without rows
        target_index(target, classes, np.zeros(len(classes)))
    size = max(1, most_factors // (n_features * len(classes) * _BATCH)) * _BATCH

    def entries(start: int, stop: int) -> list[_RowEntries]:
        batches = range(start, stop, size)
        return [_entries(parts_of(first, min(stop, first + size)), classes, target) for first in batches]

    chunks = map_chunks(entries, n_rows, n_jobs, chunks_per_job=chunks_per_job)
    return _join_entries([batch for chunk in chunks for batch in chunk], n_rows, n_features)


def contributions_by_state(
    parts: StateParts, rows: BinaryRows, target: int, n_jobs: int | None
) -> sp.csr_array[np.float64]:
    """Return the result of `contribution_matrix` for one of two classes.

    The contributions are looked up instead of computed by row.
    """
    table = np.ascontiguousarray(parts.factors[..., target] - parts.factors[..., 1 - target])

    def entries(start: int, stop: int) -> _RowEntries:
        words = parts.words(rows.between(start, stop))
        n_entries = _kernel.count_kept(words[0], stop - start)
        starts = np.concatenate([[0], n_entries.cumsum()])
        columns, data = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        _kernel.list_terms(*words, table, starts, columns, data)
        return n_entries, columns, data

    batches = [(i, min(i + _PACKED_BATCH, rows.n_rows)) for i in range(0, rows.n_rows, _PACKED_BATCH)]
    return _join_entries(run_ordered(entries, batches, n_jobs), *rows.shape)


# Some rows of a sparse matrix: the number of entries of each, then the columns and the values of all of them.
_RowEntries = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def _entries(parts: ScoreParts, classes: Sequence[Any], target: Any) -> _RowEntries:
    takes_part = parts.parents != ABSENT
    if len(classes) == 2:  # the share of the only other class is 1, exactly
        t = target_index(target, classes, np.zeros(2))
        adds = parts.factors[..., t] - parts.factors[..., 1 - t]
    else:
        rows = zip(parts.joint, parts.factors, strict=True)
        adds = np.array([_log_odds_terms(factors, joint, classes, target) for joint, factors in rows])
    n_rows, d = takes_part.shape
    if takes_part.all():  # several times as fast
        return np.full(n_rows, d), np.tile(np.arange(d, dtype=np.int32), n_rows), adds.ravel()
    columns = (np.flatnonzero(takes_part) % d).astype(np.int32)
    return takes_part.sum(axis=1), columns, adds[takes_part]


def _join_entries(found: list[_RowEntries], n_rows: int, n_features: int) -> sp.csr_array[np.float64]:
    """Return the matrix whose rows were computed in parts, in row order. Each part is freed once it is joined."""
    n_entries = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in found)])
    indptr = np.concatenate([[0], np.cumsum(n_entries)])
    index = np.int64 if indptr[-1] > np.iinfo(np.int32).max else np.int32
    columns, data = np.empty(indptr[-1], dtype=index), np.empty(indptr[-1])
    end = int(indptr[-1])
    while found:
        _, own_columns, own_data = found.pop()
        start = end - own_data.size
        columns[start:end], data[start:end] = own_columns, own_data
        end = start
    return sp.csr_array((data, columns, indptr.astype(index)), shape=(n_rows, n_features))


def _log_odds_terms(
    factors: NDArray[np.float64], joint: NDArray[np.float64], classes: Sequence[Any], target: Any
) -> NDArray[np.float64]:
    """Return each feature's contribution to a row's log-odds."""
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
    counts_note: str,
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
                contributions=_contributions(parts, r, difference, t, weights, hierarchy, labels),
                other=tuple(other),
                removed=_removals(parts.removed(r), parts.values[r], features, names),
                hierarchy=hierarchy,
                has_tree=parts.has_tree,
                base_name=parts.base_name,
                counts_note=counts_note,
            )
        )
    return explanations


def _removals(
    removed: Sequence[RemovedFeature],
    values: NDArray[np.uint8],
    features: tuple[str, ...],
    names: Mapping[str, str],
) -> tuple[Removal, ...]:
    """Return the features left out for a row, with reasons."""
    return tuple(
        Removal(
            features[v],
            names.get(features[v], features[v]),
            int(values[v]),
            features[by],
            kind.reason(features[by]),
        )
        for v, by, kind in removed
    )


def target_index(target: Any, classes: Sequence[Any], scores: NDArray[np.float64]) -> int:
    """Return the position of the class to explain: the requested class, the second of two, or the most probable."""
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
    t: int,
    shares: NDArray[np.float64],
    hierarchy: Hierarchy,
    names: tuple[str, ...],
) -> Contributions:
    """Return the contributions of a row's features, given the class `t` and the other classes' `shares`."""
    kept = np.flatnonzero(parts.parents[r] != ABSENT)
    has_probabilities = parts.averaging is None and parts.has_probabilities
    counts = None if parts.behind is None else np.stack(parts.behind(r), axis=-1)[kept]
    adjustments = np.zeros(len(kept))
    if parts.weights is not None:
        weights = parts.weights[t] - shares @ np.delete(parts.weights, t, axis=0)
        adjustments = (weights * parts.values[r])[kept]
    return Contributions(
        features=hierarchy.features,
        names=names,
        row=parts.values[r].copy(),
        columns=kept,
        parents=parts.parents[r, kept],
        amounts=difference[kept],
        probabilities=np.exp(parts.factors[r, kept]) if has_probabilities else None,
        counts=counts,
        adjustments=adjustments,
        above=hierarchy.adjacency.T.tocsr() if parts.counts_parents else None,
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
    """Return an explanation for each row of a linear model, with each feature's weight times its value.

    The parameters are the same as for `explain_rows`, except that `parts` is a `LinearParts`.
    """
    features = hierarchy.features
    labels = tuple(names.get(feature, feature) for feature in features)
    explanations = Explanations()
    for r, row in enumerate(rows):
        t = target_index(target, classes, parts.scores[r])
        values = parts.rows[[r]].toarray()[0]
        amounts = values * parts.weights[t]
        columns = np.flatnonzero(amounts)
        log_proba = parts.log_proba[r]
        score = float(parts.scores[r, t])
        log_odds = score
        other: tuple[tuple[str, float], ...] = ()
        # With several classes, each against the others has its own model, so the probabilities are rescaled.
        if len(classes) > 2:
            log_odds = float(log_proba[t] - logsumexp(np.delete(log_proba, t)))
            other = (("rescaling of the probabilities to a sum of 1", log_odds - score),)
        ones = parts.ones[:, columns].T
        among = np.broadcast_to(parts.class_count, ones.shape)
        explanations.append(
            Explanation(
                method=method,
                row=row,
                classes=tuple(classes),
                probabilities=tuple(np.exp(log_proba).tolist()),
                target=classes[t],
                log_odds=log_odds,
                base=float(parts.intercepts[t]),
                contributions=Contributions(
                    features=features,
                    names=labels,
                    row=values,
                    columns=columns,
                    parents=np.full(len(columns), ROOT, dtype=np.int32),
                    amounts=amounts[columns],
                    probabilities=None,
                    counts=np.stack([ones, among], axis=-1),
                    adjustments=np.zeros(len(columns)),
                    above=None,
                ),
                other=other,
                hierarchy=hierarchy,
                base_name="intercept",
                counts_note=_FITTED,
            )
        )
    return explanations


def linear_contributions(
    rows: Any, weights: NDArray[np.float64], chosen: NDArray[np.intp]
) -> sp.csr_array[np.float64]:
    """Return each feature's weight times its value in each row, without zeros.

    `explain_linear` shows the same numbers.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_rows, n_features)
        The feature values.
    weights : array of shape (n_classes, n_features)
        The weights of each class.
    chosen : array of shape (n_rows,)
        The class whose score is explained, for each row.
    """
    found: sp.csr_array[np.float64] = sp.csr_array(rows, copy=True)
    found.data *= weights[np.repeat(chosen, np.diff(found.indptr)), found.indices]
    found.eliminate_zeros()
    return found
