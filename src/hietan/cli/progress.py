"""Telling how far a study is: a live bar in a terminal, plain lines elsewhere, nothing if asked to be quiet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from hietan.evaluation import Progress

Report = Callable[[Progress], None]
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def reporting(quiet: bool, console: Console | None = None) -> Iterator[Report | None]:
    """Give a function to call after every job."""
    console = console or Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("study", total=None, what="", failed="")
            yield lambda progress: _show(bar, task, progress)
    else:
        yield PlainLines(console)


class PlainLines:
    """Prints a line every few seconds, and at the beginning and the end."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.began = time.monotonic()
        self.last = -float("inf")

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        finished = progress.done == progress.total
        if not finished and now - self.last < SECONDS_BETWEEN_LINES:
            return
        self.last = now
        self.console.print(
            self.line(progress, now - self.began), highlight=False, markup=False, soft_wrap=True
        )

    @staticmethod
    def line(progress: Progress, seconds: float) -> str:
        """How far, and how long still at this pace."""
        new = progress.done - progress.resumed
        words = [f"{progress.done} of {progress.total} jobs"]
        if progress.job is None and progress.resumed:
            words.append(f"{progress.resumed} were there already")
        if new and progress.done < progress.total:
            words.append(f"about {seconds / new * (progress.total - progress.done):.0f} s left")
        if progress.failed:
            words.append(f"{progress.failed} failed")
        return ", ".join(words)


def _bar(console: Console) -> Bar:
    columns: list[Any] = [BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[what]}")]
    columns += [TextColumn("[red]{task.fields[failed]}"), TimeElapsedColumn(), TimeRemainingColumn()]
    return Bar(*columns, console=console, transient=True)


def _show(bar: Bar, task: Any, progress: Progress) -> None:
    what = f"{progress.job.dataset} {progress.job.method}" if progress.job else ""
    failed = f"{progress.failed} failed" if progress.failed else ""
    bar.update(task, completed=progress.done, total=progress.total, what=what, failed=failed)
