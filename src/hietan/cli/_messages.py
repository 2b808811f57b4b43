"""Output shared by all commands: single-line errors and warnings, progress, and tables.

Every text that a command prints goes through `printable`: names come from other people's files and must not be able
to control the terminal.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from hietan.cli import INTERRUPTED
from hietan.exceptions import DataWarning, FailedMethodWarning, HietanError

if TYPE_CHECKING:
    from hietan.evaluation._study.plan import Progress

SOME_FAILED, BAD_INPUT = 1, 2
SECONDS_BETWEEN_LINES = 5.0
_RESUME = "run the same command again to resume"


_state = {"quiet": False}


def set_quiet(quiet: bool) -> bool:
    """Store whether --quiet is set, for `tell` and `is_watched`. Every command with this option calls this function."""
    _state["quiet"] = quiet
    return quiet


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Suppress progress messages.",
        callback=set_quiet,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

# ------------------------------------------------------------------ text

# Control characters, line and paragraph separators, marks of writing direction, and halves of surrogate pairs.
_NOT_SHOWN = (
    *(*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F),
    *(*range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000), 0xFEFF),
)
_ESCAPES = {code: repr(chr(code))[1:-1] for code in _NOT_SHOWN}


def printable(value: object) -> str:
    """Return the value as one line of text. Characters that could control a terminal are escaped.

    >>> print(printable("two\\nlines, \\x1b[2J"))
    two\\nlines, \\x1b[2J
    """
    return str(value).translate(_ESCAPES)


def say(message: object, *, err: bool = False) -> None:
    """Print one line to standard output, or to standard error."""
    typer.echo(printable(message), err=err)


def print_json(content: Any) -> None:
    """Print a result as one line of JSON."""
    typer.echo(json.dumps(content, default=lambda value: value.item()))


def tell(message: object) -> None:
    """Print a progress message, unless --quiet is set."""
    if not is_quiet():
        say(message)


def is_quiet() -> bool:
    """Return whether the option --quiet is set."""
    return _state["quiet"]


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that prints text literally: brackets are not markup, and colons are not emoji."""
    return Console(stderr=stderr, markup=False, emoji=False)


def make_table(
    title: str,
    columns: Mapping[str, Any],
    rows: Iterable[Iterable[object]],
    bold: Collection[tuple[int, int]] = (),
) -> Padding:
    """Return a table to print, with an empty line below it.

    Parameters
    ----------
    title : str
        The line above the table.
    columns : mapping of str to dict
        The heading of each column, and the options of `rich.table.Table.add_column` for it.
    rows : iterable of iterable
        The cells of each row.
    bold : collection of (row, column)
        The cells to emphasise.
    """
    table = Table(
        header_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    lines = [[printable(cell) for cell in row] for row in rows]
    longest = [max((len(line[c]) for line in lines), default=0) for c in range(len(columns))]
    widest = sum(max(len(heading), cells) + 2 for heading, cells in zip(columns, longest, strict=True))
    is_narrow = widest > make_console().width
    for cells, (heading, options) in zip(longest, columns.items(), strict=True):
        widths: dict[str, Any] = {}
        if is_narrow and options.get("justify") == "right":  # wrap names and headings, and never cut numbers
            words = max(map(len, heading.split()))
            widths = {"min_width": cells, "max_width": max(cells, words), "overflow": "fold"}
        table.add_column(Text(heading), **{**widths, **options})
    for r, line in enumerate(lines):
        table.add_row(*(Text(cell, style="bold" if (r, c) in bold else "") for c, cell in enumerate(line)))
    return Padding(Group(Text(printable(title), style="table.title"), table), (0, 0, 1, 0))


# ------------------------------------------------------------------ errors and warnings


@contextmanager
def errors(
    writing: Path | None = None, *, resumable: bool = False, interrupted: str = "nothing was written"
) -> Iterator[None]:
    """Report an error or Ctrl-C as one line with an exit code, and each warning as one line.

    Any other exception is a bug and shows its traceback.

    Parameters
    ----------
    writing : path, optional
        The file that the command writes; the error names it if the system does not name a file.
    resumable : bool
        Whether the same command continues where it stopped.
    interrupted : str
        What Ctrl-C leaves on disk, if the command is not resumable.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("always", FailedMethodWarning)
        warnings.showwarning = _warning_printer()
        try:
            yield
        except BrokenPipeError:  # whoever read the output has seen enough, which `main` knows
            raise
        except OSError as error:
            fail(_file_trouble(error, writing, resumable))
        except (HietanError, ImportError, ValueError) as error:
            fail(str(error))
        except KeyboardInterrupt:
            say(f"interrupted; {_RESUME if resumable else interrupted}", err=True)
            raise typer.Exit(INTERRUPTED) from None


def refuse_overwriting(output: Path, *inputs: str | Path | None) -> None:
    """Raise an error if the command would overwrite a file that it reads."""
    for path in inputs:
        if path is not None and output.exists() and Path(path).exists() and output.samefile(path):
            fail(f"{output} is an input of this command and would be overwritten; choose another --output")


def fail(message: str) -> NoReturn:
    """Print an error as one line and end the command."""
    say(f"error: {_one_line(message)}", err=True)
    raise typer.Exit(BAD_INPUT) from None


def _warning_printer() -> Callable[..., None]:
    """Return a function that prints warnings as they occur, each distinct text once."""
    printed = set()

    def show(message: Warning | str, *details: Any, **options: Any) -> None:
        line = f"warning: {_one_line(str(message))}"
        if line not in printed:
            printed.add(line)
            say(line, err=True)

    return show


def _file_trouble(error: OSError, writing: Path | None, resumable: bool) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename} does not exist; check the path"
    where = error.filename or writing
    message = f"{where}: {error.strerror}" if where and error.strerror else str(error)
    return f"{message}; the files on disk are intact: {_RESUME}" if resumable else message


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ------------------------------------------------------------------ progress


def is_watched() -> bool:
    """Return whether progress is visible. This requires a terminal as stderr, and no --quiet."""
    return not is_quiet() and bool(typer.get_text_stream("stderr").isatty())


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show that the command is working, and how long it has been running.

    Yields a function to call with the number of finished steps and the number of all steps, or None if progress is not
    visible.
    """
    if not is_watched():
        yield None
        return
    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn()]
    with Bar(*columns, TimeElapsedColumn(), console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(what), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def reporting(quiet: bool, console: Console | None = None) -> Iterator[Callable[[Progress], None] | None]:
    """Yield a function to call after every job, or None if `quiet` is true.

    It shows a live bar in a terminal and plain lines elsewhere.
    """
    console = console or make_console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("study", total=None, what="", failed="")
            yield lambda progress: _update(bar, task, progress)
    else:
        yield PlainLines(console)


class PlainLines:
    """A progress display that prints a line at the beginning, every few seconds, and at the end."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.began = time.monotonic()
        self.last = -float("inf")

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        finished = progress.done == progress.total
        if finished or now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            line = progress_line(progress, now - self.began)
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)


def progress_line(progress: Progress, seconds: float) -> str:
    """Return a line about a study's progress, with the estimated remaining time."""
    new = progress.done - progress.resumed
    words = [f"{progress.done} of {progress.total} jobs"]
    if progress.job is None and progress.resumed:
        words.append(f"{progress.resumed} were already done")
    if new and progress.done < progress.total:
        words.append(f"about {seconds / new * (progress.total - progress.done):.0f} s left")
    if progress.failed:
        words.append(f"{progress.failed} failed")
    return ", ".join(words)


def _bar(console: Console) -> Bar:
    columns: list[Any] = [BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[what]}", markup=False)]
    columns += [TextColumn("{task.fields[failed]}", style="red", markup=False)]
    columns += [TimeElapsedColumn(), TimeRemainingColumn()]
    return Bar(*columns, console=console, transient=True)


def _update(bar: Bar, task: Any, progress: Progress) -> None:
    what = f"{progress.job.dataset} {progress.job.method}" if progress.job else ""
    failed = f"{progress.failed} failed" if progress.failed else ""
    bar.update(task, completed=progress.done, total=progress.total, what=printable(what), failed=failed)
