"""The transformers that may come before a classifier in a stored pipeline: our own, and some of scikit-learn's.

The first may be our `HierarchyEncoder`; our selections may come anywhere. Those of scikit-learn make sense for binary
features, or for the numbers that a linear model takes, and have a fitted state that is a plain array or nothing:
choices of columns, a threshold, and a scale that keeps zeros. `FunctionTransformer` is not among them: its state is a
function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2, f_classif, mutual_info_classif
from sklearn.preprocessing import Binarizer, MaxAbsScaler

from hietan.hierarchy import Hierarchy
from hietan.persistence._checks import check_names, is_array, require
from hietan.persistence._kinds import Kind, is_count, is_finite, one_of
from hietan.selection import GTD, SHSEL, TSEL, HierarchyEncoder

_OUTPUT = "_sklearn_output_config"
_SCORE_FUNCTIONS = (chi2, f_classif, mutual_info_classif)
# The fitted arrays of each class, with a number for each column; None is accepted for those in _MAYBE_NONE.
_ARRAYS: dict[Any, tuple[str, ...]] = {
    Binarizer: (),
    MaxAbsScaler: ("max_abs_", "scale_"),
    SelectKBest: ("scores_", "pvalues_"),
    VarianceThreshold: ("variances_",),
}
_MAYBE_NONE = ("pvalues_",)
_OPTIONAL = {"feature_names_in_", "n_features_in_", "n_samples_seen_"}
# The fitted attributes of our own selections.
_OF_SELECTIONS = {"support_", "scores_", "hierarchy_", "n_features_in_"}


def width_after(step: Any, width: int) -> int:
    """The number of columns that a fitted step returns for rows with `width` columns."""
    return int(step.get_support().sum()) if hasattr(step, "get_support") else width


def _fitted(step: Any) -> dict[str, Any]:
    names = [*_ARRAYS[type(step)], "n_features_in_", "feature_names_in_", "n_samples_seen_"]
    fitted = {name: getattr(step, name) for name in names if hasattr(step, name)}
    return fitted | {"output": vars(step).get(_OUTPUT, {}).get("transform")}


def _restore(step: Any, fitted: Mapping[str, Any]) -> None:
    _restore_step(step, fitted, set(_ARRAYS[type(step)]), _OPTIONAL)


def _restore_step(step: Any, fitted: Mapping[str, Any], known: set[str], optional: set[str]) -> None:
    values = dict(fitted)
    output = values.pop("output")
    require(output in (None, "default", "pandas", "polars"), f"a step cannot return {output!r:.80}")
    require(known <= set(values) <= known | optional, f"{type(step).__name__} has other fitted attributes")
    for name, value in values.items():
        setattr(step, name, value)
    if output is not None:
        step.set_output(transform=output)


def _check(step: Any) -> None:
    name, d = type(step).__name__, getattr(step, "n_features_in_", None)
    if d is None:  # a Binarizer need not be fitted
        require(not _ARRAYS[type(step)], f"{name} does not say how many columns it has seen")
        return
    require(is_count(d), f"n_features_in_ of {name} is not a number of columns")
    for attribute in _ARRAYS[type(step)]:
        array = getattr(step, attribute)
        right = is_array(array, "f", (d,)) or (array is None and attribute in _MAYBE_NONE)
        require(right, f"{attribute} of {name} does not have a number for each of {d} columns")
    if hasattr(step, "feature_names_in_"):
        names = step.feature_names_in_
        right = is_array(names, "OU", (d,)) and all(isinstance(text, str) for text in names)
        require(right, f"feature_names_in_ of {name} are not the names of {d} columns")
    if isinstance(step, MaxAbsScaler):
        scale, largest = step.scale_, step.max_abs_
        usual = np.where(largest == 0, 1, largest)
        # Where the largest number is tiny, scikit-learn divides by 1 instead.
        right = (
            np.isfinite(largest) & (largest >= 0) & ((scale == usual) | ((scale == 1) & (largest < 1e-14)))
        )
        require(bool(right.all()), "the scale of a MaxAbsScaler is not that of its columns")
        require(is_count(getattr(step, "n_samples_seen_", 1)), "n_samples_seen_ is not a number of rows")


def _fitted_encoder(step: Any) -> dict[str, Any]:
    return {"support_": step.support_, "output": vars(step).get(_OUTPUT, {}).get("transform")}


def _restore_encoder(step: Any, fitted: Mapping[str, Any]) -> None:
    require(set(fitted) == {"support_", "output"}, "HierarchyEncoder has other fitted attributes")
    support, output = fitted["support_"], fitted["output"]
    require(output in (None, "default", "pandas", "polars"), f"a step cannot return {output!r:.80}")
    terms = step.hierarchy.features
    require(
        is_array(support, "b", (len(terms),)) and bool(support.any()),
        "support_ of HierarchyEncoder does not say which terms of the hierarchy are columns",
    )
    step.support_ = support
    step.hierarchy_ = step.hierarchy.restrict([terms[j] for j in np.flatnonzero(support)])
    if output is not None:
        step.set_output(transform=output)


def _check_encoder(step: Any) -> None:
    """Everything was checked before the attributes were set; on saving, they are those of a fit."""


def _fitted_selection(step: Any) -> dict[str, Any]:
    fitted = {name: getattr(step, name) for name in sorted(_OF_SELECTIONS)}
    if hasattr(step, "feature_names_in_"):
        fitted["feature_names_in_"] = step.feature_names_in_
    return fitted | {"output": vars(step).get(_OUTPUT, {}).get("transform")}


def _restore_selection(step: Any, fitted: Mapping[str, Any]) -> None:
    _restore_step(step, fitted, _OF_SELECTIONS, {"feature_names_in_"})


def _check_selection(step: Any) -> None:
    name, d, hierarchy = type(step).__name__, step.n_features_in_, step.hierarchy_
    require(is_count(d), f"n_features_in_ of {name} is not a number of columns")
    require(
        isinstance(hierarchy, Hierarchy) and len(hierarchy) == d, f"the hierarchy of {name} has other columns"
    )
    require(is_array(step.support_, "b", (d,)), f"support_ of {name} does not choose among the columns")
    right = is_array(step.scores_, "f", (d,)) and bool(np.isfinite(step.scores_).all())
    require(right, f"scores_ of {name} do not have a number for each of {d} columns")
    if hasattr(step, "feature_names_in_"):
        check_names(step.feature_names_in_, hierarchy)


def _is_hierarchy(value: Any) -> bool:
    return value is None or isinstance(value, Hierarchy)


def _selection(kind: Any, **rules: Any) -> Kind:
    """The entry of one of our own selections."""
    rules = {"hierarchy": _is_hierarchy, "binarize": lambda value: value is None or is_finite(value), **rules}
    return Kind(kind, _fitted_selection, _restore_selection, _check_selection, rules, is_classifier=False)


def _is_wanted_number(value: Any) -> bool:
    return is_count(value) or value == "all"


_FLAG = one_of(True, False)
STEPS = {
    kind.type.__name__: kind
    for kind in (
        Kind(
            HierarchyEncoder,
            _fitted_encoder,
            _restore_encoder,
            _check_encoder,
            {
                "hierarchy": lambda value: isinstance(value, Hierarchy),
                "min_support": lambda value: value == 0 or is_count(value),
                "handle_unknown": one_of("error", "warn", "ignore"),
                "input": one_of("auto", "lists", "pairs", "columns"),
                "sparse_output": _FLAG,
            },
            is_classifier=False,
        ),
        Kind(
            Binarizer, _fitted, _restore, _check, {"threshold": is_finite, "copy": _FLAG}, is_classifier=False
        ),
        Kind(MaxAbsScaler, _fitted, _restore, _check, {"copy": _FLAG, "clip": _FLAG}, is_classifier=False),
        Kind(
            SelectKBest,
            _fitted,
            _restore,
            _check,
            {"score_func": lambda value: value in _SCORE_FUNCTIONS, "k": _is_wanted_number},
            is_classifier=False,
        ),
        Kind(VarianceThreshold, _fitted, _restore, _check, {"threshold": is_finite}, is_classifier=False),
        _selection(GTD),
        _selection(SHSEL, threshold=is_finite),
        _selection(TSEL),
    )
}
