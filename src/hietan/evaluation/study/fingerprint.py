"""Fingerprints, by which a study detects that a dataset, a method or a version has changed."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import numpy as np
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


def method_fingerprint(estimator: Any) -> str:
    """A hash of the class of an estimator, all its parameters, however deep, and the version of its package."""
    kind = type(estimator)
    parameters = estimator.get_params(deep=True)
    plain = {name: value for name, value in parameters.items() if not hasattr(value, "get_params")}
    kinds = {name: _path(type(value)) for name, value in parameters.items() if hasattr(value, "get_params")}
    try:
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


def _path(kind: type) -> str:
    # A class that has moved says where it was, so that studies stored before that are recognised. Subclasses have not.
    return str(vars(kind).get("__hietan_path__", f"{kind.__module__}.{kind.__qualname__}"))
