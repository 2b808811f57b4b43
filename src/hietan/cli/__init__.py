"""The command line: each command parses its options, calls the library and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command `hietan`."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        print(f'error: the command line needs {error.name}: pip install "hietan[cli]"', file=sys.stderr)
        raise SystemExit(2) from None
    from hietan.cli.interrupts import ending_on_second_interrupt

    with ending_on_second_interrupt():
        from hietan.cli.app import make_app

        make_app()()
