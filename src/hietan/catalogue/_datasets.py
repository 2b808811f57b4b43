"""Load datasets by name, set name or file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hietan._runtime.spelling import suggest
from hietan.datasets import (
    AGEING_DATASETS,
    Dataset,
    fetch_ageing_genes,
    load_ageing_genes,
    make_hierarchical_classification,
)
from hietan.datasets._fetching.registry import ORGANISMS
from hietan.datasets.packaged._ageing import PACKAGED_NAMESPACES, PACKAGED_ORGANISMS
from hietan.exceptions import CatalogueError

_PUBLISHED = {f"{organism}-{subset}": (organism, subset) for organism, subset in AGEING_DATASETS}
_PACKAGED = {f"{name}-{part}": (name, part) for name in PACKAGED_ORGANISMS for part in PACKAGED_NAMESPACES}
_SYNTHETIC = tuple(f"synthetic-{seed}" for seed in range(8))


def dataset_names() -> tuple[str, ...]:
    """Return the names of all datasets: 14 packaged sets of ageing genes, 28 published datasets, and
    synthetic datasets.

    >>> dataset_names()[0], dataset_names()[-1]
    ('worm-BP', 'synthetic-7')
    """
    return (*_PACKAGED, *_PUBLISHED, *_SYNTHETIC)


def dataset_sets() -> dict[str, tuple[str, ...]]:
    """Return the dataset sets by name, each with its datasets' names.

    >>> {name: len(members) for name, members in dataset_sets().items()}
    {'ageing-2025': 14, 'ageing-2014': 28, 'synthetic': 8}
    """
    return {"ageing-2025": tuple(_PACKAGED), "ageing-2014": tuple(_PUBLISHED), "synthetic": _SYNTHETIC}


def dataset_set_notes() -> dict[str, str]:
    """Return a short note on each dataset set's contents and origin.

    >>> dataset_set_notes()["synthetic"]
    'synthetic rows and hierarchies; generated'
    """
    return {
        "ageing-2025": "worm and fly genes, GenAge 2025, Gene Ontology 2019; in the package",
        "ageing-2014": "the paper's worm (CE), fly (DM), mouse (MM) and yeast (SC) genes; downloaded once",
        "synthetic": "synthetic rows and hierarchies; generated",
    }


def load_dataset(spec: str, *, progress: bool = False) -> Dataset:
    """Load a single dataset.

    Parameters
    ----------
    spec : str
        A name such as "worm-BP", "CE-BP" or "synthetic-0", or the path of a file that `Dataset.save` or
        ``hietan build`` wrote.
    progress : bool
        Whether to show the progress of a download on stderr.

    Raises
    ------
    CatalogueError
        If there is neither a dataset with this name nor such a file.
    DataError
        If the file is not a dataset.

    Examples
    --------
    >>> data = load_dataset("fly-MF")
    >>> data.name, data.X.shape
    ('fly-MF', (176, 185))
    """
    if spec in _PACKAGED:
        return load_ageing_genes(*_PACKAGED[spec])
    if spec in _PUBLISHED:
        return fetch_ageing_genes(*_PUBLISHED[spec], progress=progress)
    if spec in _SYNTHETIC:
        seed = _SYNTHETIC.index(spec)
        made = make_hierarchical_classification(150, 80, imbalance=0.35 + 0.04 * seed, random_state=seed)
        return replace(made, name=spec)
    path = Path(spec)
    if not path.exists():
        known = [*dataset_sets(), *_PACKAGED, *_PUBLISHED]
        hint = suggest(spec, known, otherwise="`hietan datasets` lists the names")
        raise CatalogueError(f"there is no dataset or file named {spec!r}{hint}")
    dataset = Dataset.load(path)
    return dataset if dataset.name else replace(dataset, name=path.stem)


def load_datasets(specs: Sequence[str], *, progress: bool = False) -> list[Dataset]:
    """Load datasets by name, set name or file. A dataset is loaded only once if it is named repeatedly.

    >>> [data.name for data in load_datasets(["synthetic-1", "synthetic"])][:3]
    ['synthetic-1', 'synthetic-0', 'synthetic-2']
    """
    sets = dataset_sets()
    names = dict.fromkeys(name for spec in specs for name in sets.get(spec, (spec,)))
    return [load_dataset(name, progress=progress) for name in names]


def dataset_groups(datasets: Sequence[Dataset]) -> dict[str, str]:
    """Return the organism of each ageing-gene dataset.

    An organism's datasets describe the same genes in 7 ways.

    The packaged and the published datasets of an organism share genes, so they have the same group.
    """
    organisms = {name: ORGANISMS[code] for name, (code, _) in _PUBLISHED.items()}
    organisms |= {name: organism for name, (organism, _) in _PACKAGED.items()}
    return {data.name: organisms[data.name] for data in datasets if data.name in organisms}
