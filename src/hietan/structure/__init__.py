"""Learning the structure: counts, information, the ranking of edges and the trees it gives."""

from hietan.structure.counts import PairCounts, SparsePairs, count_ones, count_pairs
from hietan.structure.ranking import EdgeRanking
from hietan.structure.relations import kernel_relations
from hietan.structure.rows import BinaryRows
from hietan.structure.tree import Tree

__all__ = [
    "BinaryRows",
    "EdgeRanking",
    "PairCounts",
    "SparsePairs",
    "Tree",
    "count_ones",
    "count_pairs",
    "kernel_relations",
]
