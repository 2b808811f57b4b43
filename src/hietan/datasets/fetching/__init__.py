"""Fetching: published files are found on disk, or else downloaded once and checked.

`registry` knows which files there are, `download` finds or downloads one, `fetch` does so for users.
"""

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

__all__ = [
    "AGEING_DATASETS",
    "COLLECTIONS",
    "fetch_ageing_genes",
    "fetch_annotations",
    "fetch_collection",
    "fetch_genage",
    "fetch_gene2go",
    "fetch_gene_ontology",
]
