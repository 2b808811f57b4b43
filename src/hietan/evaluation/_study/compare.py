"""Rank several studies' results together."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.tables import read_csv
from hietan._runtime.spelling import suggest
from hietan.evaluation._rank_tables import Ranking, SummaryRow, make_rankings
from hietan.evaluation._study.journal import read_manifest
from hietan.evaluation._study.results import read_relations, read_summary
from hietan.exceptions import StudyError
from hietan.scores.bootstrap import Bootstrap, bootstrap_gmean
from hietan.scores.metrics import METRICS
from hietan.scores.scores import Scores

_WHICH = ("dataset", "method", "setting", "tuning", "seed")
_Predictions = tuple[tuple[str, str, int], tuple[list[str], Scores]]


def compare_studies(
    directories: Sequence[str | Path],
    *,
    metric: str = "auc",
    control: str | None = None,
    alternative: str = "two-sided",
    rank_decimals: int | None = None,
) -> tuple[Ranking, ...]:
    """Rank and test the results of several finished studies together.

    Parameters
    ----------
    directories : sequence of paths
        The directories. Studies may share results, such as a baseline's, if they are equal.
    metric : str
        The metric to rank methods by, one of `METRICS`.
    control : str, optional
        The method that the others are compared with [default: the method with the best average rank].
    alternative : {"two-sided", "greater"}
        Whether to test for differences from the control in both directions, or only for worse methods.
    rank_decimals : int, optional
        Decimals to round the average ranks to before testing; the paper used 2.

    Raises
    ------
    StudyError
        If a directory does not contain a finished study, two studies disagree, or a name is unknown.

    Examples
    --------
    >>> import tempfile
    >>> from hietan import TAN, HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> from hietan.evaluation import run_study
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, method in [("tan", TAN()), ("hie-tan", HieTAN())]:
    ...         _ = run_study([data], {name: method}, cv=5, output=f"{folder}/{name}")
    ...     (ranking,) = compare_studies([f"{folder}/tan", f"{folder}/hie-tan"])
    >>> ranking.methods
    ('tan', 'hie-tan')
    """
    if metric not in METRICS:
        raise StudyError(f"unknown metric {metric!r}{suggest(metric, METRICS)}")
    rows: dict[tuple[Any, ...], SummaryRow] = {}
    groups, shared = dict[str, str](), dict[str, list[str]]()
    tested = dict[tuple[str, int], int]()
    weighted = set[str]()
    for directory in directories:
        for row in read_summary(directory):
            key = (row.dataset, row.method, row.setting, row.tuning, row.seed)
            if key in rows and rows[key].positive != row.positive:
                raise StudyError(
                    f"the positive class of {row.dataset} is {rows[key].positive} in one study and {row.positive} "
                    "in another; run both studies with the same positive class (--positive CLASS)"
                )
            if key in rows and rows[key] != row:
                raise StudyError(
                    f"{directory} and an earlier directory have different results for {', '.join(map(str, key))}; "
                    "compare studies that were run on the same data"
                )
            n_rows = tested.setdefault((row.dataset, row.seed), row.n_rows)
            if n_rows != row.n_rows:
                raise StudyError(
                    f"the scores for {row.dataset} come from {n_rows} rows in one study and {row.n_rows} rows in "
                    "another; run both studies on the same data with the same --equal-rows"
                )
            rows[key] = row
        own_groups, own_shared = read_relations(directory)
        weighted.update(read_manifest(Path(directory))["class_weighted"])
        groups |= own_groups
        for name, others in own_shared.items():
            shared[name] = list(dict.fromkeys([*shared.get(name, ()), *others]))
    if METRICS[metric].is_of_positive:
        by_dataset = {row.dataset: row.positive for row in rows.values()}
        mixed = [row for row in rows.values() if row.positive != by_dataset[row.dataset]]
        if mixed:
            raise StudyError(
                f"{metric} depends on the positive class, which for {mixed[0].dataset} is {mixed[0].positive} in "
                f"one study and {by_dataset[mixed[0].dataset]} in another; run both studies with the same "
                "positive class (--positive CLASS)"
            )
    known = {row.method: None for row in rows.values()}
    if control is not None and control not in known:
        raise StudyError(f"unknown control {control!r}{suggest(control, known)}")
    return make_rankings(
        list(rows.values()),
        groups=groups,
        shared_rows=shared,
        class_weighted=weighted,
        metrics=[metric],
        control=control,
        alternative=alternative,
        rank_decimals=rank_decimals,
    )


def bootstrap_studies(directories: Sequence[str | Path], ranking: Ranking) -> Bootstrap | None:
    """Bootstrap rows from the predictions of finished studies, for the methods that `compare_studies` ranked.

    Returns None unless the ranking is by GMean and the directories contain the predictions of all its methods.
    """
    if ranking.metric != "gmean":
        return None
    predictions: dict[tuple[str, str, int], Scores] = {}
    rows: dict[str, list[str]] = {}
    for directory in directories:
        for (dataset, method, seed), (names, pooled) in _checked_predictions(Path(directory), ranking):
            predictions[dataset, method, seed] = pooled
            if rows.setdefault(dataset, names) != names:
                raise StudyError(
                    f"{directory} and an earlier directory have different rows in {dataset}; "
                    "compare studies that were run on the same data"
                )
    found = {(dataset, method) for dataset, method, _ in predictions}
    if any((dataset, method) not in found for dataset in ranking.datasets for method in ranking.methods):
        return None
    return bootstrap_gmean(predictions, rows, ranking.methods, groups=ranking.groups)


def _checked_predictions(folder: Path, ranking: Ranking) -> list[_Predictions]:
    try:
        return list(_read_predictions(folder, ranking))
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        path = folder / "predictions.csv"
        raise StudyError(
            f"{path} does not contain valid study predictions ({error!r:.200}); run the study again"
        ) from error


def _read_predictions(folder: Path, ranking: Ranking) -> Iterable[_Predictions]:
    """Yield the ranked methods' predictions as ((dataset, method, seed), (row names, predictions))."""
    path = folder / "predictions.csv"
    if not path.is_file():
        return
    columns = ("instance", "y_true", "y_pred", "fold")
    for key, lines in groupby(read_csv(path), key=lambda line: [line[name] for name in _WHICH]):
        dataset, method, setting, tuning, seed = key
        if tuning != ranking.tuning or setting not in (ranking.setting, "") or method not in ranking.methods:
            continue
        cells = [[line[name] for name in columns] for line in lines if line.get("tested") != "0"]
        names, y_true, y_pred, fold = map(list, zip(*cells, strict=True))
        labels = sorted({*y_true, *y_pred})
        truth, predicted = (
            np.array([labels.index(label) for label in column]) for column in (y_true, y_pred)
        )
        scores = Scores(tuple(labels), predicted, truth=truth, fold=np.array(fold, dtype=np.int64))
        yield (dataset, method, int(seed)), (names, scores)
