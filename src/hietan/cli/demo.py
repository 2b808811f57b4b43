"""The command `demo`: all classifiers on synthetic data, and a small report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli.messages import errors, make_console, make_table, say, with_quiet_option

if TYPE_CHECKING:
    from rich.table import Table

# The study that the report of the demo shows. With one smoothing, all methods are ranked together: HieBAN has another
# default than the others.
DEMO: dict[str, Any] = {
    "data": ["synthetic"],
    "methods": ["bayes", "hip-nb", "ours", "bernoulli-nb"],
    "smoothing": ["pooled"],
    "folds": 5,
}


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command()(with_quiet_option(demo))


def demo(
    rows: Annotated[int, typer.Option(min=20, help="Number of synthetic rows.")] = 400,
    features: Annotated[int, typer.Option(min=2, help="Number of hierarchical features.")] = 300,
    seed: Annotated[int, typer.Option(help="Seed of the data, the folds and the roots.")] = 0,
    report: Annotated[
        str, typer.Option(help="Also run a small study and write its report to this file.")
    ] = "",
) -> None:
    """Cross-validate the classifiers on synthetic data. The features are hierarchical, and the result is a table."""
    from hietan.datasets import make_hierarchical_classification

    with errors():
        data = make_hierarchical_classification(rows, features, random_state=seed)
        scores, tree = _scores(data, seed), _first_tree(data, seed)
    console = make_console()
    console.print(data, highlight=False)
    console.print(scores)
    console.print(tree, highlight=False)
    if report:
        with errors(Path(report)):
            _write_report(Path(report))
        say(f"report: {report}")


def _scores(data: Any, seed: int) -> Table:
    from hietan.catalogue import METHODS
    from hietan.evaluation import pooled_predictions

    numbers = {column: {"justify": "right"} for column in ("GMean", "AUC", "seconds")}
    columns = {"method": {"no_wrap": True}, "what it does": {}, **numbers}
    rows = []
    for method in METHODS.values():
        if method.in_demo:
            start = time.perf_counter()
            pooled = pooled_predictions(method.make(), data, n_splits=10, seed=seed)
            seconds = time.perf_counter() - start
            values = pooled.metrics()
            cells = [f"{100 * values['gmean']:.1f}", f"{values['auc']:.3f}", f"{seconds:.2f}"]
            rows.append([method.title, method.idea, *cells])
    return make_table(f"10-fold cross-validation, seed {seed}", columns, rows)


def _first_tree(data: Any, seed: int) -> str:
    from hietan.classifiers import HieTANLite

    model = HieTANLite(hierarchy=data.hierarchy, random_state=seed).fit(data.X, data.y)
    tree = model.trees(data.X[:1])[0]
    edges = ", ".join(f"{parent} -> {child}" for parent, child in tree.edges[:4])
    return (
        f"Hie-TAN-Lite keeps {len(tree)} of {data.X.shape[1]} features for {data.instance_names[0]}; "
        f"the first edges of its tree: {edges}"
    )


def _write_report(path: Path) -> None:
    from hietan._io import temporary_directory
    from hietan.catalogue import StudyOptions, run_named_study
    from hietan.report import write_details, write_report

    with temporary_directory() as folder:
        results = run_named_study(StudyOptions(**DEMO), folder)
        write_details(results, folder)
        write_report(folder, path)
