"""The classifiers, under scikit-learn's API."""

from hietan.classifiers.proximal_graph import LambdaPath, ProximalGraph
from hietan.classifiers.tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = ["HRETAN", "TAN", "HieTAN", "HieTANLite", "LambdaPath", "ProximalGraph"]
