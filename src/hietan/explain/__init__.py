"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain.assemble import explain_linear, explain_rows
from hietan.explain.explanation import Explanation
from hietan.explain.overview import edge_stability, mean_contributions
from hietan.explain.records import Contribution, Removal
from hietan.explain.score_parts import LinearParts, RemovalKind, RemovedFeature, ScoreParts, sum_factors

__all__ = [
    "Contribution",
    "Explanation",
    "LinearParts",
    "Removal",
    "RemovalKind",
    "RemovedFeature",
    "ScoreParts",
    "edge_stability",
    "explain_linear",
    "explain_rows",
    "mean_contributions",
    "sum_factors",
]
