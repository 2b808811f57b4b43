"""Protecting the caller's warning filters from worker threads that modify them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# Forests of scikit-learn give this warning when they find no filters because a forest in another thread has removed
# them.
_CHATTER = "`sklearn.utils.parallel.delayed` should be used with"


@contextmanager
def steady_warnings() -> Iterator[None]:
    """Preserve the warning filters while threads are running.

    The filters belong to the whole process, and `warnings.catch_warnings` is not safe in threads: forests of
    scikit-learn enter it for every tree, and two of them running at once can leave the filters empty for good. So a
    copy of the filters is applied where warnings are shown, and at the end the filters are put back.
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
        with warnings.catch_warnings():  # entering and leaving it tells Python that the filters have changed
            pass


def _is_ignored(message: str, category: type[Warning], filters: Sequence[Any]) -> bool:
    """Whether the first matching filter ignores it; filters for modules are skipped: its module is not known here."""
    for action, pattern, kind, module, line in filters:
        fits = pattern is None or (
            pattern.match(message) if hasattr(pattern, "match") else pattern == message
        )
        if fits and module is None and not line and issubclass(category, kind):
            return bool(action == "ignore")
    return False
