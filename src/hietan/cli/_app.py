"""The application: all commands together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hietan.cli import (
    INTERRUPTED,
    _build,
    _compare,
    _datasets,
    _demo,
    _evaluate,
    _explain,
    _fit,
    _info,
    _methods,
    _predict,
    _report,
    _study,
)
from hietan.cli._messages import fail, say

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": _demo.demo,
    "datasets": _datasets.datasets,
    "methods": _methods.methods,
    "fetch": _datasets.fetch,
    "build": _build.build,
    "info": _info.info,
    "fit": _fit.fit,
    "predict": _predict.predict,
    "evaluate": _evaluate.evaluate,
    "explain": _explain.explain,
    "study": _study.study,
    "compare": _compare.compare,
    "report": _report.report,
}
"""All commands, in the order of the documentation: data, models, comparisons."""

# Examples end the help of a command. A backslash breaks a line, so that each line fits in 80 columns.
EXAMPLES = {
    "demo": """
hietan demo
hietan demo --data fly-BP --report out/report.html
""",
    "datasets": """
hietan datasets
hietan info worm-BP
hietan fit worm-BP -o model.hietan
""",
    "build": r"""
hietan build --edges edges.csv --pairs items.csv --labels labels.csv \
    -o shop.hietan
hietan build --ontology go.obo --annotations wb.gaf.gz --labels genes.csv \
    --namespaces BP --drop-term GO:0008340 -o worm.hietan
hietan build --ontology go.obo --annotations wb.gaf.gz --like worm.hietan \
    -o genome.hietan
""",
    "info": """
hietan info worm-BP
hietan info model.hietan
""",
    "fetch": """
hietan fetch gene-ontology
hietan fetch annotations-worm --data-home data
""",
    "study": r"""
hietan study --data worm-BP --methods paper -o study
hietan study --data shop.hietan --methods new --methods tan:alpha=0.5 \
    --folds 5 --seeds 3 --jobs 2 -o study
hietan study study.toml --jobs 2
""",
    "compare": """
hietan compare study --control tan --scores
hietan compare study --metric auc --rope 0.02
""",
    "report": r"""
hietan report study -o report.html
hietan report study \
    --term-url "ICD=https://icd.who.int/browse10/2019/en#/{id}"
""",
    "explain": """
hietan explain model.hietan worm-BP --row daf-16
hietan explain model.hietan worm-BP --row daf-16 --limit 5
""",
    "fit": """
hietan fit worm-BP -o model.hietan
hietan fit worm-BP -m hie-tan-lite --alpha 0.5 -o model.hietan
hietan fit shop.hietan -m hip-nb --threshold gmean
""",
    "evaluate": """
hietan evaluate model.hietan newer.hietan
hietan evaluate model.hietan newer.hietan --json
""",
    "methods": """
hietan methods
""",
    "predict": r"""
hietan predict model.hietan genome.hietan -o ranked.csv --report
hietan predict model.hietan genome.hietan --new-only \
    --exclude genes.csv --exclude-column symbol
hietan predict model.hietan - --reasons 3
""",
}


class _Commands(TyperGroup):
    """A command group that reports Ctrl-C in one line, even before a command starts or after it ends."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


def make_app() -> typer.Typer:
    """Return the typer application with all commands."""
    app = typer.Typer(
        name="hietan",
        cls=_Commands,
        help="Classification with hierarchical features: exact, explainable, fast.",
        epilog="Start with:  hietan demo\n\nExamples of a command:  hietan COMMAND --help\n\n"
        "Shell completion:  hietan --install-completion",
        no_args_is_help=True,
        invoke_without_command=True,
        rich_markup_mode=None,  # boxes leave too little room for the help of many options at 80 columns
    )

    @app.callback()
    def options(
        ctx: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
        verbose: Annotated[
            bool, typer.Option("--verbose", help="With --version: also print the details for a bug report.")
        ] = False,
    ) -> None:
        if version:
            _print_version(verbose)
            raise typer.Exit
        if ctx.invoked_subcommand is None:
            fail("no command was given; `hietan --help` lists the commands")
        if verbose:
            fail("--verbose only works with --version; use `hietan --version --verbose`")

    for name, command in COMMANDS.items():
        lines = ["Examples:", *EXAMPLES[name].strip().splitlines()]
        app.command(name, epilog="\b\n" + "\n  ".join(lines))(command)  # \b: these lines are not filled
    return app


def _print_version(verbose: bool) -> None:
    from hietan import __version__, _kernel

    say(f"hietan {__version__}")
    if verbose:
        from sklearn import show_versions

        say(f"kernel {Path(str(_kernel.__file__)).name}, built by {_kernel.BUILT_BY}")
        show_versions()
