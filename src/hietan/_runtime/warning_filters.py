"""Warnings as the caller wants them, while others turn them over in several threads at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# Said by scikit-learn's forests when they find no filters, which nobody took from them but a forest in another thread.
_CHATTER = "`sklearn.utils.parallel.delayed` should be used with"


@contextmanager
def steady_warnings() -> Iterator[None]:
    """Keep the filters of warnings through work in threads.

    They belong to the whole process, and `warnings.catch_warnings` is not made for threads: scikit-learn's forests
    enter it for every tree, and two of them at a time leave the filters empty for good. Meanwhile what the filters say
    is heeded when a warning is shown, and afterwards they are put back.
    """
    filters: Any = warnings.filters
    kept = list(filters)
    show = warnings.showwarning

    def show_unless_ignored(
        message: Warning | str, category: type[Warning], *where: Any, **options: Any
    ) -> None:
        if not str(message).startswith(_CHATTER) and not _is_ignored(str(message), category, kept):
            show(message, category, *where, **options)

    warnings.showwarning = show_unless_ignored
    try:
        yield
    finally:
        warnings.showwarning = show
        warnings.filters = filters
        filters[:] = kept
        with warnings.catch_warnings():  # coming and going tells Python that the filters have changed
            pass


def _is_ignored(message: str, category: type[Warning], filters: Sequence[Any]) -> bool:
    """What the first filter that fits says; those for single modules are passed over: where it is said is not known."""
    for action, pattern, kind, module, line in filters:
        fits = pattern is None or (
            pattern.match(message) if hasattr(pattern, "match") else pattern == message
        )
        if fits and module is None and not line and issubclass(category, kind):
            return bool(action == "ignore")
    return False
