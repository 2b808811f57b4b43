"""What a dataset says about itself: first a plain summary, then text or HTML made from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hietan._runtime.notebook import BOX, FAINT
from hietan.datasets.building.tally import account_lines

if TYPE_CHECKING:
    from hietan.datasets.dataset import Dataset


@dataclass(frozen=True)
class DatasetSummary:
    """Numbers and words about a dataset, ready to be shown.

    Attributes
    ----------
    name : str
    n_rows, n_features : int
    classes : tuple of (name, number of rows)
        Empty where the rows are not labelled.
    density : float
        Share of ones.
    hierarchy : dict
        Edges, roots, leaves and depth.
    commonest : tuple of (feature, name, number of rows)
        The features with the most ones.
    account : list of (what, line, count)
        The account of losses, if the dataset was built from files.
    facts : tuple of (key, value)
        Files with their hashes, versions and options.
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


def summarize(data: Dataset) -> DatasetSummary:
    n_rows, n_columns = data.X.shape
    ones = np.asarray(data.X.sum(axis=0, dtype=np.int64)).ravel()
    most = np.argsort(-ones, kind="stable")[:5]
    counts = np.bincount(data.y[data.y >= 0], minlength=len(data.target_names)).tolist()
    tree = data.hierarchy
    return DatasetSummary(
        name=data.name or "unnamed",
        n_rows=n_rows,
        n_features=n_columns,
        classes=tuple((name, count) for name, count in zip(data.target_names, counts, strict=True)),
        density=float(ones.sum()) / max(1, n_rows * n_columns),
        hierarchy={
            "edges": int(tree.adjacency.nnz),
            "roots": len(tree.roots),
            "leaves": len(tree.leaves),
            "depth": int(tree.depths.max(initial=0)),
        },
        commonest=tuple((data.feature_names[j], data.term_names[j], int(ones[j])) for j in most),
        account=account_lines(data.provenance.get("account", {})),
        facts=tuple(_facts(data.provenance)),
    )


def _facts(provenance: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for key in ("origin", "files", "versions", "options"):
        value = provenance.get(key)
        if isinstance(value, dict):
            yield from ((f"{key}: {name}", _short(part)) for name, part in value.items())
        elif value:
            yield key, _short(value)


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def dataset_html(summary: DatasetSummary) -> str:
    counts = {
        "rows": summary.n_rows,
        "features": summary.n_features,
        **dict(summary.classes),
        **summary.hierarchy,
    }
    cells = "".join(
        f'<span style="margin-right:1.2em"><b>{count:,}</b> <span style="{FAINT}">{escape(what)}</span></span>'
        for what, count in counts.items()
    )
    parts = [
        _details("commonest features", summary.commonest),
        _details("what was lost on the way", summary.account),
        _details("where it comes from", summary.facts),
    ]
    return (
        f'<div style="{BOX}"><div style="font-weight:600">Dataset {escape(summary.name)}</div>'
        f"<div>{cells}</div><div>{summary.density:.2%} ones</div>{''.join(parts)}</div>"
    )


def _details(title: str, rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    heading = f'<summary style="cursor:pointer;{FAINT}">{escape(title)}</summary>'
    return f"<details>{heading}<table>{body}</table></details>"


def _cell(value: Any) -> str:
    number = isinstance(value, int)
    text = f"{value:,}" if number else escape(str(value))
    return f'<td style="text-align:{"right" if number else "left"};padding:0 .6em">{text}</td>'
