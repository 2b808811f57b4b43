"""Data with hierarchical features: readers, published collections, building from files, and a generator."""

from hietan.datasets._ageing import read_ageing_genes
from hietan.datasets._build import build_dataset
from hietan.datasets._dataset import Dataset
from hietan.datasets._errors import DataError, DataWarning
from hietan.datasets._fetch import (
    COLLECTIONS,
    fetch_ageing_genes,
    fetch_annotations,
    fetch_collection,
    fetch_genage,
    fetch_gene2go,
    fetch_gene_ontology,
)
from hietan.datasets._gaf import Annotation, AnnotationReader, read_annotations, read_gaf, read_gene2go
from hietan.datasets._labels import Labels, read_labels
from hietan.datasets._obo import read_obo
from hietan.datasets._ontology import Ontology, Term
from hietan.datasets._pronto import read_ontology
from hietan.datasets._registry import AGEING_DATASETS
from hietan.datasets._summary import DatasetSummary
from hietan.datasets._synthetic import make_hierarchical_classification

__all__ = [
    "AGEING_DATASETS",
    "COLLECTIONS",
    "Annotation",
    "AnnotationReader",
    "DataError",
    "DataWarning",
    "Dataset",
    "DatasetSummary",
    "Labels",
    "Ontology",
    "Term",
    "build_dataset",
    "fetch_ageing_genes",
    "fetch_annotations",
    "fetch_collection",
    "fetch_genage",
    "fetch_gene2go",
    "fetch_gene_ontology",
    "make_hierarchical_classification",
    "read_ageing_genes",
    "read_annotations",
    "read_gaf",
    "read_gene2go",
    "read_labels",
    "read_obo",
    "read_ontology",
]
