"""Checks of parameters and of the hierarchy that several classifiers and selections share."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from hietan._runtime.dask_blocks import is_partitioned
from hietan._runtime.parallel import MAX_JOBS
from hietan._runtime.spelling import lookalikes
from hietan.exceptions import HierarchyWarning
from hietan.hierarchy import Hierarchy
from hietan.structure import Violation


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


def is_lambda_fraction(value: object) -> bool:
    """Whether a value can be a fraction of the smallest lambda with all weights zero: a number from 1e-10 to 1."""
    return is_number(value) and 1e-10 <= value <= 1  # type: ignore[operator]


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
