"""Explanations of predictions, made from the values that a classifier computes for each prediction."""

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
