"""Values to and from JSON and arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import chi2, f_classif, mutual_info_classif
from sklearn.model_selection import KFold, StratifiedKFold

from hietan import classifiers
from hietan._io import ArchiveReader
from hietan.evaluation.metrics import gmean_scorer
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.hierarchy.stored import ListedNames, from_positions, to_positions
from hietan.persistence._checks import require
from hietan.structure import OpenCounts, PairCounts, SparsePairs

MAX_DEPTH = 8
"""How deep estimators may be nested."""
MAX_CALLS = 10_000
"""How many estimators one prediction may pass through; an estimator that is used twice counts twice."""
_PLAIN = (type(None), bool, int, float, str)
_RECORDS: dict[str, Callable[..., Any]] = {
    "PairCounts": PairCounts,
    "SparsePairs": SparsePairs,
    "OpenCounts": OpenCounts,
    "LambdaPath": classifiers.LambdaPath,
}
_SPLITTERS: dict[str, Callable[..., Any]] = {"KFold": KFold, "StratifiedKFold": StratifiedKFold}
_SPLITTER_PARAMETERS = ("n_splits", "shuffle", "random_state")
_FUNCTIONS = {
    "chi2": chi2,
    "f_classif": f_classif,
    "mutual_info_classif": mutual_info_classif,
    "gmean_scorer": gmean_scorer,
}

# The text of a hierarchy, as it is written: before its names, and after them.
_NAMES, _EDGES = b'{"features": ', b', "edges": '
_END = re.compile(rb', "edges": "(array[0-9]{1,9}\.npy)"\}')

Parts = tuple[str, Mapping[str, Any], Mapping[str, Any] | None]
"""The name of an estimator's class, its parameters, and its fitted attributes; None if it is not fitted."""


class Writer:
    """Turns values into JSON; arrays and hierarchies become members of the archive, estimators entries of a list.

    Each of them is stored once, however often it is used.

    Parameters
    ----------
    take_apart : callable
        Returns the `Parts` of an estimator.
    """

    def __init__(self, take_apart: Callable[[Any], Parts]) -> None:
        self.members: dict[str, bytes | NDArray[Any]] = {}
        self.estimators: list[dict[str, Any]] = []
        """What was stored of each estimator, those within another one before it."""
        self._take_apart = take_apart
        self._hierarchies: list[tuple[Hierarchy, str]] = []
        self._numbers: dict[int, int] = {}
        self._within = 0

    def encode(self, value: Any) -> Any:
        """A value as JSON; what does not fit into JSON is referred to by the name of its member or by its number."""
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
            return {"kind": "hierarchy", "member": self._hierarchy(value)}
        if isinstance(value, BaseEstimator):
            return {"kind": "estimator", "number": self._estimator(value)}
        kind = type(value).__name__
        if kind in _RECORDS:
            fields = {key: self.encode(getattr(value, key)) for key in value.__dataclass_fields__}
            return {"kind": "record", "type": kind, "fields": fields}
        if type(value) in _SPLITTERS.values():
            fields = {key: self.encode(getattr(value, key)) for key in _SPLITTER_PARAMETERS}
            return {"kind": "splitter", "type": kind, "fields": fields}
        for name, function in _FUNCTIONS.items():
            # `clone` copies scorers, but not functions.
            if value is function or (type(value) is type(gmean_scorer) and vars(value) == vars(function)):
                return {"kind": "function", "name": name}
        raise TypeError(
            f"cannot be stored without pickle: {value!r:.80} ({kind}); an int random_state can be"
        )

    def _array(self, value: NDArray[Any]) -> str:
        name = f"array{len(self.members)}.npy"
        self.members[name] = np.ascontiguousarray(value)
        return name

    def _hierarchy(self, value: Hierarchy) -> str:
        for known, member in self._hierarchies:
            if value == known:
                return member
        member = f"hierarchy{len(self._hierarchies)}.json"
        names, ends = to_positions(value)
        edges = json.dumps(self._array(ends)).encode()
        self.members[member] = b"".join([_NAMES, names, _EDGES, edges, b"}"])
        self._hierarchies.append((value, member))
        return member

    def _estimator(self, value: BaseEstimator) -> int:
        if id(value) not in self._numbers:
            self._within += 1
            if self._within > MAX_DEPTH:
                raise TypeError(f"cannot be stored: estimators are nested deeper than {MAX_DEPTH}")
            name, parameters, fitted = self._take_apart(value)
            node = {
                "class": name,
                "parameters": {key: self.encode(item) for key, item in parameters.items()},
                "fitted": None if fitted is None else {k: self.encode(item) for k, item in fitted.items()},
            }
            self._within -= 1
            self.estimators.append(node)
            self._numbers[id(value)] = len(self.estimators) - 1
        return self._numbers[id(value)]


class Reader:
    """Turns JSON and members of the archive back into values; every hierarchy is built once."""

    def __init__(self, archive: ArchiveReader) -> None:
        self._archive = archive
        self.expected = 0
        """The size of the largest array that the model can hold, in bytes; 0 while it is not known."""
        self.estimators: list[Any] = []
        """The estimators that have been put together, which others may refer to."""
        self.is_wrapper = False
        """Whether the values may be more than data: estimators, splitters and functions."""
        self._hierarchies: dict[str, Hierarchy] = {}

    def decode(self, node: Any) -> Any:
        """The value that `Writer.encode` turned into `node`."""
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
        if kind == "record" and node["type"] in _RECORDS:
            fields = {key: self.decode(value) for key, value in node["fields"].items()}
            return _RECORDS[node["type"]](**fields)
        if self.is_wrapper and kind in ("estimator", "splitter", "function"):
            return self._helper(kind, node)
        raise ModelFileError(f"unknown kind of value {kind!r:.80}")

    def _helper(self, kind: str, node: Mapping[str, Any]) -> Any:
        if kind == "estimator":
            return self.estimators[node["number"]]  # `check_nesting` has seen the number
        if kind == "function":
            return _FUNCTIONS[node["name"]]
        fields = {key: node["fields"][key] for key in _SPLITTER_PARAMETERS}
        require(all(isinstance(value, _PLAIN) for value in fields.values()), "a splitter is not plain")
        return _SPLITTERS[node["type"]](**fields)

    def _array(self, member: str) -> NDArray[Any]:
        return self._archive.read_array(member, expected=self.expected)

    def _hierarchy(self, member: str) -> Hierarchy:
        if member not in self._hierarchies:
            features, edges = self._names_and_edges(self._archive.read_text(member))
            require(edges.dtype.kind in "iu" and edges.ndim == 2, "the edges of a hierarchy are not numbers")
            parent, child = edges
            self._hierarchies[member] = from_positions(features, parent, child)
        return self._hierarchies[member]

    def _names_and_edges(self, text: bytes) -> tuple[list[Any] | ListedNames, NDArray[Any]]:
        """The names and the edges of a hierarchy; of these, only `ListedNames` are checked."""
        end = _END.fullmatch(text, max(text.rfind(_EDGES), 0))
        names = None
        if end is not None and text.startswith(_NAMES):
            with suppress(ValueError):  # names that need escapes, or that are refused below
                names = ListedNames(text[len(_NAMES) : end.start()])
        if end is not None and names is not None:
            return names, self._array(end[1].decode())
        content = json.loads(text)
        require(isinstance(content["features"], list), "the features of a hierarchy are not a list")
        return content["features"], self._array(content["edges"])


def check_nesting(nodes: Sequence[Any]) -> None:
    """Refuse estimators that refer to any but earlier ones, are nested too deep, or call each other too often.

    Without the last check, a few lists that name one estimator many times would multiply: a small file whose first
    prediction never ends.
    """
    depths: list[int] = []
    calls: list[int] = []
    for node in nodes:
        numbers = list(_references(node))
        for number in numbers:
            known = type(number) is int and 0 <= number < len(depths)
            require(known, f"there is no estimator {number!r:.80} before number {len(depths)}")
        depths.append(1 + max((depths[number] for number in numbers), default=0))
        calls.append(1 + sum(calls[number] for number in numbers))
        require(depths[-1] <= MAX_DEPTH, f"estimators are nested deeper than {MAX_DEPTH}")
        require(calls[-1] <= MAX_CALLS, f"a prediction would pass through more than {MAX_CALLS:,} estimators")


def _references(node: Any) -> Iterator[Any]:
    """The numbers of the estimators that a description refers to, with repetitions."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if part.get("kind") == "estimator":
                yield part.get("number")
            waiting += part.values()
