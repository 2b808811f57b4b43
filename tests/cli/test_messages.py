"""What all commands print in the same way: errors, warnings and interruptions as lines, and the progress of a study."""

import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from hietan.cli import _messages as messages
from hietan.cli._app import make_app
from hietan.cli._messages import BAD_INPUT, INTERRUPTED, errors, make_table
from hietan.evaluation._study.plan import Progress
from hietan.exceptions import CatalogueError, DataWarning, HierarchyWarning, ModelFileError, StudyError


def outcome(action, *arguments, **options):
    """The exit code and the lines on stderr of a command that does something within `errors`."""
    app = typer.Typer()

    @app.command()
    def command() -> None:
        with errors(*arguments, **options):
            action()

    result = CliRunner().invoke(app, [])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stderr.splitlines()


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize("kind", [StudyError, CatalogueError, ModelFileError, ImportError, ValueError])
def test_bad_input_is_one_line(kind):
    assert outcome(raising(kind("it is\n  wrong"))) == (BAD_INPUT, ["error: it is wrong"])


@pytest.mark.parametrize("kind", [TypeError, KeyError, AttributeError, RuntimeError, AssertionError])
def test_a_mistake_in_the_program_is_not_hidden(kind):
    with pytest.raises(kind, match="a mistake"):
        outcome(raising(kind("a mistake")))


@pytest.mark.parametrize(
    ("error", "resumable", "line"),
    [
        (FileNotFoundError(2, "No such file", "a.obo"), False, "a.obo does not exist; check the path"),
        (FileNotFoundError(2, "No such file", "a.obo"), True, "a.obo does not exist; check the path"),
        (PermissionError(13, "Permission denied", "b"), False, "b: Permission denied"),
        (OSError(28, "No space left on device"), False, "out: No space left on device"),
        (
            OSError(28, "No space left on device"),
            True,
            "out: No space left on device; the files on disk are intact: run the same command again to resume",
        ),
        (ConnectionError("the cluster is gone"), False, "the cluster is gone"),
    ],
)
def test_trouble_with_files_names_the_file(error, resumable, line):
    assert outcome(raising(error), Path("out"), resumable=resumable) == (BAD_INPUT, [f"error: {line}"])


def test_a_narrow_terminal_wraps_names_and_never_cuts_numbers(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    columns = {
        "method": {"overflow": "fold"},
        "average rank": {"justify": "right"},
        "p": {"justify": "right"},
    }
    table = make_table("t", columns, [["HistGradientBoostingClassifier", "1.50", "3.94e-08"]])
    console = Console(width=30, record=True, file=io.StringIO())
    console.print(table)
    printed = console.export_text()
    assert "1.50" in printed and "3.94e-08" in printed and "\u2026" not in printed
    assert "HistGradientBoostingClassifier" in "".join(line[:14].strip() for line in printed.splitlines())


def test_warnings_are_lines_of_their_own_each_once():
    def action():
        for message in ("first\n line", "second", "first\n line"):
            warnings.warn(message, DataWarning, stacklevel=1)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("third", HierarchyWarning, stacklevel=1)

    lines = ["warning: first line", "warning: second", "warning: third"]
    assert outcome(action) == (0, lines)
    show = warnings.showwarning
    outcome(action)
    assert warnings.showwarning is show


STUCK = """
import time
from pathlib import Path
from sklearn.naive_bayes import BernoulliNB

class Stuck(BernoulliNB):
    fits = 0

    def fit(self, X, y):
        Stuck.fits += 1
        if Stuck.fits == 2 and not Path("stuck").exists():
            Path("stuck").touch()
            time.sleep(3600)
        return super().fit(X, y)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.slow
def test_ctrl_c_in_a_running_study(monkeypatch, tmp_path):
    """A real signal, in the middle of the second job; the same command then runs the other two."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("stuck_method.py").write_text(STUCK)
    words = "study --data synthetic-0 --methods stuck_method.Stuck --folds 3 --no-figures -o out".split()
    process = subprocess.Popen(
        [sys.executable, "-c", "from hietan.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not Path("stuck").exists() or not any(path.stat().st_size for path in Path("out").rglob("*.jsonl")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == INTERRUPTED and "Traceback" not in stderr
    assert stderr.splitlines()[-1] == "interrupted; run the same command again to resume"
    again = CliRunner().invoke(make_app(), words)
    assert again.exit_code == 0 and "1 of 3 jobs, 1 were already done" in again.stderr


@pytest.mark.parametrize(
    "command", ["fit synthetic-0 -o m.hietan", "predict m synthetic-0 -o p.csv --report"]
)
def test_an_interrupted_write_leaves_nothing(monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    app = make_app()
    assert CliRunner().invoke(app, ["fit", "synthetic-0", "-o", "m"]).exit_code == 0
    monkeypatch.setattr(os, "replace", raising_keyboard_interrupt)
    result = CliRunner().invoke(app, command.split())
    assert (result.exit_code, result.stderr) == (INTERRUPTED, "interrupted; nothing was written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def raising_keyboard_interrupt(*_, **__):
    raise KeyboardInterrupt


def test_plain_lines_come_now_and_then(monkeypatch):
    now = iter([0.0, 1.0, 2.0, 10.0, 12.0])
    monkeypatch.setattr(messages.time, "monotonic", lambda: next(now))
    console = Console(record=True, width=200, file=open(os.devnull, "w"))  # noqa: SIM115
    show = messages.PlainLines(console)
    job = object()
    for progress in (
        Progress(4, 10, 4, 0),
        Progress(5, 10, 4, 0, job),  # a second later: too soon
        Progress(6, 10, 4, 1, job),
        Progress(10, 10, 4, 1, job),
    ):
        show(progress)
    assert console.export_text().splitlines() == [
        "4 of 10 jobs, 4 were already done",
        "6 of 10 jobs, about 20 s left, 1 failed",
        "10 of 10 jobs, 1 failed",
    ]
    console.file.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("words", [["info", "synthetic-0"], ["--version"], ["--help"]])
def test_an_output_that_cannot_be_written_is_one_line(words):
    command = [sys.executable, "-c", "from hietan.cli import main; main()", *words]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == BAD_INPUT
    assert ended.stderr == "error: the output cannot be written: No space left on device\n"
