"""Build a dataset from a data frame. Terms get their ancestors; other columns become ordinary features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from hietan._runtime.spelling import first_few
from hietan.datasets._building.extra_columns import choose_tests, open_attributes, passed_by_rows
from hietan.datasets._dataset import Dataset
from hietan.datasets._duplicates import count_duplicates, first_repeated
from hietan.datasets._readers.tables import MISSING_VALUES, cell_text
from hietan.exceptions import DataWarning
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._term_rows import column_ones, has_lists, listed, rows_from_columns, rows_from_lists


def dataset_from_frame(
    frame: Any,
    target: Any,
    hierarchy: Hierarchy | None,
    *,
    min_support: int,
    bins: int,
    name: str,
    row_noun: str,
) -> Dataset:
    """Build a dataset; see `Dataset.from_frame` for the arguments."""
    if not (hasattr(frame, "columns") and hasattr(frame, "to_numpy")):
        raise TypeError(
            f"expected a data frame, got {type(frame).__name__}; use pandas.DataFrame(X, columns=names)"
        )
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        hierarchy = Hierarchy.from_edges(hierarchy)
    if (repeated := first_repeated(map(str, frame.columns))) is not None:
        raise ValueError(f"several columns of the frame have the name {repeated!r}; rename or drop them")
    rows = list(map(str, frame.index)) if hasattr(frame, "iloc") else list(map(str, range(len(frame))))
    labels, frame = _split_target(frame, target, rows)
    known = [label for label in frame.columns if hierarchy is not None and label in hierarchy]
    lists = [label for label in frame.columns if label not in known and has_lists(frame[label])]
    if lists and hierarchy is None:
        raise ValueError(
            f"the column {lists[0]!r} contains lists of terms; pass the hierarchy of these terms"
        )
    terms, added, related = _terms(frame, known, lists, hierarchy, min_support)
    others, remarks = _others(frame, [*known, *lists], rows, bins, min_support)
    if clash := sorted(set(terms) & set(others)):
        raise ValueError(f"two columns would create a feature named {clash[0]!r}; rename one of them")
    tables = [table for table in (related, *others.values()) if table is not None and table.shape[1]]
    if not tables:
        raise ValueError(
            "the frame has no column that can be a feature; add columns with different values, or lower "
            "min_support"
        )
    X: csr_array = csr_array(hstack(tables, format="csr").astype(np.uint8))
    X.sort_indices()
    names = (*terms, *others)
    y, classes = _classes(labels, len(rows))
    found = [f"{added} ancestors of the columns were added as features"] if added else []
    edges = () if hierarchy is None else hierarchy.restrict(terms).edges
    return Dataset(
        X=X,
        y=y,
        hierarchy=Hierarchy.from_edges(edges, features=names),
        feature_names=names,
        term_names=names,
        instance_names=tuple(rows),
        target_names=classes,
        provenance={
            "origin": "hietan.datasets.Dataset.from_frame",
            "options": {"min_support": min_support, "bins": bins},
            "detected": [*found, *remarks],
            **count_duplicates(X, y),
        },
        name=name,
        row_noun=row_noun,
    )


def _split_target(frame: Any, target: Any, rows: Sequence[str]) -> tuple[list[str] | None, Any]:
    """Return the labels as texts, and the frame without the label column."""
    if target is None:
        return None, frame
    if isinstance(target, str):
        if target not in frame.columns:
            shown = first_few(list(map(str, frame.columns)))
            raise ValueError(f"the frame has no class column {target!r}; its columns are {shown}")
        values = frame[target].to_list()
        how = f"{'dropna' if hasattr(frame, 'iloc') else 'drop_nulls'}(subset=[{target!r}])"
        frame = frame.drop(columns=target) if hasattr(frame, "iloc") else frame.drop(target)
    else:
        values, how = _in_order_of(frame, target), "frame[pandas.notna(y)] and y[pandas.notna(y)]"
    if len(values) != len(rows):
        raise ValueError(
            f"there are {len(values)} labels for {len(rows)} rows of the frame; pass one label per row"
        )
    texts = list(map(cell_text, values))
    missing = [i for i, text in enumerate(texts) if text.strip() in MISSING_VALUES]
    if missing:
        named = list(dict.fromkeys(values[i] for i in missing if isinstance(values[i], str)))
        advice = f"or rename {first_few(named)} if it is a class" if named else f"for example with {how}"
        raise ValueError(
            f"{len(missing)} rows have no label (first: {rows[missing[0]]!r}); drop them before you continue, "
            f"{advice}"
        )
    return texts, frame


def _in_order_of(frame: Any, target: Any) -> list[Any]:
    """Return the labels in row order. A series is matched by its index if both indexes have the same entries."""
    if hasattr(target, "iloc") and hasattr(frame, "iloc") and not target.index.equals(frame.index):
        if not target.index.is_unique or set(target.index) != set(frame.index):
            raise ValueError(
                "y and the frame have different indexes; pass y.loc[frame.index] or y.to_numpy()"
            )
        target = target.loc[frame.index]
    return list(target.to_list() if hasattr(target, "to_list") else np.asarray(target).tolist())


def _terms(
    frame: Any, known: list[str], lists: list[str], hierarchy: Hierarchy | None, min_support: int
) -> tuple[tuple[str, ...], int, csr_array | None]:
    """Return the terms that become features, the number of terms neither listed nor columns, and the closed table."""
    if hierarchy is None:
        return (), 0, None
    selected = frame
    if known:  # otherwise the error lists the columns and the features
        selected = frame[known]
    read = [rows_from_columns(selected, hierarchy)] if known or not lists else []
    read += [rows_from_lists(map(listed, frame[label].to_list()), hierarchy._closed) for label in lists]
    for label, rows in zip(lists, read[-len(lists) :], strict=False):
        if rows.unknown:
            unknown = first_few(list(rows.unknown))
            warnings.warn(
                f"{label!r} contains terms that are not in the hierarchy ({unknown}); they are left out",
                DataWarning,
                stacklevel=4,
            )
    ones: Any = sum((rows.ones for rows in read[1:]), read[0].ones)
    wanted = np.asarray(ones.sum(axis=0)).ravel() > 0 if lists else np.zeros(len(hierarchy), dtype=bool)
    at = [hierarchy.index(label) for label in known]
    wanted[at] = True
    wanted[hierarchy.ancestor_matrix[at].indices] = True
    wanted &= np.asarray(ones.sum(axis=0)).ravel() >= min_support
    kept = np.flatnonzero(wanted)
    terms = tuple(hierarchy.features[j] for j in kept)
    return terms, 0 if lists else len(set(terms) - set(known)), csr_array(ones[:, kept])


def _others(
    frame: Any, known: Sequence[str], rows: Sequence[str], bins: int, min_support: int
) -> tuple[dict[str, csr_array], tuple[str, ...]]:
    """Return features from columns that are not terms: 0/1 columns unchanged, other columns binned or one-hot."""
    made: dict[str, csr_array] = {}
    remarks: list[str] = []
    for label in frame.columns:
        if label in known:
            continue
        column = frame[label]
        if _is_binary(column):
            made[str(label)] = csr_array(column_ones(column, label)[:, None])
            continue
        values = {row: {str(label): value} for row, value in enumerate(column.to_list())}
        attributes = open_attributes(values, [str(i) for i in range(len(rows))], None, None)
        remarks += attributes.remarks
        for test in choose_tests(attributes, bins, max(1, min_support)):
            made[test.name] = passed_by_rows([test], attributes, len(rows))
    return made, tuple(remarks)


def _is_binary(column: Any) -> bool:
    values = np.asarray(column.to_numpy())
    return values.dtype.kind == "b" or (values.dtype.kind in "uif" and bool(np.isin(values, (0, 1)).all()))


def _classes(labels: list[str] | None, n_rows: int) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    if labels is None:
        return np.full(n_rows, -1), ()
    classes, y = np.unique(np.array(labels, dtype=object), return_inverse=True)
    return y.astype(np.intp), tuple(classes.tolist())
