"""Data with hierarchical features: readers, published collections, building from files, and a generator."""

from hietan.datasets.building import build_dataset
from hietan.datasets.dataset import Dataset
from hietan.datasets.fetching import (
    AGEING_DATASETS,
    COLLECTIONS,
    fetch_ageing_genes,
    fetch_annotations,
    fetch_collection,
    fetch_genage,
    fetch_gene2go,
    fetch_gene_ontology,
)
from hietan.datasets.readers import (
    Annotation,
    AnnotationReader,
    Labels,
    Ontology,
    Term,
    read_ageing_genes,
    read_annotations,
    read_gaf,
    read_gene2go,
    read_labels,
    read_obo,
    read_ontology,
)
from hietan.datasets.summary import DatasetSummary
from hietan.datasets.synthetic import make_hierarchical_classification
from hietan.exceptions import DataError, DataWarning

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
