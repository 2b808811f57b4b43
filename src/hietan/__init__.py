"""Classification with hierarchical features: exact, fast, explainable."""

from hietan._warnings import HierarchyWarning
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
from hietan.hierarchy import Hierarchy
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
]
