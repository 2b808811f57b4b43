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
from hietan.evaluation.rank_tables import Ranking, SummaryRow, make_rankings
from hietan.evaluation.rank_tests import (
    Comparison,
    Nemenyi,
    RankComparison,
    TestResult,
    average_ranks,
    compare_ranks,
    friedman,
    holm_adjust,
    holm_thresholds,
    iman_davenport,
    nemenyi,
    rank_rows,
    wilcoxon_holm,
    wins,
)
from hietan.evaluation.study.compare import compare_studies
from hietan.evaluation.study.results import StudyResults, read_summary
from hietan.evaluation.study.run import Method, Progress, run_study
from hietan.evaluation.usage import FeatureUsage, count_usage
from hietan.exceptions import StudyError

__all__ = [
    "METRICS",
    "Comparison",
    "FeatureUsage",
    "Method",
    "Nemenyi",
    "PooledPredictions",
    "Progress",
    "RankComparison",
    "Ranking",
    "ReliabilityCurve",
    "StudyError",
    "StudyResults",
    "SummaryRow",
    "TestResult",
    "auc_score",
    "average_precision",
    "average_ranks",
    "brier_score",
    "compare_ranks",
    "compare_studies",
    "compute_metrics",
    "count_usage",
    "friedman",
    "gmean_score",
    "gmean_scorer",
    "holm_adjust",
    "holm_thresholds",
    "iman_davenport",
    "make_rankings",
    "nemenyi",
    "pooled_predictions",
    "rank_rows",
    "read_summary",
    "recalls",
    "reliability_curve",
    "run_study",
    "sensitivity_score",
    "specificity_score",
    "wilcoxon_holm",
    "wins",
]
