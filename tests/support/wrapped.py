"""Our models within the wrappers that `hietan.save` stores, fitted to small data."""

from __future__ import annotations

import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MaxAbsScaler

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import gmean_scorer
from hietan.selection import MinSupport

TWO = make_hierarchical_classification(60, 9, n_classes=2, random_state=0)
THREE = make_hierarchical_classification(60, 9, n_classes=3, random_state=0)
METHODS = ["sigmoid", "isotonic", "temperature"]
try:
    CalibratedClassifierCV(hietan.HIPNB(), method="temperature", cv=2).fit(TWO.X, TWO.y)
except ValueError:  # of an older scikit-learn
    METHODS.remove("temperature")


def tan(data=TWO):
    return hietan.HieTAN(hierarchy=data.hierarchy, random_state=3)


def linear(data=TWO):
    return hietan.ProximalGraph(hierarchy=data.hierarchy, lam=0.02)


def unfitted():
    """Wrappers by name, with the data that they are fitted to."""
    made = {
        "min_support": (MinSupport(tan(), min_support=3), TWO),
        "min_support of a linear model": (MinSupport(linear(), min_support=3), TWO),
        "min_support within another": (MinSupport(MinSupport(tan(), 3), 2), TWO),
        "min_support without a hierarchy": (MinSupport(hietan.AODE()), THREE),
        "pipeline": (make_pipeline(VarianceThreshold(0.02), hietan.TAN(random_state=1)), TWO),
        "pipeline of many steps": (
            make_pipeline(Binarizer(), "passthrough", MaxAbsScaler(), SelectKBest(chi2, k=5), hietan.AODE()),
            THREE,
        ),
        "pipeline of frames": (
            make_pipeline(SelectKBest(chi2, k=6).set_output(transform="pandas"), tan()),
            TWO,
        ),
        "pipeline with a hierarchy": (make_pipeline(MaxAbsScaler(), linear()), TWO),
        "pipeline within min_support": (
            MinSupport(make_pipeline(SelectKBest(chi2, k=4), hietan.HIPNB()), min_support=2),
            TWO,
        ),
        "fixed threshold": (FixedThresholdClassifier(tan(), threshold=0.3, pos_label=1), TWO),
        "tuned threshold": (
            TunedThresholdClassifierCV(tan(), thresholds=9, cv=2, store_cv_results=True),
            TWO,
        ),
        "tuned threshold by name": (
            TunedThresholdClassifierCV(linear(), scoring="f1", thresholds=[0.2, 0.5, 0.7], cv=2),
            TWO,
        ),
        "tuned threshold of a calibrated classifier": (
            TunedThresholdClassifierCV(
                CalibratedClassifierCV(tan(), cv=2), scoring=gmean_scorer, thresholds=9, cv=2
            ),
            TWO,
        ),
        "calibrated in a pipeline": (make_pipeline(Binarizer(), CalibratedClassifierCV(tan(), cv=2)), TWO),
        "calibrated min_support": (
            CalibratedClassifierCV(
                MinSupport(tan(THREE), 2), cv=StratifiedKFold(3, shuffle=True, random_state=1)
            ),
            THREE,
        ),
        "frozen and calibrated": (CalibratedClassifierCV(FrozenEstimator(tan().fit(TWO.X, TWO.y))), TWO),
        "prefit threshold": (
            TunedThresholdClassifierCV(tan().fit(TWO.X, TWO.y), cv="prefit", refit=False, thresholds=9),
            TWO,
        ),
        "frozen": (FrozenEstimator(tan().fit(TWO.X, TWO.y)), TWO),
    }
    for method in METHODS:
        for ensemble in (True, False):
            for data in (TWO, THREE):
                inner = linear(data) if method == "isotonic" else tan(data)
                name = f"{method}, ensemble={ensemble}, {len(data.target_names)} classes"
                made[name] = (CalibratedClassifierCV(inner, method=method, ensemble=ensemble, cv=3), data)
    return made


NAMES = list(unfitted())
ONLY_FRAMES = ("pipeline of frames",)  # those that match columns by name


def is_fresh(name):
    """Whether all parts of a wrapper are fitted together; otherwise one was fitted before, to rows without names."""
    return "frozen" not in name and "prefit" not in name


def fitted(name, form=lambda data: data.X):
    """The wrapper of a name and its rows, in the form in which it was fitted to them."""
    model, data = unfitted()[name]
    rows = form(data)
    return model.fit(rows, data.y), rows


def frame(data):
    """The rows of a dataset as a frame, with the names of the columns."""
    return pd.DataFrame(data.X.toarray(), columns=data.feature_names)


def dense(data):
    """The rows of a dataset as an array."""
    return data.X.toarray()
