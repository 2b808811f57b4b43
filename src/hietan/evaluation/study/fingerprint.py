"""Fingerprints, by which a study detects that a dataset, a method or a version has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from copy import copy
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from operator import is_
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

PACKAGES = ("hietan", "numpy", "scipy", "scikit-learn", "joblib")


def dataset_fingerprint(dataset: Any) -> str:
    """A hash of the rows, the classes, the names and the hierarchy of a dataset."""
    digest = hashlib.sha256()
    X = dataset.X
    if issparse(X):
        canonical: Any = csr_array(X)  # type: ignore[call-overload]
        canonical.sum_duplicates()
        arrays = [canonical.indptr, canonical.indices, canonical.data]
    else:
        arrays = [np.asarray(X)]
    for array in [*arrays, np.asarray(dataset.y)]:
        wide = array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(np.str_)
        digest.update(repr((wide.shape, wide.dtype.str)).encode())
        digest.update(np.ascontiguousarray(wide).tobytes())
    hierarchy = getattr(dataset, "hierarchy", None)
    names = [getattr(dataset, attribute, None) for attribute in ("feature_names", "instance_names")]
    digest.update(repr([X.shape, *names, getattr(hierarchy, "edges", repr(hierarchy))]).encode())
    return digest.hexdigest()[:16]


def folds_fingerprint(folds: Sequence[NDArray[np.int64]]) -> str:
    """A hash of the fold in which each row is set aside, seed after seed."""
    digest = hashlib.sha256()
    for fold in folds:
        digest.update(np.ascontiguousarray(fold, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def describe_splitter(splitter: Any) -> str:
    """A splitter in one line; its class alone if it does not say more that is the same in another run."""
    text = " ".join(repr(splitter).split())
    return type(splitter).__name__ if " at 0x" in text else text


def method_fingerprint(estimator: Any) -> str:
    """A hash of the class of an estimator, all its parameters, however deep, and the version of its package.

    A class can name the parameters that it gained after a release in `__added_parameters__`. They count only where they
    differ from their defaults, so that studies which that release stored are recognised, also in the steps of a
    pipeline and wherever else estimators are in lists.
    """
    kind = type(estimator)
    parameters = {k: v for k, v in estimator.get_params(deep=True).items() if _counts(estimator, k, v)}
    kinds = {name: _path(type(value)) for name, value in parameters.items() if hasattr(value, "get_params")}
    try:
        done: dict[int, tuple[Any, Any]] = {}
        plain = {
            name: _without_additions(value, done) for name, value in parameters.items() if name not in kinds
        }
        hashed = joblib.hash((_path(kind), plain, kinds, package_version(kind)))
    except Exception as error:
        raise ValueError(
            f"{kind.__name__} has a parameter that cannot be recognised in another run ({error}); "
            "use named functions of a module instead of lambdas"
        ) from error
    return str(hashed)[:16]


def describe(estimator: Any) -> str:
    """The estimator in one line, as scikit-learn writes it."""
    return " ".join(repr(estimator).split())


def versions() -> dict[str, str]:
    """The versions of the packages that results depend on."""
    return {name: version(name) for name in PACKAGES}


def package_version(kind: type) -> str:
    """The version of the package that a class comes from; empty if it has none."""
    root = kind.__module__.partition(".")[0]
    try:
        return version({"sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}.get(root, root))
    except PackageNotFoundError:
        return ""


def _counts(estimator: Any, name: str, value: Any) -> bool:
    """Whether a parameter, by its deep name, is older than its class's list of additions or is not at its default."""
    owner, _, own_name = name.rpartition("__")
    return not _is_addition(estimator.get_params(deep=True)[owner] if owner else estimator, own_name, value)


def _is_addition(owner: Any, name: str, value: Any) -> bool:
    """Whether a parameter of an estimator is on its class's list of additions and at its default."""
    kind = type(owner)
    if name not in getattr(kind, "__added_parameters__", ()):
        return False
    default = signature(kind).parameters[name].default
    return value is default or (type(value) is type(default) and bool(value == default))


def _without_additions(value: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    """A value in which no estimator, however deep, has parameters that were added later and are at their defaults.

    A pipeline has its steps in a list, which is hashed as a whole. A hash depends on which objects occur twice. So what
    has no such parameters stays the same object; `done` has every object so far, by its identity, and its replacement.
    """
    if id(value) not in done:
        done[id(value)] = (value, _rebuilt(value, done))
    return done[id(value)][1]


def _rebuilt(value: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    if type(value) in (list, tuple):
        parts = [_without_additions(part, done) for part in value]
        return value if all(map(is_, parts, value)) else type(value)(parts)
    if type(value) is dict:
        changed = {key: _without_additions(part, done) for key, part in value.items()}
        return value if all(map(is_, changed.values(), value.values())) else changed
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return value
    own = value.get_params(deep=False)
    added = [name for name, part in own.items() if _is_addition(value, name, part)]
    inner = {name: _without_additions(part, done) for name, part in own.items()}
    inner = {name: part for name, part in inner.items() if part is not own[name]}
    if not added and not inner:
        return value
    earlier = copy(value)
    vars(earlier).update(inner)
    for name in added:
        vars(earlier).pop(name, None)
    return earlier


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
