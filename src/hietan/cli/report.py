"""The command `report`: the report of a finished study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hietan.cli.messages import errors, say


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command()(report)


def report(
    directory: Annotated[Path, typer.Argument(help="The directory of a finished study.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write the report of a study as one HTML file. The page needs no network and no server."""
    from hietan.report import write_report

    with errors(output):
        path = write_report(directory, output)
    say(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
