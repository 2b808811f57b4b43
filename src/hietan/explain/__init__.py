"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain.assemble import contribution_matrix, explain_linear, explain_rows
from hietan.explain.explanation import Explanation, Explanations
from hietan.explain.overview import edge_stability, mean_contributions
from hietan.explain.records import Contribution, Removal
from hietan.explain.score_parts import (
    LinearParts,
    RemovalKind,
    RemovedByRow,
    RemovedFeature,
    ScoreParts,
    sum_factors,
)
from hietan.explain.trace import ConsideredEdge, Direction, Trace, Verdict
from hietan.explain.trace_walk import trace_tree

__all__ = [
    "ConsideredEdge",
    "Contribution",
    "Direction",
    "Explanation",
    "Explanations",
    "LinearParts",
    "Removal",
    "RemovalKind",
    "RemovedByRow",
    "RemovedFeature",
    "ScoreParts",
    "Trace",
    "Verdict",
    "contribution_matrix",
    "edge_stability",
    "explain_linear",
    "explain_rows",
    "mean_contributions",
    "sum_factors",
    "trace_tree",
]
