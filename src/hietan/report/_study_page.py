"""Collect the content of a study's report in a plain dict, without writing any files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io.files import atomic_write
from hietan._io.tables import read_csv
from hietan.evaluation import Ranking, TestResult, make_rankings, read_summary
from hietan.evaluation._outputs.report_data import decimal, decimals, read_details, significant
from hietan.evaluation._rank_tables import rank_incomplete
from hietan.evaluation._study.journal import read_manifest
from hietan.evaluation._study.plan import method_key
from hietan.evaluation._study.results import read_failure_lines, read_incomplete
from hietan.exceptions import StudyError
from hietan.report._html import TERM_URLS, render
from hietan.report._verdicts import study_title, study_verdict
from hietan.scores import METRICS, reliability_curve
from hietan.scores.calibration import cross_fitted_cutoffs, fit_sigmoid
from hietan.scores.curves import (
    GRID,
    SCORES,
    Band,
    Quality,
    draw_rows,
    mean_quality,
    quality_of,
)

FORMAT = 1
Line = dict[str, str]
COMPARED = ("auc", "gmean", "average_precision")
"""The metrics by which methods are compared in pairs."""
MOST_CURVES = 40
"""The largest number of (dataset, method) pairs for which a report has curves and calibrated probabilities."""


def write_report(
    folder: str | Path,
    output: str | Path | None = None,
    *,
    term_urls: Mapping[str, str] = TERM_URLS,
    date: str | None = None,
) -> Path:
    """Write a study's report as a single HTML file.

    Parameters
    ----------
    folder : path
        The directory of a finished study. Nothing in it is changed.
    output : path, optional
        The file to write [default: `report.html` in the directory].
    term_urls : mapping of str to str
        URLs that describe terms, by identifier prefix; see `hietan.report.parse_term_urls`.
    date : str, optional
        The date in the title. By default, it is the date of the data: the latest date in their file versions. The
        same study therefore always gives the same report.

    Returns
    -------
    Path
        The report's path.
    """
    path = Path(output) if output is not None else Path(folder) / "report.html"
    content = study_summary(folder, term_urls=term_urls, date=date)
    try:
        page = render(content).encode()
    except ValueError as error:  # a number that JSON cannot represent, or a text that cannot be encoded
        raise _damaged(folder, error) from error
    atomic_write(path, page, follow=output is not None)
    return path


def study_summary(
    folder: str | Path, *, term_urls: Mapping[str, str] = TERM_URLS, date: str | None = None
) -> dict[str, Any]:
    """Return a study report's content as plain values. Predictions and explanations come from the first seed.

    See `write_report` for the parameters.

    Raises
    ------
    StudyError
        If the directory does not contain a finished study, or one of its files is damaged.
    """
    try:
        found = _study_summary(Path(folder))
        words = {"title": study_title(found, date), "verdict": study_verdict(found)}
        return {**found, **words, "term_urls": dict(term_urls)}
    except StudyError:
        raise
    # The files may be damaged: a column may be missing, a number may be a word, a method may not be in the summary.
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        StopIteration,
        csv.Error,
    ) as error:
        raise _damaged(folder, error) from error


def _damaged(folder: str | Path, error: Exception) -> StudyError:
    return StudyError(
        f"the files of the study in {folder} are damaged or do not belong together ({error!r:.200}); "
        "run the study again to write them"
    )


def _study_summary(folder: Path) -> dict[str, Any]:
    summary = read_summary(folder)
    manifest = read_manifest(folder)
    about = {name: manifest[name] for name in ("groups", "shared_rows", "class_weighted")}
    rankings = make_rankings(summary, names=manifest["datasets"], **about)
    methods = list(dict.fromkeys((row.method, row.setting, row.tuning) for row in summary))
    every_seed = _predictions(folder, methods, manifest)
    first = str(manifest["seeds"][0])
    predictions = {
        name: {i: seeds[first] for i, seeds in found.items() if first in seeds}
        for name, found in every_seed.items()
    }
    usage = _usage(folder, methods)
    datasets = [
        _dataset(folder, name, manifest, methods, predictions.get(name, {}), usage.get(name, {}))
        for name in manifest["datasets"]
    ]
    if len(datasets) * len(methods) <= MOST_CURVES:
        tunings = {i: tuning for i, (_, _, tuning) in enumerate(methods)}
        for dataset in datasets:
            found = every_seed.get(dataset["name"], {})
            dataset["quality"] = _dataset_quality(found, dataset["labels"], tunings)
    positives = {row.positive for row in summary}
    positive = positives.pop() if len(positives) == 1 else "positive class"
    return {
        "format": FORMAT,
        "kind": "study",
        "about": _about(manifest, _rows(folder / "failures.csv")) | {"failed": read_failure_lines(folder)},
        "metrics": {name: _metric(name, positive) for name in METRICS},
        "methods": [_method(which, methods, manifest) for which in methods],
        "rankings": [
            _ranking(ranking, methods, folder)
            for ranking in sorted(rankings, key=lambda each: each.metric != "auc")  # the verdict is about AUC
        ],
        "incomplete": [
            _incomplete(by_share, methods)
            for by_share in rank_incomplete(read_incomplete(folder), manifest["datasets"])
        ],
        "reliability": _reliability(predictions, {data["name"]: data["labels"] for data in datasets}),
        "datasets": datasets,
    }


def _metric(name: str, positive: str) -> dict[str, Any]:
    metric = METRICS[name]
    return {
        "label": metric.label_of(positive),
        "lower_is_better": metric.lower_is_better,
    }


def _about(manifest: Mapping[str, Any], failures: Sequence[Line]) -> dict[str, Any]:
    return {
        "command": manifest["command"],
        "versions": manifest["versions"],
        "folds": manifest["cv"],
        "seeds": manifest["seeds"],
        "equal_rows": manifest.get("equal_rows", "keep"),
        "failures": [
            [line["dataset"], line["method"], int(line["seed"]), int(line["fold"]), line["error"]]
            for line in failures
        ],
    }


def _method(
    which: tuple[str, str, str], methods: Sequence[tuple[str, ...]], manifest: Mapping[str, Any]
) -> Any:
    name, setting, tuning = which
    alone = sum(other[0] == name for other in methods) == 1
    key = method_key(*which)
    extra = [setting] * bool(setting) + [f"tuned: {tuning}"] * (tuning != "none")
    return {
        "key": key,
        "name": name if alone else ", ".join([name, *extra]),
        "setting": setting,
        "tuning": tuning,
        "description": manifest["descriptions"].get(key, ""),
    }


def _numbers(ranking: Ranking, methods: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the ranked methods' indices among all methods."""
    return [
        next(
            i
            for i, (method, setting, tuning) in enumerate(methods)
            if method == name and tuning == ranking.tuning and setting in (ranking.setting, "")
        )
        for name in ranking.methods
    ]


def _incomplete(by_share: Mapping[float, Ranking], methods: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Return each method's mean scores for each share of lost annotations."""
    first = by_share[0]
    return {
        "metric": first.metric,
        "tuning": first.tuning,
        "setting": first.setting,
        "methods": _numbers(first, methods),
        "shares": list(by_share),
        "means": [decimals(ranking.means().values()) for ranking in by_share.values()],
    }


def _ranking(ranking: Ranking, methods: Sequence[tuple[str, ...]], folder: Path) -> dict[str, Any]:
    here = _numbers(ranking, methods)
    number = dict(zip(ranking.methods, here, strict=True))
    ranks, test, nemenyi = ranking.average_ranks(), ranking.comparison, ranking.nemenyi
    return {
        "title": ranking.title,
        "metric": ranking.metric,
        "tuning": ranking.tuning,
        "setting": ranking.setting,
        "methods": here,
        "datasets": list(ranking.datasets),
        "scores": [decimals(row) for row in ranking.scores.tolist()],
        "spread": [decimals(row) for row in ranking.spread.tolist()],
        "ranks": decimals(ranks.values()),
        "wins": decimals(ranking.wins().values()),
        "means": decimals(ranking.means().values()),
        "intervals": _intervals(ranking, folder),
        "group_ranks": {
            group: decimals(ranking.average_ranks(group).values()) for group in ranking.group_names
        },
        "left_out": list(ranking.left_out),
        "cautions": list(ranking.cautions),
        "friedman": _test(None if test is None else test.friedman),
        "friedman_corrected": _test(None if test is None else test.friedman_corrected),
        "control": None if test is None else number[test.control],
        "holm": []
        if test is None
        else [
            [number[c.method], significant(c.p_value), significant(c.p_adjusted)] for c in test.comparisons
        ],
        "effects": _effects(ranking, number, folder),
        "critical_difference": None if nemenyi is None else decimal(nemenyi.critical_difference),
        "cliques": []
        if nemenyi is None
        else [[number[m] for m in clique] for clique in nemenyi.cliques(ranks)],
    }


def _test(test: TestResult | None) -> list[float] | None:
    return None if test is None else [significant(test.statistic), significant(test.p_value)]


def _effects(ranking: Ranking, number: Mapping[str, int], folder: Path) -> dict[str, Any] | None:
    """Return how much the methods differ from the control, if there is anything to compare.

    Each row contains the method's number, the mean difference and the ends of its interval, the rank-biserial
    correlation, and the probabilities that the method is worse, equivalent and better.
    """
    which = (ranking.tuning, ranking.setting, ranking.metric)
    found = [
        line
        for line in _iterate(folder / "comparisons.csv")
        if (line["tuning"], line["setting"], line["metric"]) == which and line["mean_difference"]
    ]
    if not found or not {line["method"] for line in found} <= number.keys():
        return None
    values = ["mean_difference", "difference_low", "difference_high", "rank_biserial"]
    values += ["p_worse", "p_equivalent", "p_better"]
    return {
        "control": number[found[0]["control"]],
        "rope": float(found[0]["rope"]),
        "rows": [
            [number[line["method"]], *(decimal(float(line[name])) if line[name] else None for name in values)]
            for line in found
        ],
    }


def _intervals(ranking: Ranking, folder: Path) -> list[list[float | None]]:
    """Return 95% bootstrap intervals for each method's mean GMean, if available. Other metrics have no intervals."""
    if ranking.metric != "gmean":
        return []
    found = {
        line["method"]: decimals([float(line["mean_gmean_low"]), float(line["mean_gmean_high"])])
        for line in _rows(folder / "bootstrap.csv")
        if (line["tuning"], line["setting"]) == (ranking.tuning, ranking.setting)
    }
    return [found[name] for name in ranking.methods] if set(found) >= set(ranking.methods) else []


def _dataset(
    folder: Path,
    name: str,
    manifest: Mapping[str, Any],
    methods: Sequence[tuple[str, str, str]],
    predictions: Mapping[int, list[Line]],
    usage: Mapping[int, list[Line]],
) -> dict[str, Any]:
    details = read_details(folder, name)
    any_lines: list[Line] = next(iter(predictions.values()), [])
    labels = manifest["classes"][name]
    classes = details["classes"] if len(details.get("classes", ())) == len(labels) else labels
    counted: list[Line] = next(iter(usage.values()), [])
    number = {method_key(*which): i for i, which in enumerate(methods)}
    few = len(manifest["datasets"]) * len(methods) <= MOST_CURVES
    return {
        "name": name,
        "group": manifest["groups"].get(name, ""),
        "classes": classes,
        "labels": labels,
        "genes": [line["instance"] for line in any_lines],
        "symbols": details.get("symbols", []),
        "row_noun": str(details.get("row_noun", "row")),
        "truth": [labels.index(line["y_true"]) for line in any_lines],
        "predictions": {i: _scores(lines, labels, few) for i, lines in predictions.items()},
        "features": details.get("features", [line["feature"] for line in counted]),
        "names": details.get("names", [line["name"] for line in counted]),
        "ontology": details.get("ontology", []),
        "account": details.get("account", {}),
        "date": str(details.get("date", "")),
        "equal_rows": details.get("equal_rows"),
        "usage": {
            i: {
                "rows": int(lines[0]["n_rows"]),
                "selected": [int(line["selected"]) for line in lines],
                "in_edges": [int(line["in_edges"]) for line in lines],
            }
            for i, lines in usage.items()
        },
        "present": details.get("present", []),
        "effects": {number[key]: found for key, found in details.get("effects", {}).items() if key in number},
        "reasons": details.get("reasons", []),
        "explained": [
            {**entry, "methods": {number[key]: why for key, why in entry["methods"].items() if key in number}}
            for entry in details.get("explained", [])
        ],
    }


def _scores(lines: Sequence[Line], labels: Sequence[str], calibrate: bool) -> dict[str, Any]:
    """Return predicted classes, with log-odds for two classes or the predicted class's probability for more.

    On request, log-odds come with probabilities calibrated by Platt's method.
    """
    predicted = [labels.index(line["y_pred"]) if line["y_pred"] in labels else -1 for line in lines]
    odds = _log_odds(lines)
    if odds is not None:
        shown = {"predicted": predicted, "log_odds": decimals(odds.tolist(), 3)}
        if calibrate:
            truth = np.array([line["y_true"] == labels[1] for line in lines])
            slope, shift = fit_sigmoid(odds, truth)
            if slope > 0:  # otherwise the method does not separate the classes
                shown["calibrated"] = [
                    significant(p) for p in expit(slope * np.clip(odds, -700, 700) + shift)
                ]
        return shown
    if all(line["probabilities"] for line in lines):
        best = [max(map(float, line["probabilities"].split())) for line in lines]
        return {"predicted": predicted, "probability": [significant(p) for p in best]}
    return {"predicted": predicted}


def _predictions(
    folder: Path, methods: Sequence[tuple[str, str, str]], manifest: Mapping[str, Any]
) -> dict[str, dict[int, dict[str, list[Line]]]]:
    """Return the lines by dataset, method index and seed, or only the first seed if there are too many for curves."""
    seeds, datasets = manifest["seeds"], manifest["datasets"]
    wanted = set(map(str, seeds if len(datasets) * len(methods) <= MOST_CURVES else seeds[:1]))
    found: dict[str, dict[int, dict[str, list[Line]]]] = {}
    lines = (line for line in _iterate(folder / "predictions.csv") if line["seed"] in wanted)
    for (dataset, seed, *which), group in groupby(
        lines,
        key=lambda line: (line["dataset"], line["seed"], line["method"], line["setting"], line["tuning"]),
    ):
        number = methods.index((which[0], which[1], which[2]))
        found.setdefault(dataset, {}).setdefault(number, {})[seed] = list(group)
    return found


def _usage(folder: Path, methods: Sequence[tuple[str, str, str]]) -> dict[str, dict[int, list[Line]]]:
    found: dict[str, dict[int, list[Line]]] = {}
    for line in _iterate(folder / "feature_usage.csv"):
        which = (line["method"], line["setting"], line["tuning"])
        if which in methods:
            found.setdefault(line["dataset"], {}).setdefault(methods.index(which), []).append(line)
    return found


def _reliability(
    predictions: Mapping[str, Mapping[int, list[Line]]], labels: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return [predicted, observed, rows] for each bin, by dataset and method. The name "" stands for all datasets."""
    curves: dict[str, Any] = {}
    together: dict[int, list[tuple[Any, Any]]] = {}
    for dataset, by_method in predictions.items():
        for i, lines in by_method.items():
            lines = _tested(lines)
            odds = _log_odds(lines)
            if len(labels[dataset]) == 2 and odds is not None:
                truth = np.array([line["y_true"] == labels[dataset][1] for line in lines])
                proba = expit(odds)
                together.setdefault(i, []).append((truth, proba))
                curves.setdefault(dataset, {})[i] = _curve(truth, proba)
    pooled = {i: _curve(*map(np.concatenate, zip(*parts, strict=True))) for i, parts in together.items()}
    return {"": pooled, **curves}


def _curve(truth: Any, proba: Any) -> list[Any]:
    curve = reliability_curve(truth, proba)
    return [decimals(curve.predicted.tolist()), decimals(curve.observed.tolist()), curve.count.tolist()]


def _tested(lines: Sequence[Line]) -> list[Line]:
    """Return the rows on which metrics are computed."""
    return [line for line in lines if line.get("tested") != "0"]


def _rows(path: Path) -> list[Line]:
    return list(_iterate(path))


def _iterate(path: Path) -> Iterator[Line]:
    if path.is_file():
        yield from read_csv(path)


def _dataset_quality(
    by_method: Mapping[int, Mapping[str, Sequence[Line]]], labels: Sequence[str], tunings: Mapping[int, str]
) -> dict[str, Any] | None:
    """Return the methods' curves, scores and confusion counts on a two-class dataset, or None for more classes.

    Parameters
    ----------
    by_method : mapping of int to mapping of str to lines
        For each method, by its number, and for each seed, its lines in `predictions.csv`. The rows are in the same
        order throughout.
    labels : sequence of str
        The class labels.
    tunings : mapping of int to str
        The tuned parameters of each method, which may include "threshold".
    """
    if len(labels) != 2 or not by_method:
        return None
    by_method = {
        i: {seed: _tested(lines) for seed, lines in by_seed.items()} for i, by_seed in by_method.items()
    }
    first = next(iter(next(iter(by_method.values())).values()))
    truth = np.array([line["y_true"] == labels[1] for line in first])
    weights = draw_rows(len(truth))
    found = {
        i: mean_quality([_quality(lines, truth, labels, weights) for lines in by_seed.values()])
        for i, by_seed in by_method.items()
    }
    return {
        "grid": decimals(GRID.tolist()),
        "positive_share": decimal(float(truth.mean())),
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
    """Return counts [true class][predicted class] at the default and a tuned threshold, and how the threshold
    was tuned.

    A method that tunes its threshold predicts with it. For any other method, a row's threshold is the best one on the
    other folds. `threshold` is the median, as a probability.
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
    thresholds = cross_fitted_cutoffs(score, truth, fold)
    return {
        "confusion": _counts(truth, predicted),
        "tuned": {
            "counts": _counts(truth, score >= thresholds),
            "by": "other folds",
            "threshold": decimal(float(expit(np.median(thresholds))), 3),
        },
    }


def _counts(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> list[list[int]]:
    return [[int(np.sum((truth == t) & (predicted == p))) for p in (False, True)] for t in (False, True)]


def _pairs(found: Mapping[int, Quality], score: str) -> list[list[Any]]:
    """Compare each method with the best one: [method, best method, difference, low, high, share of draws above 0]."""
    known = {i: quality for i, quality in found.items() if np.isfinite(quality.draws[score][0])}
    if len(known) < 2:
        return []
    ordered = sorted(known, key=lambda i: -known[i].draws[score][0])
    lines = []
    for i in ordered[1:]:
        band, above = known[i].difference(known[ordered[0]], score)
        lines.append([i, ordered[0], *_ends(band), decimal(above)])
    return lines
