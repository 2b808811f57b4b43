"""The command `compare`, which ranks and tests studies together and shows rankings in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from hietan.cli import _completion
from hietan.cli._messages import (
    Json,
    Quiet,
    errors,
    make_console,
    make_table,
    print_json,
    printable,
    say,
)

if TYPE_CHECKING:
    from hietan.evaluation import MethodComparison, Ranking
    from hietan.evaluation._outputs.text_table import TextTable


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIRECTORY", help="Directories of finished studies.")
    ],
    metric: Annotated[
        str, typer.Option(help="Metric to rank methods by.", autocompletion=_completion.metrics)
    ] = "auc",
    control: Annotated[
        str | None, typer.Option(help="Method to compare with. [default: the best method]")
    ] = None,
    one_sided: Annotated[
        bool, typer.Option(help="Only test whether a method is worse than the control.")
    ] = False,
    rank_decimals: Annotated[
        int | None,
        typer.Option(
            min=1, max=15, help="Decimals to round average ranks to before testing; the paper uses 2."
        ),
    ] = None,
    rope: Annotated[
        float,
        typer.Option(min=0, help="Largest difference at which two methods count as equivalent."),
    ] = 0.01,
    scores: Annotated[bool, typer.Option(help="Also print each method's score on each dataset.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank and test the results of finished studies. Several studies are compared over the same datasets.

    The tables show p-values, effect sizes, and the probabilities that a method is worse than the control, equivalent
    to it or better.
    """
    from hietan.evaluation import compare_methods, compare_studies
    from hietan.evaluation._study.compare import bootstrap_studies
    from hietan.evaluation._study.results import read_failure_lines

    console = make_console()
    with errors():
        alternative = "greater" if one_sided else "two-sided"
        rankings = compare_studies(
            directories, metric=metric, control=control, alternative=alternative, rank_decimals=rank_decimals
        )
        failed = [line for directory in directories for line in read_failure_lines(directory)]
        if not as_json or not rankings:  # JSON has the failures of each ranking
            print_failures(failed, err=as_json)
        if not rankings:
            say(f"no method has a value of {metric} on every dataset; choose another --metric", err=as_json)
        found = []
        for ranking in rankings:
            compared = compare_methods(ranking, bootstrap_studies(directories, ranking), rope=rope)
            if as_json:
                found.append({**_ranking_facts(ranking, compared), "failures": failed})
                continue
            print_ranking(console, ranking)
            print_effects(console, ranking, compared)
            if scores:
                print_scores(console, ranking)
    if as_json:
        print_json(found)


def _ranking_facts(ranking: Ranking, compared: Sequence[MethodComparison]) -> dict[str, Any]:
    """Return a ranking in the form that `compare --json` prints."""
    ranks, won, means = ranking.average_ranks(), ranking.wins(), ranking.means()
    return {
        "title": ranking.title,
        "datasets": list(ranking.datasets),
        "methods": {m: {"average_rank": ranks[m], "wins": won[m], "mean": means[m]} for m in ranks},
        "tests": [asdict(row) for row in ranking.comparison.comparisons] if ranking.comparison else [],
        "effects": [asdict(row) for row in compared],
        "left_out": list(ranking.left_out),
    }


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the methods' average ranks, best first, with any tests against the control."""
    from hietan.evaluation._outputs.tables import overall_tests

    numbers = ["average rank", "wins", "mean"]
    numbers += ["Holm threshold", "p", "p adjusted"] if ranking.comparison else []
    columns: dict[str, Any] = {"method": {"overflow": "fold"}} | {
        heading: {"justify": "right"} for heading in numbers
    }
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
            "With one dataset, ranks cannot be tested; the report shows the uncertainty of each score and difference.",
            highlight=False,
        )
        for caution in ranking.cautions:
            console.print(caution, highlight=False)
    if ranking.left_out:
        left_out = printable(", ".join(ranking.left_out))
        console.print(f"left out because of missing results: {left_out}", highlight=False)


def print_failures(lines: Sequence[str], *, err: bool = False) -> None:
    """Print a line for each method that failed, to standard output or standard error."""
    for line in lines:
        say(line, err=err)


def print_effects(console: Console, ranking: Ranking, rows: Sequence[MethodComparison]) -> None:
    """Print how much each method differs from the control, if the ranking has differences to show."""
    from hietan.evaluation._outputs.tables import effects_table

    if any(row.mean_difference is not None for row in rows):
        print_text_table(console, effects_table(rows, ranking.title))


def print_scores(console: Console, ranking: Ranking) -> None:
    """Print each method's score on each dataset, with the best score of each row in bold."""
    from hietan.evaluation._outputs.tables import score_table

    print_text_table(console, score_table(ranking))


def print_text_table(console: Console, table: TextTable) -> None:
    """Print a text table, formatted for the terminal."""
    columns = {
        printable(heading): {"overflow": "fold"} if c < table.text_columns else {"justify": "right"}
        for c, heading in enumerate(table.header)
    }
    console.print(make_table(table.title, columns, table.rows, table.bold))
