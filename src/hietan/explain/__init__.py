"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain.assemble import explain_linear, explain_rows, removals
from hietan.explain.explanation import Explanation
from hietan.explain.neighbours import Neighbour, NeighbourExplanation, explain_votes
from hietan.explain.overview import edge_stability, mean_contributions
from hietan.explain.records import Contribution, Removal
from hietan.explain.score_parts import LinearParts, RemovalKind, RemovedFeature, ScoreParts, sum_factors
from hietan.explain.trace import ConsideredEdge, Direction, Trace, Verdict
from hietan.explain.trace_walk import trace_tree

__all__ = [
    "ConsideredEdge",
    "Contribution",
    "Direction",
    "Explanation",
    "LinearParts",
    "Neighbour",
    "NeighbourExplanation",
    "Removal",
    "RemovalKind",
    "RemovedFeature",
    "ScoreParts",
    "Trace",
    "Verdict",
    "edge_stability",
    "explain_linear",
    "explain_rows",
    "explain_votes",
    "mean_contributions",
    "removals",
    "sum_factors",
    "trace_tree",
]
