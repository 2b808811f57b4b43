"""The command `compare`: studies ranked and tested together, and rankings in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    make_console,
    make_table,
    printable,
)

if TYPE_CHECKING:
    from hietan.evaluation import MethodComparison, Ranking
    from hietan.evaluation._outputs.text_table import TextTable


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIRECTORY", help="Directories of finished studies.")
    ],
    metric: Annotated[
        str, typer.Option(help="The metric to rank methods by.", autocompletion=_completion.metrics)
    ] = "gmean",
    control: Annotated[
        str | None, typer.Option(help="Compare with this method instead of the best one.")
    ] = None,
    one_sided: Annotated[
        bool, typer.Option(help="Test only whether a method is worse than the control.")
    ] = False,
    rank_decimals: Annotated[
        int | None,
        typer.Option(
            min=1, max=15, help="Round average ranks to this many decimals before testing; 2 in the paper."
        ),
    ] = None,
    rope: Annotated[
        float,
        typer.Option(min=0, help="Differences of the metric up to this size count as equivalent."),
    ] = 0.01,
    scores: Annotated[
        bool, typer.Option(help="Also print the score of every method on every dataset.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Rank and test the results of finished studies. Several studies are compared over the same datasets.

    Beside the p-values are effect sizes, and the probabilities that a method is worse than the control, equivalent to
    it or better.
    """
    from hietan.evaluation import compare_methods, compare_studies
    from hietan.evaluation._study.compare import bootstrap_studies

    console = make_console()
    with errors():
        alternative = "greater" if one_sided else "two-sided"
        rankings = compare_studies(
            directories, metric=metric, control=control, alternative=alternative, rank_decimals=rank_decimals
        )
        for ranking in rankings:
            compared = compare_methods(ranking, bootstrap_studies(directories, ranking), rope=rope)
            print_ranking(console, ranking)
            print_effects(console, ranking, compared)
            if scores:
                print_scores(console, ranking)


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the average ranks of methods, best first, with the tests against the control, if there are any."""
    from hietan.evaluation._outputs.tables import overall_tests

    numbers = ["average rank", "wins", "mean"]
    numbers += ["Holm threshold", "p", "p adjusted"] if ranking.comparison else []
    columns = {"method": {"no_wrap": True}} | {heading: {"justify": "right"} for heading in numbers}
    compared = ranking.comparison.comparisons if ranking.comparison else ()
    tests = {
        row.method: [f"{value:.2e}" for value in (row.threshold, row.p_value, row.p_adjusted)]
        for row in compared
    }
    ranks, won, means = ranking.average_ranks(), ranking.wins(), ranking.means()
    rows = []
    for method in sorted(ranks, key=lambda m: ranks[m]):
        cells = [f"{ranks[method]:.2f}", f"{won[method]:g}", f"{means[method]:.3f}"]
        rows.append([method, *cells, *tests.get(method, [""] * (len(numbers) - len(cells)))])
    n = len(ranking.datasets)
    console.print(make_table(f"{ranking.title}; {n} dataset{'' if n == 1 else 's'}", columns, rows))
    if ranking.comparison:
        console.print(overall_tests(ranking), highlight=False)
    elif n == 1 and len(rows) > 1:
        console.print(
            "One dataset has no ranks to test: its report shows how uncertain each score is, and each difference.",
            highlight=False,
        )
    if ranking.left_out:
        left_out = printable(", ".join(ranking.left_out))
        console.print(f"left out because results are missing: {left_out}", highlight=False)


def print_effects(console: Console, ranking: Ranking, rows: Sequence[MethodComparison]) -> None:
    """Print how much the methods of a ranking differ from the control, if there is anything to compare."""
    from hietan.evaluation._outputs.tables import effects_table

    if any(row.mean_difference is not None for row in rows):
        print_text_table(console, effects_table(rows, ranking.title))


def print_scores(console: Console, ranking: Ranking) -> None:
    """Print the score of every method on every dataset, the best of each row in bold."""
    from hietan.evaluation._outputs.tables import score_table

    print_text_table(console, score_table(ranking))


def print_text_table(console: Console, table: TextTable) -> None:
    """Print a table that is also written to files, as the terminal shows tables."""
    columns = {
        printable(heading): {"no_wrap": True} if c < table.text_columns else {"justify": "right"}
        for c, heading in enumerate(table.header)
    }
    console.print(make_table(table.title, columns, table.rows, table.bold))
