"""The classifiers by the names that the tables use."""

from __future__ import annotations

from inspect import signature
from typing import Any

from hietan import Hierarchy
from hietan.catalogue import METHODS as CATALOGUE

# The Bayesian classifiers: those that smooth.
METHODS: dict[str, Any] = {
    entry.title: entry.make for entry in CATALOGUE.values() if "smoothing" in signature(entry.make).parameters
}
# Trees choose their roots at random; the others have nothing to choose.
TREES = [name for name, kind in METHODS.items() if "random_state" in kind().get_params()]
# What needs neither trees nor pairs has figures of its own.
AVERAGES = [name for name in METHODS if name not in (*TREES, "HieBAN")]


def new(name: str, hierarchy: Hierarchy, **options: Any) -> Any:
    """A classifier that is not fitted yet."""
    if name in TREES:
        options["random_state"] = 0
    return METHODS[name](hierarchy=hierarchy, **options)
