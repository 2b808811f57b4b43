"""The command `demo`, which compares methods on real ageing genes and ranks the genes with reasons."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    errors,
    is_watched,
    make_console,
    make_table,
    printable,
    say,
)

if TYPE_CHECKING:
    from rich.padding import Padding

    from hietan.evaluation import StudyResults

RANKS_GENES = "hie-logistic"
REASONS = 3


def demo(
    data: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Two-class dataset: a name (see `hietan datasets`) or a file.",
            autocompletion=_completion.datasets,
        ),
    ] = "worm-BP",
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 10,
    genes: Annotated[int, typer.Option(min=1, help="Number of genes to list with their reasons.")] = 10,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of parallel jobs; -1 uses every core.")
    ] = 1,
    report: Annotated[
        str, typer.Option(metavar="FILE", help="Also write this comparison as an HTML report.")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Compare nine methods on ageing-related genes. Then rank the genes, with reasons for the first few.

    The worm and fly genes are part of the package, so no files or network are needed.
    """
    from hietan._io.files import temporary_directory
    from hietan.catalogue import METHODS, StudyOptions, load_dataset, run_named_study
    from hietan.report import write_report

    console = make_console()
    page = Path(report) if report else None
    methods = [entry.name for entry in METHODS.values() if entry.in_demo]
    options = StudyOptions([data], methods, folds=folds, jobs=jobs)
    with errors(page), temporary_directory() as folder:
        began = time.perf_counter()
        dataset = load_dataset(data, progress=is_watched())
        console.print(_contents(dataset), highlight=False)
        ranked = _most_probable(dataset, genes, folds, jobs)
        results = run_named_study(options, folder, rows=ranked)
        console.print(_scores(results, folds, time.perf_counter() - began))
        console.print(_reasons(results, ranked))
        if page is not None:
            write_report(folder, page)
    if report:
        say(f"report: {report}")


def _contents(data: Any) -> str:
    """Describe a dataset in one line."""
    classes = ", ".join(f"{label} {(data.y == k).sum():,}" for k, label in enumerate(data.target_names))
    rows, columns = data.X.shape
    return printable(f"{data.name}: {rows:,} {data.row_noun}s, {columns:,} features; {classes}")


def _scores(results: StudyResults, folds: int, seconds: float) -> Padding:
    """Return the study's scores, one row per method."""
    from hietan.catalogue import METHODS

    numbers = {column: {"justify": "right"} for column in ("GMean", "AUC")}
    columns = {"method": {"no_wrap": True}, "what it does": {}, **numbers}
    rows = []
    for row in results.summary:
        entry = METHODS[row.method]
        rows.append([entry.title, entry.idea, f"{row['gmean']:.3f}", f"{row['auc']:.3f}"])
    return make_table(f"{folds}-fold cross-validation in {seconds:.0f} s", columns, rows)


def _most_probable(data: Any, n: int, folds: int, jobs: int) -> list[str]:
    """Return the names of the rows with the highest log-odds, by models that never saw the row."""
    from hietan.catalogue._estimators import make_methods
    from hietan.scores import cross_validate

    if len(data.target_names) != 2:
        raise ValueError("the demo needs a dataset with two classes; for more classes, use `hietan study`")
    (method,) = make_methods([RANKS_GENES])
    scores = cross_validate(method.estimator, data, n_splits=folds, n_jobs=jobs)
    return [data.instance_names[i] for i in (-scores.log_odds).argsort(kind="stable")[:n]]


def _reasons(results: StudyResults, names: list[str]) -> Padding:
    """Return the rows with their strongest reasons for the positive class, from the models that predicted the rows."""
    from hietan.catalogue import METHODS
    from hietan.scores.calibration import fit_sigmoid

    ((dataset, data),) = results.study.datasets.items()
    (key,) = (key for key, method in results.study.methods.items() if method.name == RANKS_GENES)
    scores = results.predictions[dataset, key, 0]
    explained = {i: why for fold in results.explained[dataset, key] for i, why in fold.readable.items()}
    target = results.study.positive_name(dataset)
    columns: dict[str, dict[str, Any]] = {
        "gene": {"no_wrap": True},
        f"P({target})": {"justify": "right", "no_wrap": True},
        "labelled": {"no_wrap": True},
        "because": {},
    }
    probabilities = fit_sigmoid(scores.log_odds, scores.is_positive)(scores.log_odds)
    cells = []
    for name in names:
        i = data.instance_names.index(name)
        label = scores.classes[scores.truth[i]]
        cells.append([name, f"{probabilities[i]:.2f}", label, _in_favour(explained[i])])
    title = (
        f"Most probably {target} according to {METHODS[RANKS_GENES].title}, fitted without the gene; P is "
        "calibrated"
    )
    return make_table(title, columns, cells)


def _in_favour(explanation: Mapping[str, Any]) -> str:
    """Return the features that favour the explained class most, with their contributions to its log-odds."""
    parts = sorted(explanation["contributions"], key=lambda part: -part["contribution"])
    return "; ".join(
        f"{'' if part['value'] else 'no '}{part['name']} ({part['contribution']:+.2f})"
        for part in parts[:REASONS]
        if part["contribution"] > 0
    )
