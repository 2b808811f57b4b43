"""What the catalogue says about a method, and a maker that several entries share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.linear_model import LogisticRegression


@dataclass(frozen=True)
class MethodEntry:
    """A method of the catalogue.

    Attributes
    ----------
    name : str
        Its name on the command line and in the tables of a study.
    title : str
        Its name for readers.
    idea : str
        What it does, in a few words.
    when : str
        When to take it, as the end of a sentence that begins with "Take it".
    make : callable
        Makes the unfitted classifier; for classifiers of this package, it accepts their parameters.
    sets : tuple of str
        The sets that it belongs to, besides "all".
    in_demo : bool
        Whether ``hietan demo`` shows it.
    """

    name: str
    title: str
    idea: str
    when: str
    make: Callable[..., Any]
    sets: tuple[str, ...] = ()
    in_demo: bool = False


def balanced_logistic(l1_ratio: float, **options: Any) -> Callable[[], LogisticRegression]:
    """A maker of balanced logistic regressions; scikit-learn 1.8 replaced `penalty` by `l1_ratio`."""

    def make() -> LogisticRegression:
        default = inspect.signature(LogisticRegression).parameters["penalty"].default
        settings = dict(options)
        if default != "deprecated":
            settings["penalty"] = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
        if default == "deprecated" or 0 < l1_ratio < 1:
            settings["l1_ratio"] = l1_ratio
        return LogisticRegression(class_weight="balanced", max_iter=5000, **settings)

    return make
