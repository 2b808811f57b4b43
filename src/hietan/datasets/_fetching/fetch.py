"""Published collections and files, read from disk or downloaded from their publishers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import hietan.datasets._fetching.registry as registry
from hietan.datasets._dataset import Dataset
from hietan.datasets._fetching.download import Directory, obtain
from hietan.datasets._fetching.registry import AGEING_DATASETS, ANNOTATED, ORGANISMS, Remote
from hietan.datasets._readers.ageing import read_ageing_genes
from hietan.datasets._readers.files import sha256_of
from hietan.datasets._readers.labels import read_labels
from hietan.datasets._readers.obo import read_obo
from hietan.datasets._readers.ontology import Ontology, namespace_codes
from hietan.exceptions import DataWarning

_ORIGIN = "github.com/andywan0125/AIRE-Journal, Datasets/GeneratedDatasets/ExperimentalDatasets"


COLLECTIONS = (
    "ageing-genes",
    "gene-ontology",
    *(f"annotations-{organism}" for organism in ANNOTATED),
    *("genage-models", "genage-human", "gene2go"),
)
"""The names that `fetch_collection` accepts."""


def fetch_collection(
    name: str,
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
    progress: bool = False,
) -> list[Path]:
    """Find or download all files in a collection.

    The other fetching functions accept the same options.

    Parameters
    ----------
    name : str
        One of `COLLECTIONS`.
    release : str
        "current" or the date of a release, such as "2026-06-19"; for GenAge an edition. It has no effect on collections
        with only one edition.
    data_home : path, optional
        The directory to search first and, if it is writable, to keep downloads in [default: the environment variable
        `HIETAN_DATA`]. Other files are searched for, and kept, in the platform's cache directory. Downloads need the
        extra `data`.
    download : bool
        Whether to download missing files.
    refresh : bool
        Whether to download existing files again. Without it, "current" means the release that was current at the first
        download.
    progress : bool
        Whether to show a progress bar for each download on standard error.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> COLLECTIONS[:3]
    ('ageing-genes', 'gene-ontology', 'annotations-worm')
    """
    return [
        obtain(remote, data_home=data_home, download=download, refresh=refresh, progress=progress)
        for remote in _remotes(name, release)
    ]


def fetch_gene_ontology(
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
    progress: bool = False,
) -> Path:
    """Find or download the Gene Ontology file, which `read_obo` and `build_dataset` read.

    Parameters
    ----------
    release : str
        "current" or the date of a release, such as "2026-06-19".
    data_home, download, refresh, progress
        Where to look and what to do: see `fetch_collection`.

    Returns
    -------
    Path
    """
    remote = registry.gene_ontology(release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh, progress=progress)


def fetch_annotations(
    organism: str,
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
    progress: bool = False,
) -> Path:
    """Find or download an organism's GAF file, which `read_gaf` and `build_dataset` read.

    Parameters
    ----------
    organism : {"worm", "fly", "mouse", "yeast", "human"}
        The organism's common name.
    release : str
        "current" or the date of a release of the Gene Ontology.
    data_home, download, refresh, progress
        Where to look and what to do: see `fetch_collection`.

    Returns
    -------
    Path
    """
    remote = registry.annotation_file(organism, release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh, progress=progress)


def fetch_genage(
    table: str = "models",
    release: str = "current",
    *,
    data_home: Directory = None,
    download: bool = True,
    refresh: bool = False,
    progress: bool = False,
) -> Path:
    """Find or download a GenAge gene table, which `read_labels` and `build_dataset` read.

    Parameters
    ----------
    table : {"models", "human"}
        The genes of model organisms, or human genes.
    release : {"current", "2025", "2014"}
        The edition. No URL is known for "2025", so the file must already be on disk.
    data_home, download, refresh, progress
        Where to look and what to do: see `fetch_collection`.

    Returns
    -------
    Path
    """
    remote = registry.genage(table, release)
    return obtain(remote, data_home=data_home, download=download, refresh=refresh, progress=progress)


def fetch_gene2go(
    *, data_home: Directory = None, download: bool = True, refresh: bool = False, progress: bool = False
) -> Path:
    """Find or download NCBI's gene2go file, which lists annotations for all organisms by Entrez id.

    Parameters
    ----------
    data_home, download, refresh, progress
        Where to look and what to do: see `fetch_collection`.

    Returns
    -------
    Path
    """
    remote = registry.gene2go()
    return obtain(remote, data_home=data_home, download=download, refresh=refresh, progress=progress)


def fetch_ageing_genes(
    organism: str,
    namespaces: str | Iterable[str] = "BPMFCC",
    *,
    data_home: Directory = None,
    download: bool = True,
    progress: bool = False,
) -> Dataset:
    """Load a model organism's genes that prolong or shorten life, described by Gene Ontology terms.

    This is one of Wan & Freitas's 28 datasets. It contains GenAge genes with their GO annotations from June 2014,
    propagated along is_a, and terms that at least three genes have.

    Parameters
    ----------
    organism : {"worm", "fly", "mouse", "yeast"} or {"CE", "DM", "MM", "SC"}
        The organism, by name or code, in upper or lower case.
    namespaces : str or iterable of str
        Any of "BP" (biological process), "MF" (molecular function) and "CC" (cellular component): joined, such
        as "BPCC", or as an iterable, in any order.
    data_home, download, progress
        Where to look and what to do: see `fetch_collection`.

    Returns
    -------
    Dataset
        A dataset with a name such as "CE-BP". Class 1 is pro-longevity, class 0 anti-longevity; the three roots of GO
        are dropped. The genes have symbols if the GenAge export of the collection is on disk
        (`fetch_collection("ageing-genes")`).

    Examples
    --------
    >>> len(AGEING_DATASETS), AGEING_DATASETS[0]
    (28, ('CE', 'BP'))
    >>> fetch_ageing_genes("worm", ("CC", "BP"))  # doctest: +SKIP
    <Dataset CE-BPCC: 557 rows x 973 features; anti-longevity 344, pro-longevity 213; ...>
    """
    by_name = {name.lower(): code for code, common in ORGANISMS.items() for name in (code, common)}
    code = by_name.get(str(organism).lower())
    if code is None:
        raise ValueError(f"organism is {organism!r}; expected one of {', '.join(by_name)}")
    subset = "".join(namespace_codes(namespaces))
    table = registry.ageing_file(code, subset)
    source = registry.ageing_source(registry.AGEING_ONTOLOGY)
    path = obtain(table, data_home=data_home, download=download, progress=progress)
    obo = obtain(source, data_home=data_home, download=download, progress=progress)
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
    provenance = {**origin, **dataset.provenance}
    return replace(dataset, provenance=provenance, symbols=symbols if any(symbols) else ())


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
    """Return the ontology and its file's hash. All datasets share one copy, which is read again if the file changes."""
    return read_obo(path), sha256_of(path)


def _symbols(code: str, data_home: Directory) -> Mapping[str, str]:
    """Return an organism's gene symbols by Entrez id, or none if the GenAge export is not on disk."""
    try:
        export = obtain(registry.ageing_source(registry.AGEING_GENAGE), data_home=data_home, download=False)
    except FileNotFoundError:
        return {}
    table = export / f"genage_models_export_{code}_13062014.tsv"
    with warnings.catch_warnings():
        # Every line of these files ends in a tab.
        warnings.filterwarnings("ignore", ".* more fields than", DataWarning)
        labels = read_labels(
            table, id_column="Entrez Gene ID", label_column="Gene Symbol", on_conflict="first"
        )
    return labels.by_id
