"""The state of a fitted classifier: what pickle, skops and `hietan.save` store, and the checks when it is restored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from hietan._runtime.notebook import Documented
from hietan.hierarchy import Hierarchy
from hietan.structure import OpenCounts, PairCounts, check_open_counts


class FittedState(Documented):
    """Give a classifier a state that may come from a stranger.

    The state is the parameters and the fitted attributes, whose names end with an underscore. Whatever follows from
    them, such as trees, is not part of it. `__setstate__` checks everything that predictions rely on, so that a forged
    file raises an exception, whichever library read it.
    """

    _stored: ClassVar[frozenset[str]]  # the fitted attributes that every model of the class has
    _stored_sometimes: ClassVar[frozenset[str]] = frozenset({"feature_names_in_"})
    without_hierarchy: ClassVar[str] = ""
    """What a classifier is without a hierarchy; "" if it does not use one."""

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_structure"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.pop("_structure", None)
        if self.__sklearn_is_fitted__():
            self._check_parameters()
            self._check_fitted(self._fitted_attributes())

    def __sklearn_is_fitted__(self) -> bool:
        return vars(self).keys() >= self._stored

    def _fitted_attributes(self) -> dict[str, Any]:
        known = self._stored | self._stored_sometimes
        return {name: value for name, value in sorted(vars(self).items()) if name in known}

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        """Raise ValueError for fitted attributes that no `fit` of this class can have left."""
        self._check_names(fitted)
        d, classes, hierarchy = fitted["n_features_in_"], fitted["classes_"], fitted["hierarchy_"]
        require(isinstance(hierarchy, Hierarchy), "hierarchy_ is not a hierarchy")
        require(type(d) is int and d == len(hierarchy) > 0, "the hierarchy and n_features_in_ disagree")
        require(isinstance(classes, np.ndarray) and classes.ndim == 1, "the classes are not an array")
        right = len(classes) > 1 and np.array_equal(np.unique(classes), classes)
        require(right, "the classes are not two or more labels, sorted")
        if "feature_names_in_" in fitted:
            _check_column_names(fitted["feature_names_in_"], hierarchy)
        if "root_order_" in fitted:
            order = fitted["root_order_"]
            right = isinstance(order, np.ndarray) and order.dtype == np.int64
            require(
                right and np.array_equal(np.sort(order), np.arange(d)), "root_order_ is not a permutation"
            )
        if "counts_" in fitted:
            _check_counts(fitted["counts_"], len(classes), hierarchy)
            _check_same(fitted["class_count_"], fitted["counts_"].class_count)
            unit = fitted["weight_unit_"]
            right = isinstance(unit, float) and 2.0**-200 <= unit <= 2.0**200 and math.frexp(unit)[0] == 0.5
            require(right, f"weight_unit_ is not a power of two that `fit` chooses: {unit!r:.80}")
        if "coef_" in fitted:
            n_rows = 1 if len(classes) == 2 else len(classes)
            check_numbers(fitted["coef_"], (n_rows, d), "coef_")
            check_numbers(fitted["intercept_"], (n_rows,), "intercept_")

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        given = set(names)
        unknown = sorted(given - cls._stored - cls._stored_sometimes)
        require(not unknown, f"not a fitted attribute of {cls.__name__}: {unknown[:1]}")
        missing = sorted(cls._stored - given)
        require(not missing, f"a fitted attribute of {cls.__name__} is missing: {missing[:1]}")


def check_numbers(value: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise ValueError unless the value is an array of finite numbers of this shape."""
    right = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
    require(right and bool(np.isfinite(value).all()), f"{name} does not hold finite numbers of shape {shape}")


def _check_column_names(names: Any, hierarchy: Hierarchy) -> None:
    right = isinstance(names, np.ndarray) and names.dtype.kind in "OU" and names.shape == (len(hierarchy),)
    require(right, "feature_names_in_ and n_features_in_ disagree")
    listed = tuple(names.tolist())
    # `fit` replaces names that cannot be those of a hierarchy by x0, x1, ...
    usable = len(set(listed)) == len(listed) and all(listed)
    require(not usable or listed == hierarchy.features, "feature_names_in_ and the hierarchy disagree")


def _check_same(class_count: Any, counted: Any) -> None:
    right = isinstance(class_count, np.ndarray) and class_count.dtype == np.int64
    require(right and np.array_equal(class_count, counted), "class_count_ and counts_ disagree")


def _check_counts(counts: Any, n_classes: int, hierarchy: Hierarchy) -> None:
    if isinstance(counts, OpenCounts):
        check_open_counts(counts, n_classes, hierarchy)
        return
    require(isinstance(counts, PairCounts), "counts_ are not counts")
    checked = counts.kernel  # raises ValueError for numbers that cannot be those of rows
    require(counts.ones.shape == (n_classes, len(hierarchy)), "the counts have the wrong shape")
    if not counts.is_dense or counts.pairs.size:
        checked.check_pairs()


def require(condition: bool, message: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError(message)
