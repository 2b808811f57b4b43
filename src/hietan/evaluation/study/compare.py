"""Results of several studies, ranked together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hietan._runtime.spelling import suggest
from hietan.evaluation.metrics import METRICS
from hietan.evaluation.rank_tables import Ranking, SummaryRow, make_rankings
from hietan.evaluation.study.results import read_groups, read_summary
from hietan.exceptions import StudyError


def compare_studies(
    directories: Sequence[str | Path],
    *,
    metric: str = "gmean",
    control: str | None = None,
    alternative: str = "two-sided",
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
    groups: dict[str, str] = {}
    for directory in directories:
        for row in read_summary(directory):
            key = (row.dataset, row.method, row.setting, row.tuning, row.seed)
            if key in rows and rows[key] != row:
                raise StudyError(
                    f"{directory} and an earlier directory disagree about {', '.join(map(str, key))}; "
                    "compare studies that were run on the same data"
                )
            rows[key] = row
        groups |= read_groups(directory)
    known = {row.method: None for row in rows.values()}
    if control is not None and control not in known:
        raise StudyError(f"unknown control {control!r}{suggest(control, known)}")
    return make_rankings(
        list(rows.values()), groups=groups, metrics=[metric], control=control, alternative=alternative
    )
