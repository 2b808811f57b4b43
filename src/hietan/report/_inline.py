"""A study's report inside a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from hietan._io.files import atomic_write, temporary_directory, to_json
from hietan.evaluation import StudyResults
from hietan.evaluation._study.results import write_results
from hietan.report._html import render
from hietan.report._study_page import study_summary


@dataclass(frozen=True)
class InlineReport:
    """A report that a notebook shows in a separate frame, without network access.

    Attributes
    ----------
    content : mapping
        The report's content, as plain values.
    height : int
        The frame height in pixels.
    """

    content: Mapping[str, Any]
    height: int = 720

    def __repr__(self) -> str:
        return f"InlineReport({self.content['title']!r}, {len(self.content['datasets'])} datasets)"

    def _repr_html_(self) -> str:
        page = escape(render(self.content), quote=True)
        title = escape(str(self.content["title"]), quote=True)
        return (
            f'<iframe srcdoc="{page}" title="{title}" sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


def show_report(study: StudyResults | str | Path, *, height: int = 720) -> InlineReport:
    """Return a study's report for display in a notebook.

    Parameters
    ----------
    study : StudyResults or path
        A study's results, or a finished study's directory. Nothing is written to the directory.
    height : int
        The frame height in pixels.

    Examples
    --------
    >>> from hietan import HieTANLite
    >>> from hietan.datasets import make_hierarchical_classification
    >>> from hietan.evaluation import run_study
    >>> data = make_hierarchical_classification(60, 15, random_state=0)
    >>> show_report(run_study([data], {"Hie-TAN-Lite": HieTANLite()}, cv=2))
    InlineReport('synthetic: Hie-TAN-Lite', 1 datasets)
    """
    if not isinstance(study, StudyResults):
        return InlineReport(study_summary(study), height)
    with temporary_directory() as name:
        folder = Path(name)
        write_results(study, folder)
        atomic_write(folder / "study.json", to_json(study.manifest))
        return InlineReport(study_summary(folder), height)
