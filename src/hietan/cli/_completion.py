"""Shell completion: the values that the Tab key offers for options and arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from glob import escape, glob


def fitted_methods() -> tuple[str, ...]:
    """Return the methods whose models can be stored in a file."""
    from hietan.catalogue import METHODS
    from hietan.persistence._files import CLASSIFIERS

    return tuple(name for name, entry in METHODS.items() if type(entry.make()).__name__ in CLASSIFIERS)


def methods(incomplete: str) -> list[str]:
    """Offer the methods that `fit` accepts."""
    return _beginning_with(incomplete, fitted_methods())


def studied_methods(incomplete: str) -> list[str]:
    """Offer all methods and sets of methods."""
    from hietan.catalogue import method_names, method_sets

    return _beginning_with(incomplete, (*method_sets(), *method_names()))


def datasets(incomplete: str) -> list[str]:
    """Offer the named datasets and the files in the current directory."""
    from hietan.catalogue import dataset_names

    return [*_beginning_with(incomplete, dataset_names()), *_files(incomplete)]


def studied_datasets(incomplete: str) -> list[str]:
    """Offer the named datasets, the sets of datasets and the files in the current directory."""
    from hietan.catalogue import dataset_names, dataset_sets

    return [*_beginning_with(incomplete, (*dataset_sets(), *dataset_names())), *_files(incomplete)]


def metrics(incomplete: str) -> list[str]:
    """Offer the metrics that can rank methods."""
    from hietan.scores import METRICS

    return _beginning_with(incomplete, METRICS)


def one_of(*values: str) -> Callable[[str], list[str]]:
    """Return a completion function that offers the given words."""

    def offered(incomplete: str) -> list[str]:
        return _beginning_with(incomplete, values)

    return offered


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str) -> list[str]:
    """Return files written by hietan, and directories to descend into."""
    found = sorted(glob(escape(incomplete) + "*"))
    return [
        path + os.sep if os.path.isdir(path) else path
        for path in found
        if path.endswith(".hietan") or os.path.isdir(path)
    ]
