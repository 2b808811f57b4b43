"""What the journal keeps of a job, in plain values: its predictions and feature usage, or its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hietan.evaluation.cross_validation import Label, RowPredictions
from hietan.evaluation.usage import FeatureUsage


def encode_outcome(
    rows: RowPredictions, usage: FeatureUsage | None, labels: Sequence[Label]
) -> dict[str, Any]:
    """The predictions and the feature usage of a job in plain values, with the labels as the dataset has them.

    A classifier may return 1.0 where the dataset has 1, as long as they are equal.
    """
    as_in_dataset = {label: label for label in labels}
    outcome: dict[str, Any] = {"y_pred": [as_in_dataset[label] for label in rows.y_pred.tolist()]}
    if rows.log_proba is not None:
        outcome["log_proba"] = rows.log_proba.tolist()
    if usage is not None:
        outcome["usage"] = {"selected": usage.selected.tolist(), "in_edges": usage.in_edges.tolist()}
    return outcome


def decode_predictions(outcome: Mapping[str, Any]) -> RowPredictions:
    """The predictions of a job that did not fail."""
    logs = outcome.get("log_proba")
    return RowPredictions(np.array(outcome["y_pred"]), None if logs is None else np.array(logs))


def decode_usage(outcome: Mapping[str, Any]) -> FeatureUsage:
    """The feature usage of a job that counted it."""
    columns = (np.array(outcome["usage"][name]) for name in ("selected", "in_edges"))
    return FeatureUsage(len(outcome["y_pred"]), *columns)


def usage_problem(usage: FeatureUsage, n_rows: int, n_features: int) -> str | None:
    """Why feature usage cannot be that of these rows and columns, in words; None if it can be."""
    if usage.n_rows != n_rows:
        return f"trees returned {usage.n_rows} trees for {n_rows} rows"
    for counts in (usage.selected, usage.in_edges):
        if counts.shape != (n_features,):
            return f"trees returned trees over {counts.size} features; expected {n_features}"
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            return "trees returned trees whose features cannot be counted"
    if (usage.selected > n_rows).any():
        return "trees returned trees whose features cannot be counted"
    return None
