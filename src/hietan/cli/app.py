"""The application: all commands together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hietan.cli import INTERRUPTED, data, demo, models, reasons, report, study, terms
from hietan.cli.examples import add_examples
from hietan.cli.messages import fail, say

# As in docs/command-line.md: from looking around to data, models and comparisons.
_ORDER = (
    *("demo", "datasets", "methods", "fetch", "build", "info", "fit", "predict", "explain"),
    *("study", "compare", "report", "filter"),
)


class _Commands(TyperGroup):
    """The commands; Ctrl-C is told in one line even where a command has not begun its work, or has finished it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order in which they are needed."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)

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
        help="Classification with hierarchical features: exact, explainable, fast.",
        epilog="Begin with:  hietan demo\n\nExamples of a command:  hietan COMMAND --help\n\n"
        "For completion in your shell:  hietan --install-completion",
        no_args_is_help=True,
        invoke_without_command=True,
        rich_markup_mode=None,  # boxes leave too little room for the help of many options at 80 columns
    )

    @app.callback()
    def options(
        ctx: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
        verbose: Annotated[
            bool, typer.Option("--verbose", help="With --version: also print what a bug report needs.")
        ] = False,
    ) -> None:
        if version:
            _print_version(verbose)
            raise typer.Exit
        if ctx.invoked_subcommand is None:
            fail("no command was given; `hietan --help` lists them")
        if verbose:
            fail("--verbose belongs to --version: `hietan --version --verbose`")

    for commands in (demo, data, study, report, models, reasons, terms):
        commands.register(app)
    add_examples(app)
    return app


def _print_version(verbose: bool) -> None:
    from hietan import __version__

    if not verbose:
        say(f"hietan {__version__}")
        return
    from hietan._runtime.show_versions import describe_environment

    facts = describe_environment()
    width = max(map(len, facts))
    for name, value in facts.items():
        say(f"{name:<{width}}  {value}")
