"""The classifiers, under scikit-learn's API."""

from hietan.classifiers.aode import AODE, HieAODE, HieAODELite
from hietan.classifiers.hip import HIPNB
from hietan.classifiers.min_support import MinSupport
from hietan.classifiers.proximal_graph import LambdaPath, ProximalGraph
from hietan.classifiers.tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = [
    "AODE",
    "HIPNB",
    "HRETAN",
    "TAN",
    "HieAODE",
    "HieAODELite",
    "HieTAN",
    "HieTANLite",
    "LambdaPath",
    "MinSupport",
    "ProximalGraph",
]
