"""Models as files: a zip archive of plain arrays (`.npy`) and JSON. Nothing in it can run, so it may come from anyone.

Why not skops: it trusts types, not values, and would set the state of an object exactly as the file says. Here every
number that the compiled kernel relies on is checked on reading, a hierarchy is built again by its own constructor, and
what follows from the counts (trees, rankings) is not stored at all. The price is that only the classifiers of this
package can be stored; for others skops is the right tool.

A classifier is stored as its parameters (`get_params`) and its fitted attributes (`__hietan_fitted__`); to load it, a
new one with those parameters is given the attributes (`__hietan_restore__`).
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from hietan import classifiers
from hietan._io import write_archive
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.structure import PairCounts, SparsePairs

# The archive names its format; files of another version are refused.
FORMAT, VERSION = "hietan model", 1
MAX_BYTES = 8 << 30
CLASSIFIERS = tuple(name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit"))
_PLAIN = (type(None), bool, int, float, str)


def save(model: Any, path: str | os.PathLike[str], *, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a fitted classifier of this package to a file, which `load` reads back.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this package.
    path : path
        The file to write. It is written completely or not at all.
    metadata : mapping or None, default None
        Plain values to keep in the file; `read_metadata` returns them.

    Raises
    ------
    TypeError
        If the model is not a classifier of this package, or has a parameter that cannot be stored without pickle.

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
        known = ", ".join(CLASSIFIERS)
        raise TypeError(f"hietan.save stores {known}; got {name}. For other estimators use skops")
    check_is_fitted(model)
    writer = _Writer()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": {key: writer.encode(value) for key, value in model.get_params(deep=False).items()},
        "fitted": {key: writer.encode(value) for key, value in model.__hietan_fitted__().items()},
        "metadata": dict(metadata or {}),
    }
    writer.members["about.json"] = json.dumps(about, indent=1).encode()
    write_archive(Path(path), writer.members)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier that `save` wrote. Nothing in the file is run, and all of it is checked.

    Parameters
    ----------
    path : path
        The file to read.

    Returns
    -------
    classifier
        A fitted classifier that predicts the same as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged, inconsistent or of a later version.
    """
    members = _read(Path(path))
    about = _about(members, path)
    try:
        return _build(about, _Reader(members))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{os.fspath(path)}: the parts do not fit together: {error!r:.200}") from error


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata that `save` was given with a model; empty if there was none."""
    metadata = _about(_read(Path(path)), path).get("metadata")
    return dict(metadata) if isinstance(metadata, dict) else {}


# ------------------------------------------------------------------ values to and from JSON and arrays


class _Writer:
    """Turns values into JSON; arrays and hierarchies become members of the archive, each once."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self._hierarchies: dict[Hierarchy, int] = {}

    def encode(self, value: Any) -> Any:
        """A value as JSON; what does not fit into JSON is referred to by the name of its member."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, list | tuple):
            return {"kind": type(value).__name__, "items": [self.encode(item) for item in value]}
        if isinstance(value, Mapping):
            return {"kind": "dict", "items": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, np.ndarray) and value.dtype == object and all(isinstance(v, str) for v in value):
            return {"kind": "strings", "items": value.tolist()}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
            return {"kind": "array", "member": self._array(value)}
        if isinstance(value, Hierarchy):
            return {"kind": "hierarchy", **self._hierarchy(value)}
        kind = type(value).__name__
        if kind in _records():
            fields = {key: self.encode(getattr(value, key)) for key in value.__dataclass_fields__}
            return {"kind": "record", "type": kind, "fields": fields}
        raise TypeError(
            f"cannot be stored without pickle: {value!r:.80} ({kind}); an int random_state can be"
        )

    def _array(self, value: NDArray[Any]) -> str:
        name = f"array{len(self.members)}.npy"
        data = io.BytesIO()
        np.save(data, np.ascontiguousarray(value), allow_pickle=False)
        self.members[name] = data.getvalue()
        return name

    def _hierarchy(self, value: Hierarchy) -> dict[str, Any]:
        number = self._hierarchies.setdefault(value, len(self._hierarchies))
        if f"hierarchy{number}.json" not in self.members:
            edges = coo_array(value.adjacency)
            ends = self._array(np.stack([edges.row, edges.col]).astype(np.int64))
            text = json.dumps({"features": list(value.features), "edges": ends})
            self.members[f"hierarchy{number}.json"] = text.encode()
        return {"member": f"hierarchy{number}.json"}


class _Reader:
    """Turns JSON and members of the archive back into values; every hierarchy is built once."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self._hierarchies: dict[str, Hierarchy] = {}

    def decode(self, node: Any) -> Any:
        """The value that `_Writer.encode` turned into `node`."""
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
            return self._array(node["member"])
        if kind == "hierarchy":
            return self._hierarchy(node["member"])
        if kind == "record" and node["type"] in _records():
            fields = {key: self.decode(value) for key, value in node["fields"].items()}
            return _records()[node["type"]](**fields)
        raise ModelFileError(f"unknown kind of value {kind!r}")

    def _array(self, member: str) -> NDArray[Any]:
        array: NDArray[Any] = np.load(io.BytesIO(self.members[member]), allow_pickle=False)
        return array

    def _hierarchy(self, member: str) -> Hierarchy:
        if member not in self._hierarchies:
            content = json.loads(self.members[member])
            row, column = self._array(content["edges"])
            shape = (len(content["features"]),) * 2
            ones = np.ones(len(row), dtype=np.uint8)
            matrix: Any = coo_array((ones, (row, column)), shape=shape)
            self._hierarchies[member] = Hierarchy.from_adjacency(matrix, content["features"])
        return self._hierarchies[member]


def _records() -> dict[str, Callable[..., Any]]:
    """The small dataclasses that a fitted classifier may hold."""
    return {"PairCounts": PairCounts, "SparsePairs": SparsePairs, "LambdaPath": classifiers.LambdaPath}


# ------------------------------------------------------------------ the classifier


def _build(about: Mapping[str, Any], reader: _Reader) -> Any:
    name = about["class"]
    if name not in CLASSIFIERS:
        raise ModelFileError(f"unknown classifier {name!r}; expected one of {', '.join(CLASSIFIERS)}")
    kind = getattr(classifiers, name)
    model = kind(**{key: reader.decode(value) for key, value in about["parameters"].items()})
    fitted = {key: reader.decode(value) for key, value in about["fitted"].items()}
    wrong = [key for key in fitted if not key.endswith("_") or key.startswith("_") or hasattr(kind, key)]
    if wrong:
        raise ModelFileError(f"{wrong[0]!r} is not a fitted attribute of {name}")
    _check_fitted(fitted)
    model.__hietan_restore__(fitted)
    check_is_fitted(model)
    return model


def _check_fitted(fitted: Mapping[str, Any]) -> None:
    """Check everything that the kernel would otherwise trust."""
    d, classes = fitted["n_features_in_"], fitted["classes_"]
    _require(isinstance(d, int) and d > 0, "n_features_in_ is not a number of features")
    _require(isinstance(fitted["hierarchy_"], Hierarchy), "hierarchy_ is not a hierarchy")
    _require(len(fitted["hierarchy_"]) == d, "the hierarchy and n_features_in_ disagree")
    _require(
        classes.ndim == 1 and len(np.unique(classes)) == len(classes) >= 2, "the classes are not distinct"
    )
    _require(bool((np.sort(classes) == classes).all()), "the classes are not sorted")
    if "feature_names_in_" in fitted:
        _require(len(fitted["feature_names_in_"]) == d, "feature_names_in_ and n_features_in_ disagree")
    if "root_order_" in fitted:
        order = fitted["root_order_"]
        _require(order.dtype.kind in "iu" and order.shape == (d,), "root_order_ is not a permutation")
        _require(bool((np.sort(order) == np.arange(d)).all()), "root_order_ is not a permutation")
    if "coef_" in fitted:
        coef, intercept = fitted["coef_"], fitted["intercept_"]
        rows = 1 if len(classes) == 2 else len(classes)
        _require(coef.shape == (rows, d) and intercept.shape == (rows,), "the weights have the wrong shape")
        _require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "a weight is not finite")
    if "counts_" in fitted:
        _check_counts(fitted["counts_"], len(classes), d)


def _check_counts(counts: PairCounts, n_classes: int, d: int) -> None:
    n, ones, pairs = counts.class_count, counts.ones, counts.pairs
    _require(n.dtype == np.int64 and ones.dtype == np.int32, "counts are not integers")
    _require(n.shape == (n_classes,) and ones.shape == (n_classes, d), "the counts have the wrong shape")
    _require(
        int(n.astype(object).sum()) <= np.iinfo(np.int32).max, "there are more rows than the counts can hold"
    )
    _require(bool((n >= 0).all() and (ones >= 0).all() and (ones <= n[:, None]).all()), "impossible counts")
    if isinstance(pairs, SparsePairs):
        _check_sparse_pairs(pairs, n_classes, d)
    else:
        _require(pairs.dtype == np.int32, "counts are not integers")
        _require(
            pairs.shape in ((n_classes, d * (d - 1) // 2), (n_classes, 0)), "the pairs have the wrong shape"
        )
        if pairs.shape[1] == 0:  # not counted, or there are none
            return
    for i in range(d):  # one row of the triangle at a time: all of it may be large
        row, above, beside = counts.row(i), ones[:, i : i + 1], ones[:, i + 1 :]
        possible = (row <= above) & (row <= beside) & (row >= 0) & (row >= above + beside - n[:, None])
        _require(bool(possible.all()), "impossible counts of pairs")


def _check_sparse_pairs(pairs: SparsePairs, n_classes: int, d: int) -> None:
    start, partner, values = pairs.indptr, pairs.indices, pairs.values
    types = [array.dtype for array in (start, partner, values)]
    _require(types == [np.int64, np.int32, np.int32], "counts are not integers")
    _require(
        start.shape == (d + 1,) and values.shape == (partner.size, n_classes),
        "the pairs have the wrong shape",
    )
    _require(
        start[0] == 0 and start[-1] == partner.size and bool((np.diff(start) >= 0).all()),
        "the pairs do not fit their features",
    )
    feature = np.repeat(np.arange(d), np.diff(start))
    rises = (np.diff(partner) > 0) | (np.diff(feature) > 0)
    _require(
        bool(rises.all() and (partner > feature).all() and (partner < d).all()), "a pair is out of place"
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ModelFileError(message)


# ------------------------------------------------------------------ the archive


def _read(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
            if size > MAX_BYTES:
                raise ModelFileError(f"{path} would unpack to {size} bytes; the limit is {MAX_BYTES}")
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, RuntimeError) as error:
        raise ModelFileError(f"{path} is not a hietan model, or it is damaged: {error}") from None


def _about(members: Mapping[str, bytes], path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        about = json.loads(members["about.json"])
        is_ours = about["format"] == FORMAT
        version = about["version"]
    except (KeyError, ValueError, TypeError):
        is_ours, version, about = False, 0, {}
    if not is_ours:
        raise ModelFileError(f"{os.fspath(path)} is not a hietan model: hietan.save did not write it")
    if version != VERSION:
        raise ModelFileError(
            f"{os.fspath(path)} has version {version!r} of the format; this version of hietan reads {VERSION}"
        )
    return dict(about)
