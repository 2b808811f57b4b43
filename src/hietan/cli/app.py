"""The application: all commands, and the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def make_app() -> Any:
    """The typer application with all its commands."""
    import typer

    app = typer.Typer(
        name="hietan",
        help="Classification with hierarchical features: exact, fast, explainable.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from hietan import __version__

            print(f"hietan {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Print the version and stop."
        ),
    ) -> None:
        pass

    @app.command()
    def demo(
        rows: int = typer.Option(400, min=20, help="Number of synthetic rows."),
        features: int = typer.Option(300, min=2, help="Number of hierarchical features."),
        seed: int = typer.Option(0, help="Seed of the data, the folds and the roots."),
        report: str = typer.Option("", help="Also run a small study, and write its report here."),
    ) -> None:
        """Cross-validate the classifiers on synthetic data with hierarchical features, and print a table."""
        _demo(rows, features, seed)
        if report:
            from hietan.cli.report import write_demo_report

            write_demo_report(Path(report))
            print(f"to look at: {report}")

    from hietan.cli import data, models, report, study

    for commands in (data, study, report, models):
        commands.register(app)
    return app


def _demo(n_rows: int, n_features: int, seed: int) -> None:
    import time

    from rich.console import Console
    from rich.table import Table
    from sklearn.naive_bayes import BernoulliNB

    from hietan import AODE, HIPNB, HRETAN, TAN, HieAODE, HieAODELite, HieTAN, HieTANLite
    from hietan.datasets import make_hierarchical_classification
    from hietan.evaluation import pooled_predictions

    data = make_hierarchical_classification(n_rows, n_features, random_state=seed)
    methods: dict[str, tuple[Any, str]] = {
        "TAN": (TAN, "one tree; ignores the hierarchy"),
        "Hie-TAN": (HieTAN, "one tree, directed by the hierarchy"),
        "HRE-TAN": (HRETAN, "a tree per row, without redundancy"),
        "Hie-TAN-Lite": (HieTANLite, "a tree per row, directed, without redundancy"),
        "AODE": (AODE, "an average of estimators; ignores the hierarchy"),
        "Hie-AODE": (HieAODE, "ancestors depend on the class alone"),
        "Hie-AODE-Lite": (HieAODELite, "ancestors are left out"),
        "HIP + naive Bayes": (HIPNB, "the most specific features of a row"),
        "naive Bayes": (BernoulliNB, "for comparison: scikit-learn's"),
    }
    table = Table(title=f"10-fold cross-validation, seed {seed}", title_justify="left")
    table.add_column("method", no_wrap=True)
    table.add_column("what it does")
    for column in ("GMean", "AUC", "seconds"):
        table.add_column(column, justify="right")
    for name, (method, idea) in methods.items():
        start = time.perf_counter()
        pooled = pooled_predictions(method(), data, n_splits=10, seed=seed)
        seconds = time.perf_counter() - start
        scores = pooled.metrics()
        table.add_row(name, idea, f"{100 * scores['gmean']:.1f}", f"{scores['auc']:.3f}", f"{seconds:.2f}")
    console = Console()
    console.print(data, highlight=False)
    console.print(table)
    example = HieTANLite(hierarchy=data.hierarchy, random_state=seed).fit(data.X, data.y)
    tree = example.trees(data.X[:1])[0]
    console.print(
        f"Hie-TAN-Lite keeps {len(tree)} of {n_features} features for {data.instance_names[0]}; "
        f"the first edges of its tree: " + ", ".join(f"{a} -> {b}" for a, b in tree.edges[:4]),
        highlight=False,
    )
