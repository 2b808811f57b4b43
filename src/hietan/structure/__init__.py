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
    "count_ones",
    "count_openings",
    "count_pairs",
    "first_violation",
    "graph_penalty",
    "kernel_relations",
    "leave_one_out_log_likelihood",
    "prox_graph",
    "unpack",
]
