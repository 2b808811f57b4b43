"""How the files of tables, figures and explanations are named."""

from __future__ import annotations

from hietan._io import safe_file_name
from hietan.evaluation.rank_tables import Ranking
from hietan.evaluation.study.plan import Method


def file_stem(*parts: str) -> str:
    """Parts of a file name, joined with hyphens. Empty parts are left out; different parts stay different.

    >>> file_stem("usage", "CE-BP", "", "my tan/2")
    'usage-CE-BP-my%20tan%2F2'
    """
    return "-".join(safe_file_name(part).replace(" ", "%20") for part in parts if part)


def ranking_stem(ranking: Ranking) -> str:
    """The beginning of the names of files about a ranking."""
    return file_stem(ranking.metric, ranking.setting, *_tuning(ranking.tuning))


def method_stem(method: Method) -> str:
    """A method as a part of file names."""
    return file_stem(method.name, method.setting, *_tuning(method.tuning))


def _tuning(tuning: str) -> tuple[str, ...]:
    return ("untuned",) if tuning == "none" else ("tuned", tuning)
