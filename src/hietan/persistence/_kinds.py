"""What an entry of the table of estimators says about a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hietan.persistence._checks import require

Rule = Callable[[Any], bool]


def _no_check(model: Any) -> None:
    """Everything was checked before the attributes were set."""


@dataclass(frozen=True)
class Kind:
    """How estimators of a class are taken apart, put together and checked.

    Attributes
    ----------
    type : class
        The class.
    fitted : callable
        Returns the fitted attributes to store of a fitted estimator.
    restore : callable
        Gives an unfitted estimator its fitted attributes; refuses those of the wrong type.
    check : callable
        Refuses a fitted estimator whose parts do not fit together. It is called on saving and on loading.
    rules : mapping of str to callable
        The parameters that are stored, and whether a value of each is accepted. Empty for our own classifiers, which
        check their parameters themselves.
    is_classifier : bool
        Whether estimators of the class are classifiers rather than steps before one.
    """

    type: Any
    fitted: Callable[[Any], dict[str, Any]]
    restore: Callable[[Any, Mapping[str, Any]], None]
    check: Callable[[Any], None] = _no_check
    rules: Mapping[str, Rule] = field(default_factory=dict)
    is_classifier: bool = True

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Refuse parameters that are not stored, or have a value that is not."""
        if not self.rules:
            return
        for name, value in parameters.items():
            if name not in self.rules:
                raise TypeError(f"cannot be stored: the parameter {name!r:.80} of {self.type.__name__}")
            if not self.rules[name](value):
                shown = f"{name}={value!r:.80} of {self.type.__name__}"
                raise TypeError(f"cannot be stored without pickle, or not accepted: {shown}")


def is_plain(value: Any) -> bool:
    """Whether the value is None, a truth value, a number or a text."""
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def is_finite(value: Any) -> bool:
    """Whether the value is a finite number."""
    return (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


def is_count(value: Any) -> bool:
    """Whether the value is an integer above 0."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


def is_estimator(value: Any) -> bool:
    """Whether the value is an estimator; which ones there can be is decided where it is stored."""
    return isinstance(value, BaseEstimator)


def one_of(*values: Any) -> Rule:
    """The rule that a value is one of these, and of the same type."""
    return lambda value: any(type(value) is type(known) and value == known for known in values)


def column_names(model: Any) -> list[str] | None:
    """The names of the columns that a fitted estimator has seen; None if it has seen none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(names)


def require_classifier(model: Any, where: str, classes: Any = None) -> None:
    """Refuse anything but a fitted classifier, or one with other classes than those given."""
    require(is_estimator(model) and hasattr(model, "predict_proba"), f"{where} is not a classifier")
    try:
        check_is_fitted(model)
    except NotFittedError:
        require(False, f"{where} is not fitted")
    if classes is not None:
        require(np.array_equal(model.classes_, classes), f"{where} has other classes than what is around it")


def require_keys(fitted: Mapping[str, Any], needed: set[str], optional: frozenset[str] = frozenset()) -> None:
    """Refuse fitted attributes that are missing or unknown."""
    require(needed <= set(fitted) <= needed | optional, f"the fitted attributes are not {sorted(needed)}")
