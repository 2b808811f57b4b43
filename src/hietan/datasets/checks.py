"""Checks of the parts of a dataset; every error shows the offending value and what is accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.hierarchy import Hierarchy


def positions(what: str, chosen: Any, names: tuple[str, ...]) -> NDArray[np.intp]:
    """The positions of rows or features that are chosen by name, position, slice or mask."""
    everything = np.arange(len(names))
    if chosen is None or isinstance(chosen, slice):
        return everything if chosen is None else everything[chosen]
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise TypeError(f"{what} must be names, positions, a slice or a mask, got {chosen!r}")
    listed = np.asarray(chosen if isinstance(chosen, np.ndarray) else list(chosen))
    if listed.size == 0:
        return everything[:0]
    if listed.dtype.kind in "UO":
        index = {name: i for i, name in enumerate(names)}
        unknown = [name for name in listed.tolist() if name not in index]
        if unknown:
            raise ValueError(f"{what} names {unknown[0]!r}, which this dataset does not have")
        return np.array([index[name] for name in listed.tolist()])
    if listed.dtype.kind == "b" and listed.shape != (len(names),):
        raise ValueError(f"{what} is a mask of {listed.size} values; expected {len(names)}")
    try:
        found: NDArray[np.intp] = everything[listed]
    except IndexError as error:
        raise ValueError(f"{what} must be names, positions below {len(names)}, or a mask: {error}") from None
    return found


def check_names(attribute: str, names: Any) -> tuple[str, ...]:
    """The names as a tuple of strings; anything else is refused."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{attribute} must be a sequence of str, got {names!r:.80}")
    return tuple(names)


def check_matrix(X: Any) -> None:
    """Refuse anything but a sparse matrix of 0 and 1."""
    if not isinstance(X, csr_array) or X.dtype != np.uint8 or X.ndim != 2:
        got = f"{type(X).__name__} of {getattr(X, 'dtype', 'no dtype')}"
        raise TypeError(f"X must be a two-dimensional scipy csr_array of uint8, got {got}")
    if X.nnz and X.data.max() > 1:
        raise ValueError(f"X must hold 0 and 1 only, found {X.data.max()}")
    if not X.has_canonical_format:  # not sorted, or with repeated columns
        distinct = X.copy()
        distinct.sum_duplicates()
        if distinct.nnz < X.nnz:
            raise ValueError(
                f"X must store each column of a row once, but {X.nnz - distinct.nnz} of its entries are repetitions"
            )


def check_length(attribute: str, names: tuple[object, ...], expected: int, what: str) -> None:
    """Refuse names that are not one for each row or column."""
    if len(names) != expected:
        raise ValueError(f"{attribute} has {len(names)} entries but X has {expected} {what}")


def check_target(y: Any, n_rows: int, n_classes: int) -> None:
    """Refuse classes that are not an index into the names of the classes for each row."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or y.ndim != 1:
        got = f"{type(y).__name__} of {getattr(y, 'dtype', 'no dtype')}"
        raise TypeError(f"y must be a one-dimensional integer ndarray, got {got}")
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} entries but X has {n_rows} rows")
    if n_classes == 0:
        if n_rows and (y != -1).any():
            raise ValueError("y must be -1 for all rows if there are no target_names")
        return
    if n_rows and not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(
            f"y must index the {n_classes} target_names, found values from {y.min()} to {y.max()}"
        )


def check_hierarchy(hierarchy: Any, feature_names: tuple[str, ...]) -> None:
    """Refuse a hierarchy over other features than those of the columns."""
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(f"hierarchy must be a Hierarchy, got {type(hierarchy).__name__}")
    if len(hierarchy.features) != len(feature_names):
        raise ValueError(
            f"hierarchy has {len(hierarchy.features)} features but X has {len(feature_names)} columns; "
            "use hierarchy.restrict(feature_names)"
        )
    for column, (ours, theirs) in enumerate(zip(feature_names, hierarchy.features, strict=True)):
        if ours != theirs:
            raise ValueError(
                f"feature {column} is {theirs!r} in hierarchy but {ours!r} in feature_names; "
                "use hierarchy.restrict(feature_names)"
            )
