"""What shows results to people, found by its address when it is asked for.

Results are computed in rooms that do not know how they are shown. The way from `results.report()` to its page is this
table, as plotting libraries find their backends: nothing is imported before somebody wants to look.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

PRESENTERS = {"study": "hietan.report:show_report"}
"""What is shown, and the module and the name of the function that shows it."""


def presenter(what: str) -> Callable[..., Any]:
    """The function that shows a kind of results.

    >>> presenter("study").__name__
    'show_report'
    """
    module, _, name = PRESENTERS[what].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
