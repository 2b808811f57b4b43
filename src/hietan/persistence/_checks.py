"""What is checked about the parts of our own classifiers, so that the kernel can trust them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan import classifiers
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.structure import OpenCounts, PairCounts, SparsePairs, check_open_counts

_PAIRS_AT_ONCE = 1 << 16  # of each class, when their counts are checked: they should stay in the cache


def check_classes(classes: Any) -> None:
    """Refuse classes that are not at least two distinct labels, sorted."""
    require(isinstance(classes, np.ndarray) and classes.ndim == 1, "the classes are not an array")
    if len(classes) >= 2 and bool((classes[1:] > classes[:-1]).all()):
        return
    require(len(np.unique(classes)) == len(classes) >= 2, "the classes are not distinct")
    require(bool((np.sort(classes) == classes).all()), "the classes are not sorted")


def check_fitted(fitted: Mapping[str, Any]) -> None:
    """Check everything that the kernel would otherwise trust."""
    d, classes, hierarchy = fitted["n_features_in_"], fitted["classes_"], fitted["hierarchy_"]
    require(type(d) is int and d > 0, "n_features_in_ is not a number of features")
    require(len(hierarchy) == d, "the hierarchy and n_features_in_ disagree")
    if "feature_names_in_" in fitted:
        check_names(fitted["feature_names_in_"], hierarchy)
    if "root_order_" in fitted:
        order = fitted["root_order_"]
        require(is_array(order, "iu", (d,)), "root_order_ is not a permutation")
        require(bool((np.sort(order) == np.arange(d)).all()), "root_order_ is not a permutation")
    if "coef_" in fitted:
        _check_weights(fitted, 1 if len(classes) == 2 else len(classes), d)
    if "counts_" in fitted:
        if isinstance(fitted["counts_"], OpenCounts):
            check_open_counts(fitted["counts_"], len(classes), hierarchy)
        else:
            require(isinstance(fitted["counts_"], PairCounts), "counts_ are not counts")
            _check_counts(fitted["counts_"], len(classes), d)
        same = np.array_equal(fitted["class_count_"], fitted["counts_"].class_count)
        require(same, "class_count_ and counts_ disagree")


def check_names(names: Any, hierarchy: Hierarchy) -> None:
    """Refuse names of columns that are not those of the hierarchy."""
    require(is_array(names, "OU", (len(hierarchy),)), "feature_names_in_ and n_features_in_ disagree")
    listed = tuple(names.tolist())
    # Names that cannot be those of a hierarchy are replaced by x0, x1, ... in `fit`.
    if len(set(listed)) == len(listed) and all(listed):
        require(listed == hierarchy.features, "feature_names_in_ and the hierarchy disagree")


def _check_weights(fitted: Mapping[str, Any], n_rows: int, d: int) -> None:
    coef, intercept = fitted["coef_"], fitted["intercept_"]
    right = is_array(coef, "f", (n_rows, d)) and is_array(intercept, "f", (n_rows,))
    require(right, "the weights have the wrong shape")
    require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "a weight is not finite")
    if "lam_" in fitted:
        _check_path(fitted, n_rows)


def _check_path(fitted: Mapping[str, Any], n_rows: int) -> None:
    lam = fitted["lam_"]
    require(isinstance(lam, float) and 0 < lam < np.inf, "lam_ is not a number above 0")
    require(is_array(fitted["n_iter_"], "iu", (n_rows,)), "n_iter_ has the wrong shape")
    require(is_array(fitted["gap_"], "f", (n_rows,)), "gap_ has the wrong shape")
    if "path_" in fitted:
        path = fitted["path_"]
        require(isinstance(path, classifiers.LambdaPath), "path_ is not a path of lambdas")
        shape = np.shape(path.lam)
        right = is_array(path.lam, "f", shape) and is_array(path.log_loss, "f", shape)
        right = right and (path.score is None or is_array(path.score, "f", shape))
        require(right and is_array(path.n_features, "iu", shape) and len(shape) == 1, "path_ is inconsistent")
        known = isinstance(path.criterion, str) and path.criterion in classifiers.LAMBDA_CRITERIA
        agrees = known and (path.score is None) == (path.criterion == "log_loss")
        require(agrees, "the criterion of path_ is inconsistent")


def is_array(value: Any, kinds: str, shape: tuple[int, ...]) -> bool:
    """Whether the value is an array of one of these kinds of numbers, with this shape."""
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.shape == shape


def _check_counts(counts: PairCounts, n_classes: int, d: int) -> None:
    n, ones, pairs = counts.class_count, counts.ones, counts.pairs
    require(isinstance(n, np.ndarray) and isinstance(ones, np.ndarray), "counts are not arrays")
    require(n.dtype == np.int64 and ones.dtype == np.int32, "counts are not integers")
    require(n.shape == (n_classes,) and ones.shape == (n_classes, d), "the counts have the wrong shape")
    require(
        int(n.astype(object).sum()) <= np.iinfo(np.int32).max, "there are more rows than the counts can hold"
    )
    require(bool((n >= 0).all() and (ones >= 0).all() and (ones <= n[:, None]).all()), "impossible counts")
    if isinstance(pairs, SparsePairs):
        _check_sparse_pairs(pairs, n_classes, d)
        _check_sparse_counts(counts, pairs)
        return
    require(isinstance(pairs, np.ndarray) and pairs.dtype == np.int32, "counts are not integers")
    require(pairs.shape in ((n_classes, d * (d - 1) // 2), (n_classes, 0)), "the pairs have the wrong shape")
    if pairs.shape[1] == 0:  # not counted, or there are none
        return
    room = (ones - n[:, None]).astype(np.int32)  # minus the zeros: a sum of two counts would overflow
    lengths = np.arange(d - 1, 0, -1)  # of the rows of the triangle
    ends = np.cumsum(lengths)
    starts = ends - lengths
    for first, last in _blocks(ends):
        here = slice(int(starts[first]), int(ends[last - 1]))
        i = np.repeat(np.arange(first, last), lengths[first:last])
        j = np.arange(here.start, here.stop) - starts[i] + i + 1
        both, above, beside = pairs[:, here], ones[:, i], ones[:, j]
        possible = (both >= 0) & (both <= above) & (both <= beside) & (both - beside >= room[:, i])
        require(bool(possible.all()), "impossible counts of pairs")


def _check_sparse_pairs(pairs: SparsePairs, n_classes: int, d: int) -> None:
    start, partner, values = pairs.indptr, pairs.indices, pairs.values
    types = [array.dtype for array in (start, partner, values)]
    require(types == [np.int64, np.int32, np.int32], "counts are not integers")
    require(
        start.shape == (d + 1,) and partner.ndim == 1 and values.shape == (partner.size, n_classes),
        "the pairs have the wrong shape",
    )
    require(
        start[0] == start.min() == 0 and start[-1] == partner.size and bool((np.diff(start) >= 0).all()),
        "the pairs do not fit their features",
    )


def _check_sparse_counts(counts: PairCounts, pairs: SparsePairs) -> None:
    """Check places and counts of pairs, in time in proportion to the pairs that are there."""
    n, d, start = counts.class_count.astype(np.int32), counts.n_features, pairs.indptr
    n_crowded = [0] * len(n)
    for first, last in _blocks(start[1:]):
        here = slice(int(start[first]), int(start[last]))
        lengths, partner = np.diff(start[first : last + 1]), pairs.indices[here]
        feature = np.repeat(np.arange(first, last, dtype=np.int32), lengths)
        rises = (partner[1:] > partner[:-1]) | (feature[1:] > feature[:-1])
        in_place = rises.all() and (partner > feature).all() and (partner < d).all()
        require(bool(in_place), "a pair is out of place")
        for c, ones in enumerate(
            counts.ones
        ):  # one class after the other: rows of two numbers are slow to look up
            both, one, other = pairs.values[here, c], np.repeat(ones[first:last], lengths), ones.take(partner)
            least = (one - n[c]) + other  # in this order, nothing overflows
            possible = (both >= np.maximum(least, 0)) & (both <= np.minimum(one, other))
            require(bool(possible.all()), "impossible counts of pairs")
            n_crowded[c] += int(np.count_nonzero(least > 0))
    # Two features with more ones than there are rows must co-occur: all such pairs must be among those that are there.
    for c, ranked in enumerate(np.sort(counts.ones.astype(np.int64), axis=1)):
        partners = d - np.searchsorted(ranked, n[c] - ranked, side="right")
        expected = (partners.sum() - (2 * ranked > n[c]).sum()) // 2
        require(bool(n_crowded[c] == expected), "impossible counts of pairs")


def _blocks(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Features from one to another, given where the pairs of each end: a few pairs at a time, as all may be many."""
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, begin + _PAIRS_AT_ONCE, side="right")))
        yield first, last
        first = last


def require(condition: bool, message: str) -> None:
    """Refuse the file unless the condition holds."""
    if not condition:
        raise ModelFileError(message)
