"""The command `methods`: list all methods."""

from __future__ import annotations

from typing import Any

from hietan.cli import _completion
from hietan.cli._messages import (
    Quiet,
    make_console,
    make_table,
    say,
)


def methods(quiet: Quiet = False) -> None:
    """List the methods, what each one does and when to use it."""
    from hietan.catalogue import METHODS, method_sets

    fitted = _completion.fitted_methods()
    ours: list[list[str]] = []
    others: list[list[str]] = []
    for entry in METHODS.values():
        rows = ours if entry.name in fitted else others
        rows.append([entry.name, f"{entry.title}: {entry.idea}", entry.when])
    columns: dict[str, dict[str, Any]] = {"name": {"no_wrap": True}, "what it does": {}, "use it": {}}
    console = make_console()
    console.print(make_table("For `hietan fit` and `hietan study`", columns, ours))
    console.print(
        make_table("For `hietan study`: scikit-learn's classifiers, for comparison", columns, others)
    )
    for name, members in method_sets().items():
        listed = "all of the above" if len(members) == len(METHODS) else ", ".join(members)
        say(f"set {name}: {listed}")
