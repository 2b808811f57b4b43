"""Scored rows, and what follows from them: metrics, calibration, lists with a stated error rate, and lifts."""

from hietan.scores.cross_validation import cross_validate
from hietan.scores.effect_sizes import SignedRankPosterior, bayesian_signed_rank, rank_biserial
from hietan.scores.metrics import (
    METRICS,
    Metric,
    ReliabilityCurve,
    auc_score,
    average_precision,
    brier_score,
    compute_metrics,
    gmean_score,
    gmean_scorer,
    metrics_of,
    reliability_curve,
    sensitivity_score,
    specificity_score,
)
from hietan.scores.rates import Selection
from hietan.scores.scores import Scores

__all__ = [
    "METRICS",
    "Metric",
    "ReliabilityCurve",
    "Scores",
    "Selection",
    "SignedRankPosterior",
    "auc_score",
    "average_precision",
    "bayesian_signed_rank",
    "brier_score",
    "compute_metrics",
    "cross_validate",
    "gmean_score",
    "gmean_scorer",
    "metrics_of",
    "rank_biserial",
    "reliability_curve",
    "sensitivity_score",
    "specificity_score",
]
