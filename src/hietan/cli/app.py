"""The application: all commands together."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from hietan.cli import data, demo, models, report, study, terms
from hietan.cli.interrupts import INTERRUPTED
from hietan.cli.messages import say


class _Commands(TyperGroup):
    """The commands; Ctrl-C is told in one line even where a command has not begun its work, or has finished it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the words name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


def make_app() -> typer.Typer:
    """The typer application with all its commands."""
    app = typer.Typer(
        name="hietan",
        cls=_Commands,
        help="Classification with hierarchical features: exact, fast, explainable.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # boxes leave too little room for the help of many options at 80 columns
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from hietan import __version__

            say(f"hietan {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Print the version and exit."
        ),
    ) -> None:
        pass

    for commands in (demo, data, study, report, models, terms):
        commands.register(app)
    return app
