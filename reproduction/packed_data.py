"""Build the ageing genes that come with the package from the published files, which are looked for in HIETAN_DATA.

python -m reproduction.packed_data [DIRECTORY] writes worm.hietan and fly.hietan, by default to where the package has
them. The same files give the same bytes (with the same zlib: others may compress differently).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import hietan.datasets.packaged
from hietan.datasets import Dataset, build_dataset, read_annotations, read_obo
from hietan.datasets.packaged.ageing import ASPECTS, PACKAGED_NAMESPACES, pack_views
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
            )
            for namespaces in PACKAGED_NAMESPACES
        }
    aspects = {
        term.id: _NAMESPACES[term.namespace]
        for term in ontology.terms.values()
        if term.namespace in _NAMESPACES
    }
    return pack_views(views, aspects, ATTRIBUTION)


def main(folder: Path) -> None:
    """Write the file of every organism into a directory."""
    for organism in SPECIES:
        path = folder / f"{organism}.hietan"
        build_packed(organism, Path(os.environ["HIETAN_DATA"])).save(path)
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(hietan.datasets.packaged.__path__[0]))
