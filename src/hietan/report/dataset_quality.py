"""How good the methods are on each dataset: what the report shows of curves, confusions and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan.evaluation.curves import (
    GRID,
    SCORES,
    Band,
    Quality,
    cross_fitted_thresholds,
    draw_rows,
    mean_quality,
    quality_of,
)
from hietan.evaluation.outputs import decimal, decimals

Line = dict[str, str]
COMPARED = ("gmean", "auc", "average_precision")
"""The scores by which methods are compared in pairs."""
MOST_CURVES = 40
"""Up to this many pairs of a dataset and a method, the report has curves: each costs a fraction of a second."""


def dataset_quality(
    by_method: Mapping[int, Mapping[str, Sequence[Line]]], labels: Sequence[str], tunings: Mapping[int, str]
) -> dict[str, Any] | None:
    """The curves, scores and confusions of the methods on a dataset of two classes; None for other numbers of them.

    Parameters
    ----------
    by_method : mapping of int to mapping of str to lines
        For each method, by its number, and for each seed, its lines in `predictions.csv`. The rows are in the same
        order throughout.
    labels : sequence of str
        The labels of the classes.
    tunings : mapping of int to str
        What was tuned for each method; "threshold" may be among it.
    """
    if len(labels) != 2 or not by_method:
        return None
    first = next(iter(next(iter(by_method.values())).values()))
    truth = np.array([line["y_true"] == labels[1] for line in first])
    weights = draw_rows(len(truth))
    found = {
        i: mean_quality([_quality(lines, truth, labels, weights) for lines in by_seed.values()])
        for i, by_seed in by_method.items()
    }
    return {
        "grid": decimals(GRID.tolist()),
        "methods": {
            i: {
                **_shown(found[i]),
                **_confusions(next(iter(by_seed.values())), truth, labels, "threshold" in tunings[i]),
            }
            for i, by_seed in by_method.items()
        },
        "pairs": {score: _pairs(found, score) for score in COMPARED},
    }


def _quality(
    lines: Sequence[Line], truth: NDArray[np.bool_], labels: Sequence[str], weights: NDArray[np.float64]
) -> Quality:
    return quality_of(truth, _predicted(lines, labels), _log_odds(lines), weights)


def _predicted(lines: Sequence[Line], labels: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([line["y_pred"] == labels[1] for line in lines])


def _log_odds(lines: Sequence[Line]) -> NDArray[np.float64] | None:
    if not all(line["log_odds"] for line in lines):
        return None
    return np.array([float(line["log_odds"]) for line in lines])


def _shown(quality: Quality) -> dict[str, Any]:
    has_curves = bool(np.isfinite(quality.roc[0]).all())
    return {
        "scores": {name: _ends(quality.band(name)) for name in SCORES},
        "roc": _band(quality.roc) if has_curves else None,
        "precision": _band(quality.precision) if has_curves else None,
    }


def _ends(band: Band) -> list[float | None]:
    return decimals([float(band.value), float(band.low), float(band.high)])


def _band(draws: NDArray[np.float64]) -> list[list[float | None]]:
    band = Band.of_draws(draws)
    return [decimals(values.tolist(), 3) for values in (band.value, band.low, band.high)]


def _confusions(
    lines: Sequence[Line], truth: NDArray[np.bool_], labels: Sequence[str], is_tuned: bool
) -> dict[str, Any]:
    """Counts [true class][predicted class] at the usual threshold and at a tuned one, with where the latter is from.

    A method that tunes its threshold predicts with it. For any other, the threshold of a row is the one that is best on
    the other folds. `threshold` is the median, as a probability.
    """
    predicted, score = _predicted(lines, labels), _log_odds(lines)
    if score is None:
        return {"confusion": _counts(truth, predicted), "tuned": None}
    if is_tuned:
        tuned, usual = predicted, score > 0
        return {
            "confusion": _counts(truth, usual),
            "tuned": {"counts": _counts(truth, tuned), "by": "method"},
        }
    fold = np.array([int(line["fold"]) for line in lines])
    thresholds = cross_fitted_thresholds(truth, score, fold)
    return {
        "confusion": _counts(truth, predicted),
        "tuned": {
            "counts": _counts(truth, score > thresholds),
            "by": "other folds",
            "threshold": decimal(float(expit(np.median(thresholds))), 3),
        },
    }


def _counts(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> list[list[int]]:
    return [[int(np.sum((truth == t) & (predicted == p))) for p in (False, True)] for t in (False, True)]


def _pairs(found: Mapping[int, Quality], score: str) -> list[list[Any]]:
    """Every method against the best by this score: [method, best, difference, low, high, share of draws above]."""
    known = {i: quality for i, quality in found.items() if np.isfinite(quality.draws[score][0])}
    if len(known) < 2:
        return []
    ordered = sorted(known, key=lambda i: -known[i].draws[score][0])
    lines = []
    for i in ordered[1:]:
        band, above = known[i].difference(known[ordered[0]], score)
        lines.append([i, ordered[0], *_ends(band), decimal(above)])
    return lines
