"""Programs of `support/programs` that tests start as processes, and the files that studies leave."""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "programs"
# How long to wait for something that always comes: far longer than the busiest machine takes.
START_SECONDS = 300


def program(name, *arguments):
    """What `subprocess` needs to run a program of `support/programs`: the command and its environment."""
    return {
        "args": [sys.executable, str(PROGRAMS / f"{name}.py"), *map(str, arguments)],
        "env": {**os.environ, "PYTHONPATH": python_path()},
    }


def python_path():
    """Where processes of their own find `support`."""
    return os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))


def contents(directory):
    """All files below a study's directory, but the times, and the lock that says who runs."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in paths
        if path.name not in ("times.csv", ".lock")
    }
