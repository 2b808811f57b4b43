"""The table of the estimators that can be stored, and how each is taken apart and put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hietan import classifiers
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.persistence._checks import check_classes, check_fitted, require
from hietan.persistence._kinds import Kind
from hietan.persistence._steps import STEPS
from hietan.persistence._values import Parts, Reader
from hietan.persistence._wrappers import WRAPPERS

CLASSIFIERS = tuple(name for name in classifiers.__all__ if hasattr(getattr(classifiers, name), "fit"))
"""The names of the classifiers of this package."""


def _fitted_attributes(model: Any) -> dict[str, Any]:
    fitted: dict[str, Any] = model.__hietan_fitted__()
    return fitted


def _restore(model: Any, fitted: Mapping[str, Any]) -> None:
    check_fitted(fitted)
    model.__hietan_restore__(fitted)


_KINDS: dict[str, Kind] = {
    **{name: Kind(getattr(classifiers, name), _fitted_attributes, _restore) for name in CLASSIFIERS},
    **WRAPPERS,
    **STEPS,
}
STORABLE = tuple(_KINDS)
"""The names of all classes that can be stored: our classifiers, wrappers around them, and steps of pipelines."""


def kind_of(model: Any) -> Kind:
    """The entry of the table for an estimator; raises TypeError if there is none."""
    name = type(model).__name__
    kind = _KINDS.get(name)
    if kind is not None and type(model) is kind.type:
        return kind
    search = "; save its best_estimator_" if hasattr(model, "best_estimator_") else ""
    raise TypeError(
        f"hietan.save stores {', '.join(STORABLE)}; got {name}{search}. For other estimators use skops"
    )


def take_apart(model: Any) -> Parts:
    """The class, parameters and fitted attributes of an estimator, checked as `put_together` would check them."""
    kind = kind_of(model)
    parameters = model.get_params(deep=False)
    kind.check_parameters(parameters)
    try:
        check_is_fitted(model)
    except NotFittedError:
        return type(model).__name__, parameters, None
    kind.check(model)
    return type(model).__name__, parameters, kind.fitted(model)


def put_together(node: Mapping[str, Any], reader: Reader) -> Any:
    """The estimator that a description holds.

    Parameters
    ----------
    node : mapping
        Its class, parameters and fitted attributes, as the `Writer` left them.
    reader : Reader
        Decodes values; it knows the estimators that were put together before.
    """
    name, nodes = node["class"], node["fitted"]
    if not isinstance(name, str) or name not in _KINDS:
        raise ModelFileError(f"unknown classifier {name!r:.80}; expected one of {', '.join(STORABLE)}")
    kind = _KINDS[name]
    reader.is_wrapper, reader.expected = name in WRAPPERS or name in STEPS, 0
    if name in CLASSIFIERS and nodes is not None:
        kind.type.__hietan_check_names__(nodes)
        hierarchy, classes = reader.decode(nodes["hierarchy_"]), reader.decode(nodes["classes_"])
        require(isinstance(hierarchy, Hierarchy), "hierarchy_ is not a hierarchy")
        check_classes(classes)
        reader.expected = 4 * len(classes) * len(hierarchy) ** 2  # the counts of all pairs take half of it
    fitted = None if nodes is None else {key: reader.decode(value) for key, value in nodes.items()}
    parameters = {key: reader.decode(value) for key, value in node["parameters"].items()}
    kind.check_parameters(parameters)
    model = kind.type(**parameters)
    if fitted is not None:
        kind.restore(model, fitted)
        check_is_fitted(model)
        kind.check(model)
    return model
