"""Data with hierarchical features: readers of ontologies and published collections, and a generator."""

from hietan.datasets._ageing import read_ageing_genes
from hietan.datasets._dataset import Dataset
from hietan.datasets._fetch import AGEING_DATASETS, fetch_ageing_genes
from hietan.datasets._obo import Ontology, Term, read_obo
from hietan.datasets._synthetic import make_hierarchical_classification

__all__ = [
    "AGEING_DATASETS",
    "Dataset",
    "Ontology",
    "Term",
    "fetch_ageing_genes",
    "make_hierarchical_classification",
    "read_ageing_genes",
    "read_obo",
]
