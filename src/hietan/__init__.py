"""Classification with hierarchical features: exact, fast, explainable."""

from hietan._warnings import HierarchyWarning
from hietan.classifiers import AODE, HIPNB, HRETAN, TAN, HieAODE, HieAODELite, HieTAN, HieTANLite
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
    "Tree",
    "__version__",
    "load",
    "save",
]
