"""The model file: a zip archive of plain arrays (`.npy`) and JSON, safe to load from any source.

A classifier is stored as its parameters (`get_params`) and its fitted attributes. To load it, a new classifier with
these parameters gets the attributes through `__setstate__`, which checks them. The class of a model is looked up in a
table, never imported by its name.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hietan import classifiers
from hietan._io.archives import ArchiveReader, write_archive
from hietan._io.files import refuse_special, replacing
from hietan.classifiers._base import PairBayes
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._hierarchy import rebuild
from hietan.structure._counts import PairCounts, SparsePairs
from hietan.structure._openings import OpenCounts

FORMAT, VERSION = "hietan model", 4
_FIRST_MEMBER = b"array0.npy"
CLASSIFIERS = tuple(name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit"))
"""The names of the classifiers that can be stored."""
# Trees, averages and selections need all ancestors, at about 35 bytes per pair of a feature and an ancestor. A file may
# have this many pairs, and this many more for each of its bytes.
_PAIRS, _PAIR_RATIO = 1 << 22, 4
_PLAIN = (type(None), bool, int, float, str)
_RECORDS: dict[str, Any] = {
    kind.__name__: kind for kind in (PairCounts, SparsePairs, OpenCounts, classifiers.LambdaPath)
}


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    compressed: bool = False,
) -> None:
    """Write a fitted hietan classifier to a file for `load`.

    For pipelines, calibrated classifiers and other wrappers, use skops with `hietan.skops_types`.

    Parameters
    ----------
    model : classifier
        A fitted classifier of hietan.
    path : path
        The file to write. It is written completely or not at all.
    metadata : mapping or None, default None
        Plain values to keep in the file; `read_metadata` returns them.
    compressed : bool, default False
        Whether to compress the arrays. The file is then several times smaller, and writing is many times slower.

    Raises
    ------
    TypeError
        If the model is not a classifier of hietan, or has a parameter that cannot be stored without pickle.
    ValueError
        If the hierarchy has more ancestors than `load` accepts in a file of this size.

    Examples
    --------
    >>> import tempfile, hietan
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> model = hietan.HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hietan.save(model, f"{folder}/model.hietan")
    ...     again = hietan.load(f"{folder}/model.hietan")
    >>> bool((again.predict_proba(data.X) == model.predict_proba(data.X)).all())
    True
    """
    name = type(model).__name__
    if name not in CLASSIFIERS or type(model) is not getattr(classifiers, name):
        raise TypeError(
            f"hietan.save stores only hietan classifiers, got {name}. For other estimators, use skops:\n    "
            "skops.io.dump(model, path)\n    model = skops.io.load(path, trusted=hietan.skops_types())"
        )
    check_is_fitted(model)
    writer = _Writer()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": {key: writer.encode(value) for key, value in model.get_params(deep=False).items()},
        "fitted": {key: writer.encode(value) for key, value in model._fitted_attributes().items()},
        "metadata": dict(metadata or {}),
    }
    members = {**writer.members, "about.json": json.dumps(about).encode()}
    with replacing(Path(path), follow=True) as temporary:
        write_archive(temporary, members, compressed=compressed)
        _limit_ancestors(type(model), model.hierarchy_, temporary)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that was written by `save`. The whole file is checked, and nothing in it is executed.

    Parameters
    ----------
    path : path
        The file to read.

    Returns
    -------
    classifier
        A fitted classifier that predicts the same as the saved classifier. Its `n_jobs` is None.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or inconsistent, or was written by another version of the format.
    """
    with _open(path) as archive:
        about = _read_about(archive)
        name, nodes = about["class"], about["fitted"]
        if name not in CLASSIFIERS:
            raise ModelFileError(f"unknown classifier {name!r:.80}; expected one of {', '.join(CLASSIFIERS)}")
        kind, reader = getattr(classifiers, name), _Reader(archive)
        kind._check_names(nodes)
        n_classes, n_features = len(reader.decode(nodes["classes_"])), len(reader.decode(nodes["hierarchy_"]))
        reader.expected = 4 * n_classes * n_features**2  # the counts of all pairs need half of it
        parameters = {key: reader.decode(value) for key, value in about["parameters"].items()}
        model = kind(**{**parameters, "n_jobs": None})  # how many threads to use is not for a file to say
        fitted = {key: reader.decode(value) for key, value in nodes.items()}
        _limit_ancestors(kind, fitted["hierarchy_"], path)
        model.__setstate__({**vars(model), **fitted})
        return model


def _limit_ancestors(kind: type, hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Raise ValueError if a classifier needs all ancestors and there are more than a file of this size may have."""
    if issubclass(kind, PairBayes):
        hierarchy.limit_ancestors(_PAIRS + _PAIR_RATIO * os.path.getsize(path))


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the metadata that were passed to `save` with a model, or an empty dict without metadata.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by another version of the format.
    """
    with _open(path) as archive:
        metadata = _read_about(archive).get("metadata")
        return dict(metadata) if isinstance(metadata, dict) else {}


def is_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file claims to be a hietan model. `load` checks whether the model is valid."""
    try:
        refuse_special(path)
        with open(path, "rb") as file:
            start = file.read(64)
            return bool(ArchiveReader(file).read_json("about.json")["format"] == FORMAT)
    except zipfile.BadZipFile:  # an archive that was cut off begins with its first member
        return start[30:].startswith(_FIRST_MEMBER)
    except Exception:  # any other kind of file
        return False


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[ArchiveReader]:
    """Yield a model's archive. Any exception about its content becomes a ModelFileError that names the file."""
    name = os.fspath(path)
    refuse_special(path)
    with open(path, "rb") as file:
        try:
            yield ArchiveReader(file)
        except ModelFileError as error:
            raise ModelFileError(f"{name}: {error}") from None
        # zipfile, json and numpy raise all kinds of exceptions for damaged content, MemoryError included.
        except Exception as error:
            raise ModelFileError(
                f"{name} is not a hietan model, or it is damaged ({error!r:.200}); save or download it again"
            ) from error


def _read_about(archive: ArchiveReader) -> dict[str, Any]:
    about = archive.read_json("about.json")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else about
        raise ModelFileError(
            f"expected a hietan model, found {found!r:.40}; write a model with `hietan fit` or hietan.save"
        )
    if about.get("version") != VERSION:
        raise ModelFileError(
            f"this file uses format version {about.get('version')!r:.80}, but this version of hietan reads format "
            f"version {VERSION}; fit and save the model again"
        )
    return about


class _Writer:
    """A converter from values to JSON.

    Arrays and hierarchies become archive members, and each hierarchy is stored once.
    """

    def __init__(self) -> None:
        self.members: dict[str, bytes | NDArray[Any]] = {}
        self._hierarchies: list[tuple[Hierarchy, str]] = []

    def encode(self, value: Any) -> Any:
        """Return a value as JSON. Arrays and hierarchies are replaced by the names of their archive members."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        kind = type(value).__name__
        if isinstance(value, list | tuple):
            return {"kind": kind, "items": [self.encode(item) for item in value]}
        if isinstance(value, Mapping):
            return {"kind": "dict", "items": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, np.ndarray) and value.dtype == object and all(isinstance(v, str) for v in value):
            return {"kind": "strings", "items": value.tolist()}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
            return {"kind": "array", "member": self._array(value)}
        if isinstance(value, Hierarchy):
            return {"kind": "hierarchy", "member": self._hierarchy(value)}
        if kind in _RECORDS:
            content = {field.name: self.encode(getattr(value, field.name)) for field in fields(value)}
            return {"kind": "record", "type": kind, "fields": content}
        raise TypeError(
            f"{value!r:.80} ({kind}) cannot be stored without pickle; if it is a random_state, use an int"
        )

    def _array(self, value: NDArray[Any]) -> str:
        name = f"array{len(self.members)}.npy"
        self.members[name] = np.ascontiguousarray(value)
        return name

    def _hierarchy(self, value: Hierarchy) -> str:
        for known, member in self._hierarchies:
            if value == known:
                return member
        member, state = f"hierarchy{len(self._hierarchies)}.json", value.__getstate__()
        edges = self._array(np.stack([state["parent"], state["child"]]).astype(np.int64))
        self.members[member] = json.dumps({"features": state["features"], "edges": edges}).encode()
        self._hierarchies.append((value, member))
        return member


class _Reader:
    """A converter from JSON and archive members back to values. Each hierarchy is built once."""

    def __init__(self, archive: ArchiveReader) -> None:
        self._archive = archive
        self.expected = 0
        """The size of the model's largest possible array, in bytes; 0 while unknown."""
        self._hierarchies: dict[str, Hierarchy] = {}

    def decode(self, node: Any) -> Any:
        """Return the value that `_Writer.encode` encoded as `node`."""
        if isinstance(node, _PLAIN):
            return node
        kind = node["kind"]
        if kind in ("list", "tuple"):
            items = [self.decode(item) for item in node["items"]]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {self.decode(key): self.decode(value) for key, value in node["items"]}
        if kind == "strings":
            return np.array([str(item) for item in node["items"]], dtype=object)
        if kind == "array":
            return self._archive.read_array(node["member"], expected=self.expected)
        if kind == "hierarchy":
            return self._hierarchy(node["member"])
        if kind == "record":
            content = {key: self.decode(value) for key, value in node["fields"].items()}
            return _RECORDS[node["type"]](**content)
        raise ModelFileError(
            f"the model file contains an unknown kind of value, {kind!r:.80}; save the model again"
        )

    def _hierarchy(self, member: str) -> Hierarchy:
        if member not in self._hierarchies:
            content = self._archive.read_json(member)
            parent, child = self._archive.read_array(content["edges"])
            self._hierarchies[member] = rebuild(content["features"], parent, child)
        return self._hierarchies[member]
