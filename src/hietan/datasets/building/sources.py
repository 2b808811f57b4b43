"""The inputs of a dataset, in every form that `build_dataset` accepts, and what its provenance says about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

from hietan.datasets.building.options import BuildOptions
from hietan.datasets.readers.annotations import Annotation, AnnotationReader, read_annotations
from hietan.datasets.readers.files import is_path, sha256_of, split_archive
from hietan.datasets.readers.labels import Labels, labels_from_mapping, read_labels
from hietan.datasets.readers.ontology import Ontology


def open_labels(labels: Any, options: BuildOptions) -> Labels | None:
    """The labels from a table, a dict or labels that were already read; None if there are none."""
    if labels is None or isinstance(labels, Labels):
        return labels
    if isinstance(labels, Mapping):
        return labels_from_mapping(labels)
    return read_labels(
        labels,
        id_column=options.id_column,
        label_column=options.label_column,
        mapping=options.mapping,
        where=options.where,
        on_conflict=options.on_conflict,
    )


def open_annotations(annotations: Any) -> Iterable[Annotation]:
    """The annotations from a file, a reader, or an iterable of annotations or pairs (gene, term)."""
    if is_path(annotations) or hasattr(annotations, "read"):
        return read_annotations(annotations)
    if isinstance(annotations, AnnotationReader):
        return annotations
    if isinstance(annotations, Iterable):
        return (each if isinstance(each, Annotation) else Annotation(*each) for each in annotations)
    raise TypeError(
        f"annotations must be a path, an open file or an iterable of Annotation, got {annotations!r}"
    )


def file_hashes(*sources: Any) -> dict[str, str]:
    """The SHA-256 of each source that is a file or was read from one, by its name."""
    found = {}
    for source in sources:
        name = source if is_path(source) else getattr(source, "source", getattr(source, "name", None))
        if is_path(name):
            path, member = split_archive(name)
            if path.is_file():
                found[(PurePath(path.name) / member).as_posix()] = sha256_of(path)
    return found


def versions(ontology: Ontology, annotations: Iterable[Annotation]) -> dict[str, str]:
    """The versions of hietan and the ontology, and the header of the annotations."""
    header = annotations.header if isinstance(annotations, AnnotationReader) else {}
    stated = {f"annotations, {key}": value for key, value in header.items()}
    return {"hietan": version("hietan"), "ontology": ontology.version, **stated}
