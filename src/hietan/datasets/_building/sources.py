"""A dataset's inputs, of every kind that `build_dataset` accepts, and their provenance entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np

from hietan.datasets._building.options import BuildOptions
from hietan.datasets._readers.annotation_formats import ANNOTATION_FORMATS, Annotation
from hietan.datasets._readers.annotations import AnnotationReader
from hietan.datasets._readers.edges import ontology_of
from hietan.datasets._readers.files import is_path, sha256_of, split_archive
from hietan.datasets._readers.labels import Labels, labels_from_pairs, read_labels
from hietan.datasets._readers.ontology import Ontology
from hietan.datasets._readers.ontology_formats import ONTOLOGY_FORMATS, read_ontology
from hietan.datasets._readers.phenopackets import packet_files
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._term_rows import listed


def open_ontology(ontology: Any, options: BuildOptions) -> Ontology:
    """Return the ontology from a file, a hierarchy, a frame of edges, or (parent, child) pairs."""
    if isinstance(ontology, Ontology):
        return ontology
    if isinstance(ontology, Hierarchy):
        return ontology_of(ontology)
    if is_path(ontology) or hasattr(ontology, "read"):
        return read_ontology(
            ontology,
            format=options.format_among(ONTOLOGY_FORMATS),
            columns=options.edge_columns,
            order=options.edge_order,
            header=options.header,
            separator=options.separator,
            prefix_codes=options.prefix_codes,
        )
    if isinstance(ontology, Iterable):
        return ontology_of(Hierarchy.from_edges(ontology))
    raise TypeError(
        "the ontology must be a path, an open file, an Ontology, a Hierarchy or (parent, child) pairs; "
        f"got {type(ontology).__name__}"
    )


def open_labels(labels: Any, options: BuildOptions) -> Labels | None:
    """Return the labels from a table, dict, series, frame or `Labels` object. Without labels, return None."""
    if labels is None or isinstance(labels, Labels):
        return labels
    if is_path(labels) or hasattr(labels, "read"):
        return read_labels(
            labels,
            id_column=options.id_column,
            label_column=options.label_column,
            mapping=options.mapping,
            where=options.where,
            on_conflict=options.on_conflict,
            header=options.header,
            missing_labels=options.missing_labels,
        )
    if hasattr(labels, "columns"):
        pairs = _two_columns_of(labels, "labels", (options.id_column, options.label_column))
    elif isinstance(labels, Mapping) or hasattr(labels, "items"):
        pairs = labels.items()
    else:
        raise TypeError(
            f"labels must be a path, an open file, a dict {{id: label}}, or a pandas series or data frame; got "
            f"{type(labels).__name__}"
        )
    return labels_from_pairs(pairs, options.mapping, options.on_conflict, options.missing_labels)


def open_annotations(annotations: Any, options: BuildOptions, ontology: Ontology) -> Iterable[Annotation]:
    """Return the annotations from a file, a reader, a frame, a dict {id: terms}, or an iterable."""
    if is_path(annotations) or hasattr(annotations, "read"):
        reader = AnnotationReader(
            annotations,
            options.format_among(ANNOTATION_FORMATS) or "",
            columns=options.pair_columns,
            header=options.header,
            is_term=lambda text: ontology.resolve(text) is not None,
        )
        if options.taxon is not None and not reader.has_taxon:
            raise ValueError(f"{reader.name} ({reader.format}) does not name organisms; omit taxon (--taxon)")
        return reader
    if isinstance(annotations, AnnotationReader):
        return annotations
    if hasattr(annotations, "columns"):
        pairs = _two_columns_of(annotations, "pairs", options.pair_columns or (None, None))
        return (Annotation(str(item), str(term)) for item, cell in pairs for term in listed(cell))
    if isinstance(annotations, Mapping):
        return _from_lists(annotations)
    if isinstance(annotations, Iterable) and not isinstance(annotations, str | bytes):
        return chain.from_iterable(map(_annotations_of, annotations))
    raise TypeError(
        "annotations must be a path, an open file, pairs (id, term), a dict {id: terms}, a data "
        "frame or an iterable of "
        f"Annotation; got {annotations!r:.80}"
    )


def _from_lists(annotations: Mapping[Any, Any]) -> Iterable[Annotation]:
    for item, terms in annotations.items():
        if isinstance(terms, str | bytes) or not isinstance(terms, Iterable):
            raise TypeError(
                f"expected a list of terms for {item!r:.80}, got {terms!r:.80}; put the term into a list"
            )
        yield from (Annotation(str(item), str(term)) for term in listed(list(terms)))


def _annotations_of(each: Any) -> list[Annotation]:
    if isinstance(each, Annotation):
        return [each]
    if isinstance(each, str) or not isinstance(each, Sequence | np.ndarray) or len(each) < 2:
        raise TypeError(f"expected a pair (id, term) or an Annotation, got {each!r:.80}")
    item, terms, *more = each
    return [Annotation(str(item), str(term), *more) for term in listed(terms)]


def _two_columns_of(frame: Any, what: str, wanted: Sequence[str | int | None]) -> Iterable[tuple[Any, Any]]:
    """Return pairs from two columns of a frame: the named columns, or the only two."""
    names, (first, second) = list(frame.columns), wanted
    if (first is None or second is None) and len(names) != 2:
        raise ValueError(
            f"{what} is a data frame with {len(names)} columns; pass a data frame with two columns, such as "
            "frame[['id', 'label']]"
        )
    chosen = [
        names[default] if one is None else one if one in names else None
        for default, one in enumerate((first, second))
    ]
    if None in chosen:
        raise ValueError(
            f"{what} has no column {wanted[chosen.index(None)]!r}; its columns are {', '.join(map(str, names))}"
        )
    return zip(frame[chosen[0]].to_list(), frame[chosen[1]].to_list(), strict=True)


def file_hashes(*sources: Any) -> dict[str, str]:
    """Return the SHA-256 of each source file, by file name."""
    found = {}
    for source in sources:
        name = source if is_path(source) else getattr(source, "source", getattr(source, "name", None))
        if is_path(name):
            path, member = split_archive(name)
            if path.is_file():
                found[(PurePath(path.name) / member).as_posix()] = sha256_of(path)
            elif path.is_dir():
                found |= {
                    each.relative_to(path.parent).as_posix(): sha256_of(each) for each in packet_files(path)
                }
    return found


def versions(ontology: Ontology, annotations: Iterable[Annotation]) -> dict[str, str]:
    """Return the versions of hietan and the ontology, and the annotations' header."""
    header = annotations.header if isinstance(annotations, AnnotationReader) else {}
    stated = {f"annotations, {key}": value for key, value in header.items()}
    return {"hietan": version("hietan"), "ontology": ontology.version, **stated}
