"""A dataset as one file: a zip archive of plain arrays (`.npy`) and JSON, nothing that could run.

The bytes depend on the content alone: same dataset, same file.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._io import write_archive
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hietan.datasets.dataset import Dataset

FORMAT, VERSION = "hietan dataset", 1
_NAMES = ("feature_names", "term_names", "instance_names", "target_names")


def save(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write to a file beside it first, so that what was there stays if anything fails."""
    write_archive(Path(path), _members(data))


def _members(data: Dataset) -> dict[str, bytes]:
    X = data.X.copy()
    X.eliminate_zeros()
    X.sort_indices()
    edges = data.hierarchy.adjacency.tocoo()
    about = {"format": FORMAT, "version": VERSION, "shape": [int(n) for n in X.shape], "name": data.name}
    names = {attribute: list(getattr(data, attribute)) for attribute in _NAMES}
    if data.symbols:  # an addition that readers of this version may do without
        names["symbols"] = list(data.symbols)
    return {
        "about.json": _json(about),
        "names.json": _json(names),
        "provenance.json": _json(data.provenance),
        "indptr.npy": _npy(X.indptr),
        "indices.npy": _npy(X.indices),
        "y.npy": _npy(data.y),
        "edges.npy": _npy(np.stack([edges.row, edges.col])),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array, dtype="<i8"), allow_pickle=False)
    return buffer.getvalue()


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The parts of the dataset in the file, as its constructor takes them."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                about = json.loads(archive.read("about.json"))
                _check_version(about, name)
                return _parts(archive, about)
        except DataError:
            raise
        except Exception as error:  # any damage: a broken archive, a lost member, arrays that don't fit
            reason = str(error) or type(error).__name__
            raise DataError(f"not a dataset of hietan, or damaged: {reason}", name) from error


def _check_version(about: Any, name: str) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise DataError(f"not a dataset of hietan: the format is not {FORMAT!r}", name)
    if about.get("version") != VERSION:
        raise DataError(
            f"the file has version {about.get('version')} of the format, this hietan reads version {VERSION}; "
            "a newer hietan may read it",
            name,
        )


def _parts(archive: zipfile.ZipFile, about: dict[str, Any]) -> dict[str, Any]:
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
        **{attribute: tuple(names[attribute]) for attribute in _NAMES},
        "provenance": json.loads(archive.read("provenance.json").decode("utf-8", "surrogatepass")),
        "name": about["name"],
        "symbols": tuple(names.get("symbols", ())),
    }


def _read(archive: zipfile.ZipFile, member: str) -> NDArray[np.int64]:
    array: NDArray[np.int64] = np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
    return array
