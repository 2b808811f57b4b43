"""Fingerprints, with which a study detects that a dataset, a method or a version has changed."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

PACKAGES = ("hietan", "numpy", "scipy", "scikit-learn", "joblib")


def dataset_fingerprint(dataset: Any) -> str:
    """Return a hash of a dataset's rows, classes, names and hierarchy."""
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
    """Return a hash of the fold in which each row is held out, seed by seed."""
    digest = hashlib.sha256()
    for fold in folds:
        digest.update(np.ascontiguousarray(fold, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def describe_splitter(splitter: Any) -> str:
    """Return a splitter in one line, or only its class if its text differs between runs."""
    text = " ".join(repr(splitter).split())
    return type(splitter).__name__ if " at 0x" in text else text


def method_fingerprint(estimator: Any) -> str:
    """Return a hash of an estimator's class, all of its parameters, and the version or source of its code."""
    kind = type(estimator)
    parameters = estimator.get_params(deep=True)
    kinds = {
        name: _identity(type(value)) for name, value in parameters.items() if hasattr(value, "get_params")
    }
    plain = {name: value for name, value in parameters.items() if name not in kinds}
    try:
        hashed = joblib.hash((_identity(kind), plain, kinds))
    except Exception as error:
        raise ValueError(
            f"{kind.__name__} has a parameter that cannot be recognised in another run ({error}); replace "
            "lambdas with named functions in a module"
        ) from error
    return str(hashed)[:16]


def describe(estimator: Any) -> str:
    """Return the estimator in one line, in scikit-learn's notation."""
    return " ".join(repr(estimator).split())


def versions() -> dict[str, str]:
    """Return the versions of the packages that affect the results."""
    return {name: version(name) for name in PACKAGES}


def _identity(kind: type) -> tuple[str, str]:
    """Return a class's path with its package's version, or with a hash of its source if there is no version."""
    path = f"{kind.__module__}.{kind.__qualname__}"
    package_version = _version_of(kind)
    if package_version is not None:
        return path, package_version
    sources = [_source_of(each) for each in kind.__mro__ if _version_of(each) is None]
    return path, str(joblib.hash(sources))


def _version_of(kind: type) -> str | None:
    """Return the version of the package that defines a class, or None if it has none, as in a user's own module."""
    package = kind.__module__.partition(".")[0]
    if package in sys.stdlib_module_names and package != "__main__":
        return sys.version.partition(" ")[0]
    with suppress(PackageNotFoundError):
        return version({"sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}.get(package, package))
    return None


def _source_of(kind: type) -> str:
    """Return the source of a class's module, whose functions and constants the class may use.

    A script that runs the study changes for other reasons, so only the class counts there.
    """
    with suppress(OSError, TypeError):  # a class defined in a session has no source file
        return inspect.getsource(kind if kind.__module__ == "__main__" else sys.modules[kind.__module__])
    return ""
