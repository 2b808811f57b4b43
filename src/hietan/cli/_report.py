"""The command `report`, which writes a finished study's report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hietan.cli._messages import Quiet, errors, tell, working
from hietan.cli._predict import TermUrls


def report(
    directory: Annotated[Path, typer.Argument(help="Directory of a finished study.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path("report.html"),
    date: Annotated[
        str | None, typer.Option(help="Date in the title. [default: the date of the data, if known]")
    ] = None,
    term_url: TermUrls = None,
    quiet: Quiet = False,
) -> None:
    """Write a study's report as a single HTML file that works offline."""
    from hietan.report import write_report
    from hietan.report._html import parse_term_urls

    with errors(output), working("writing the report"):
        path = write_report(directory, output, term_urls=parse_term_urls(term_url or ()), date=date)
    tell(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
