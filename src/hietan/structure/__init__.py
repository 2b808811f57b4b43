"""Structure learning: counts, information, edge rankings and trees, and sparsity along a DAG."""

from hietan.structure._penalty import graph_penalty, prox_graph
from hietan.structure._tree import Tree

__all__ = ["Tree", "graph_penalty", "prox_graph"]
