"""The value that every reader, builder and generator of this package returns."""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows of binary features with a hierarchy over the features, and the class of each row.

    Parameters
    ----------
    X : csr_array of uint8, shape (n, d)
        The features; every stored value is 0 or 1.
    y : integer ndarray, shape (n,)
        The class of each row, an index into `target_names`.
    hierarchy : Hierarchy
        Over exactly the columns of `X`: ``hierarchy.features == feature_names``.
    feature_names, term_names : tuple of str, length d
        The identifier of each column, and its human-readable name (the identifier where there is none).
    instance_names : tuple of str, length n
    target_names : tuple of str
    provenance : dict
        Where the data came from and what was done to it; plain values that JSON can hold.
    name : str
        What to call the dataset in tables.

    Examples
    --------
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 50, random_state=0)
    >>> data.X.shape, data.y.shape, data.target_names
    ((100, 50), (100,), ('class0', 'class1'))
    >>> data.hierarchy.is_closed(data.X)
    True
    """

    X: csr_array
    y: NDArray[np.intp]
    hierarchy: Hierarchy
    feature_names: tuple[str, ...]
    term_names: tuple[str, ...]
    instance_names: tuple[str, ...]
    target_names: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for attribute in ("feature_names", "term_names", "instance_names", "target_names"):
            object.__setattr__(self, attribute, _names(attribute, getattr(self, attribute)))
        _check_matrix(self.X)
        n_rows, n_columns = self.X.shape
        _check_length("feature_names", self.feature_names, n_columns, "columns")
        _check_length("term_names", self.term_names, n_columns, "columns")
        _check_length("instance_names", self.instance_names, n_rows, "rows")
        _check_target(self.y, n_rows, len(self.target_names))
        _check_hierarchy(self.hierarchy, self.feature_names)
        try:
            json.dumps(self.provenance)
        except (TypeError, ValueError) as error:
            raise TypeError(f"provenance must hold plain values that JSON can write: {error}") from error

    def __repr__(self) -> str:
        counts = np.bincount(self.y, minlength=len(self.target_names))
        classes = ", ".join(f"{name} {count}" for name, count in zip(self.target_names, counts, strict=True))
        n_rows, n_columns = self.X.shape
        density = self.X.count_nonzero() / max(1, n_rows * n_columns)
        return (
            f"<Dataset {self.name or 'unnamed'}: {n_rows} rows x {n_columns} features; {classes}; "
            f"{density:.2%} ones; {self.hierarchy}>"
        )


def _names(attribute: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{attribute} must be a sequence of str, got {names!r:.80}")
    return tuple(names)


def _check_matrix(X: Any) -> None:
    if not isinstance(X, csr_array) or X.dtype != np.uint8 or X.ndim != 2:
        got = f"{type(X).__name__} of {getattr(X, 'dtype', 'no dtype')}"
        raise TypeError(f"X must be a two-dimensional scipy csr_array of uint8, got {got}")
    if X.nnz and X.data.max() > 1:
        raise ValueError(f"X must hold 0 and 1 only, found {X.data.max()}")


def _check_length(attribute: str, names: tuple[str, ...], expected: int, what: str) -> None:
    if len(names) != expected:
        raise ValueError(f"{attribute} has {len(names)} entries but X has {expected} {what}")


def _check_target(y: Any, n_rows: int, n_classes: int) -> None:
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or y.ndim != 1:
        got = f"{type(y).__name__} of {getattr(y, 'dtype', 'no dtype')}"
        raise TypeError(f"y must be a one-dimensional integer ndarray, got {got}")
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} entries but X has {n_rows} rows")
    if n_rows and not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(
            f"y must index the {n_classes} target_names, found values from {y.min()} to {y.max()}"
        )


def _check_hierarchy(hierarchy: Any, feature_names: tuple[str, ...]) -> None:
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
                f"hierarchy names feature {column} {theirs!r} but feature_names has {ours!r}; "
                "use hierarchy.restrict(feature_names)"
            )
