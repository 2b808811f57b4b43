"""The command `explain`, which shows a model's reasons for a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    is_watched,
    make_console,
    printable,
    say,
    working,
)

if TYPE_CHECKING:
    from hietan.explain import Explanation
from hietan.cli._predict import ModelFile

SHORTEST_NAME = 20  # in a terminal, longer term names are never cut below this length


def explain(
    model: ModelFile,
    dataset: Annotated[
        str,
        typer.Argument(help="Dataset with the row: a name or a file.", autocompletion=_completion.datasets),
    ],
    row: Annotated[
        list[str],
        typer.Option(
            "--row",
            "--gene",
            metavar="NAME",
            help="Id, symbol or synonym of a row to explain, in upper or lower case. May be repeated.",
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of features to list individually. [default: 15; with more than 20 features, branches "
            "are listed instead]",
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Show the classifier's raw probability, without calibration.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Explain why a model classifies a row as it does. Several rows also get a summary by branch."""
    from hietan.catalogue import load_dataset
    from hietan.explain import Explanations
    from hietan.models import Model, explain_rows_by_name

    with errors():
        with working("reading"):
            data = load_dataset(dataset, progress=is_watched())
            trained = Model.load(model)
        with working("explaining"):
            explained = explain_rows_by_name(trained, data, row, raw=raw)
    texts, shown, console = [], Explanations(), make_console()
    for found in explained:
        named = _with_printable_names(found.explanation)
        if console.is_terminal:
            named = _with_names_that_fit(named, limit, console.width)
        note = printable(found.probability_note)
        texts.append(replace(found, explanation=named, probability_note=note).text(limit))
        shown.append(named)
    if len(shown) > 1 and all(one.branches for one in shown):
        texts.append(str(shown.by_branch()))
    for line in "\n\n".join(texts).split("\n"):
        say(line)


def _with_printable_names(explanation: Explanation) -> Explanation:
    """Return the explanation with each name on one line, because line breaks in names would break the text."""
    parts = explanation.contributions
    return replace(
        explanation,
        row=printable(explanation.row),
        classes=tuple(map(printable, explanation.classes)),
        target=printable(explanation.target),
        row_noun=printable(explanation.row_noun),
        contributions=replace(
            parts, features=tuple(map(printable, parts.features)), names=tuple(map(printable, parts.names))
        ),
        removed=tuple(
            replace(removal, feature=printable(removal.feature), reason=printable(removal.reason))
            for removal in explanation.removed
        ),
    )


def _with_names_that_fit(explanation: Explanation, limit: int | None, width: int) -> Explanation:
    """Return the explanation with long names shortened, so that the sum in its text fits the terminal if possible."""
    parts = explanation.contributions
    longest = max((len(parts.names[v]) for v in parts.columns), default=0)
    while longest > SHORTEST_NAME:
        lines = explanation.text(limit).split("\n\n")[1].split("\n")
        excess = max(len(line) for line in lines if not line.startswith(" " * 6)) - width
        if excess <= 0:
            break
        longest = max(SHORTEST_NAME, longest - excess)
        # A name that is the feature's identifier is not shortened.
        both = zip(parts.features, parts.names, strict=True)
        names = tuple(
            name if name == feature or len(name) <= longest else f"{name[: longest - 3].rstrip()}..."
            for feature, name in both
        )
        explanation = replace(explanation, contributions=replace(parts, names=names))
    return explanation
