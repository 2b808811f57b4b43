"""Classifiers with scikit-learn's API."""

from hietan.classifiers._aode import AODE, HieAODE, HieAODELite
from hietan.classifiers._hie_ban import HieBAN
from hietan.classifiers._hie_logistic import HieLogistic
from hietan.classifiers._lazy_selection import HIPNB, LazySelection
from hietan.classifiers._proximal_graph import ProximalGraph
from hietan.classifiers._solvers.lambda_path import LambdaPath
from hietan.classifiers._tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = [
    "AODE",
    "HIPNB",
    "HRETAN",
    "TAN",
    "HieAODE",
    "HieAODELite",
    "HieBAN",
    "HieLogistic",
    "HieTAN",
    "HieTANLite",
    "LambdaPath",
    "LazySelection",
    "ProximalGraph",
]
