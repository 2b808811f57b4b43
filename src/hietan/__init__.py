"""Classification with hierarchical features: exact, explainable, fast.

To add a public name, add it to `__all__` and to the imports for type checkers below; a test compares the two.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hietan.classifiers import (
        AODE,
        HIPNB,
        HRETAN,
        TAN,
        HieAODE,
        HieAODELite,
        HieBAN,
        HieLogistic,
        HieTAN,
        HieTANLite,
        LazySelection,
        ProximalGraph,
    )
    from hietan.exceptions import HierarchyWarning
    from hietan.hierarchy import Hierarchy
    from hietan.persistence import load, save, skops_types
    from hietan.selection import GTD, SHSEL, TSEL, HierarchyEncoder
    from hietan.structure import Tree

__version__ = "0.2.0.dev0"

__all__ = [
    "AODE",
    "GTD",
    "HIPNB",
    "HRETAN",
    "SHSEL",
    "TAN",
    "TSEL",
    "HieAODE",
    "HieAODELite",
    "HieBAN",
    "HieLogistic",
    "HieTAN",
    "HieTANLite",
    "Hierarchy",
    "HierarchyEncoder",
    "HierarchyWarning",
    "LazySelection",
    "ProximalGraph",
    "Tree",
    "__version__",
    "load",
    "save",
    "skops_types",
]

# Names are imported on first use: scikit-learn alone accounts for three quarters of the memory of an import, and
# neither reading files nor showing the help of the command line needs it. The modules that hold the names are searched
# in this order, lightest first.
_HOMES = ("exceptions", "hierarchy", "structure", "classifiers", "selection", "persistence")


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name in __all__:
        for home in _HOMES:
            module = import_module(f"hietan.{home}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; dir({__name__}) lists its names")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
