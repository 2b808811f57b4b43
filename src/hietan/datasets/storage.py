"""A dataset as one file: a zip archive of plain arrays (`.npy`) and JSON, no code.

The bytes depend only on the content: the same dataset gives the same file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io import ArchiveReader, write_archive
from hietan.exceptions import DataError
from hietan.hierarchy import rebuild

FORMAT, VERSION = "hietan dataset", 1


def save_dataset(data: Any, path: str | os.PathLike[str]) -> None:
    """Write a dataset into one file, whole or not at all."""
    write_archive(Path(path), _members(data))


def _members(data: Any) -> dict[str, bytes | NDArray[np.int64]]:
    X = data.X
    if not X.has_sorted_indices or not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
        X.sort_indices()
    edges = data.hierarchy.adjacency.tocoo()
    about = {"format": FORMAT, "version": VERSION, "shape": [int(n) for n in X.shape], "name": data.name}
    if data.row_noun != "row":
        about["row_noun"] = data.row_noun
    names: dict[str, list[Any]] = {
        "feature_names": list(data.feature_names),
        "term_names": list(data.term_names),
        "instance_names": list(data.instance_names),
        "target_names": list(data.target_names),
    }
    if data.symbols:
        names["symbols"] = list(data.symbols)
    if data.synonyms:
        names["synonyms"] = list(map(list, data.synonyms))
    return {
        "about.json": _json(about),
        "names.json": _json(names),
        "provenance.json": _json(data.provenance),
        "indptr.npy": _integers_to_write(X.indptr),
        "indices.npy": _integers_to_write(X.indices),
        "y.npy": _integers_to_write(data.y),
        "edges.npy": _integers_to_write(np.stack([edges.row, edges.col])),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _integers_to_write(array: NDArray[Any]) -> NDArray[np.int64]:
    return np.ascontiguousarray(array, dtype="<i8")


def load_parts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the parts of the dataset in the file; `Dataset` checks whether they fit together."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            archive = ArchiveReader(file)
            about = archive.read_json("about.json")
            _check_version(about, name)
            return _parts(archive, about)
        except DataError:
            raise
        except Exception as error:  # any damage: a broken archive, a missing member, arrays that do not fit
            reason = str(error) or type(error).__name__
            raise DataError(f"not a hietan dataset, or damaged: {reason}", name) from error


def _check_version(about: Any, name: str) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise DataError(f"not a hietan dataset: the format is not {FORMAT!r}", name)
    if about.get("version") != VERSION:
        raise DataError(
            f"the file has version {about.get('version')} of the format, but this hietan reads version {VERSION}; "
            "a newer hietan may be able to read it",
            name,
        )


def _parts(archive: ArchiveReader, about: dict[str, Any]) -> dict[str, Any]:
    names, provenance = archive.read_json("names.json"), archive.read_json("provenance.json")
    features, instances = names["feature_names"], names["instance_names"]
    if not all(isinstance(listed, list) for listed in names.values()):
        raise ValueError("names.json should hold lists of names")
    if about["shape"] != [len(instances), len(features)]:
        raise ValueError(
            f"the shape {about['shape']} does not fit {len(instances)} names of rows and {len(features)} of features"
        )
    if not isinstance(about["name"], str) or not isinstance(provenance, dict):
        raise ValueError("the name of the dataset or its provenance is of the wrong kind")
    edges = _integers(archive, "edges.npy")
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edges.npy should have two rows, and has the shape {edges.shape}")
    return {
        "X": _matrix(archive, len(instances), len(features)),
        "y": _integers(archive, "y.npy").astype(np.intp),
        "hierarchy": rebuild(features, *edges),
        "feature_names": tuple(features),
        "term_names": tuple(names["term_names"]),
        "instance_names": tuple(instances),
        "target_names": tuple(names["target_names"]),
        "provenance": provenance,
        "name": about["name"],
        "symbols": tuple(names.get("symbols", ())),
        "synonyms": tuple(names.get("synonyms", ())),
        "row_noun": about.get("row_noun", "row"),
    }


def _matrix(archive: ArchiveReader, n_rows: int, n_columns: int) -> csr_array:
    """Return the ones of each row; checked in the integers of the file, before they become smaller ones."""
    indptr = _integers(archive, "indptr.npy")
    if indptr.shape != (n_rows + 1,) or not 0 <= indptr[-1] <= n_rows * n_columns:
        raise ValueError(f"indptr.npy does not say where each of {n_rows} rows begins")
    indices = _integers(archive, "indices.npy", expected=8 * int(indptr[-1]))
    if indices.shape != (indptr[-1],):
        raise ValueError(f"indices.npy should have {indptr[-1]} entries, and has the shape {indices.shape}")
    ones = np.ones(len(indices), dtype=np.uint8)
    X: csr_array = csr_array((ones, indices, indptr), shape=(n_rows, n_columns))
    X.check_format(full_check=True)
    index = np.int32 if indices.size <= np.iinfo(np.int32).max else np.int64
    return csr_array((ones, indices.astype(index), indptr.astype(index)), shape=X.shape)


def _integers(archive: ArchiveReader, member: str, *, expected: int = 0) -> NDArray[np.int64]:
    array: NDArray[np.int64] = archive.read_array(member, expected=expected)
    if array.dtype != np.int64:
        raise ValueError(f"{member} should hold integers of 64 bits, and holds {array.dtype}")
    return array
