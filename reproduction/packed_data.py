"""Build the ageing genes that come with the package from the published files, which are looked for in HIETAN_DATA.

python -m reproduction.packed_data [DIRECTORY] writes worm.hietan and fly.hietan, by default to where the package has
them. The same files give the same bytes (with the same zlib: others may compress differently).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import hietan.datasets.packaged
from hietan.datasets import Dataset, build_dataset, read_annotations, read_obo
from hietan.datasets.packaged._ageing import ASPECTS, PACKAGED_NAMESPACES
from hietan.exceptions import DataWarning

SPECIES = {"worm": "Caenorhabditis elegans", "fly": "Drosophila melanogaster"}
ATTRIBUTION = (
    "GenAge by the Human Ageing Genomic Resources, CC BY 3.0; Gene Ontology and its annotations by the Gene Ontology "
    "Consortium and GOA, CC BY 4.0; filtered and combined by hietan, see datasets/packaged/ATTRIBUTION.md"
)
_NAMESPACES = dict(
    zip(("biological_process", "molecular_function", "cellular_component"), ASPECTS.values(), strict=True)
)


def build_packed(organism: str, source: Path) -> Dataset:
    """The dataset of an organism in the form that the package keeps."""
    ontology = read_obo(source / "go-2019" / "GeneOntology_2019.01.29.obo.gz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the account counts what is lost
        views = {
            namespaces: build_dataset(
                ontology,
                read_annotations(source / "go-2019" / f"GO.goa_{organism}_2019.01.29.gz"),
                source / "genage-2025" / "genage_models_2025.csv",
                id_column="symbol",
                label_column="longevity influence",
                mapping={"Anti-Longevity": "anti", "Pro-Longevity": "pro"},
                where={"organism": SPECIES[organism]},
                namespaces=namespaces,
                name=f"{organism}-{namespaces}",
                positive="pro",
            )
            for namespaces in PACKAGED_NAMESPACES
        }
    aspects = {
        term.id: _NAMESPACES[term.namespace]
        for term in ontology.terms.values()
        if term.namespace in _NAMESPACES
    }
    return pack_views(views, aspects, ATTRIBUTION)


def pack_views(views: Mapping[str, Dataset], aspects: Mapping[str, str], attribution: str) -> Dataset:
    """All combinations of namespaces of an organism as one dataset, from which `load_ageing_genes` takes each of them.

    Parameters
    ----------
    views : mapping of str to Dataset
        The dataset of each of `PACKAGED_NAMESPACES`, as `build_dataset` makes it.
    aspects : mapping of str to str
        The letter of the namespace of each term, one of the values of `ASPECTS`.
    attribution : str
        Whose work the data are, and under which licences.
    """
    whole = views["BPMFCC"]
    organism = whole.name.partition("-")[0]
    packed: dict[str, Any] = {
        "attribution": attribution,
        "aspects": "".join(aspects[feature] for feature in whole.feature_names),
        "views": {
            namespaces: {
                "missing_rows": _missing_rows(whole, data),
                "provenance": _lasting_provenance(data, attribution),
            }
            for namespaces, data in views.items()
        },
    }
    return replace(whole, name=organism, provenance=packed)


def _missing_rows(whole: Dataset, part: Dataset) -> list[int]:
    kept = set(part.instance_names)
    return [i for i, name in enumerate(whole.instance_names) if name not in kept]


def _lasting_provenance(data: Dataset, attribution: str) -> dict[str, Any]:
    """What stays true in later versions of the package, which change neither the data nor, then, the packed bytes.

    The aliases of terms are left out: they would be larger than the data.
    """
    kept = {key: value for key, value in data.provenance.items() if key != "aliases"}
    versions = {key: value for key, value in data.provenance["versions"].items() if key != "hietan"}
    origin = "hietan.datasets.load_ageing_genes"
    return {**kept, "origin": origin, "versions": versions, "attribution": attribution}


def main(folder: Path) -> None:
    """Write the file of every organism into a directory."""
    for organism in SPECIES:
        path = folder / f"{organism}.hietan"
        build_packed(organism, Path(os.environ["HIETAN_DATA"])).save(path)
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(hietan.datasets.packaged.__path__[0]))
