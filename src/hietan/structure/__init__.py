"""Learning the structure: counts, information, the ranking of edges and the trees it gives; sparsity along a DAG."""

from hietan.structure.counts import PairCounts, SparsePairs, count_ones, count_pairs
from hietan.structure.edges import EdgeRanking
from hietan.structure.importance import (
    factors_by_state,
    mean_open_contribution,
    mean_tree_contribution,
    root_log_prob,
    states_in_tree,
)
from hietan.structure.openings import (
    OpenCounts,
    Openings,
    OpenScores,
    check_open_counts,
    count_openings,
    leave_one_out_log_likelihood,
)
from hietan.structure.penalty import graph_penalty, prox_graph
from hietan.structure.relevance import (
    comparison_keys,
    gain_ratio,
    information_gain,
    lift,
    relevance,
    relevance_levels,
)
from hietan.structure.rows import BinaryRows, Violation, first_violation, kernel_relations, unpack
from hietan.structure.tree import Tree
from hietan.structure.weights import (
    are_whole,
    choose_unit,
    in_units,
    require_classes,
    require_whole,
    weigh,
)

__all__ = [
    "BinaryRows",
    "EdgeRanking",
    "OpenCounts",
    "OpenScores",
    "Openings",
    "PairCounts",
    "SparsePairs",
    "Tree",
    "Violation",
    "are_whole",
    "check_open_counts",
    "choose_unit",
    "comparison_keys",
    "count_ones",
    "count_openings",
    "count_pairs",
    "factors_by_state",
    "first_violation",
    "gain_ratio",
    "graph_penalty",
    "in_units",
    "information_gain",
    "kernel_relations",
    "leave_one_out_log_likelihood",
    "lift",
    "mean_open_contribution",
    "mean_tree_contribution",
    "prox_graph",
    "relevance",
    "relevance_levels",
    "require_classes",
    "require_whole",
    "root_log_prob",
    "states_in_tree",
    "unpack",
    "weigh",
]
