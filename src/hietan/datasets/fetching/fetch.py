"""Published collections and files, from disk or from their publishers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from hietan.datasets.dataset import Dataset
from hietan.datasets.fetching import registry
from hietan.datasets.fetching.download import Directory, obtain
from hietan.datasets.fetching.registry import AGEING_DATASETS, ANNOTATED, ORGANISMS, Remote
from hietan.datasets.readers.ageing import read_ageing_genes
from hietan.datasets.readers.files import sha256_of
from hietan.datasets.readers.labels import read_labels
from hietan.datasets.readers.namespaces import namespace_codes
from hietan.datasets.readers.obo import read_obo
from hietan.datasets.readers.ontology import Ontology
from hietan.exceptions import DataWarning

_ORIGIN = "github.com/andywan0125/AIRE-Journal, Datasets/GeneratedDatasets/ExperimentalDatasets"


def fetch_ageing_genes(
    organism: str,
    namespaces: str | Iterable[str] = "BPMFCC",
    *,
    data_home: Directory = None,
    download: bool = True,
) -> Dataset:
    """Genes of a model organism that prolong or shorten life, described by Gene Ontology terms.

    One of the 28 datasets of Wan & Freitas: genes of GenAge, their GO annotations of June 2014 propagated
    along is_a, terms of at least three genes.

    Parameters
    ----------
    organism : {"worm", "fly", "mouse", "yeast"} or {"CE", "DM", "MM", "SC"}
        In any case.
    namespaces : str or iterable of str
        Any of "BP" (biological process), "MF" (molecular function) and "CC" (cellular component): joined as
        in "BPCC", or as an iterable, in any order.
    data_home : path, optional
        The directory that holds `ageing-2014/`; the environment variable `HIETAN_DATA` if not given. Files
        that are not there are looked for in the platform's cache directory, and downloaded (extra `data`).
    download : bool
        Whether to download what is missing.

    Returns
    -------
    Dataset
        Named like "CE-BP". Class 1 is pro-longevity, 0 anti-longevity; the three roots of GO are dropped. The genes
        have symbols where the collection's GenAge export is there, too (`fetch_collection("ageing-genes")`).

    Examples
    --------
    >>> len(AGEING_DATASETS), AGEING_DATASETS[0]
    (28, ('CE', 'BP'))
    >>> fetch_ageing_genes("worm", ("CC", "BP"))  # doctest: +SKIP
    <Dataset CE-BPCC: 557 rows x 973 features; anti-longevity 344, pro-longevity 213; ...>
    """
    code, subset = _organism_code(organism), "".join(namespace_codes(namespaces))
    table = registry.ageing_file(code, subset)
    path = obtain(table, data_home=data_home, download=download)
    obo = obtain(registry.ageing_source(registry.AGEING_ONTOLOGY), data_home=data_home, download=download)
    status = obo.stat()
    ontology, obo_hash = _cached_ontology(obo, status.st_mtime_ns, status.st_size)
    dataset = read_ageing_genes(path, ontology, name=f"{code}-{subset}")
    origin = {
        "origin": _ORIGIN,
        "options": {"organism": code, "namespaces": subset},
        "files": {table.path.partition("/")[2]: sha256_of(path), obo.name: obo_hash},
    }
    known = _symbols(code, data_home)
    symbols = tuple(known.get(gene, "") for gene in dataset.instance_names)
    return replace(
        dataset, provenance={**origin, **dataset.provenance}, symbols=symbols if any(symbols) else ()
    )


def fetch_gene_ontology(
    release: str = "current", *, data_home: Directory = None, download: bool = True, refresh: bool = False
) -> Path:
    """The file of the Gene Ontology, as `read_obo` and `build_dataset` take it.

    Parameters
    ----------
    release : str
        "current" or the date of a release, such as "2026-06-19".
    data_home : path, optional
        Where to look first and, if it can be written to, where to keep what is downloaded; `HIETAN_DATA` if not
        given; else the platform's cache directory.
    download : bool
        Whether to download what is missing.
    refresh : bool
        Whether to download even what is there: "current" stays what it was at the first download.

    Returns
    -------
    Path
    """
    remote = registry.gene_ontology(release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh)


def fetch_annotations(
    organism: str,
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
) -> Path:
    """The GAF file of an organism, as `read_gaf` and `build_dataset` take it.

    Parameters
    ----------
    organism : {"worm", "fly", "mouse", "yeast", "human"}
    release : str
        "current" or the date of a release of the Gene Ontology.
    data_home, download, refresh
        As for `fetch_gene_ontology`.

    Returns
    -------
    Path
    """
    remote = registry.annotation_file(organism, release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh)


def fetch_genage(
    table: str = "models",
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
) -> Path:
    """The gene table of GenAge, as `read_labels` and `build_dataset` take it.

    Parameters
    ----------
    table : {"models", "human"}
        Genes of model organisms, or of humans.
    release : {"current", "2025", "2014"}
        The edition; "2025" is known, but must be there already.
    data_home, download, refresh
        As for `fetch_gene_ontology`.

    Returns
    -------
    Path
    """
    remote = registry.genage(table, release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh)


def fetch_gene2go(*, data_home: Directory = None, download: bool = True, refresh: bool = False) -> Path:
    """NCBI's gene2go, annotations of all organisms by Entrez id; parameters as for `fetch_gene_ontology`."""
    return obtain(registry.gene2go(), data_home=data_home, download=download, refresh=refresh)


COLLECTIONS = (
    "ageing-genes",
    "gene-ontology",
    *(f"annotations-{organism}" for organism in ANNOTATED),
    *("genage-models", "genage-human", "gene2go"),
)
"""What `fetch_collection` takes."""


def fetch_collection(
    name: str,
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
) -> list[Path]:
    """All files of one of `COLLECTIONS`; the parameters are those of `fetch_gene_ontology`.

    >>> COLLECTIONS[:3]
    ('ageing-genes', 'gene-ontology', 'annotations-worm')
    """
    wanted = _remotes(name, release)
    return [obtain(each, data_home=data_home, download=download, refresh=refresh) for each in wanted]


def _remotes(name: str, release: str) -> list[Remote]:
    kind, _, which = name.partition("-")
    if name not in COLLECTIONS:
        raise ValueError(f"there is no collection {name!r}; expected one of {', '.join(COLLECTIONS)}")
    if kind == "annotations":
        return [registry.annotation_file(which, release)]
    if kind == "genage":
        return [registry.genage(which, release)]
    if name == "gene-ontology":
        return [registry.gene_ontology(release)]
    if name == "gene2go":
        return [registry.gene2go()]
    sources = map(registry.ageing_source, (registry.AGEING_ONTOLOGY, registry.AGEING_GENAGE))
    return [*(registry.ageing_file(*pair) for pair in AGEING_DATASETS), *sources]


@lru_cache(maxsize=2)
def _cached_ontology(path: Path, mtime_ns: int, size: int) -> tuple[Ontology, str]:
    """Parsed once for all datasets; time and size are there to tell a changed file."""
    return read_obo(path), sha256_of(path)


def _symbols(code: str, data_home: Directory) -> Mapping[str, str]:
    """The symbols of an organism's genes by Entrez id; none where the GenAge export is not there."""
    try:
        export = obtain(registry.ageing_source(registry.AGEING_GENAGE), data_home=data_home, download=False)
    except FileNotFoundError:
        return {}
    status = export.stat()
    return _cached_symbols(
        export / f"genage_models_export_{code}_13062014.tsv", status.st_mtime_ns, status.st_size
    )


@lru_cache(maxsize=len(ORGANISMS))
def _cached_symbols(table: Path, mtime_ns: int, size: int) -> Mapping[str, str]:
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", ".* more fields than", DataWarning
        )  # every line of it ends in a tab
        labels = read_labels(
            table, id_column="Entrez Gene ID", label_column="Gene Symbol", on_conflict="first"
        )
    return labels.by_id


def _organism_code(organism: str) -> str:
    by_name = {name.lower(): code for code, common in ORGANISMS.items() for name in (code, common)}
    try:
        return by_name[organism.lower()]
    except (KeyError, AttributeError):
        raise ValueError(f"organism is {organism!r}; expected one of {', '.join(by_name)}") from None
