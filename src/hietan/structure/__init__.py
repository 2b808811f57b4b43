"""Learning the structure: counts, information, the ranking of edges and the trees it gives; sparsity along a DAG."""

from hietan.structure._penalty import graph_penalty, prox_graph
from hietan.structure._tree import Tree

__all__ = ["Tree", "graph_penalty", "prox_graph"]
