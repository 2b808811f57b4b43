"""The command `report`: the report of a finished study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hietan.cli._messages import Quiet, errors, tell, working
from hietan.cli._predict import TermUrls


def report(
    directory: Annotated[Path, typer.Argument(help="The directory of a finished study.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path(
        "report.html"
    ),
    term_url: TermUrls = None,
    quiet: Quiet = False,
) -> None:
    """Write the report of a study as one HTML file. The page needs no network and no server."""
    from hietan.report import write_report
    from hietan.report._html import parse_term_urls

    with errors(output), working("writing the report"):
        path = write_report(directory, output, term_urls=parse_term_urls(term_url or ()))
    tell(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
