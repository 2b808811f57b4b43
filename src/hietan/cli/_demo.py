"""The command `demo`, which compares methods on real ageing genes and ranks the genes with reasons."""

from __future__ import annotations

import time
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
    working,
)

if TYPE_CHECKING:
    from rich.padding import Padding

    from hietan.evaluation import StudyResults
    from hietan.explain import Explanation

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
    from hietan.catalogue import METHODS, StudyOptions, run_named_study

    console = make_console()
    page = Path(report) if report else None
    methods = [entry.name for entry in METHODS.values() if entry.in_demo]
    options = StudyOptions([data], methods, folds=folds, jobs=jobs)
    with errors(page), temporary_directory() as folder:
        began = time.perf_counter()
        results = run_named_study(options, folder, show_downloads=is_watched())
        (dataset,) = results.study.datasets.values()
        console.print(_contents(dataset), highlight=False)
        console.print(_scores(results, folds, time.perf_counter() - began))
        ranked = _most_probable(results, genes)
        console.print(_reasons(results, ranked))
        if page is not None:
            _write_report(results, folder, page, [dataset.instance_names[i] for i in ranked])
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


def _predictions_by(results: StudyResults, method: str) -> tuple[str, str, Any]:
    """Return the dataset, the method's key in the study and its predictions for held-out rows."""
    for (dataset, key, _), pooled in results.predictions.items():
        if results.study.methods[key].name == method:
            return dataset, key, pooled
    raise ValueError(f"{method} made no predictions; `hietan study` shows why")


def _most_probable(results: StudyResults, n: int) -> list[int]:
    """Return the rows with the highest log-odds of the positive class. Each row's model never saw the row."""
    _, _, pooled = _predictions_by(results, RANKS_GENES)
    if pooled.score is None or pooled.score.ndim != 1:
        raise ValueError("the demo needs a dataset with two classes; for more classes, use `hietan study`")
    order: list[int] = (-pooled.score).argsort(kind="stable")[:n].tolist()
    return order


def _reasons(results: StudyResults, rows: list[int]) -> Padding:
    """Return the rows with their strongest reasons for the positive class, from the models that predicted the rows."""
    from hietan.catalogue import METHODS
    from hietan.evaluation._outputs.explanations import ChosenRows
    from hietan.scores.calibration import fit_sigmoid

    dataset, key, pooled = _predictions_by(results, RANKS_GENES)
    data = results.study.datasets[dataset]
    chosen = ChosenRows(results.study, dataset, dict.fromkeys(rows, "ranked high"), {key: pooled})
    explanations = chosen.explain(key).explanations
    target = results.study.positive_name(dataset)
    columns: dict[str, dict[str, Any]] = {
        "gene": {"no_wrap": True},
        f"P({target})": {"justify": "right", "no_wrap": True},
        "labelled": {"no_wrap": True},
        "because": {},
    }
    probabilities = fit_sigmoid(pooled.score, pooled.y_true == 1)(pooled.score)
    cells = [
        [
            data.instance_names[i],
            f"{probabilities[i]:.2f}",
            data.target_names[pooled.y_true[i]],
            _in_favour(explanations[i]),
        ]
        for i in rows
    ]
    title = (
        f"Most probably {target} according to {METHODS[RANKS_GENES].title}, fitted without the gene; P is "
        "calibrated"
    )
    return make_table(title, columns, cells)


def _in_favour(explanation: Explanation) -> str:
    """Return the features that favour the explained class most, with their contributions to its log-odds."""
    parts = sorted(explanation.contributions, key=lambda part: -part.contribution)
    return "; ".join(
        f"{'' if part.value else 'no '}{part.name} ({part.contribution:+.2f})"
        for part in parts[:REASONS]
        if part.contribution > 0
    )


def _write_report(results: StudyResults, folder: Path, page: Path, genes: list[str]) -> None:
    """Write the study's report, including explanations for the listed genes."""
    from hietan.evaluation._outputs.explanations import write_details
    from hietan.report import write_report

    with working("explaining rows") as progress:
        write_details(results, folder, wanted=genes, progress=progress)
    write_report(folder, page)
