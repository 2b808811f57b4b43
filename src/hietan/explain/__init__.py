"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain.assemble import explain_linear, linear_contributions, removals, target_index
from hietan.explain.explaining import ExplainsRows
from hietan.explain.explanation import Explanation, Explanations
from hietan.explain.neighbours import Neighbour, NeighbourExplanation, explain_votes
from hietan.explain.overview import edge_stability, mean_contributions
from hietan.explain.records import Contribution, Contributions, Removal
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
    "Contributions",
    "Direction",
    "ExplainsRows",
    "Explanation",
    "Explanations",
    "LinearParts",
    "Neighbour",
    "NeighbourExplanation",
    "Removal",
    "RemovalKind",
    "RemovedByRow",
    "RemovedFeature",
    "ScoreParts",
    "Trace",
    "Verdict",
    "edge_stability",
    "explain_linear",
    "explain_votes",
    "linear_contributions",
    "mean_contributions",
    "removals",
    "sum_factors",
    "target_index",
    "trace_tree",
]
