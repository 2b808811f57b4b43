"""The classifiers, under scikit-learn's API."""

from hietan._runtime.moved import moved_names
from hietan.classifiers._base import ALPHA_GRID, SMOOTHINGS
from hietan.classifiers._solvers.lambda_path import LAMBDA_CRITERIA, LambdaPath
from hietan.classifiers.aode import AODE, HieAODE, HieAODELite
from hietan.classifiers.hie_ban import HieBAN
from hietan.classifiers.hie_logistic import HieLogistic
from hietan.classifiers.lazy import HIPNB, LazySelection
from hietan.classifiers.proximal_graph import ProximalGraph
from hietan.classifiers.tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = [
    "ALPHA_GRID",
    "AODE",
    "HIPNB",
    "HRETAN",
    "LAMBDA_CRITERIA",
    "SMOOTHINGS",
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

__getattr__ = moved_names(__name__, {"MinSupport": "hietan.selection"})
