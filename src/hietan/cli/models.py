"""The commands `methods`, `fit`, `predict` and `explain`: a model in a file, genes ranked by it, and the reasons."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli.messages import (
    errors,
    fail,
    is_watched,
    make_console,
    make_table,
    printable,
    refuse_overwriting,
    say,
)

if TYPE_CHECKING:
    from hietan.candidates import TrainedModel
    from hietan.datasets import Dataset
    from hietan.explain import Explanation, Trace

Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="A classifier of hietan, such as hie-ban, hie-tan-lite or tan:alpha=0.5; `hietan methods` says when to "
        "take which.",
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file that `hietan fit` wrote.")]


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    for command in (explain, fit, methods, predict):
        app.command()(command)


def explain(
    model: Model,
    dataset: Annotated[str, typer.Argument(help="The dataset that has the gene: a name or a file.")],
    gene: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="The gene to explain, by its id or symbol; may be repeated."),
    ],
    limit: Annotated[
        int,
        typer.Option(min=1, help="Number of features (and, with --trace, of edges) to list individually."),
    ] = 15,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also list how the tree of the gene was learned, edge by edge.")
    ] = False,
) -> None:
    """Explain why a model classifies a gene as it does. The contribution of each feature is listed."""
    from hietan.candidates import TrainedModel, explain_rows_by_name
    from hietan.catalogue import load_dataset

    with errors():
        data = load_dataset(dataset, progress=is_watched())
        trained = TrainedModel.load(model)
        explained = explain_rows_by_name(trained, data, gene)
        traces = _traces(trained, data, gene) if trace else [None] * len(explained)
    texts = []
    for row, steps in zip(explained, traces, strict=True):
        named = _with_printable_names(row.explanation)
        texts.append(replace(row, explanation=named).text(limit))
        if steps is not None:
            texts.append(replace(_with_printable_edges(steps), row=named.row).text(limit))
    for line in "\n\n".join(texts).split("\n"):
        say(line)


def fit(
    dataset: Annotated[str, typer.Argument(help="A dataset: a name such as CE-BP, or a file.")],
    method: Method = "hie-logistic",
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")] = Path(
        "model.hietan"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the roots and of the inner folds.")] = 0,
) -> None:
    """Fit a classifier to a dataset and write it to a model file.

    The default is the most accurate of ours on 28 real datasets, on average.
    """
    from hietan.candidates import train_model
    from hietan.catalogue import CatalogueError, load_dataset, make_estimator

    with errors(output):
        refuse_overwriting(output, dataset)
        data = load_dataset(dataset, progress=is_watched())
        try:
            trained = train_model(make_estimator(method), data, method=method, seed=seed)
        except TypeError as error:  # a parameter that was given as text may be of any type
            raise CatalogueError(f"method {method!r} cannot be fitted: {error}") from error
        trained.save(output)
    kind = type(trained.classifier).__name__
    say(f"{kind} fitted to {data.name}: {len(data.y)} rows; written to {output}")


def methods() -> None:
    """List the methods: what each of them does, and when to take it."""
    from hietan.catalogue import METHODS, method_sets
    from hietan.persistence import CLASSIFIERS

    ours: list[list[str]] = []
    others: list[list[str]] = []
    for entry in METHODS.values():
        made = entry.make()
        classifier = getattr(made, "estimator", made)  # that of SelectedColumns
        rows = ours if type(classifier).__name__ in CLASSIFIERS else others
        rows.append([entry.name, f"{entry.title}: {entry.idea}", entry.when])
    columns: dict[str, dict[str, Any]] = {"name": {"no_wrap": True}, "what it does": {}, "take it": {}}
    console = make_console()
    console.print(make_table("For `hietan fit` and `hietan study`", columns, ours))
    console.print(make_table("For `hietan study`: scikit-learn's, for comparison", columns, others))
    for name, members in method_sets().items():
        listed = "all of the above" if len(members) == len(METHODS) else ", ".join(members)
        say(f"set {name}: {listed}")


def predict(
    model: Model,
    dataset: Annotated[str, typer.Argument(help="The dataset with the rows to predict: a name or a file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")] = Path(
        "predictions.csv"
    ),
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Add calibrated probabilities.")] = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Also write a page of candidates with reasons next to it (.html)."),
    ] = False,
) -> None:
    """Rank the rows of a dataset by the log-odds of a model."""
    from hietan.candidates import TrainedModel, rank_rows
    from hietan.catalogue import load_dataset
    from hietan.report import candidates_summary, render

    page = output.with_suffix(".html")
    with errors(output):
        for written in (output, page):
            refuse_overwriting(written, model, dataset)
        trained = TrainedModel.load(model)
        ranked = rank_rows(trained, load_dataset(dataset, progress=is_watched()), calibrated=calibrate)
        texts = {output: ranked.to_csv()}
        if report:
            command = shlex.join(["hietan", "explain", str(model), dataset])
            texts[page] = render(candidates_summary(ranked, command=command))
        _write_together(texts)
    say(trained.caution)
    say(f"written to {output}")
    if report:
        say(f"report: {page}")


def _with_printable_names(explanation: Explanation) -> Explanation:
    """The same explanation with names of one line each: in its text, line breaks of names would look like its own."""
    from hietan.explain import NeighbourExplanation

    if isinstance(explanation, NeighbourExplanation):
        voters = (replace(n, row=printable(n.row), label=printable(n.label)) for n in explanation.neighbours)
        explanation = replace(explanation, neighbours=tuple(voters))
    return replace(
        explanation,
        row=printable(explanation.row),
        classes=tuple(map(printable, explanation.classes)),
        target=printable(explanation.target),
        contributions=tuple(
            replace(
                part,
                feature=printable(part.feature),
                name=printable(part.name),
                parent=None if part.parent is None else printable(part.parent),
            )
            for part in explanation.contributions
        ),
        removed=tuple(
            replace(removal, feature=printable(removal.feature), reason=printable(removal.reason))
            for removal in explanation.removed
        ),
    )


def _traces(trained: TrainedModel, data: Dataset, genes: list[str]) -> list[Trace | None]:
    """How the trees of rows were learned, with the readable names of features."""
    from hietan.candidates import align_columns, find_rows

    if not hasattr(trained.classifier, "trace"):
        kind = type(trained.classifier).__name__
        fail(f"--trace needs a method that learns trees, such as tan or hie-tan-lite; {kind} does not")
    X = align_columns(data, trained.feature_names)
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    return [trained.classifier.trace(X[[i]], term_names=terms) for i in find_rows(data, genes)]


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


def _write_together(texts: dict[Path, str]) -> None:
    """Write several files, and replace none of them before all are complete."""
    from hietan._io import replacing

    with ExitStack() as stack:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(replacing(path)).write_bytes(text.encode())
