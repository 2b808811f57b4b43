"""How the files of tables, figures and explanations are named."""

from __future__ import annotations

from hietan._io import safe_file_name
from hietan.evaluation.rank_tables import Ranking
from hietan.evaluation.study.plan import Method


def file_stem(*parts: str) -> str:
    """Parts of a file name, joined with hyphens, as commas are; empty parts are left out.

    Different parts give different names unless they differ only in where hyphens and commas are.

    >>> file_stem("usage", "CE-BP", "", "my tan/2", "alpha=1,smoothing=laplace")
    'usage-CE-BP-my%20tan%2F2-alpha=1-smoothing=laplace'
    """
    return "-".join(safe_file_name(part).replace(" ", "%20").replace(",", "-") for part in parts if part)


def ranking_stem(ranking: Ranking) -> str:
    """The beginning of the names of files about a ranking."""
    tuning = ("untuned",) if ranking.tuning == "none" else ("tuned", ranking.tuning)
    return file_stem(ranking.metric, ranking.setting, *tuning)


def method_stem(method: Method) -> str:
    """A method as a part of file names."""
    return file_stem(method.name, method.setting, "tuned", method.tuning)
