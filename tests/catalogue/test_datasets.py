"""Datasets by name, by name of a set, or by file."""

from dataclasses import replace

import pytest

from hietan.catalogue import dataset_names, dataset_sets, load_dataset, load_datasets
from hietan.catalogue._datasets import dataset_groups, dataset_set_notes
from hietan.datasets import AGEING_DATASETS, make_hierarchical_classification
from hietan.exceptions import CatalogueError, DataError, HietanError


def test_sets_hold_every_single_name_once():
    assert sum(dataset_sets().values(), ()) == dataset_names()
    assert len(set(dataset_names())) == len(dataset_names()) == len(AGEING_DATASETS) + 14 + 8
    assert list(dataset_set_notes()) == list(dataset_sets())


def test_a_set_and_its_members_are_loaded_once_in_the_order_asked_for():
    names = [data.name for data in load_datasets(["synthetic-3", "synthetic", "synthetic-3"])]
    assert names == ["synthetic-3", *(f"synthetic-{k}" for k in (0, 1, 2, 4, 5, 6, 7))]


def test_synthetic_datasets_differ_and_stay_the_same():
    first, again, other = (load_dataset(f"synthetic-{k}") for k in (0, 0, 1))
    assert (first.X != again.X).nnz == 0 and (first.X != other.X).nnz > 0


def test_a_file_without_a_name_is_called_after_the_file(tmp_path):
    data = make_hierarchical_classification(20, 5, random_state=0)
    for name, expected in (("", "mine"), ("its own", "its own")):
        replace(data, name=name).save(tmp_path / "mine.hietan")
        assert load_dataset(str(tmp_path / "mine.hietan")).name == expected


def test_groups_are_the_organisms_of_published_datasets():
    data = make_hierarchical_classification(20, 5, random_state=0)
    named = [replace(data, name=name) for name in ("CE-BP", "SC-BPMF", "worm-CC", "synthetic-0", "mine")]
    assert dataset_groups(named) == {"CE-BP": "worm", "SC-BPMF": "yeast", "worm-CC": "worm"}


def test_unknown_names_and_broken_files(tmp_path):
    with pytest.raises(
        CatalogueError, match="no dataset or file named 'CE-BB'; did you mean 'CE-BP'?"
    ) as caught:
        load_dataset("CE-BB")
    assert isinstance(caught.value, HietanError) and isinstance(caught.value, ValueError)
    (tmp_path / "broken.hietan").write_bytes(b"not an archive")
    with pytest.raises(DataError, match="broken.hietan"):
        load_dataset(str(tmp_path / "broken.hietan"))
