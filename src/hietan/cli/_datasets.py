"""The commands `datasets` and `fetch`, for named datasets and published files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hietan.cli._messages import (
    Quiet,
    errors,
    is_watched,
    make_console,
    make_table,
    say,
)

Collection = Annotated[
    str,
    typer.Argument(
        help="Collection to fetch: ageing-genes, gene-ontology, annotations-worm (also -fly and others), "
        "genage-models, genage-human or gene2go."
    ),
]


def datasets() -> None:
    """List the named datasets and where they come from.

    Every command that accepts a dataset also accepts a file written by `hietan build`.
    """
    from hietan.catalogue import dataset_sets
    from hietan.catalogue._datasets import dataset_set_notes

    notes = dataset_set_notes()
    columns: dict[str, dict[str, Any]] = {"set": {"no_wrap": True}, "contents": {}, "datasets": {}}
    rows = [[name, notes[name], ", ".join(members)] for name, members in dataset_sets().items()]
    make_console().print(make_table("Names for --data and for DATASET arguments", columns, rows))
    say("BP: biological process; MF: molecular function; CC: cellular component")


def fetch(
    name: Collection,
    release: Annotated[str, typer.Option(help="Release: current, or a date such as 2026-06-19.")] = "current",
    data_home: Annotated[Path | None, typer.Option(help="Directory for downloaded files.")] = None,
    refresh: Annotated[bool, typer.Option(help="Download files again even if they exist.")] = False,
    quiet: Quiet = False,
) -> None:
    """Find or download published files, and print their paths."""
    from hietan.datasets._fetching.fetch import fetch_collection

    with errors(interrupted="complete files are kept"):
        paths = fetch_collection(name, release, data_home=data_home, refresh=refresh, progress=is_watched())
    for path in paths:
        say(path)
