"""The commands `report` and `explain`, and the report at the end of the demo."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli.models import align_columns, load_model
from hietan.cli.study import StudyOptions, clear_errors, run

if TYPE_CHECKING:
    from hietan.datasets import Dataset

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
    from hietan.report import write_report

    with clear_errors(output):
        path = write_report(directory, output)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def explain(
    model: Annotated[Path, typer.Argument(help="A file that `hietan fit` wrote.")],
    dataset: Annotated[str, typer.Argument(help="Where the gene is: a name or a file.")],
    gene: Annotated[list[str], typer.Option(help="The gene to explain, by id or symbol; several allowed.")],
    limit: Annotated[int, typer.Option(min=1, help="Features to show one by one.")] = 15,
) -> None:
    """Say why a model classifies a gene as it does: what each feature adds to the log-odds."""
    from hietan import persistence
    from hietan.cli.datasets import load_dataset

    with clear_errors(model):
        fitted, about = load_model(model), persistence.read_metadata(model)
        texts = explanation_texts(fitted, about, load_dataset(dataset), gene, limit)
    typer.echo("\n\n".join(texts))


def explanation_texts(
    model: Any, about: dict[str, Any], data: Dataset, genes: list[str], limit: int = 15
) -> list[str]:
    """The explanations of some rows, by name, as text with the names of terms and classes."""
    from hietan.evaluation import StudyError

    place = _places(data)
    unknown = [name for name in genes if name not in place]
    if unknown:
        raise StudyError(
            f"{data.name or 'the dataset'} has no row {unknown[0]!r}, such as {data.instance_names[0]!r}"
        )
    rows = [place[name] for name in genes]
    X = align_columns(data, about["feature_names"])[rows]
    names = dict(zip(data.feature_names, data.term_names, strict=True))
    known = set(about.get("training_rows") or ())
    texts = []
    for i, found in zip(rows, model.explain(X, term_names=names), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        classes = tuple(about["target_names"])
        target = classes[found.classes.index(found.target)]
        text = replace(
            found, row=f"{name} ({symbol})" if symbol else name, classes=classes, target=target
        ).text(limit)
        texts.append(
            text + ("\n\nThe model was trained on this row and knew its class." if name in known else "")
        )
    return texts


def _places(data: Dataset) -> dict[str, int]:
    """Where each row is, by its name, or by its symbol where no other row has the same."""
    times = Counter(data.symbols)
    by_symbol = {symbol: i for i, symbol in enumerate(data.symbols) if symbol and times[symbol] == 1}
    return by_symbol | {name: i for i, name in enumerate(data.instance_names)}


def write_demo_report(path: Path) -> None:
    """A small study on synthetic data, and its report."""
    from hietan.report import write_details, write_report

    with clear_errors(path), tempfile.TemporaryDirectory() as folder:
        results = run(DEMO, Path(folder), retry_failed=False, quiet=True)
        write_details(results, Path(folder))
        write_report(folder, path)
