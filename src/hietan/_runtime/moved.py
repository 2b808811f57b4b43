"""Old import paths: a module or a name that has moved is still found at its old path for one version, with a warning.

The tables hold plain text, so that nothing here imports the packages above: a module is imported only when its old path
is used. All entries are removed with the version `REMOVED_IN`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

REMOVED_IN = "0.3"
MODULES = {
    # Pickles name the modules of their classes.
    "hietan.datasets._dataset": "hietan.datasets.dataset",
    "hietan.explain._explanation": "hietan.explain",
    # Public modules.
    "hietan.parallel": "hietan._runtime.parallel",
    "hietan.classifiers.hip": "hietan.classifiers.lazy.hip",
    "hietan.classifiers.min_support": "hietan.selection.min_support",
    "hietan.evaluation.cluster": "hietan.evaluation.study.cluster",
    "hietan.evaluation.explanations": "hietan.evaluation.outputs.explanations",
    "hietan.evaluation.figures": "hietan.evaluation.outputs.figures",
    "hietan.evaluation.fingerprint": "hietan.evaluation.study.fingerprint",
    "hietan.evaluation.journal": "hietan.evaluation.study.journal",
    "hietan.evaluation.ranking": "hietan.evaluation.rank_tables",
    "hietan.evaluation.ranks": "hietan.evaluation.rank_tests",
    "hietan.evaluation.results": "hietan.evaluation.study.results",
    "hietan.evaluation.tables": "hietan.evaluation.outputs.tables",
    "hietan.evaluation.thread_pools": "hietan._runtime.thread_limits",
    "hietan.structure.proximal": "hietan.structure.penalty",
    "hietan.structure.ranking": "hietan.structure.edges",
}


def _warn(old: str, new: str, stacklevel: int) -> None:
    message = f"{old} has moved to {new}; the old path will be removed in version {REMOVED_IN}"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel + 1)


class _MovedModules(MetaPathFinder, Loader):
    """Makes the import of a module by its old path return the module at its new path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for a module that has moved, and None for any other; this finder is the last to be consulted."""
        return ModuleSpec(fullname, self) if fullname in MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty module at the old path with the module itself, so that there is only one."""
        old = module.__name__
        _warn(old, MODULES[old], stacklevel=2)
        sys.modules[old] = import_module(MODULES[old])


def redirect_moved_modules() -> None:
    """Make imports of moved modules work from now on."""
    if not any(isinstance(finder, _MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(_MovedModules())


def moved_names(module: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a module, which finds names that have moved; `homes` says where each one is now."""

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", f"{homes[name]}.{name}", stacklevel=2)
        return getattr(import_module(homes[name]), name)

    return __getattr__
