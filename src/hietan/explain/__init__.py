"""Why a row was classified as it was: explanations made of the prediction's own intermediates."""

from hietan.explain.assemble import Parts, explain_linear, explain_rows
from hietan.explain.explanation import Contribution, Explanation, Removal
from hietan.explain.overview import edge_stability, mean_contributions

__all__ = [
    "Contribution",
    "Explanation",
    "Parts",
    "Removal",
    "edge_stability",
    "explain_linear",
    "explain_rows",
    "mean_contributions",
]
