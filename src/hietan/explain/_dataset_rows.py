"""The names of rows and features in an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from hietan._runtime.spelling import lookalikes
from hietan.explain._explanation import Explanations

_Explain = TypeVar("_Explain", bound=Callable[..., Explanations])
_Contributions = TypeVar("_Contributions", bound=Callable[..., Any])


def row_labels(X: Any, n_rows: int) -> list[str]:
    """Return the row labels of a pandas frame, or "row 0", "row 1", ... for other containers."""
    index = getattr(X, "index", None)
    if index is None or callable(index):  # a list has a method of that name
        return [f"row {r}" for r in range(n_rows)]
    return [str(label) for label in index]


def readable_names(names: Any, features: tuple[str, ...]) -> Mapping[str, str]:
    """Return a mapping from features to readable names. Features that are not in the mapping keep their names."""
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return names
    names = list(names)
    if len(names) != len(features):
        raise ValueError(
            f"there are {len(names)} term_names for {len(features)} features; pass one name for each feature, or "
            "a mapping"
        )
    return dict(zip(features, map(str, names), strict=True))


def also_of_datasets(explain: _Explain) -> _Explain:
    """Extend a classifier's `explain` to datasets, whose rows can be chosen by name.

    Rows, terms and classes then have their names in the dataset. If X is not a dataset, `rows` raises an error.
    """

    @wraps(explain)
    def explain_either(
        self: Any, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        if _is_dataset(X):
            return _explain_dataset(explain, self, X, rows, target, term_names)
        if rows is not None:
            raise TypeError(f"rows is {rows!r:.40}, but X is not a dataset; pass a dataset, or omit rows")
        return explain(self, X, target=target, term_names=term_names)

    return cast(_Explain, explain_either)


def also_of_whole_datasets(contributions: _Contributions) -> _Contributions:
    """Extend a classifier's `contributions` to all rows of a dataset. Classes are given by name."""

    @wraps(contributions)
    def contributions_of_either(self: Any, X: Any, *, target: Any = None, return_base: bool = False) -> Any:
        if _is_dataset(X):
            X, target = X.X, _label(self, X, target)
        return contributions(self, X, target=target, return_base=return_base)

    return cast(_Contributions, contributions_of_either)


def _is_dataset(X: Any) -> bool:
    """Return whether X is a dataset with rows and names, such as a `hietan.datasets.Dataset`."""
    # Objects such as Dask's Delayed have attributes of every name, but not these sequences.
    names = (getattr(X, name, None) for name in ("instance_names", "term_names", "target_names"))
    return hasattr(X, "X") and all(isinstance(value, Sequence | Mapping | np.ndarray) for value in names)


def _explain_dataset(
    explain: Callable[..., Explanations], model: Any, data: Any, rows: Any, target: Any, names: Any
) -> Explanations:
    """Explain a dataset's rows by name, with the dataset's names for rows, classes and terms.

    Parameters
    ----------
    explain : callable
        The classifier's `explain`, with the classifier as its first argument.
    model : classifier
        The classifier.
    data : dataset
        An object with `X`, `instance_names`, `term_names`, `target_names` and, optionally, `symbols`.
    rows : str, sequence of str or None
        The names or symbols of the rows; None means all rows.
    target : label or None
        The class to explain: its label, or its name in the dataset.
    names : mapping, sequence or None
        Readable feature names; None means the dataset's.
    """
    wanted = _wanted_rows(data, rows)
    place = {name: i for i, name in reversed(list(enumerate(getattr(data, "symbols", None) or ()))) if name}
    place |= {name: i for i, name in enumerate(data.instance_names)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        meant = lookalikes(unknown[:1], place).get(unknown[0])
        example = ", ".join(map(repr, data.instance_names[:3]))
        hint = f"its row names include {example}" if meant is None else f"did you mean {meant!r}?"
        raise ValueError(f"the dataset has no row {unknown[0]!r}; {hint}")
    found = explain(
        model,
        data.X[[place[name] for name in wanted]],
        target=_label(model, data, target),
        term_names=data.term_names if names is None else names,
    )
    names_of_codes = dict(enumerate(data.target_names)) if _predicts_codes(model, data) else {}
    return Explanations(
        one.renamed(name, lambda label: names_of_codes.get(label, label), getattr(data, "row_noun", "row"))
        for one, name in zip(found, wanted, strict=True)
    )


def _wanted_rows(data: Any, rows: Any) -> list[str]:
    """Return the names of the rows to explain. None means all rows."""
    if rows is None:
        return list(data.instance_names)
    if isinstance(rows, str):
        return [rows]
    if not isinstance(rows, Iterable):
        raise TypeError(
            f"rows is {rows!r:.40}, but dataset rows are chosen by name; for the first row, pass "
            "data.instance_names[0]"
        )
    return list(rows)


def _predicts_codes(model: Any, data: Any) -> bool:
    """Return whether a model's classes are a dataset's class numbers instead of names or other labels."""
    classes = np.asarray(getattr(model, "classes_", ()))
    return classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(data.target_names)))


def _label(model: Any, data: Any, target: Any) -> Any:
    """Return the label of a class given by its name in a dataset. Other targets are returned unchanged."""
    if not isinstance(target, str) or not _predicts_codes(model, data):
        return target
    return {str(name): code for code, name in enumerate(data.target_names)}.get(target, target)
