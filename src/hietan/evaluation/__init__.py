"""Comparing classifiers on data with hierarchical features: any that keep to scikit-learn's API."""

from hietan.evaluation.cross_validation import PooledPredictions, pooled_predictions
from hietan.evaluation.metrics import (
    METRICS,
    ReliabilityCurve,
    auc_score,
    average_precision,
    brier_score,
    compute_metrics,
    gmean_score,
    gmean_scorer,
    recalls,
    reliability_curve,
    sensitivity_score,
    specificity_score,
)

__all__ = [
    "METRICS",
    "PooledPredictions",
    "ReliabilityCurve",
    "auc_score",
    "average_precision",
    "brier_score",
    "compute_metrics",
    "gmean_score",
    "gmean_scorer",
    "pooled_predictions",
    "recalls",
    "reliability_curve",
    "sensitivity_score",
    "specificity_score",
]
