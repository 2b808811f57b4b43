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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from hietan import classifiers
from hietan._io import ArchiveReader, write_archive
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.structure import OpenCounts, PairCounts, SparsePairs, check_open_counts

# The archive names its format; files of another version are refused.
FORMAT, VERSION = "hietan model", 1
MAX_TREE_ROWS = 1 << 26
"""The most training rows of a class in a file of a classifier that learns trees.

A table of k log k with 8 bytes for each row is the price of the first prediction, however small the file is.
"""
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
    ModelFileError
        If a classifier that learns trees has seen more than 2^26 rows of a class, which `load` would refuse.

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
    fitted = model.__hietan_fitted__()
    _check_table(fitted)
    writer = _Writer()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": {key: writer.encode(value) for key, value in model.get_params(deep=False).items()},
        "fitted": {key: writer.encode(value) for key, value in fitted.items()},
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
    with _open(path) as archive:
        return _build(_read_about(archive), _Reader(archive))


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata that `save` was given with a model; empty if there were none.

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged or of a later version.
    """
    with _open(path) as archive:
        metadata = _read_about(archive).get("metadata")
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

    def __init__(self, archive: ArchiveReader) -> None:
        self._archive = archive
        self.expected = 0
        """The size of the largest array that the model can hold, in bytes; 0 while it is not known."""
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
        return self._archive.read_array(member, expected=self.expected)

    def _hierarchy(self, member: str) -> Hierarchy:
        if member not in self._hierarchies:
            content = self._archive.read_json(member)
            features, edges = content["features"], self._array(content["edges"])
            _require(isinstance(features, list), "the features of a hierarchy are not a list")
            _require(edges.dtype.kind in "iu" and edges.ndim == 2, "the edges of a hierarchy are not numbers")
            row, column = edges
            ones = np.ones(len(row), dtype=np.uint8)
            matrix: Any = coo_array((ones, (row, column)), shape=(len(features),) * 2)
            self._hierarchies[member] = Hierarchy.from_adjacency(matrix, features)
        return self._hierarchies[member]


def _records() -> dict[str, Callable[..., Any]]:
    """The small dataclasses that a fitted classifier may hold."""
    known = (PairCounts, SparsePairs, OpenCounts, classifiers.LambdaPath)
    return {kind.__name__: kind for kind in known}


# ------------------------------------------------------------------ the classifier


def _build(about: Mapping[str, Any], reader: _Reader) -> Any:
    name, nodes = about["class"], about["fitted"]
    if name not in CLASSIFIERS:
        raise ModelFileError(f"unknown classifier {name!r:.80}; expected one of {', '.join(CLASSIFIERS)}")
    kind = getattr(classifiers, name)
    kind.__hietan_check_names__(nodes)
    hierarchy, classes = reader.decode(nodes["hierarchy_"]), reader.decode(nodes["classes_"])
    _require(isinstance(hierarchy, Hierarchy), "hierarchy_ is not a hierarchy")
    _check_classes(classes)
    reader.expected = 4 * len(classes) * len(hierarchy) ** 2  # the counts of all pairs take half of it
    fitted = {key: reader.decode(value) for key, value in nodes.items()}
    model = kind(**{key: reader.decode(value) for key, value in about["parameters"].items()})
    _check_fitted(fitted)
    model.__hietan_restore__(fitted)
    check_is_fitted(model)
    return model


def _check_classes(classes: Any) -> None:
    _require(isinstance(classes, np.ndarray) and classes.ndim == 1, "the classes are not an array")
    _require(len(np.unique(classes)) == len(classes) >= 2, "the classes are not distinct")
    _require(bool((np.sort(classes) == classes).all()), "the classes are not sorted")


def _check_fitted(fitted: Mapping[str, Any]) -> None:
    """Check everything that the kernel would otherwise trust."""
    d, classes, hierarchy = fitted["n_features_in_"], fitted["classes_"], fitted["hierarchy_"]
    _require(type(d) is int and d > 0, "n_features_in_ is not a number of features")
    _require(len(hierarchy) == d, "the hierarchy and n_features_in_ disagree")
    if "feature_names_in_" in fitted:
        _check_names(fitted["feature_names_in_"], hierarchy)
    if "root_order_" in fitted:
        order = fitted["root_order_"]
        _require(_is_array(order, "iu", (d,)), "root_order_ is not a permutation")
        _require(bool((np.sort(order) == np.arange(d)).all()), "root_order_ is not a permutation")
    if "coef_" in fitted:
        _check_weights(fitted, 1 if len(classes) == 2 else len(classes), d)
    if "counts_" in fitted:
        if isinstance(fitted["counts_"], OpenCounts):
            check_open_counts(fitted["counts_"], len(classes), hierarchy)
        else:
            _require(isinstance(fitted["counts_"], PairCounts), "counts_ are not counts")
            _check_counts(fitted["counts_"], len(classes), d)
        same = np.array_equal(fitted["class_count_"], fitted["counts_"].class_count)
        _require(same, "class_count_ and counts_ disagree")
        _check_table(fitted)


def _check_names(names: Any, hierarchy: Hierarchy) -> None:
    _require(_is_array(names, "OU", (len(hierarchy),)), "feature_names_in_ and n_features_in_ disagree")
    listed = tuple(names.tolist())
    # Names that cannot be those of a hierarchy are replaced by x0, x1, ... in `fit`.
    if len(set(listed)) == len(listed) and all(listed):
        _require(listed == hierarchy.features, "feature_names_in_ and the hierarchy disagree")


def _check_weights(fitted: Mapping[str, Any], n_rows: int, d: int) -> None:
    coef, intercept = fitted["coef_"], fitted["intercept_"]
    right = _is_array(coef, "f", (n_rows, d)) and _is_array(intercept, "f", (n_rows,))
    _require(right, "the weights have the wrong shape")
    _require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "a weight is not finite")
    if "lam_" in fitted:
        _check_path(fitted, n_rows)


def _check_path(fitted: Mapping[str, Any], n_rows: int) -> None:
    lam = fitted["lam_"]
    _require(isinstance(lam, float) and 0 < lam < np.inf, "lam_ is not a number above 0")
    _require(_is_array(fitted["n_iter_"], "iu", (n_rows,)), "n_iter_ has the wrong shape")
    _require(_is_array(fitted["gap_"], "f", (n_rows,)), "gap_ has the wrong shape")
    if "path_" in fitted:
        path = fitted["path_"]
        _require(isinstance(path, classifiers.LambdaPath), "path_ is not a path of lambdas")
        shape = np.shape(path.lam)
        right = _is_array(path.lam, "f", shape) and _is_array(path.log_loss, "f", shape)
        _require(
            right and _is_array(path.n_features, "iu", shape) and len(shape) == 1, "path_ is inconsistent"
        )


def _is_array(value: Any, kinds: str, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.shape == shape


def _check_table(fitted: Mapping[str, Any]) -> None:
    """Refuse counts whose table of k log k would not be in proportion to the file."""
    if "root_order_" in fitted:
        most = int(fitted["class_count_"].max())
        _require(
            most <= MAX_TREE_ROWS,
            f"a class has {most:,} training rows; a model that learns trees is stored with up to {MAX_TREE_ROWS:,}",
        )


def _check_counts(counts: PairCounts, n_classes: int, d: int) -> None:
    n, ones, pairs = counts.class_count, counts.ones, counts.pairs
    _require(isinstance(n, np.ndarray) and isinstance(ones, np.ndarray), "counts are not arrays")
    _require(n.dtype == np.int64 and ones.dtype == np.int32, "counts are not integers")
    _require(n.shape == (n_classes,) and ones.shape == (n_classes, d), "the counts have the wrong shape")
    _require(
        int(n.astype(object).sum()) <= np.iinfo(np.int32).max, "there are more rows than the counts can hold"
    )
    _require(bool((n >= 0).all() and (ones >= 0).all() and (ones <= n[:, None]).all()), "impossible counts")
    if isinstance(pairs, SparsePairs):
        _check_sparse_pairs(pairs, n_classes, d)
        for c in range(n_classes):
            _check_sparse_counts(pairs, int(n[c]), ones[c].astype(np.int64), c)
        return
    _require(isinstance(pairs, np.ndarray) and pairs.dtype == np.int32, "counts are not integers")
    _require(pairs.shape in ((n_classes, d * (d - 1) // 2), (n_classes, 0)), "the pairs have the wrong shape")
    if pairs.shape[1] == 0:  # not counted, or there are none
        return
    room = (ones - n[:, None]).astype(np.int32)  # minus the zeros: a sum of two counts would overflow
    for i in range(d):  # one row of the triangle at a time: the whole may be large
        row, above, beside = counts.row(i), ones[:, i : i + 1], ones[:, i + 1 :]
        possible = (row >= 0) & (row <= above) & (row <= beside) & (row - beside >= room[:, i : i + 1])
        _require(bool(possible.all()), "impossible counts of pairs")


def _check_sparse_pairs(pairs: SparsePairs, n_classes: int, d: int) -> None:
    start, partner, values = pairs.indptr, pairs.indices, pairs.values
    types = [array.dtype for array in (start, partner, values)]
    _require(types == [np.int64, np.int32, np.int32], "counts are not integers")
    _require(
        start.shape == (d + 1,) and partner.ndim == 1 and values.shape == (partner.size, n_classes),
        "the pairs have the wrong shape",
    )
    _require(
        start[0] == start.min() == 0 and start[-1] == partner.size and bool((np.diff(start) >= 0).all()),
        "the pairs do not fit their features",
    )
    feature = np.repeat(np.arange(d), np.diff(start))
    rises = (np.diff(partner) > 0) | (np.diff(feature) > 0)
    _require(
        bool(rises.all() and (partner > feature).all() and (partner < d).all()), "a pair is out of place"
    )


def _check_sparse_counts(pairs: SparsePairs, n: int, ones: NDArray[np.int64], c: int) -> None:
    """Check the counts of a class, in time in proportion to the pairs that are there."""
    both = pairs.values[:, c]
    first, second = np.repeat(ones, np.diff(pairs.indptr)), ones[pairs.indices]
    least = first + second - n
    possible = (both >= 0) & (both <= first) & (both <= second) & (both >= least)
    # Two features with more ones than there are rows must co-occur: all such pairs must be among those that are there.
    ranked = np.sort(ones)
    partners = len(ones) - np.searchsorted(ranked, n - ranked, side="right")
    crowded = (partners.sum() - (2 * ranked > n).sum()) // 2
    _require(bool(possible.all() and (least > 0).sum() == crowded), "impossible counts of pairs")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ModelFileError(message)


# ------------------------------------------------------------------ the archive


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[ArchiveReader]:
    """The archive of a model; whatever goes wrong with its content is a ModelFileError that names the file."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            archive = ArchiveReader(file)
        except Exception as error:
            raise ModelFileError(f"{name} is not a hietan model, or it is damaged: {error}") from None
        try:
            yield archive
        except ModelFileError as error:
            raise ModelFileError(f"{name}: {error}") from None
        except (
            Exception
        ) as error:  # zipfile, json and numpy raise all kinds for damaged content, MemoryError included
            raise ModelFileError(f"{name}: the parts do not fit together: {error!r:.200}") from error


def _read_about(archive: ArchiveReader) -> dict[str, Any]:
    try:
        about = archive.read_json("about.json")
        is_ours = about["format"] == FORMAT
        version = about["version"]
    except Exception as error:
        raise ModelFileError(
            f"this is not a hietan model: hietan.save did not write it ({error!r:.200})"
        ) from None
    if not is_ours:
        raise ModelFileError("this is not a hietan model: hietan.save did not write it")
    if version != VERSION:
        raise ModelFileError(
            f"the file has version {version!r:.80} of the format; this version of hietan reads {VERSION}"
        )
    return dict(about)
