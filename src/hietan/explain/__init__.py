"""Explanations of predictions, made from each prediction's own intermediate values."""

from hietan.explain._branches import BranchSums
from hietan.explain._explanation import Branch, Contribution, Contributions, Explanation, Explanations
from hietan.explain._score_parts import RemovedFeature

__all__ = [
    "Branch",
    "BranchSums",
    "Contribution",
    "Contributions",
    "Explanation",
    "Explanations",
    "RemovedFeature",
]
