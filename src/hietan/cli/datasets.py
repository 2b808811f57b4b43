"""Datasets by name or file, as the command line takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hietan.cli.names import suggest
from hietan.datasets import AGEING_DATASETS, Dataset, fetch_ageing_genes, make_hierarchical_classification
from hietan.evaluation import StudyError

_PUBLISHED = {f"{organism}-{subset}": (organism, subset) for organism, subset in AGEING_DATASETS}
_SYNTHETIC = 8
_SETS = {"ageing-2014": tuple(_PUBLISHED), "synthetic": tuple(f"synthetic-{k}" for k in range(_SYNTHETIC))}


def dataset_names(specs: Sequence[str]) -> list[str]:
    """The single datasets that some names, names of sets and files stand for; each once."""
    return list(dict.fromkeys(name for spec in specs for name in _SETS.get(spec, (spec,))))


def load_dataset(spec: str) -> Dataset:
    """The dataset of a name ("CE-BP", "synthetic-0") or of a file that `Dataset.save` wrote."""
    if spec in _PUBLISHED:
        return fetch_ageing_genes(*_PUBLISHED[spec])
    if spec in _SETS["synthetic"]:
        seed = int(spec.rpartition("-")[2])
        made = make_hierarchical_classification(150, 80, imbalance=0.35 + 0.04 * seed, random_state=seed)
        return replace(made, name=spec)
    path = Path(spec)
    if not path.exists():
        raise StudyError(
            f"unknown dataset {spec!r}: no such name or file{suggest(spec, [*_SETS, *_PUBLISHED])}"
        )
    return _from_file(path)


def load_datasets(specs: Sequence[str]) -> list[Dataset]:
    """All datasets that the names and files stand for."""
    return [load_dataset(name) for name in dataset_names(specs)]


def dataset_groups(datasets: Sequence[Dataset]) -> dict[str, str]:
    """The organism of each of the ageing-gene datasets: 28 datasets are 4 gene sets seen 7 ways."""
    return {data.name: _PUBLISHED[data.name][0] for data in datasets if data.name in _PUBLISHED}


def _from_file(path: Path) -> Dataset:
    try:
        dataset = Dataset.load(path)
    except ValueError as error:
        raise StudyError(str(error)) from error
    return dataset if dataset.name else replace(dataset, name=path.stem)
