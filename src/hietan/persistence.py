"""Models as files: a zip archive of plain arrays (`.npy`) and JSON. Nothing in it can run, so it may come from anyone.

Not skops: it trusts types, not values, and would set the state of an object as it stands in the file. Here every
number that the compiled kernel relies on is checked on the way in, a hierarchy is built anew by its own constructor,
and what follows from the counts (trees, rankings) is not stored at all. The price: it knows the classifiers of this
package alone; for others skops is the right tool.
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

FORMAT, VERSION = "hietan model", 1
MAX_BYTES = 8 << 30
CLASSIFIERS = tuple(name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit"))
_PLAIN = (type(None), bool, int, float, str)


def save(model: Any, path: str | os.PathLike[str], *, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a fitted classifier of this package to a file, which `load` reads back.

    Parameters
    ----------
    model : classifier
        Fitted; of this package.
    path : path
        Written whole or not at all.
    metadata : mapping, optional
        Plain values to keep beside it; `read_metadata` returns them.

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
        "fitted": {key: writer.encode(value) for key, value in _fitted(model).items()},
        "metadata": dict(metadata or {}),
    }
    writer.members["about.json"] = json.dumps(about, indent=1).encode()
    write_archive(Path(path), writer.members)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier that `save` wrote. Nothing in the file is run, and all of it is checked.

    Raises
    ------
    ModelFileError
        If the file is something else, damaged, inconsistent or of a later version.
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
    """What was kept beside a model."""
    metadata = _about(_read(Path(path)), path).get("metadata")
    return dict(metadata) if isinstance(metadata, dict) else {}


# ------------------------------------------------------------------ values to and from JSON and arrays


class _Writer:
    """Turns values into JSON; arrays and hierarchies become members of the archive, each once."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self._hierarchies: dict[Hierarchy, int] = {}

    def encode(self, value: Any) -> Any:
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
        raise TypeError(f"cannot be stored without pickle: {value!r:.80} ({kind}); an int random_state can")

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
    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self._hierarchies: dict[str, Hierarchy] = {}

    def decode(self, node: Any) -> Any:
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


def _fitted(model: Any) -> dict[str, Any]:
    """The fitted attributes, by scikit-learn's convention; what follows from them has names that begin with _."""
    return {k: v for k, v in sorted(vars(model).items()) if k.endswith("_") and not k.startswith("_")}


def _build(about: Mapping[str, Any], reader: _Reader) -> Any:
    name = about["class"]
    if name not in CLASSIFIERS:
        raise ModelFileError(f"unknown classifier {name!r}; known are {', '.join(CLASSIFIERS)}")
    kind = getattr(classifiers, name)
    model = kind(**{key: reader.decode(value) for key, value in about["parameters"].items()})
    fitted = {key: reader.decode(value) for key, value in about["fitted"].items()}
    wrong = [key for key in fitted if not key.endswith("_") or key.startswith("_") or hasattr(kind, key)]
    if wrong:
        raise ModelFileError(f"{wrong[0]!r} is no fitted attribute of {name}")
    if hasattr(model, "_check_parameters"):
        model._check_parameters()
    _check_fitted(fitted)
    counts = fitted.pop("counts_", None)
    for key, value in fitted.items():
        setattr(model, key, value)
    if counts is not None:
        model._set_counts(counts)
    check_is_fitted(model)
    return model


def _check_fitted(fitted: Mapping[str, Any]) -> None:
    """Everything that the kernel would otherwise take on trust."""
    d, classes = fitted["n_features_in_"], fitted["classes_"]
    _require(isinstance(d, int) and d > 0, "n_features_in_ is no number of features")
    _require(isinstance(fitted["hierarchy_"], Hierarchy), "hierarchy_ is no hierarchy")
    _require(len(fitted["hierarchy_"]) == d, "the hierarchy and n_features_in_ disagree")
    _require(
        classes.ndim == 1 and len(np.unique(classes)) == len(classes) >= 2, "the classes are not distinct"
    )
    _require(bool((np.sort(classes) == classes).all()), "the classes are not sorted")
    if "feature_names_in_" in fitted:
        _require(len(fitted["feature_names_in_"]) == d, "feature_names_in_ and n_features_in_ disagree")
    if "root_order_" in fitted:
        order = fitted["root_order_"]
        _require(order.dtype.kind in "iu" and order.shape == (d,), "root_order_ is no permutation")
        _require(bool((np.sort(order) == np.arange(d)).all()), "root_order_ is no permutation")
    if "coef_" in fitted:
        coef, intercept = fitted["coef_"], fitted["intercept_"]
        rows = 1 if len(classes) == 2 else len(classes)
        _require(coef.shape == (rows, d) and intercept.shape == (rows,), "the weights have another shape")
        _require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "a weight is not finite")
    if "counts_" in fitted:
        _check_counts(fitted["counts_"], len(classes), d)


def _check_counts(counts: PairCounts, n_classes: int, d: int) -> None:
    n, ones, pairs = counts.class_count, counts.ones, counts.pairs
    _require(n.dtype == np.int64 and ones.dtype == np.int32, "counts are no integers")
    _require(n.shape == (n_classes,) and ones.shape == (n_classes, d), "the counts have another shape")
    _require(int(n.astype(object).sum()) <= np.iinfo(np.int32).max, "more rows than counts can hold")
    _require(bool((n >= 0).all() and (ones >= 0).all() and (ones <= n[:, None]).all()), "impossible counts")
    if isinstance(pairs, SparsePairs):
        _check_sparse_pairs(pairs, n_classes, d)
    else:
        _require(pairs.dtype == np.int32, "counts are no integers")
        _require(
            pairs.shape in ((n_classes, d * (d - 1) // 2), (n_classes, 0)), "the pairs have another shape"
        )
        if pairs.shape[1] == 0:  # not counted, or there are none
            return
    for i in range(d):  # a row of the triangle at a time: the whole may be large
        row, above, beside = counts.row(i), ones[:, i : i + 1], ones[:, i + 1 :]
        possible = (row <= above) & (row <= beside) & (row >= 0) & (row >= above + beside - n[:, None])
        _require(bool(possible.all()), "impossible counts of pairs")


def _check_sparse_pairs(pairs: SparsePairs, n_classes: int, d: int) -> None:
    start, partner, values = pairs.indptr, pairs.indices, pairs.values
    types = [array.dtype for array in (start, partner, values)]
    _require(types == [np.int64, np.int32, np.int32], "counts are no integers")
    _require(
        start.shape == (d + 1,) and values.shape == (partner.size, n_classes), "the pairs have another shape"
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
                raise ModelFileError(f"{path} would unpack to {size} bytes; at most {MAX_BYTES} are read")
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, RuntimeError) as error:
        raise ModelFileError(f"{path} is no model of hietan, or damaged: {error}") from None


def _about(members: Mapping[str, bytes], path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        about = json.loads(members["about.json"])
        is_ours = about["format"] == FORMAT
        version = about["version"]
    except (KeyError, ValueError, TypeError):
        is_ours, version, about = False, 0, {}
    if not is_ours:
        raise ModelFileError(f"{os.fspath(path)} is no model of hietan: no file that hietan.save wrote")
    if version != VERSION:
        raise ModelFileError(
            f"{os.fspath(path)} has version {version!r} of the format; this hietan reads {VERSION}"
        )
    return dict(about)
