"""The classifiers, under scikit-learn's API."""

from hietan.classifiers._solvers.lambda_path import LAMBDA_CRITERIA, LambdaPath
from hietan.classifiers._solvers.leave_one_out import ALPHA_GRID
from hietan.classifiers.aode import AODE, HieAODE, HieAODELite
from hietan.classifiers.checks import SMOOTHINGS
from hietan.classifiers.hie_ban import HieBAN
from hietan.classifiers.hie_logistic import HieLogistic
from hietan.classifiers.lazy_selection import HIPNB, LazySelection
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
