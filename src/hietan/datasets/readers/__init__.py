"""Readers: files become plain values, namely ontologies, annotations, tables of labels and the ageing-gene tables.

`formats` finds the format of an ontology; `files` unpacks and decodes for all readers.
"""

from hietan.datasets.readers.ageing import read_ageing_genes
from hietan.datasets.readers.annotations import (
    Annotation,
    AnnotationReader,
    read_annotations,
    read_gaf,
    read_gene2go,
)
from hietan.datasets.readers.formats import read_ontology
from hietan.datasets.readers.labels import Labels, read_labels
from hietan.datasets.readers.obo import read_obo
from hietan.datasets.readers.ontology import Ontology, Term

__all__ = [
    "Annotation",
    "AnnotationReader",
    "Labels",
    "Ontology",
    "Term",
    "read_ageing_genes",
    "read_annotations",
    "read_gaf",
    "read_gene2go",
    "read_labels",
    "read_obo",
    "read_ontology",
]
