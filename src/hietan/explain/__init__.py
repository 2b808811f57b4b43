"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain.assemble import explain_linear, linear_contributions, target_index
from hietan.explain.explaining import ExplainsRows
from hietan.explain.explanation import Contribution, Contributions, Explanation, Explanations, Removal
from hietan.explain.overview import edge_stability, mean_contributions
from hietan.explain.score_parts import (
    LinearParts,
    Relatives,
    RemovalKind,
    RemovedFeature,
    ScoreParts,
    StateParts,
    StateWords,
    sum_factors,
)
from hietan.explain.trace import ConsideredEdge, Direction, Trace, Verdict, trace_tree

__all__ = [
    "ConsideredEdge",
    "Contribution",
    "Contributions",
    "Direction",
    "ExplainsRows",
    "Explanation",
    "Explanations",
    "LinearParts",
    "Relatives",
    "Removal",
    "RemovalKind",
    "RemovedFeature",
    "ScoreParts",
    "StateParts",
    "StateWords",
    "Trace",
    "Verdict",
    "edge_stability",
    "explain_linear",
    "linear_contributions",
    "mean_contributions",
    "sum_factors",
    "target_index",
    "trace_tree",
]
