"""The names of rows and features in an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def row_labels(X: Any, n_rows: int) -> list[str]:
    """The labels of a pandas frame's rows; for other containers "row 0", "row 1", ..."""
    index = getattr(X, "index", None)
    if index is None or callable(index):  # a list has a method of that name
        return [f"row {r}" for r in range(n_rows)]
    return [str(label) for label in index]


def readable_names(names: Any, features: tuple[str, ...]) -> Mapping[str, str]:
    """A mapping from features to readable names; features that are not in it keep their own names."""
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return names
    names = list(names)
    if len(names) != len(features):
        raise ValueError(
            f"{len(names)} term_names for {len(features)} features; pass one for each feature, or a mapping"
        )
    return dict(zip(features, map(str, names), strict=True))
