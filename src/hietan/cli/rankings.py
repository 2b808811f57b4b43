"""Rankings of methods in the terminal: average ranks with the tests, effect sizes, and every score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from hietan.cli.messages import make_table, printable

if TYPE_CHECKING:
    from hietan.evaluation import MethodComparison, Ranking
    from hietan.evaluation.outputs import TextTable


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the average ranks of methods, best first, with the tests against the control, if there are any."""
    from hietan.evaluation.outputs import overall_tests

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
    from hietan.evaluation.outputs import effects_table

    if any(row.mean_difference is not None for row in rows):
        print_text_table(console, effects_table(rows, ranking.title))


def print_scores(console: Console, ranking: Ranking) -> None:
    """Print the score of every method on every dataset, the best of each row in bold."""
    from hietan.evaluation.outputs import score_table

    print_text_table(console, score_table(ranking))


def print_text_table(console: Console, table: TextTable) -> None:
    """Print a table that is also written to files, as the terminal shows tables."""
    columns = {
        printable(heading): {"no_wrap": True} if c < table.text_columns else {"justify": "right"}
        for c, heading in enumerate(table.header)
    }
    console.print(make_table(table.title, columns, table.rows, table.bold))
