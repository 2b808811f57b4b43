"""The classifiers, under scikit-learn's API."""

from hietan.classifiers.tan import TAN, HieTAN, HieTANLite, HRETAN

__all__ = ["HRETAN", "TAN", "HieTAN", "HieTANLite"]
