"""A dataset's summary as plain values, and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from hietan._runtime.notebook import card, details
from hietan._runtime.two_classes import rank_auc
from hietan.datasets._build_log import account_lines


@dataclass(frozen=True)
class DatasetSummary:
    """The facts about a dataset that are shown to users.

    Attributes
    ----------
    name : str
        The dataset's name, or "unnamed".
    n_rows, n_features : int
        The numbers of rows and columns.
    classes : tuple of (name, number of rows)
        The classes in the order of their numbers; empty if the rows are not labelled.
    density : float
        The share of ones.
    hierarchy : dict
        The numbers of edges, roots and leaves, and the depth.
    commonest : tuple of (feature, name, number of rows)
        The five features with the most ones.
    account : list of (what, line, count)
        Counts of what was read, dropped and used, if the dataset was built from files.
    facts : tuple of (key, value)
        The origin, the files with their hashes, versions, and the options that are not the default.
    positive : str
        The positive class; "" if there is none.
    annotations_auc : float or None
        The AUC of the number of ones in a row alone, for the positive class of two; None unless there are two classes.
    """

    name: str
    n_rows: int
    n_features: int
    classes: tuple[tuple[str, int], ...]
    density: float
    hierarchy: dict[str, int]
    commonest: tuple[tuple[str, str, int], ...]
    account: list[tuple[str, str, int]]
    facts: tuple[tuple[str, str], ...]
    positive: str = ""
    annotations_auc: float | None = None

    def _repr_html_(self) -> str:
        return dataset_html(self)


def summarize(data: Any) -> DatasetSummary:
    """Return a dataset's summary."""
    n_rows, n_columns = data.X.shape
    ones = np.asarray(data.X.sum(axis=0, dtype=np.int64)).ravel()
    most = np.argsort(-ones, kind="stable")[:5]
    counts = np.bincount(data.y[data.y >= 0], minlength=len(data.target_names)).tolist()
    hierarchy, positive = data.hierarchy, data.positive
    annotations_auc = None
    if np.count_nonzero(counts) == 2 and positive:
        annotations = np.asarray(data.X.sum(axis=1, dtype=np.int64)).ravel()
        annotations_auc = rank_auc(data.y == len(data.target_names) - 1, annotations)
    return DatasetSummary(
        name=data.name or "unnamed",
        n_rows=n_rows,
        n_features=n_columns,
        classes=tuple(zip(data.target_names, counts, strict=True)),
        density=float(ones.sum()) / max(1, n_rows * n_columns),
        hierarchy={
            "edges": int(hierarchy.adjacency.nnz),
            "roots": len(hierarchy.roots),
            "leaves": len(hierarchy.leaves),
            "depth": int(hierarchy.depths.max(initial=0)),
        },
        commonest=tuple((data.feature_names[j], data.term_names[j], int(ones[j])) for j in most),
        account=account_lines(data.provenance.get("account", {})),
        facts=tuple(_facts(data.provenance)),
        positive=positive,
        annotations_auc=annotations_auc,
    )


def _facts(provenance: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the facts worth showing.

    Options are shown only if they differ from the default, except for the relations.
    """
    from hietan.datasets._building.options import BuildOptions

    for key in ("origin", "files", "versions", "options"):
        value = provenance.get(key)
        if key == "options" and isinstance(value, dict):
            usual = BuildOptions().as_dict() | {"relations": None}
            value = {name: part for name, part in value.items() if part not in (None, usual.get(name))}
        if isinstance(value, dict):
            yield from ((f"{key}: {name}", text) for name, part in value.items() if (text := _short(part)))
        elif value:
            yield key, _short(value)
    yield from (("detected", remark) for remark in provenance.get("detected", ()))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key}={part}" for key, part in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def dataset_html(summary: DatasetSummary) -> str:
    """Return the summary as HTML for a notebook. Its tables unfold when you click them."""
    counts = {
        "rows": summary.n_rows,
        "features": summary.n_features,
        **dict(summary.classes),
        **summary.hierarchy,
    }
    tables = [
        _table("most common features", summary.commonest),
        _table("what was dropped", summary.account),
        _table("origin", summary.facts),
    ]
    return card(f"Dataset {summary.name}", counts, f"<div>{summary.density:.2%} ones</div>{''.join(tables)}")


def _table(title: str, rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return details(title, f"<table>{body}</table>")


def _cell(value: Any) -> str:
    number = isinstance(value, int)
    text = f"{value:,}" if number else escape(str(value))
    return f'<td style="text-align:{"right" if number else "left"};padding:0 .6em">{text}</td>'
