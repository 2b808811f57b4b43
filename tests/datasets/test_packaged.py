"""The ageing genes that come with the package."""

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from hietan.datasets import Dataset, build_dataset, load_ageing_genes, read_annotations
from hietan.datasets.packaged._ageing import PACKAGED_NAMESPACES, PACKAGED_ORGANISMS
from hietan.exceptions import DataWarning
from reproduction import packed_data

FOLDER = Path(str(files("hietan.datasets.packaged")))
NAMES = ("feature_names", "term_names", "instance_names", "target_names", "symbols")


@pytest.mark.parametrize("organism", PACKAGED_ORGANISMS)
def test_every_combination_is_a_dataset_of_its_own(organism):
    whole = load_ageing_genes(organism, "BPMFCC")
    seen = set()
    for namespaces in PACKAGED_NAMESPACES:
        data = load_ageing_genes(organism, namespaces)
        assert data.name == f"{organism}-{namespaces}" and data.target_names == ("anti", "pro")
        assert data.hierarchy.is_closed(data.X) and np.asarray(data.X.sum(axis=0)).min() >= 3
        assert set(data.instance_names) <= set(whole.instance_names)
        account = data.provenance["account"]
        assert (
            account["labelled genes"]["used"] == len(data.y) and account["terms"]["used"] == data.X.shape[1]
        )
        assert data.provenance["empty_rows"] == int((np.diff(data.X.indptr) == 0).sum())
        assert len(data.provenance["options"]["namespaces"]) == len(namespaces) // 2
        assert "CC BY 3.0" in data.provenance["attribution"] and "CC BY 4.0" in data.provenance["attribution"]
        seen |= set(data.feature_names) if len(namespaces) == 2 else set()
    assert seen == set(whole.feature_names)


def test_known_genes_have_the_labels_that_genage_gives_them():
    data = load_ageing_genes("worm", "BP")
    label = dict(zip(data.instance_names, data.y.tolist(), strict=True))
    assert data.target_names[label["daf-16"]] == "pro" and data.target_names[label["daf-2"]] == "anti"
    terms = data.X[[data.instance_names.index("daf-2")]].indices
    assert "determination of adult lifespan" in {data.term_names[j] for j in terms}


def test_files_are_small_and_come_with_their_licences():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.suffix != ".py") < 500_000
    assert "Attribution 3.0 Unported" in (FOLDER / "CC-BY-3.0.txt").read_text(encoding="utf-8")
    assert "Attribution 4.0 International" in (FOLDER / "CC-BY-4.0.txt").read_text(encoding="utf-8")
    text = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert all(work in text for work in ("GenAge", "Gene Ontology", "GOA", "Changes"))


def test_other_names_are_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="organism is 'mouse'; expected one of worm, fly"):
        load_ageing_genes("mouse")
    with pytest.raises(ValueError, match="namespaces is 'PB'; expected BP, MF and CC"):
        load_ageing_genes("fly", "PB")
    assert load_ageing_genes("fly", "CC, BP").name == "fly-BPCC"


@pytest.mark.patient
@pytest.mark.filterwarnings("ignore:2 of 2205 label rows have an id with a different label")
@pytest.mark.parametrize("organism", PACKAGED_ORGANISMS)
def test_packed_files_are_built_from_the_published_ones(real_data, organism, tmp_path):
    """Byte for byte, from any folder, and each part is what `build_dataset` makes."""
    source = tmp_path / "elsewhere"
    source.symlink_to(real_data)
    packed_data.build_packed(organism, source).save(tmp_path / "packed")
    packed, kept = (
        (path / name).read_bytes() for path, name in ((tmp_path, "packed"), (FOLDER, f"{organism}.hietan"))
    )
    assert (
        hashlib.sha256(packed).hexdigest() == hashlib.sha256(kept).hexdigest()
    )  # pytest would show all of the bytes
    with pytest.warns(DataWarning, match="of the labelled genes"):
        built = build_dataset(
            source / "go-2019" / "GeneOntology_2019.01.29.obo.gz",
            read_annotations(source / "go-2019" / f"GO.goa_{organism}_2019.01.29.gz"),
            source / "genage-2025" / "genage_models_2025.csv",
            id_column="symbol",
            label_column="longevity influence",
            mapping={"Anti-Longevity": "anti", "Pro-Longevity": "pro"},
            where={"organism": packed_data.SPECIES[organism]},
            namespaces="MFCC",
            positive="pro",
        )
    loaded = load_ageing_genes(organism, "MFCC")
    assert_same(loaded, built)
    assert loaded.provenance["account"] == built.provenance["account"]
    assert loaded.provenance["files"] == built.provenance["files"] and len(built.provenance["files"]) == 3


def assert_same(one: Dataset, other: Dataset) -> None:
    assert all(getattr(one, name) == getattr(other, name) for name in NAMES)
    assert (one.X != other.X).nnz == 0 and (one.y == other.y).all() and one.hierarchy == other.hierarchy
