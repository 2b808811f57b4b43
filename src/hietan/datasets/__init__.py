"""Data with hierarchical features: readers, published collections, builders and a generator."""

from hietan._runtime.equal_rows import EqualRows
from hietan.datasets._building.build import build_dataset
from hietan.datasets._building.options import BuildOptions
from hietan.datasets._dataset import Dataset
from hietan.datasets._fetching.fetch import (
    fetch_ageing_genes,
    fetch_annotations,
    fetch_genage,
    fetch_gene2go,
    fetch_gene_ontology,
)
from hietan.datasets._fetching.registry import AGEING_DATASETS
from hietan.datasets._label_leakage import CloseFeature, closest_features
from hietan.datasets._readers.ageing import read_ageing_genes
from hietan.datasets._readers.annotation_formats import Annotation
from hietan.datasets._readers.annotations import read_annotations, read_gaf, read_gene2go
from hietan.datasets._readers.edges import read_edges
from hietan.datasets._readers.labels import Labels, read_labels
from hietan.datasets._readers.obo import read_obo
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.datasets._readers.ontology_formats import read_ontology
from hietan.datasets._summary import DatasetSummary
from hietan.datasets._synthetic import make_hierarchical_classification
from hietan.datasets.packaged._ageing import load_ageing_genes

__all__ = [
    "AGEING_DATASETS",
    "Annotation",
    "BuildOptions",
    "CloseFeature",
    "Dataset",
    "DatasetSummary",
    "EqualRows",
    "Labels",
    "Ontology",
    "Term",
    "build_dataset",
    "closest_features",
    "fetch_ageing_genes",
    "fetch_annotations",
    "fetch_genage",
    "fetch_gene2go",
    "fetch_gene_ontology",
    "load_ageing_genes",
    "make_hierarchical_classification",
    "read_ageing_genes",
    "read_annotations",
    "read_edges",
    "read_gaf",
    "read_gene2go",
    "read_labels",
    "read_obo",
    "read_ontology",
]
