"""The command `explain`: the reasons of a model for a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    fail,
    is_watched,
    make_console,
    printable,
    say,
    working,
)

if TYPE_CHECKING:
    from hietan.candidates import TrainedModel
    from hietan.datasets import Dataset
    from hietan.explain import Contribution, Explanation, Trace
from hietan.cli._predict import ModelFile

EDGES = 15
SHORTEST_NAME = 20  # in a terminal, longer names of terms are shortened at most to this


def explain(
    model: ModelFile,
    dataset: Annotated[
        str,
        typer.Argument(
            help="The dataset that has the row: a name or a file.", autocompletion=_completion.datasets
        ),
    ],
    row: Annotated[
        list[str],
        typer.Option(
            "--row",
            "--gene",
            metavar="NAME",
            help="The row to explain, by its id, symbol or synonym, in any case; may be repeated.",
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of features (and, with --trace, of edges) to list individually [default: 15, or branches of "
            "the hierarchy if there are more than 20 features].",
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also list how the tree of the row was learned, edge by edge.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Show the classifier's own probability, without calibration.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Explain why a model classifies a row as it does. The contribution of each feature is listed."""
    from hietan.candidates import TrainedModel, explain_rows_by_name
    from hietan.catalogue import load_dataset

    with errors():
        with working("reading"):
            data = load_dataset(dataset, progress=is_watched())
            trained = TrainedModel.load(model)
        with working("explaining"):
            explained = explain_rows_by_name(trained, data, row, raw=raw)
            traces = _traces(trained, data, row) if trace else [None] * len(explained)
    texts, console = [], make_console()
    for found, steps in zip(explained, traces, strict=True):
        named = _with_printable_names(found.explanation)
        if console.is_terminal:
            named = _with_names_that_fit(named, limit, console.width)
        note = printable(found.probability_note)
        texts.append(replace(found, explanation=named, probability_note=note).text(limit))
        if steps is not None:
            texts.append(replace(_with_printable_edges(steps), row=named.row).text(limit or EDGES))
    for line in "\n\n".join(texts).split("\n"):
        say(line)


def _with_printable_names(explanation: Explanation) -> Explanation:
    """The same explanation with names of one line each: in its text, line breaks of names would look like its own."""
    return replace(
        explanation,
        row=printable(explanation.row),
        classes=tuple(map(printable, explanation.classes)),
        target=printable(explanation.target),
        row_noun=printable(explanation.row_noun),
        contributions=tuple(
            replace(
                part,
                feature=printable(part.feature),
                name=printable(part.name),
                parent=None if part.parent is None else printable(part.parent),
                given=tuple(map(printable, part.given)),
            )
            for part in explanation.contributions
        ),
        removed=tuple(
            replace(removal, feature=printable(removal.feature), reason=printable(removal.reason))
            for removal in explanation.removed
        ),
    )


def _with_names_that_fit(explanation: Explanation, limit: int | None, width: int) -> Explanation:
    """The same explanation with long names shortened, so that the sum in its text fits a terminal, if it can."""
    longest = max((len(part.name) for part in explanation.contributions), default=0)
    while longest > SHORTEST_NAME:
        lines = explanation.text(limit).split("\n\n")[1].split("\n")
        excess = max(len(line) for line in lines if not line.startswith(" " * 6)) - width
        if excess <= 0:
            break
        longest = max(SHORTEST_NAME, longest - excess)
        cut = tuple(_shortened(part, longest) for part in explanation.contributions)
        explanation = replace(explanation, contributions=cut)
    return explanation


def _shortened(part: Contribution, most: int) -> Contribution:
    """The same contribution with a name of at most so many characters, unless it is the feature's identifier."""
    if len(part.name) <= most or part.name == part.feature:
        return part
    return replace(part, name=f"{part.name[: most - 3].rstrip()}...")


def _traces(trained: TrainedModel, data: Dataset, names: list[str]) -> list[Trace | None]:
    """How the trees of rows were learned, with the readable names of features."""
    from hietan.candidates._names import find_rows
    from hietan.candidates._ranking import align_columns

    if not hasattr(trained.classifier, "trace"):
        kind = type(trained.classifier).__name__
        fail(f"--trace needs a method that learns trees, such as tan or hie-tan-lite; {kind} does not")
    X = align_columns(data, trained.feature_names)
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    return [trained.classifier.trace(X[[i]], term_names=terms) for i in find_rows(data, names)]


def _with_printable_edges(trace: Trace) -> Trace:
    """The same trace with names of one line each, as `_with_printable_names` does it for explanations."""
    return replace(
        trace,
        tree=replace(trace.tree, feature_names=tuple(map(printable, trace.tree.feature_names))),
        considered=tuple(
            replace(
                edge,
                first=printable(edge.first),
                second=printable(edge.second),
                reason=printable(edge.reason),
                parent=None if edge.parent is None else printable(edge.parent),
                child=None if edge.child is None else printable(edge.child),
                removed=tuple(map(printable, edge.removed)),
            )
            for edge in trace.considered
        ),
        names={printable(feature): printable(name) for feature, name in trace.names.items()},
    )
