"""Compare classifiers on data with hierarchical features; any scikit-learn classifier works."""

from hietan._io.tables import neutralise_text, restore_text
from hietan.evaluation._comparisons import MethodComparison, compare_methods
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
    "Method",
    "MethodComparison",
    "Nemenyi",
    "Ranking",
    "StudyResults",
    "SummaryRow",
    "TestResult",
    "average_ranks",
    "compare_methods",
    "compare_studies",
    "friedman",
    "holm_adjust",
    "iman_davenport",
    "make_rankings",
    "nemenyi",
    "neutralise_text",
    "read_summary",
    "restore_text",
    "run_study",
    "tie_correction",
    "wilcoxon_holm",
    "wins",
]
