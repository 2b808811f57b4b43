"""Results of several studies, ranked together."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.tables import read_csv
from hietan._runtime.spelling import suggest
from hietan.evaluation._bootstrap import Bootstrap, bootstrap_gmean
from hietan.evaluation._cross_validation import PooledPredictions
from hietan.evaluation._metrics import METRICS
from hietan.evaluation._rank_tables import Ranking, SummaryRow, make_rankings
from hietan.evaluation._study.results import read_relations, read_summary
from hietan.exceptions import StudyError

_WHICH = ("dataset", "method", "setting", "tuning", "seed")
_Predictions = tuple[tuple[str, str, int], tuple[list[str], PooledPredictions]]


def compare_studies(
    directories: Sequence[str | Path],
    *,
    metric: str = "gmean",
    control: str | None = None,
    alternative: str = "two-sided",
    rank_decimals: int | None = None,
) -> tuple[Ranking, ...]:
    """Rank and test the results in the directories of finished studies, all together.

    Parameters
    ----------
    directories : sequence of paths
        The directories. Studies may share results, such as those of a baseline, if these are equal.
    metric : str
        One of `METRICS`, by which methods are ranked.
    control : str, optional
        The method that the others are compared with; the one with the best average rank if not given.
    alternative : {"two-sided", "greater"}
        Whether the tests look for differences from the control in both directions, or only for worse methods.
    rank_decimals : int, optional
        Round the average ranks to this many decimals before they are tested, as the paper did with 2.

    Raises
    ------
    StudyError
        If a directory holds no finished study, two studies disagree, or a name is unknown.

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
    ...     (ranking,) = compare_studies([f"{folder}/tan", f"{folder}/hie-tan"], metric="auc")
    >>> ranking.methods
    ('tan', 'hie-tan')
    """
    if metric not in METRICS:
        raise StudyError(f"unknown metric {metric!r}{suggest(metric, METRICS)}")
    rows: dict[tuple[Any, ...], SummaryRow] = {}
    groups, shared = dict[str, str](), dict[str, list[str]]()
    for directory in directories:
        for row in read_summary(directory):
            key = (row.dataset, row.method, row.setting, row.tuning, row.seed)
            if key in rows and rows[key].positive != row.positive:
                raise StudyError(
                    f"the positive class of {row.dataset} is {rows[key].positive} in one study and {row.positive} in "
                    "another; run the studies with one (--positive CLASS)"
                )
            if key in rows and rows[key] != row:
                raise StudyError(
                    f"{directory} and an earlier directory disagree about {', '.join(map(str, key))}; "
                    "compare studies that were run on the same data"
                )
            rows[key] = row
        own_groups, own_shared = read_relations(directory)
        groups |= own_groups
        for name, others in own_shared.items():
            shared[name] = list(dict.fromkeys([*shared.get(name, ()), *others]))
    if METRICS[metric].is_of_positive:
        by_dataset = {row.dataset: row.positive for row in rows.values()}
        mixed = [row for row in rows.values() if row.positive != by_dataset[row.dataset]]
        if mixed:
            raise StudyError(
                f"{metric} depends on the positive class, which is {mixed[0].positive} and "
                f"{by_dataset[mixed[0].dataset]} for {mixed[0].dataset}; run the studies with one (--positive CLASS)"
            )
    known = {row.method: None for row in rows.values()}
    if control is not None and control not in known:
        raise StudyError(f"unknown control {control!r}{suggest(control, known)}")
    return make_rankings(
        list(rows.values()),
        groups=groups,
        shared_rows=shared,
        metrics=[metric],
        control=control,
        alternative=alternative,
        rank_decimals=rank_decimals,
    )


def bootstrap_studies(directories: Sequence[str | Path], ranking: Ranking) -> Bootstrap | None:
    """Draw rows from the predictions of finished studies, for the methods of a ranking by `compare_studies`.

    Returns None unless the ranking is by GMean and the directories hold the predictions of all of its methods.
    """
    if ranking.metric != "gmean":
        return None
    predictions: dict[tuple[str, str, int], PooledPredictions] = {}
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
        raise StudyError(f"{path} cannot be read as the predictions of a study: {error!r:.200}") from error


def _read_predictions(folder: Path, ranking: Ranking) -> Iterable[_Predictions]:
    """What `predictions.csv` says about the methods of a ranking: (dataset, method, seed), names and predictions."""
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
        pooled = PooledPredictions(np.array(y_true), np.array(y_pred), None, np.array(fold, dtype=np.int64))
        yield (dataset, method, int(seed)), (names, pooled)
