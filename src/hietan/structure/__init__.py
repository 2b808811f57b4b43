"""Learning the structure: counts, information, the ranking of edges and the trees it gives; sparsity along a DAG."""

from hietan.structure.counts import PairCounts, SparsePairs, count_ones, count_pairs
from hietan.structure.edges import EdgeRanking
from hietan.structure.openings import (
    OpenCounts,
    Openings,
    OpenScores,
    check_open_counts,
    count_openings,
    leave_one_out_log_likelihood,
)
from hietan.structure.penalty import graph_penalty, prox_graph
from hietan.structure.relations import Violation, first_violation, kernel_relations
from hietan.structure.relevance import (
    comparison_keys,
    gain_ratio,
    information_gain,
    lift,
    relevance,
    relevance_levels,
)
from hietan.structure.rows import BinaryRows, unpack
from hietan.structure.tree import Tree

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
    "check_open_counts",
    "comparison_keys",
    "count_ones",
    "count_openings",
    "count_pairs",
    "first_violation",
    "gain_ratio",
    "graph_penalty",
    "information_gain",
    "kernel_relations",
    "leave_one_out_log_likelihood",
    "lift",
    "prox_graph",
    "relevance",
    "relevance_levels",
    "unpack",
]
