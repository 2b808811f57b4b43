"""The classifiers, under scikit-learn's API."""

from hietan.classifiers.tan import HRETAN, TAN, HieTAN, HieTANLite

__all__ = ["HRETAN", "TAN", "HieTAN", "HieTANLite"]
