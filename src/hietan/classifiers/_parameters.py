"""Checks of parameters that several classifiers share."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any

from hietan._runtime.dask_blocks import is_partitioned
from hietan._runtime.spelling import lookalikes
from hietan.exceptions import HierarchyWarning
from hietan.hierarchy import Hierarchy


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_n_jobs(n_jobs: Any) -> None:
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be an integer other than 0, or None; got {n_jobs!r}")


def in_memory(rows: Any, taker: str, reason: str) -> Any:
    """The rows, or labels, as they are; a Dask collection is refused."""
    if is_partitioned(rows):
        raise TypeError(
            f"{taker} takes rows in memory, got {type(rows).__name__} of Dask; {reason}: pass what .compute() gives"
        )
    return rows


def check_hierarchy(hierarchy: Any) -> None:
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a hietan.Hierarchy or None, got {type(hierarchy).__name__}; "
            f"Hierarchy.from_edges and its siblings build one"
        )


def align_hierarchy(hierarchy: Hierarchy | None, names: Sequence[str] | None, n_features: int) -> Hierarchy:
    """The hierarchy over the columns of X; without one, columns that are related to nothing."""
    if hierarchy is not None:
        return hierarchy.align(names, n_features)
    if names is None or len(set(names)) < len(names) or not all(names):
        names = [f"x{j}" for j in range(n_features)]
    return Hierarchy.unrelated(names)


def warn_of_misspelt(hierarchy: Hierarchy | None, names: Sequence[str] | None, stacklevel: int) -> None:
    """Warn where columns that the hierarchy does not know look like features of it that X lacks.

    Other unknown columns are no mistake: features from elsewhere may stand beside those of the hierarchy.
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
            f"X has columns that the hierarchy does not know, but that look like features of it: {shown}{more}. As "
            f"they stand they are related to nothing; rename them if they are meant. If it is meant so: "
            f"warnings.simplefilter('ignore', hietan.HierarchyWarning)",
            HierarchyWarning,
            stacklevel=stacklevel + 1,
        )
