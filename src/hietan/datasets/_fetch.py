"""Finding the files of published collections."""

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path

from hietan.datasets._ageing import read_ageing_genes
from hietan.datasets._dataset import Dataset
from hietan.datasets._files import sha256_of
from hietan.datasets._obo import read_obo
from hietan.datasets._ontology import Ontology

_FOLDERS = {"CE": "Worm", "DM": "Fly", "MM": "Mouse", "SC": "Yeast"}
_NAMESPACES = ("BP", "MF", "CC")
_SUBSETS = ("BP", "MF", "CC", "BPMF", "BPCC", "MFCC", "BPMFCC")
_COLLECTION = "ageing-2014"
_ONTOLOGY = "gene_ontology_ext_13062014.obo.zip"
_ORIGIN = "github.com/andywan0125/AIRE-Journal, Datasets/GeneratedDatasets/ExperimentalDatasets"

AGEING_DATASETS: tuple[tuple[str, str], ...] = tuple(product(_FOLDERS, _SUBSETS))
"""The (organism, namespaces) of the 28 datasets, each a pair that `fetch_ageing_genes` takes."""


def fetch_ageing_genes(
    organism: str,
    namespaces: str | Iterable[str] = "BPMFCC",
    *,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Genes of a model organism that prolong or shorten life, described by Gene Ontology terms.

    One of the 28 datasets of Wan & Freitas: genes of GenAge, their GO annotations of June 2014 propagated
    along is_a, terms of at least three genes. The files are read from disk, never downloaded.

    Parameters
    ----------
    organism : {"worm", "fly", "mouse", "yeast"} or {"CE", "DM", "MM", "SC"}
        In any case.
    namespaces : str or iterable of str
        Any of "BP" (biological process), "MF" (molecular function) and "CC" (cellular component): joined as
        in "BPCC", or as an iterable, in any order.
    data_home : path, optional
        The directory that holds `ageing-2014/`; the environment variable `HIETAN_DATA` if not given.

    Returns
    -------
    Dataset
        Named like "CE-BP". Class 1 is pro-longevity, 0 anti-longevity; the three roots of GO are dropped.

    Examples
    --------
    >>> len(AGEING_DATASETS), AGEING_DATASETS[0]
    (28, ('CE', 'BP'))
    >>> fetch_ageing_genes("worm", ("CC", "BP"))  # doctest: +SKIP
    <Dataset CE-BPCC: 557 rows x 973 features; anti-longevity 344, pro-longevity 213; ...>
    """
    code, subset = _organism_code(organism), _subset(namespaces)
    home = _data_home(data_home)
    path = _existing(home, f"{_COLLECTION}/{_FOLDERS[code]}/{code}-{subset}.txt")
    obo = _existing(home, f"{_COLLECTION}/{_ONTOLOGY}")
    status = obo.stat()
    ontology, obo_hash = _cached_ontology(obo, status.st_mtime_ns, status.st_size)
    dataset = read_ageing_genes(path, ontology, name=f"{code}-{subset}")
    origin = {
        "origin": _ORIGIN,
        "options": {"organism": code, "namespaces": subset},
        "files": {f"{_FOLDERS[code]}/{path.name}": sha256_of(path), obo.name: obo_hash},
    }
    return replace(dataset, provenance={**origin, **dataset.provenance})


@lru_cache(maxsize=2)
def _cached_ontology(path: Path, mtime_ns: int, size: int) -> tuple[Ontology, str]:
    """Parsed once for all datasets; time and size are there to tell a changed file."""
    return read_obo(path), sha256_of(path)


def _organism_code(organism: str) -> str:
    by_name = {name.lower(): code for code, folder in _FOLDERS.items() for name in (code, folder)}
    try:
        return by_name[organism.lower()]
    except (KeyError, AttributeError):
        raise ValueError(f"organism is {organism!r}; expected one of {', '.join(by_name)}") from None


def _subset(namespaces: str | Iterable[str]) -> str:
    joined = namespaces if isinstance(namespaces, str) else "".join(map(str, namespaces))
    pairs = [joined[i : i + 2].upper() for i in range(0, len(joined), 2)]
    if not pairs or len(set(pairs)) < len(pairs) or not set(pairs) <= set(_NAMESPACES):
        raise ValueError(
            f"namespaces is {namespaces!r}; expected BP, MF and CC, each at most once, as in 'BPCC'"
        )
    return "".join(code for code in _NAMESPACES if code in pairs)


def _data_home(data_home: str | os.PathLike[str] | None) -> Path:
    home = os.environ.get("HIETAN_DATA") if data_home is None else data_home
    if not home:
        raise FileNotFoundError(f"the environment variable HIETAN_DATA is not set; {_advice()}")
    return Path(home).expanduser()


def _existing(home: Path, relative: str) -> Path:
    path = home / relative
    if not path.is_file():
        raise FileNotFoundError(f"no file {relative} in {home}; {_advice()}")
    return path


def _advice() -> str:
    return (
        "set HIETAN_DATA, or data_home, to a directory with the layout "
        f"{_COLLECTION}/Worm/CE-BP.txt, ..., {_COLLECTION}/{_ONTOLOGY}; the files come from {_ORIGIN}"
    )
