"""The classifiers, under scikit-learn's API."""

from hietan._runtime.moved import moved_names
from hietan.classifiers._base import SMOOTHINGS
from hietan.classifiers.aode import AODE, HieAODE, HieAODELite
from hietan.classifiers.hip import HIPNB
from hietan.classifiers.proximal_graph import LambdaPath, ProximalGraph
from hietan.classifiers.tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = [
    "AODE",
    "HIPNB",
    "HRETAN",
    "SMOOTHINGS",
    "TAN",
    "HieAODE",
    "HieAODELite",
    "HieTAN",
    "HieTANLite",
    "LambdaPath",
    "ProximalGraph",
]

__getattr__ = moved_names(__name__, {"MinSupport": "hietan.selection"})
