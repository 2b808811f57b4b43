"""Checks of parameters and of the hierarchy that several classifiers and selections share."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, compute_class_weight

from hietan._runtime.dask_blocks import is_partitioned
from hietan._runtime.parallel import MAX_JOBS
from hietan._runtime.spelling import lookalikes
from hietan.exceptions import HierarchyWarning
from hietan.hierarchy import Hierarchy
from hietan.structure import Violation, is_unit


def is_number(value: object) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Whether a value is a real number within the range of floats; True and False are not numbers."""
    # Compared rather than converted: an int may be too large for a float, and NaN is not below anything.
    return is_number(value) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def is_positive(value: object) -> bool:
    """Whether a value is a number above 0 that a float can hold."""
    return is_finite(value) and float(value) > 0  # type: ignore[arg-type]


def check_prior(class_prior: Any, n_classes: int) -> NDArray[np.float64]:
    """The probabilities of the classes: those given, which must fit, or equal ones for None."""
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
            f"class_prior must hold a probability above 0 for each of the {n_classes} classes, summing to 1; "
            f"got {class_prior!r}"
        )
    return prior.astype(np.float64)


def is_weight(value: object) -> bool:
    """Whether a value can be the weight of a prior guess: above 0, and so that logarithms stay finite."""
    return is_number(value) and 1e-300 <= value < 1e300  # type: ignore[operator]


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse an `n_jobs` that joblib would not take, or that would start an absurd number of threads."""
    if n_jobs is None:
        return
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0 or abs(int(n_jobs)) > MAX_JOBS:
        raise ValueError(
            f"n_jobs must be an integer other than 0 (and at most {MAX_JOBS}), or None; got {n_jobs!r}"
        )


def check_binarize(threshold: Any) -> None:
    """Refuse a `binarize` that is neither a finite number nor None."""
    if threshold is not None and not is_finite(threshold):
        raise ValueError(
            f"binarize must be a number, the threshold above which a feature is 1, or None for an X that holds "
            f"only 0 and 1; got {threshold!r}"
        )


def check_class_weight(weight: Any) -> None:
    """Refuse a `class_weight` that is not "balanced", None, or a mapping to numbers above 0."""
    if not (
        weight is None or isinstance(weight, Mapping) or (isinstance(weight, str) and weight == "balanced")
    ):
        raise ValueError(f"class_weight must be 'balanced', a dict of class: weight, or None; got {weight!r}")
    if isinstance(weight, Mapping) and not all(map(is_positive, weight.values())):
        raise ValueError(f"class_weight must hold numbers above 0, got {weight!r}")


def random_source(random_state: Any) -> np.random.RandomState | np.random.Generator:
    """The source of random choices that a `random_state` stands for: scikit-learn's kinds, or a NumPy Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    source: np.random.RandomState = check_random_state(random_state)
    return source


def split_seed(random_state: Any) -> Any:
    """A `random_state` as scikit-learn's splitters take it; they do not take a NumPy Generator, which gives a seed."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    return random_state


def require_two_classes(classes: NDArray[Any]) -> None:
    """Refuse importances of more than two classes, as an attribute that does not exist."""
    if len(classes) > 2:
        raise AttributeError(
            f"feature_importances_ needs two classes, but there are {len(classes)}: what a feature contributes against "
            f"several others depends on the whole row, which the counts do not hold; average the contributions of "
            f"explain(X) over rows instead"
        )


def check_weight_unit(unit: Any) -> None:
    """Refuse a `weight_unit` that is neither a power of two nor None."""
    if unit is not None and not (is_number(unit) and is_unit(float(unit))):
        raise ValueError(
            f"weight_unit must be a power of two from 2**-200 to 2**200, such as 2**-10, or None; got {unit!r}"
        )


def class_weights(
    weight: Mapping[Any, float] | str | None, classes: NDArray[Any], totals: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """What the weights of the rows of each class are multiplied with; None if they stay as they are.

    Parameters
    ----------
    weight : {"balanced"}, mapping or None
        The parameter `class_weight`.
    classes : array of shape (n_classes,)
        The labels, sorted.
    totals : array of shape (n_classes,)
        The sum of the weights of the rows of each class: "balanced" divides by it.
    """
    if weight is None:
        return None
    if isinstance(weight, str):
        balanced: NDArray[np.float64] = totals.sum() / (len(classes) * totals)
        return balanced
    return np.asarray(compute_class_weight(weight, classes=classes, y=classes), dtype=np.float64)


def in_memory(rows: Any, taker: str, reason: str) -> Any:
    """Return rows or labels as they are, but refuse a Dask collection; `taker` and `reason` are for the error."""
    if is_partitioned(rows):
        raise TypeError(
            f"{taker} takes rows in memory, got a Dask {type(rows).__name__}; {reason}: pass the result of .compute()"
        )
    return rows


def check_hierarchy(hierarchy: Any) -> None:
    """Refuse what is neither a hierarchy nor None."""
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a hietan.Hierarchy or None, got {type(hierarchy).__name__}; "
            f"build one with Hierarchy.from_edges"
        )


def align_hierarchy(hierarchy: Hierarchy | None, names: Sequence[str] | None, n_features: int) -> Hierarchy:
    """The hierarchy over the columns of X; without one, columns that are not related to each other."""
    if hierarchy is not None:
        return hierarchy.align(names, n_features)
    if names is None or len(set(names)) < len(names) or not all(names):
        names = [f"x{j}" for j in range(n_features)]
    return Hierarchy.unrelated(names)


def warn_of_misspelt(hierarchy: Hierarchy | None, names: Sequence[str] | None, stacklevel: int) -> None:
    """Warn if columns that the hierarchy does not know look like features of it that X lacks.

    Other unknown columns are not a mistake: X may have features that are not in the hierarchy.
    """
    if hierarchy is None or names is None:
        return
    unknown = [name for name in names if name not in hierarchy]
    if not unknown:
        return
    present = set(names)
    found = lookalikes(unknown, (feature for feature in hierarchy.features if feature not in present))
    if found:
        shown = ", ".join(f"{name!r} for {meant!r}" for name, meant in list(found.items())[:3])
        more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
        warnings.warn(
            f"X has columns that are not in the hierarchy but look like features of it: {shown}{more}. As they "
            f"are written, they are not related to any feature; rename them to match. If this is intended: "
            f"warnings.simplefilter('ignore', hietan.HierarchyWarning)",
            HierarchyWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_contradiction(found: Violation | None, stacklevel: int) -> None:
    """Warn about a row that contradicts the hierarchy, if one was found."""
    if found is None:
        return
    row, parent, child = found
    warnings.warn(
        f"X contradicts the hierarchy: in row {row}, {child!r} is 1 but its parent {parent!r} is 0. Are the edges "
        f"(parent, child), and unnamed columns in the order of hierarchy.features? hierarchy.violations(X) shows more, "
        f"hierarchy.close(X) propagates the ones. If this is intended: "
        f"warnings.simplefilter('ignore', hietan.HierarchyWarning)",
        HierarchyWarning,
        stacklevel=stacklevel + 1,
    )
