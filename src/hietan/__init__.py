"""Classification with hierarchical features: exact, fast, explainable."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hietan._runtime.moved import redirect_moved_modules

if TYPE_CHECKING:
    from hietan.classifiers import (
        AODE,
        HIPNB,
        HRETAN,
        TAN,
        HieAODE,
        HieAODELite,
        HieTAN,
        HieTANLite,
        ProximalGraph,
    )
    from hietan.exceptions import HierarchyWarning
    from hietan.hierarchy import Hierarchy
    from hietan.persistence import load, save
    from hietan.structure import Tree

__version__ = "0.1.0"

__all__ = [
    "AODE",
    "HIPNB",
    "HRETAN",
    "TAN",
    "HieAODE",
    "HieAODELite",
    "HieTAN",
    "HieTANLite",
    "Hierarchy",
    "HierarchyWarning",
    "ProximalGraph",
    "Tree",
    "__version__",
    "load",
    "save",
]

# Names are imported when they are first asked for: scikit-learn alone is three quarters of the import's memory, and
# reading files or asking the command line for help needs none of it.
_HOMES = {
    "Hierarchy": "hietan.hierarchy",
    "HierarchyWarning": "hietan.exceptions",
    "Tree": "hietan.structure",
    "load": "hietan.persistence",
    "save": "hietan.persistence",
}

redirect_moved_modules()


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "hietan.classifiers")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
