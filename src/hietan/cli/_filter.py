"""The command `filter`: a table of terms, such as an enrichment result, without related ones."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from hietan.cli._messages import errors, refuse_overwriting, say
from hietan.exceptions import DataError


def filter_terms(
    terms: Annotated[Path, typer.Argument(help="The table of terms, CSV or TSV, with a line of headings.")],
    hierarchy: Annotated[
        Path,
        typer.Option(help="The ontology: OBO; or OBO-Graph JSON or OWL with the extra `ontologies`."),
    ],
    keep: Annotated[
        str, typer.Option(help="Which terms of a lineage to keep: specific, general or relevant.")
    ] = "specific",
    column: Annotated[str | None, typer.Option(help="The column of terms; the first unless given.")] = None,
    score: Annotated[
        str | None, typer.Option(help="The column of p-values or scores, for --keep relevant.")
    ] = None,
    best: Annotated[
        str, typer.Option(help="Which scores are the best: smallest (p-values) or largest.")
    ] = "smallest",
    relations: Annotated[
        str, typer.Option(help="The relations that make terms related, separated by commas.")
    ] = "is_a",
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")] = Path(
        "filtered.csv"
    ),
) -> None:
    """Thin out a table of terms, such as an enrichment result.

    The terms that are left are the most specific, the most general or the most relevant ones.
    A term may be written with its name in front, as in "apoptotic process (GO:0006915)".
    """
    from hietan._io.files import atomic_write
    from hietan._io.tables import csv_text
    from hietan.datasets import read_ontology
    from hietan.datasets._building.options import listed
    from hietan.selection import HierarchyFilter

    with errors(output):
        refuse_overwriting(output, terms, hierarchy)
        header, rows = _read_table(terms)
        names = [row[_place(header, column, terms) if column is not None else 0] for row in rows]
        scores = None if score is None else _numbers(rows, _place(header, score, terms), score, terms)
        try:
            related = read_ontology(hierarchy).hierarchy_of(listed(relations))
            kept = HierarchyFilter(related, keep, best=best).kept(names, scores=scores)
        except ValueError as error:
            raise DataError(str(error)) from None
        left = [row for row, stays in zip(rows, kept.tolist(), strict=True) if stays]
        atomic_write(output, csv_text(header, left), follow=True)
    say(f"{len(left)} of {len(rows)} rows are left; written to {output}")


def _read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """The headings and the cells, with as many cells in every row as there are headings."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            lines = [line for line in csv.reader(file, delimiter="\t" if "\t" in first else ",") if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a table of text: {error}") from None
    if not lines:
        raise DataError(f"{path} is empty; expected a line of headings, then a row for each term")
    header, *rows = lines
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise DataError(f"{path}: row {number} has {len(row)} cells for {len(header)} headings")
    return header, rows


def _place(header: list[str], column: str, path: Path) -> int:
    if column not in header:
        raise DataError(f"{path} has no column {column!r}; its columns are {', '.join(map(repr, header))}")
    return header.index(column)


def _numbers(rows: list[list[str]], place: int, column: str, path: Path) -> list[float]:
    numbers = []
    for number, row in enumerate(rows, start=1):
        try:
            numbers.append(float(row[place]))
        except ValueError:
            raise DataError(
                f"{path}: row {number} has {row[place]!r} in the column {column!r}; expected a number"
            ) from None
    return numbers
