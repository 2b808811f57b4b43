"""Why a row was classified as it was: explanations made from the prediction's own intermediate values."""

from hietan.explain._explanation import Branch, Contribution, Contributions, Explanation, Explanations
from hietan.explain._overview import edge_stability, mean_contributions
from hietan.explain._score_parts import RemovedFeature
from hietan.explain._trace import ConsideredEdge, Trace

__all__ = [
    "Branch",
    "ConsideredEdge",
    "Contribution",
    "Contributions",
    "Explanation",
    "Explanations",
    "RemovedFeature",
    "Trace",
    "edge_stability",
    "mean_contributions",
]
