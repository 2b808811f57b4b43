"""The commands `report` and `explain`, and the report at the end of the demo."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hietan import persistence
from hietan.cli_datasets import load_dataset
from hietan.cli_models import align_columns, load_model
from hietan.cli_study import StudyOptions, clear_errors, run
from hietan.datasets import Dataset
from hietan.evaluation import StudyError
from hietan.report import write_details, write_report

DEMO = StudyOptions(["synthetic"], ["bayes", "hip-nb", "bernoulli-nb"], folds=5)


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(report)
    app.command()(explain)


def report(
    directory: Annotated[Path, typer.Argument(help="The directory of a finished study.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("report.html"),
) -> None:
    """Write the report of a study: one HTML file that needs no network and no server."""
    with clear_errors(output):
        path = write_report(directory, output)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def explain(
    model: Annotated[Path, typer.Argument(help="A file that `hietan fit` wrote.")],
    dataset: Annotated[str, typer.Argument(help="Where the gene is: a name or a file.")],
    gene: Annotated[list[str], typer.Option(help="The gene to explain; several allowed.")],
    limit: Annotated[int, typer.Option(min=1, help="Features to show one by one.")] = 15,
) -> None:
    """Say why a model classifies a gene as it does: what each feature adds to the log-odds."""
    with clear_errors(model):
        fitted, about = load_model(model), persistence.read_metadata(model)
        texts = explanation_texts(fitted, about, load_dataset(dataset), gene, limit)
    typer.echo("\n\n".join(texts))


def explanation_texts(
    model: Any, about: dict[str, Any], data: Dataset, genes: list[str], limit: int = 15
) -> list[str]:
    """The explanations of some rows, by name, as text with the names of terms and classes."""
    place = {name: i for i, name in enumerate(data.instance_names)}
    unknown = [name for name in genes if name not in place]
    if unknown:
        raise StudyError(
            f"{data.name or 'the dataset'} has no row {unknown[0]!r}, such as {data.instance_names[0]!r}"
        )
    X = align_columns(data, about["feature_names"])[[place[name] for name in genes]]
    names = dict(zip(data.feature_names, data.term_names, strict=True))
    known = set(about.get("training_rows") or ())
    texts = []
    for name, found in zip(genes, model.explain(X, term_names=names), strict=True):
        classes = tuple(about["target_names"])
        target = classes[found.classes.index(found.target)]
        text = replace(found, row=name, classes=classes, target=target).text(limit)
        texts.append(
            text + ("\n\nThe model was trained on this row and knew its class." if name in known else "")
        )
    return texts


def write_demo_report(path: Path) -> None:
    """A small study on synthetic data, and its report."""
    with clear_errors(path), tempfile.TemporaryDirectory() as folder:
        results = run(DEMO, Path(folder), retry_failed=False, quiet=True)
        write_details(results, Path(folder))
        write_report(folder, path)
