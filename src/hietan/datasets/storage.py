"""A dataset as one file: a zip archive of plain arrays (`.npy`) and JSON, no code.

The bytes depend only on the content: the same dataset gives the same file.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io import write_archive
from hietan.datasets.parts import DatasetParts
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy

FORMAT, VERSION = "hietan dataset", 1


def save_parts(data: DatasetParts, path: str | os.PathLike[str]) -> None:
    """Write the parts of a dataset into one file, whole or not at all."""
    write_archive(Path(path), _members(data))


def _members(data: DatasetParts) -> dict[str, bytes]:
    X = data["X"].copy()
    X.eliminate_zeros()
    X.sort_indices()
    edges = data["hierarchy"].adjacency.tocoo()
    about = {"format": FORMAT, "version": VERSION, "shape": [int(n) for n in X.shape], "name": data["name"]}
    names = {
        "feature_names": list(data["feature_names"]),
        "term_names": list(data["term_names"]),
        "instance_names": list(data["instance_names"]),
        "target_names": list(data["target_names"]),
    }
    if data["symbols"]:  # added later: files without them are of the same version
        names["symbols"] = list(data["symbols"])
    return {
        "about.json": _json(about),
        "names.json": _json(names),
        "provenance.json": _json(data["provenance"]),
        "indptr.npy": _npy(X.indptr),
        "indices.npy": _npy(X.indices),
        "y.npy": _npy(data["y"]),
        "edges.npy": _npy(np.stack([edges.row, edges.col])),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array, dtype="<i8"), allow_pickle=False)
    return buffer.getvalue()


def load_parts(path: str | os.PathLike[str]) -> DatasetParts:
    """Read the parts of the dataset in the file; `Dataset` checks whether they fit together."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                about = json.loads(archive.read("about.json"))
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


def _parts(archive: zipfile.ZipFile, about: dict[str, Any]) -> DatasetParts:
    names = json.loads(archive.read("names.json").decode("utf-8", "surrogatepass"))
    indptr, indices = _read(archive, "indptr.npy"), _read(archive, "indices.npy")
    parent, child = _read(archive, "edges.npy")
    n_rows, n_columns = about["shape"]
    data = np.ones(len(indices), dtype=np.uint8)
    X = csr_array((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=(n_rows, n_columns))
    X.check_format(full_check=True)
    features = names["feature_names"]
    edges = [(features[p], features[c]) for p, c in zip(parent.tolist(), child.tolist(), strict=True)]
    return {
        "X": X,
        "y": _read(archive, "y.npy").astype(np.intp),
        "hierarchy": Hierarchy.from_edges(edges, features=features),
        "feature_names": tuple(features),
        "term_names": tuple(names["term_names"]),
        "instance_names": tuple(names["instance_names"]),
        "target_names": tuple(names["target_names"]),
        "provenance": json.loads(archive.read("provenance.json").decode("utf-8", "surrogatepass")),
        "name": about["name"],
        "symbols": tuple(names.get("symbols", ())),
    }


def _read(archive: zipfile.ZipFile, member: str) -> NDArray[np.int64]:
    array: NDArray[np.int64] = np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
    return array
