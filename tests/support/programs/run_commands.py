"""Run as a program: commands, each in a process forked from this one, which has imported everything already.

Each line of the input names a folder to run in, the words of a command, the function that does its work as
"module:name", whether that is called again and again (so that the command lasts forever), and values to set. The
number of the process is printed, then its exit code. "log/ready" appears in the folder when the work begins; what the
command prints is next to it.
"""

import importlib
import json
import os
import signal
import sys
from pathlib import Path

from hietan.cli import main

PARTS = ("catalogue", "cli._app", "datasets", "evaluation", "models", "report")


def announcing(function, log: Path, again: bool):
    def call(*arguments, **options):
        (log / "ready").touch()
        while again:
            function(*arguments, **options)
        return function(*arguments, **options)

    return call


def run(folder: str, words: list[str], work: str, again: bool, values: dict[str, str]) -> None:
    os.chdir(folder)
    log = Path(folder, "log")
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(log / name, os.O_WRONLY | os.O_CREAT), number)
    for place, value in values.items():
        module, name = place.split(":")
        setattr(importlib.import_module(module), name, value)
    module, name = work.split(":")
    place = importlib.import_module(module)
    setattr(place, name, announcing(getattr(place, name), log, again))
    sys.argv = ["hietan", *words]
    main()


def serve() -> None:
    for part in PARTS:
        importlib.import_module(f"hietan.{part}")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(**json.loads(line))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
