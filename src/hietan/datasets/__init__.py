"""Data with hierarchical features: readers, published collections, building from files, and a generator."""

from hietan.datasets.building.build import build_dataset
from hietan.datasets.building.options import BuildOptions
from hietan.datasets.dataset import Dataset
from hietan.datasets.fetching.fetch import (
    COLLECTIONS,
    fetch_ageing_genes,
    fetch_annotations,
    fetch_collection,
    fetch_genage,
    fetch_gene2go,
    fetch_gene_ontology,
)
from hietan.datasets.fetching.registry import AGEING_DATASETS
from hietan.datasets.label_leakage import CIRCULARITY, SIGNIFICANT, CloseFeature, closest_features
from hietan.datasets.packaged.ageing import (
    PACKAGED_NAMESPACES,
    PACKAGED_ORGANISMS,
    load_ageing_genes,
)
from hietan.datasets.readers.ageing import read_ageing_genes
from hietan.datasets.readers.annotation_formats import Annotation
from hietan.datasets.readers.annotations import (
    AnnotationReader,
    read_annotations,
    read_gaf,
    read_gene2go,
)
from hietan.datasets.readers.edges import read_edges
from hietan.datasets.readers.labels import Labels, read_labels
from hietan.datasets.readers.obo import read_obo
from hietan.datasets.readers.ontology import Ontology, Term
from hietan.datasets.readers.ontology_formats import read_ontology
from hietan.datasets.summary import DatasetSummary
from hietan.datasets.synthetic import make_hierarchical_classification
from hietan.exceptions import DataError, DataWarning

__all__ = [
    "AGEING_DATASETS",
    "CIRCULARITY",
    "COLLECTIONS",
    "PACKAGED_NAMESPACES",
    "PACKAGED_ORGANISMS",
    "SIGNIFICANT",
    "Annotation",
    "AnnotationReader",
    "BuildOptions",
    "CloseFeature",
    "DataError",
    "DataWarning",
    "Dataset",
    "DatasetSummary",
    "Labels",
    "Ontology",
    "Term",
    "build_dataset",
    "closest_features",
    "fetch_ageing_genes",
    "fetch_annotations",
    "fetch_collection",
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
