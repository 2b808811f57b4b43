"""The types that skops must trust to load pipelines and wrappers around hietan's classifiers."""

from __future__ import annotations

from hietan import classifiers, selection
from hietan.hierarchy import Hierarchy
from hietan.scores.metrics import gmean_scorer
from hietan.structure._counts import PairCounts, SparsePairs
from hietan.structure._openings import OpenCounts

# Private types of scikit-learn, which `CalibratedClassifierCV`, `TunedThresholdClassifierCV` and estimators with
# metadata requests hold.
_OF_SCIKIT_LEARN = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.metrics._classification.balanced_accuracy_score",
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)


def skops_types() -> list[str]:
    """Return the types to trust when skops loads an estimator that contains hietan classifiers.

    They are hietan's estimators, the types of their fitted attributes, and scikit-learn's private types in wrappers
    such as `CalibratedClassifierCV`. None of them runs code from the file, and the classifiers check their state.
    Judge all other types yourself; ``skops.io.get_untrusted_types`` lists them.

    Examples
    --------
    >>> import hietan
    >>> "hietan.hierarchy._hierarchy.Hierarchy" in hietan.skops_types()
    True
    """
    estimators = [getattr(room, name) for room in (classifiers, selection) for name in room.__all__]
    ours = [kind for kind in estimators if hasattr(kind, "fit")]
    ours += [Hierarchy, PairCounts, SparsePairs, OpenCounts, classifiers.LambdaPath, gmean_scorer._score_func]
    return sorted({f"{kind.__module__}.{kind.__qualname__}" for kind in ours} | set(_OF_SCIKIT_LEARN))
