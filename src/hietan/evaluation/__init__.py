"""Compare classifiers on data with hierarchical features; any scikit-learn classifier works."""

from hietan._io.tables import neutralise_text, restore_text
from hietan.evaluation._comparisons import MethodComparison, compare_methods
from hietan.evaluation._cross_validation import PooledPredictions, pooled_predictions
from hietan.evaluation._effect_sizes import SignedRankPosterior, bayesian_signed_rank, rank_biserial
from hietan.evaluation._metrics import (
    METRICS,
    Metric,
    Predictions,
    ReliabilityCurve,
    auc_score,
    average_precision,
    brier_score,
    compute_metrics,
    gmean_score,
    gmean_scorer,
    reliability_curve,
    sensitivity_score,
    specificity_score,
)
from hietan.evaluation._rank_tables import Ranking, SummaryRow, make_rankings
from hietan.evaluation._rank_tests import (
    Nemenyi,
    TestResult,
    average_ranks,
    friedman,
    holm_adjust,
    iman_davenport,
    nemenyi,
    tie_correction,
    wilcoxon_holm,
    wins,
)
from hietan.evaluation._study.compare import compare_studies
from hietan.evaluation._study.plan import Method
from hietan.evaluation._study.results import StudyResults, read_summary
from hietan.evaluation._study.run import run_study

__all__ = [
    "METRICS",
    "Method",
    "MethodComparison",
    "Metric",
    "Nemenyi",
    "PooledPredictions",
    "Predictions",
    "Ranking",
    "ReliabilityCurve",
    "SignedRankPosterior",
    "StudyResults",
    "SummaryRow",
    "TestResult",
    "auc_score",
    "average_precision",
    "average_ranks",
    "bayesian_signed_rank",
    "brier_score",
    "compare_methods",
    "compare_studies",
    "compute_metrics",
    "friedman",
    "gmean_score",
    "gmean_scorer",
    "holm_adjust",
    "iman_davenport",
    "make_rankings",
    "nemenyi",
    "neutralise_text",
    "pooled_predictions",
    "rank_biserial",
    "read_summary",
    "reliability_curve",
    "restore_text",
    "run_study",
    "sensitivity_score",
    "specificity_score",
    "tie_correction",
    "wilcoxon_holm",
    "wins",
]
