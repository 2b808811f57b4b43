"""The names of rows and features in an explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np

from hietan._runtime.spelling import lookalikes
from hietan.explain.explanation import Explanations

_Explain = TypeVar("_Explain", bound=Callable[..., Explanations])


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


def also_of_datasets(explain: _Explain) -> _Explain:
    """Let a classifier's `explain` take a dataset as well, whose rows are given by name.

    Rows, terms and classes then have their names in the dataset. Where X is not a dataset, `rows` is refused.
    """

    @wraps(explain)
    def explain_either(
        self: Any, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        if _is_dataset(X):
            return _explain_dataset(partial(explain, self), X, rows, target, term_names)
        if rows is not None:
            raise TypeError(
                f"rows is {rows!r:.40}, but X is not a dataset; rows can be named in a dataset only"
            )
        return explain(self, X, target=target, term_names=term_names)

    return cast(_Explain, explain_either)


def _is_dataset(X: Any) -> bool:
    """Whether X is a dataset with rows and names, such as a `hietan.datasets.Dataset`, and not the rows themselves."""
    # Objects such as Dask's Delayed have attributes of every name, but not these sequences.
    names = (getattr(X, name, None) for name in ("instance_names", "term_names", "target_names"))
    return hasattr(X, "X") and all(isinstance(value, Sequence | Mapping | np.ndarray) for value in names)


def _explain_dataset(
    explain: Callable[..., Explanations], data: Any, rows: str | Sequence[str] | None, target: Any, names: Any
) -> Explanations:
    """Explain rows of a dataset that are given by name, with the names of its rows, classes and terms.

    Parameters
    ----------
    explain : callable
        The classifier's `explain` of rows.
    data : dataset
        An object with `X`, `instance_names`, `term_names`, `target_names` and, perhaps, `symbols`.
    rows : str, sequence of str or None
        The names or symbols of the rows; all rows if None.
    target : label or None
        The class that is explained: its label, or its name in the dataset.
    names : mapping, sequence or None
        Readable names of the features; those of the dataset if None.
    """
    wanted = list(data.instance_names) if rows is None else [rows] if isinstance(rows, str) else list(rows)
    place = {name: i for i, name in reversed(list(enumerate(getattr(data, "symbols", None) or ()))) if name}
    place |= {name: i for i, name in enumerate(data.instance_names)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        meant = lookalikes(unknown[:1], place).get(unknown[0])
        example = ", ".join(map(repr, data.instance_names[:3]))
        hint = f"its rows are named like {example}" if meant is None else f"did you mean {meant!r}?"
        raise ValueError(f"the dataset has no row {unknown[0]!r}; {hint}")
    classes = {str(name): c for c, name in enumerate(data.target_names)}
    label = classes.get(target, target) if isinstance(target, str) else target
    found = explain(
        data.X[[place[name] for name in wanted]],
        target=label,
        term_names=data.term_names if names is None else names,
    )

    def named(value: Any) -> Any:
        is_code = isinstance(value, int) and 0 <= value < len(data.target_names)
        return data.target_names[value] if is_code else value

    return Explanations(one.renamed(name, named) for one, name in zip(found, wanted, strict=True))
