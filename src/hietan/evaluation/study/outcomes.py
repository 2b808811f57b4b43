"""What the journal keeps of a job: written as plain values, checked, and read back.

A job that went wrong keeps its error. Of any other, nothing is written or read that the results cannot be computed
from: a classifier that returns nonsense fails alone, and leaves the results of the others as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hietan.evaluation.cross_validation import Label, RowPredictions, prediction_problem
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


def is_usable(outcome: Mapping[str, Any], labels: Sequence[Label], n_rows: int, n_features: int) -> bool:
    """Whether the results can be computed from what a journal has of a job; earlier versions did not check it."""
    if "error" in outcome:
        return isinstance(outcome["error"], str) and isinstance(outcome.get("traceback"), str)
    try:
        rows = decode_predictions(outcome)
        usage = decode_usage(outcome) if "usage" in outcome else None
        problem = prediction_problem(rows, labels, n_rows)
        return problem is None and (usage is None or usage_problem(usage, n_rows, n_features) is None)
    except (KeyError, TypeError, ValueError):  # something is missing, or is not an array
        return False


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
