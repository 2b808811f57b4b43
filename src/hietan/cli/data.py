"""The commands about data: `hietan build`, `hietan info` and `hietan fetch`.

Each parses its options, calls one function of the library, and prints what comes back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from hietan.datasets import DatasetSummary

_BAD_INPUT = 2
_FETCHED = (
    "ageing-genes, gene-ontology, annotations-worm (or -fly ...), genage-models, genage-human or gene2go."
)


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(build)
    app.command()(info)
    app.command()(fetch)


def build(
    ontology: Annotated[
        Path, typer.Option(help="OBO; or OBO-Graph JSON or OWL with the extra `ontologies`.")
    ],
    annotations: Annotated[Path, typer.Option(help="GAF 2.1 or 2.2, or gene2go.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    labels: Annotated[Path | None, typer.Option(help="CSV or TSV; without it, all genes.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of gene ids or symbols.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of labels.")] = None,
    map: Annotated[list[str] | None, typer.Option(help="LABEL=CLASS; others go.")] = None,
    where: Annotated[list[str] | None, typer.Option(help="COLUMN=VALUE: only these rows.")] = None,
    match: Annotated[str, typer.Option(help="Kinds of names that ids may be.")] = "id,symbol,synonym",
    on_conflict: Annotated[str, typer.Option(help="drop, first, majority or raise.")] = "drop",
    namespaces: Annotated[str | None, typer.Option(help="As in BPCC; all if not given.")] = None,
    relations: Annotated[str, typer.Option(help="Relations that annotations follow.")] = "is_a",
    evidence: Annotated[str | None, typer.Option(help="Evidence codes, as in IMP,IDA.")] = None,
    taxon: Annotated[str | None, typer.Option(help="Only this organism.")] = None,
    follow_replaced: Annotated[bool, typer.Option(help="Follow replaced_by.")] = False,
    min_support: Annotated[int, typer.Option(help="Rows that a term needs.")] = 3,
    drop_roots: Annotated[bool, typer.Option(help="Leave out the roots.")] = True,
    drop_constant: Annotated[bool, typer.Option(help="Leave out terms of all rows.")] = False,
    deduplicate: Annotated[bool, typer.Option(help="Identical rows of a class once.")] = False,
    features_of: Annotated[Path | None, typer.Option(help="Take the columns of this dataset.")] = None,
    name: Annotated[str | None, typer.Option(help="What to call it; the file's stem.")] = None,
) -> None:
    """Build a dataset from an ontology, annotations and labels."""
    from hietan.datasets import Dataset, build_dataset

    with _one_line_errors():
        data = build_dataset(
            ontology,
            annotations,
            labels,
            id_column=id_column,
            label_column=label_column,
            mapping=_pairs("--map", map),
            where=_pairs("--where", where),
            match=_listed(match),
            on_conflict=on_conflict,
            namespaces=namespaces,
            relations=_listed(relations),
            evidence=evidence,
            taxon=taxon,
            follow_replaced=follow_replaced,
            min_support=min_support,
            drop_roots=drop_roots,
            drop_constant=drop_constant,
            deduplicate=deduplicate,
            features=None if features_of is None else Dataset.load(features_of).feature_names,
            name=output.stem if name is None else name,
        )
        data.save(output)
    _show(data.summary())


def info(file: Annotated[Path, typer.Argument(help="A dataset that `hietan build` wrote.")]) -> None:
    """Show what is in a dataset, where it comes from, and what was lost on the way."""
    from hietan.datasets import Dataset

    with _one_line_errors():
        summary = Dataset.load(file).summary()
    _show(summary)


def fetch(
    name: Annotated[str, typer.Argument(help=_FETCHED)],
    release: Annotated[str, typer.Option(help="A date, such as 2026-06-19.")] = "current",
    data_home: Annotated[Path | None, typer.Option(help="Where files are kept.")] = None,
    refresh: Annotated[bool, typer.Option(help="Download even what is there.")] = False,
) -> None:
    """Find or download published files, and print where they are."""
    from hietan.datasets import fetch_collection

    with _one_line_errors():
        watched = typer.get_text_stream("stderr").isatty()
        paths = fetch_collection(name, release, data_home=data_home, refresh=refresh, progress=watched)
    for path in paths:
        typer.echo(path)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Warnings about data become lines of their own; bad input becomes one line and exit code 2."""
    from hietan.datasets import DataWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            yield
        except (ValueError, OSError, ImportError) as error:
            typer.echo(f"error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(_BAD_INPUT) from None
        finally:
            for warning in caught:
                typer.echo(f"warning: {warning.message}", err=True)


def _pairs(option: str, values: Iterable[str] | None) -> dict[str, str] | None:
    found = dict[str, str]()
    for value in values or ():
        key, equals, meaning = value.partition("=")
        if not equals:
            raise ValueError(f"{option} is {value!r}; expected two words with = between them")
        found[key.strip()] = meaning.strip()
    return found or None


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _show(summary: DatasetSummary) -> None:
    from rich.console import Console

    console = Console(markup=False)
    console.print(f"{summary.name}: {summary.n_rows:,} rows, {summary.n_features:,} features", style="bold")
    classes = ", ".join(f"{label} {count:,}" for label, count in summary.classes) or "no labels"
    shape = ", ".join(f"{what} {count:,}" for what, count in summary.hierarchy.items())
    console.print(f"{classes}; {summary.density:.2%} ones; {shape}")
    if summary.account:
        console.print(_table("What was lost on the way", ("of", "", "count"), summary.account))
    console.print(_table("Commonest features", ("feature", "name", "rows"), summary.commonest))
    if summary.facts:
        console.print(_table("Where it comes from", ("what", "value"), summary.facts))


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in ("count", "rows") else "left", overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else Text(str(cell)) for cell in row))
    return table
