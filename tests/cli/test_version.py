"""The version, what a bug report needs, completion, the list of datasets, and help at 80 columns."""

import os
import re
import shlex
from pathlib import Path

import numpy
import pytest
import typer
from typer.testing import CliRunner

from hietan import __version__
from hietan.catalogue import dataset_sets
from hietan.cli._app import make_app


def run(*words, **options):
    return CliRunner().invoke(make_app(), list(words), **options)


def test_the_version_alone_is_one_line():
    assert run("--version").output == f"hietan {__version__}\n"
    assert run("--version", "study").output == f"hietan {__version__}\n"


@pytest.mark.source
def test_help_lists_the_commands_in_the_order_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    listed = run("--help").output.partition("Commands:")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\w+) ", listed, re.MULTILINE) == re.findall(
        r"^\| `hietan (\w+)` \|", page, re.MULTILINE
    )


def test_a_bug_report_says_what_runs_where():
    for words in (["--version", "--verbose"], ["--verbose", "--version"]):
        result = run(*words)
        first, kernel, *others = result.output.splitlines()
        assert result.exit_code == 0 and first == f"hietan {__version__}"
        assert re.search(r"^kernel _kernel\..*, built by (gcc|clang|MSVC) .* with nanobind \d", kernel)
        facts = dict(line.split(":", 1) for line in map(str.strip, others) if ":" in line)
        assert facts["numpy"].strip() == numpy.__version__ and facts["python"].startswith(" 3.")
        assert {"machine", "scipy", "sklearn", "joblib", "num_threads"} < set(facts)


def test_verbose_needs_version_and_options_need_a_command():
    for words, message in (
        (["--verbose"], "no command"),
        (["--verbose", "datasets"], "only works with --version"),
    ):
        result = run(*words)
        assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output


def completed(words):
    """What a shell is told when the tab key is pressed after these words."""
    variables = {
        "_HIETAN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    return run(prog_name="hietan", env=variables).output.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("hietan da", ["datasets"]),
        ("hietan fit worm-BPM", ["worm-BPMF", "worm-BPMFCC"]),
        (
            "hietan fit worm-BP -m hie-tan",
            ["hie-tan", "hie-tan-lite", "hie-tan-laplace", "hie-tan-lite-laplace"],
        ),
        ("hietan fit worm-BP -m logistic", []),  # scikit-learn's, for studies alone
        (
            "hietan study --methods logistic-l",
            ["logistic-l2-balanced", "logistic-l2", "logistic-l1-balanced"],
        ),
        ("hietan study --methods pap", ["paper"]),
        ("hietan study --data ageing-20", ["ageing-2025", "ageing-2014"]),
        ("hietan study --backend pro", ["processes"]),
        ("hietan compare out --metric gm", ["gmean"]),
    ],
)
def test_shells_can_complete_names(words, offered):
    assert completed(words) == offered


def test_shells_can_complete_the_files_of_datasets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-genes.hietan").touch()
    (tmp_path / "my-notes.txt").touch()
    (tmp_path / "my-[folder]").mkdir()
    (tmp_path / "my-[folder]" / "others.hietan").touch()
    assert completed("hietan info my-") == ["my-[folder]" + os.sep, "my-genes.hietan"]
    assert completed(f"hietan info my-[folder]{os.sep}") == [str(Path("my-[folder]", "others.hietan"))]


def test_datasets_lists_every_name():
    result = run("datasets", env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    found = set(re.findall(r"[\w-]+", result.output))
    assert all({name, *members} <= found for name, members in dataset_sets().items())


COMMANDS = typer.main.get_command(make_app()).commands


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_can_be_read_and_fits_in_80_columns(command):
    result = run(command, "--help", env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0 and max(map(len, result.output.splitlines())) <= 80
    shown = [
        shlex.split(line)
        for line in result.output.partition("\n  Examples:\n")[2].replace("\\\n", " ").splitlines()
        if line
    ]
    assert shown and any(words[1] == command for words in shown)
    for program, name, *words in shown:
        assert program == "hietan" and COMMANDS[name].make_context(name, words)


def test_the_list_of_commands_says_in_a_whole_line_what_each_does():
    result = run("--help", env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    listed = result.output.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(line.split()[0] for line in listed) == sorted(COMMANDS)
    assert not [line for line in listed if not line.endswith(".") or line.endswith("...")]
