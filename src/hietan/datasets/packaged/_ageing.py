"""Packaged ageing-related genes, with GenAge labels from 2025 and Gene Ontology terms from 2019.

Each organism's file contains the dataset with all three namespaces, as written by `Dataset.save`. In its provenance,
"aspects" contains a letter per feature, and "views" lists the missing rows and the provenance for each combination of
namespaces.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from hietan.datasets._dataset import Dataset
from hietan.datasets._readers.ontology import namespace_codes

PACKAGED_ORGANISMS = ("worm", "fly")
"""The organisms of `load_ageing_genes`: *Caenorhabditis elegans* and *Drosophila melanogaster*."""
ASPECTS = {"BP": "P", "MF": "F", "CC": "C"}
"""The namespaces of the Gene Ontology, and the letters that annotation files use for them."""
PACKAGED_NAMESPACES = ("BP", "MF", "CC", "BPMF", "BPCC", "MFCC", "BPMFCC")
"""The combinations of namespaces that `load_ageing_genes` offers."""


def load_ageing_genes(organism: str = "worm", namespaces: str = "BP") -> Dataset:
    """Load the packaged ageing-related genes. This needs no network and no other files.

    Each row is a gene that GenAge (2025) lists as pro- or anti-longevity, but not as both. Each column is a Gene
    Ontology term (2019) that at least three of the genes have, directly or through a term below it (`is_a`).
    `build_dataset` makes these datasets from the published files with its default options.

    Parameters
    ----------
    organism : {"worm", "fly"}
        The organism: *Caenorhabditis elegans* or *Drosophila melanogaster*.
    namespaces : str or iterable of str
        The namespaces of the terms: "BP" (biological process), "MF" (molecular function), "CC" (cellular component), or
        several of them, such as "BP,CC" or "BPCC".

    Returns
    -------
    Dataset
        A dataset with a name such as "worm-BP". Its provenance contains the hashes of the source files, the options,
        the counts of what was dropped, and the attribution that the licences of the sources (CC BY 3.0 and CC BY 4.0)
        require.

    See Also
    --------
    fetch_ageing_genes : Download the paper's 28 datasets of 2014, on four organisms.

    Examples
    --------
    >>> data = load_ageing_genes("fly", "CC")
    >>> data.X.shape, data.target_names, data.instance_names[:3]
    ((177, 134), ('anti', 'pro'), ('Atg7', 'Atg8a', 'bchs'))
    >>> data.hierarchy.is_closed(data.X)
    True
    """
    if organism not in PACKAGED_ORGANISMS:
        raise ValueError(f"organism is {organism!r}; expected one of {', '.join(PACKAGED_ORGANISMS)}")
    namespaces = "".join(namespace_codes(namespaces))
    with as_file(files("hietan.datasets.packaged") / f"{organism}.hietan") as path:
        packed = Dataset.load(path)
    view = packed.provenance["views"][namespaces]
    aspects = {letter for name, letter in ASPECTS.items() if name in namespaces}
    chosen = [j for j, letter in enumerate(packed.provenance["aspects"]) if letter in aspects]
    missing = set(view["missing_rows"])
    rows = [i for i in range(len(packed.instance_names)) if i not in missing]
    data = packed.subset(rows, chosen, name=f"{organism}-{namespaces}")
    return replace(data, provenance=view["provenance"], positive="pro")
