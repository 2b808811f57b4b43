"""The command `datasets`: the names that commands accept where they take a dataset."""

from __future__ import annotations

from typing import Any

import typer

from hietan.cli.messages import make_console, make_table, say


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command()(datasets)


def datasets() -> None:
    """List the datasets that have names, and where they come from.

    Wherever a command takes a dataset, it also takes a file that `hietan build` wrote.
    """
    from hietan.catalogue import dataset_set_notes, dataset_sets

    notes = dataset_set_notes()
    columns: dict[str, dict[str, Any]] = {"set": {"no_wrap": True}, "what it holds": {}, "datasets": {}}
    rows = [[name, notes[name], ", ".join(members)] for name, members in dataset_sets().items()]
    make_console().print(make_table("For --data and wherever a dataset is asked for", columns, rows))
    say("BP: biological process; MF: molecular function; CC: cellular component")
