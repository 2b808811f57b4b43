"""Checks for parameters and data, and warnings for beginners, shared by classifiers and selectors."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state, compute_class_weight
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import validate_data

from hietan import _kernel
from hietan._runtime.parallel import MAX_JOBS
from hietan._runtime.spelling import lookalikes
from hietan.exceptions import DataWarning, HierarchyWarning
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import Violation

SMOOTHINGS = _kernel.SMOOTHINGS

# ------------------------------------------------------------------------------------------ parameters


def is_number(value: object) -> bool:
    """Return whether a value is a real number. True and False do not count as numbers."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Return whether a value is a real number within the float range. True and False do not count as numbers."""
    # Compared rather than converted: an int may be too large for a float, and NaN is not below anything.
    return is_number(value) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def is_positive(value: object) -> bool:
    """Return whether a value is a number above 0 that fits in a float."""
    return is_finite(value) and float(value) > 0  # type: ignore[arg-type]


def is_weight(value: object) -> bool:
    """Return whether a value can be a prior weight, which must be above 0 and have a finite logarithm."""
    return is_number(value) and 1e-300 <= value < 1e300  # type: ignore[operator]


def is_whole(value: object, least: int, most: int) -> bool:
    """Return whether a value is an integer between these limits, inclusive.

    True and False do not count as integers.
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_one_of(accepted: Sequence[str]) -> Callable[[object], bool]:
    """Return a function that tests whether a value is one of these strings."""
    return lambda value: isinstance(value, str) and value in accepted


def _is_class_weight(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(is_positive, value.values()))
    return value is None or (isinstance(value, str) and value == "balanced")


Accepted = Mapping[str, tuple[Callable[[Any], bool], str]]
"""For each parameter, a test and a description of accepted values."""
ACCEPTED: Accepted = {
    "alpha": (is_weight, "a number above 0 (from 1e-300 to below 1e300)"),
    "smoothing": (is_one_of(SMOOTHINGS), f"one of {', '.join(SMOOTHINGS)}"),
    "binarize": (
        lambda value: value is None or is_finite(value),
        "a number (the threshold above which a feature is 1), or None for an X with only 0 and 1",
    ),
    "class_weight": (
        _is_class_weight,
        "'balanced', a dict that maps each class to a number above 0, or None",
    ),
    "calibrate": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "n_jobs": (
        lambda value: value is None or (is_whole(value, -MAX_JOBS, MAX_JOBS) and value != 0),
        f"an integer other than 0 (and at most {MAX_JOBS}), or None",
    ),
}
CHOSEN: Accepted = {
    name: (
        lambda value: value is None or is_weight(value),
        "a number above 0 (from 1e-300 to below 1e300), or None to choose it from the training rows",
    )
    for name in ("alpha", "ridge")
}
"""The accepted values of parameters that can be chosen from the training rows."""


def check_parameters(model: Any, accepted: Accepted) -> None:
    """Raise an error for an estimator's first invalid parameter."""
    for name, value in model.get_params(deep=False).items():
        test, words = accepted.get(name, (lambda _: True, ""))
        if not test(value):
            raise ValueError(f"{name} must be {words}; got {value!r}")
        if name == "hierarchy":
            check_hierarchy(value)


def check_hierarchy(hierarchy: Any) -> None:
    """Raise an error unless the value is a hierarchy or None."""
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a hietan.Hierarchy or None, got {type(hierarchy).__name__}; build one with "
            f"Hierarchy.{'from_networkx' if hasattr(hierarchy, 'is_directed') else 'from_edges'}"
        )


def check_prior(class_prior: Any, n_classes: int) -> NDArray[np.float64]:
    """Validate and return the class probabilities. None means equal probabilities."""
    if class_prior is None:
        return np.full(n_classes, 1 / n_classes)
    prior = np.asarray(class_prior)
    if (
        prior.dtype.kind not in "iuf"
        or prior.shape != (n_classes,)
        or not (prior > 0).all()
        or not np.isclose(prior.sum(), 1)
    ):
        raise ValueError(
            f"class_prior must contain a probability above 0 for each of the {n_classes} classes, with a sum of "
            f"1; got {class_prior!r}"
        )
    return prior.astype(np.float64)


def random_source(random_state: Any) -> np.random.RandomState | np.random.Generator:
    """Return the random generator for a `random_state`, which may be a NumPy Generator or anything
    scikit-learn accepts.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    source: np.random.RandomState = check_random_state(random_state)
    return source


def require_classes_to_tell_apart(model: Any, classes: NDArray[Any]) -> None:
    """Raise an error if there is only one class."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least two classes, but there is only one class, "
            f"{', '.join(map(repr, classes.tolist()))}; add rows of another class"
        )


def require_two_classes(classes: NDArray[Any]) -> None:
    """Raise AttributeError for more than two classes, because feature importances need two classes."""
    if len(classes) > 2:
        raise AttributeError(
            f"feature_importances_ needs two classes, but there are {len(classes)}. With more classes, a "
            "feature's contribution depends on the whole row, but the counts do not contain whole rows. Average "
            "the contributions from explain(X) over rows instead"
        )


# ------------------------------------------------------------------------------------------ weights


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Validate and return row weights, which must not be negative or all zero. None stays None."""
    if sample_weight is None:
        return None
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, ensure_min_samples=0, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must contain one number for each row; expected shape ({n_rows},), got {weights.shape}"
        )
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"sample_weight must not be negative, but row {row} has the weight {weights[row]}")
    return weights


def require_weight(labels: NDArray[Any]) -> None:
    """Raise ValueError if no row has a positive weight."""
    if not len(labels):
        raise ValueError("sample_weight is zero for all rows; at least one weight must be above 0")


def class_weights(
    weight: Mapping[Any, float] | str | None, classes: NDArray[Any], totals: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the factor for the row weights of each class, or None if weights do not change.

    Parameters
    ----------
    weight : {"balanced"}, mapping or None
        The parameter `class_weight`.
    classes : array of shape (n_classes,)
        The labels, sorted.
    totals : array of shape (n_classes,)
        The sum of the row weights of each class; "balanced" divides by it.
    """
    if weight is None:
        return None
    if isinstance(weight, str):
        balanced: NDArray[np.float64] = totals.sum() / (len(classes) * totals)
        return balanced
    return np.asarray(compute_class_weight(weight, classes=classes, y=classes), dtype=np.float64)


# ------------------------------------------------------------------------------------------ data


def in_memory(rows: Any, taker: str, reason: str) -> Any:
    """Return rows or labels unchanged. Raise an error, with `taker` and `reason`, for a Dask collection."""
    if is_partitioned(rows):
        raise TypeError(
            f"{taker} needs rows in memory, got a Dask {type(rows).__name__}; {reason}, so pass the result of "
            ".compute()"
        )
    return rows


def refuse_dataset(model: Any, X: Any, y: Any) -> None:
    """Raise an error if a dataset was passed instead of rows and classes, and explain what to pass."""
    if y is None and hasattr(X, "X") and hasattr(X, "y"):
        name = type(model).__name__
        raise TypeError(
            f"fit needs rows and classes, got a {type(X).__name__}; use "
            f"{name}(hierarchy=data.hierarchy).fit(data.X, data.y)"
        )


def refuse_target_among_columns(X: Any, y: Any) -> None:
    """Raise an error if the data frame X contains a column that has y's name and values."""
    name = getattr(y, "name", None)
    if not hasattr(X, "iloc") or not hasattr(y, "iloc") or not isinstance(name, str):
        return
    if X.shape[0] == len(y) and list(X.columns).count(name) == 1:
        same = np.asarray(X[name].to_numpy() == y.to_numpy())
        if same.shape == (len(y),) and same.all():
            raise ValueError(
                f"column {name!r} of X is y itself, so the model would see the classes that it predicts; pass "
                f"X.drop(columns={name!r})"
            )


def validated(model: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Validate rows (and labels) with scikit-learn. Sparse rows become CSR matrices, and errors name the feature.

    The indices of a sparse X are checked first, because SciPy does not check them. The caller's X is never changed.
    """
    X = _checked_indices(X)
    if hasattr(X, "iloc") and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"several columns of X have the name {repeated!r}; rename or drop them")
    try:
        found = validate_data(model, X, *y, accept_sparse="csr", **options)
        if (found[0] if y else found).dtype == object:  # categories are not converted
            _refuse_text(X)
        return found
    except ValueError as error:
        _refuse_text(X)
        if not str(error).startswith("Input X contains NaN"):
            raise
        where = f" in column {X.columns[X.isna().any()][0]!r}" if hasattr(X, "iloc") else ""
        raise ValueError(
            f"X contains NaN{where}. An absent feature is 0, so fill missing values with 0. To turn missing "
            "values into features such as 'price=missing', use Dataset.from_frame or `hietan build --columns`"
        ) from None


def _checked_indices(X: Any) -> Any:
    """Return a sparse X without spare or duplicate entries. Raise ValueError if its indices are out of range.

    The arrays are the caller's own, unless they had to be changed.
    """
    kind = getattr(X, "format", "") if sp.issparse(X) else ""
    try:
        if kind in ("csr", "csc", "bsr"):
            X = copy(X)  # a shallow one, because the check may cut its arrays
            X.check_format(full_check=True)
        elif kind == "coo":
            sp.coo_array((X.data, X.coords), shape=X.shape)
    except ValueError as error:
        raise ValueError(f"the indices of the sparse X are invalid ({error}); build X again") from None
    if kind == "bsr":
        X = X.tocsr()
    if kind in ("csr", "csc", "bsr") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _refuse_text(X: Any) -> None:
    """Raise an error that names the first column of text or categories in a frame."""
    for name in X.columns if hasattr(X, "iloc") else ():
        text = next((value for value in np.ravel(X[name]) if isinstance(value, str)), None)
        if text is not None:
            raise ValueError(
                f"column {name!r} of X contains text, such as {text!r:.40}, but features must be numbers; drop "
                f"the column with X.drop(columns={name!r}), or let Dataset.from_frame turn its values into "
                "features"
            )


def align_hierarchy(hierarchy: Hierarchy | None, names: Sequence[str] | None, n_features: int) -> Hierarchy:
    """Return the hierarchy over the features of X. Without a hierarchy, the features are unrelated."""
    if hierarchy is not None:
        return hierarchy.align(names, n_features)
    if names is None or len(set(names)) < len(names) or not all(names):
        names = [f"x{j}" for j in range(n_features)]
    return Hierarchy.unrelated(names)


# ------------------------------------------------------------------------------------------ warnings


def warn_of_columns(hierarchy: Hierarchy | None, names: Sequence[str] | None, stacklevel: int) -> None:
    """Warn if unknown features have names like those in the hierarchy, or if X lacks ancestors of its features."""
    if hierarchy is None or names is None or tuple(names) == hierarchy.features:
        return
    _warn_of_misspelt(hierarchy, names, stacklevel + 1)
    _warn_of_missing_ancestors(hierarchy, names, stacklevel + 1)


def _warn_of_missing_ancestors(hierarchy: Hierarchy, names: Sequence[str], stacklevel: int) -> None:
    """Warn if most columns have ancestors but none of these is a column, so that the hierarchy relates few columns.

    An ancestor of all columns, such as the root of an ontology, is the same in all rows and is not needed. Absent
    ancestors are not always a mistake either: features may have been selected.
    """
    known = [name for name in names if name in hierarchy]
    over = hierarchy.restrict(known)
    tops = [name for name in over.roots if hierarchy.parents(name)]
    related = len(known) - len(over.roots)
    if len(tops) <= related:
        return
    every = set(known)
    common = {
        above for above in hierarchy.ancestors(tops[0]) if every <= hierarchy.descendants(above) | {above}
    }
    cut_off = [name for name in tops if not common.issuperset(hierarchy.parents(name))]
    if len(cut_off) > related:
        example = hierarchy.parents(cut_off[0])[0]
        warnings.warn(
            f"{len(cut_off)} columns have ancestors that are in the hierarchy but not in X (for example, "
            f"{example!r} is a parent of {cut_off[0]!r}). The hierarchy does not relate these columns. Use "
            "Dataset.from_frame or HierarchyEncoder to add the ancestors. If this is intended, use "
            "warnings.simplefilter('ignore', hietan.HierarchyWarning)",
            HierarchyWarning,
            stacklevel=stacklevel + 1,
        )


def warn_without_hierarchy(model: Any, stacklevel: int) -> None:
    """Warn if a classifier that uses a hierarchy has none."""
    if model.hierarchy is None and model.without_hierarchy:
        warnings.warn(
            f"{type(model).__name__} has no hierarchy and is therefore {model.without_hierarchy}; pass a "
            f"hierarchy, as in {type(model).__name__}(hierarchy=...). If this is intended, pass "
            "Hierarchy.unrelated(names)",
            HierarchyWarning,
            stacklevel=stacklevel + 1,
        )


def _warn_of_misspelt(hierarchy: Hierarchy, names: Sequence[str], stacklevel: int) -> None:
    """Warn if columns outside the hierarchy resemble features that X lacks.

    Other unknown columns are not a mistake, because X may contain features that are not in the hierarchy.
    """
    unknown = [name for name in names if name not in hierarchy]
    if not unknown:
        return
    present = set(names)
    found = lookalikes(unknown, (feature for feature in hierarchy.features if feature not in present))
    if found:
        shown = ", ".join(f"{name!r} for {meant!r}" for name, meant in list(found.items())[:3])
        more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
        warnings.warn(
            f"X has columns that are not in the hierarchy but resemble its features: {shown}{more}. Under these "
            "names, they are not related to any feature; rename them to match the hierarchy. If this is "
            "intended, use warnings.simplefilter('ignore', hietan.HierarchyWarning)",
            HierarchyWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_lost_values(
    X: Any, threshold: float | None, names: Sequence[str] | None, stacklevel: int
) -> None:
    """Warn if `binarize` makes varying columns constant, or if its default turns counts into 0 and 1."""
    is_sparse = bool(sp.issparse(X))
    values = X.data if is_sparse else X
    if threshold is None or not values.size or values.dtype.kind == "b":
        return
    least, most = values.min(), values.max()
    if (
        least >= 0
        and most <= 1
        and (values.dtype.kind in "ui" or bool(((values == 0) | (values == 1)).all()))
    ):
        return
    low, high = min_max_axis(X, axis=0) if is_sparse else (X.min(axis=0), X.max(axis=0))

    def shown(at: NDArray[np.intp]) -> str:
        j = int(at[0])
        return f"column {names[j] if names is not None else j!r}, which ranges from {low[j]} to {high[j]}"

    lost = np.flatnonzero((low < high) & ((low > threshold) | (high <= threshold)))
    if lost.size:
        only = " If 2 means yes and 1 means no, pass X == 2." if (least, most) == (1, 2) else ""
        warnings.warn(
            f"{lost.size} of {X.shape[1]} columns vary, but binarize={threshold} makes them constant (first: "
            f"{shown(lost)}).{only} Choose a threshold that splits them, or bin them, for example with "
            "Dataset.from_frame or KBinsDiscretizer",
            DataWarning,
            stacklevel=stacklevel + 1,
        )
        return
    counts = np.flatnonzero((low >= 0) & (high > 1)) if threshold == 0 else lost
    if counts.size:
        fractions = X.indices[X.data != np.floor(X.data)] if is_sparse else np.nonzero(X != np.floor(X))[1]
        counts = np.setdiff1d(counts, fractions)
    if counts.size:
        warnings.warn(
            f"{counts.size} of {X.shape[1]} columns contain counts (first: {shown(counts)}). Every number above "
            "0 becomes 1. If this is intended, pass X > 0; otherwise bin the columns, for example with "
            "Dataset.from_frame or KBinsDiscretizer",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_contradiction(found: Violation | None, stacklevel: int) -> None:
    """Warn about the first row that contradicts the hierarchy, if any row does."""
    if found is None:
        return
    row, parent, child = found
    warnings.warn(
        f"X contradicts the hierarchy, because in row {row}, {child!r} is 1 but its parent {parent!r} is 0. "
        "Check that the edges are (parent, child) pairs, and that unnamed columns are in the order of "
        "hierarchy.features. Use hierarchy.violations(X) to list contradictions, or hierarchy.close(X) to set "
        "the ancestors of present features to 1. If this is intended, use warnings.simplefilter('ignore', "
        "hietan.HierarchyWarning)",
        HierarchyWarning,
        stacklevel=stacklevel + 1,
    )


def is_partitioned(X: object) -> bool:
    """Return whether X is a Dask collection or a list of delayed blocks. Dask is not imported."""
    return len(X) > 0 and all(_is_dask(block) for block in X) if isinstance(X, list | tuple) else _is_dask(X)


def _is_dask(value: object) -> bool:
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(value).__mro__)
