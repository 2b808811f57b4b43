"""The commands that write files, each in a process of its own, with small inputs; to be killed or starved of space."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import threading
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import hietan
from hietan.catalogue import make_estimator
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._outputs.tables import write_tables
from hietan.models import train_model
from support.faults import text_files

# Processes are forked from one that has imported everything: a command then takes a tenth of a second, not two.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    "hietan.cli._app hietan.models hietan.catalogue hietan.evaluation._outputs hietan.report sklearn.linear_model "
    "sklearn.model_selection requests pooch rich.table".split()
)
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate")


@dataclass(frozen=True)
class Command:
    """A command, and the name of what it writes in the directory where it may write.

    Attributes
    ----------
    arguments : tuple of str
        The words after `hietan`; OUT stands for the directory.
    output : str
        The name of the file or directory that it writes.
    resumable : bool
        Whether the output is a directory to which a second run adds.
    server : str
        The address of the server to download from, if it is `hietan fetch`.
    """

    arguments: tuple[str, ...]
    output: str
    resumable: bool = False
    server: str = ""

    def start(self, out: Path, *, kill_at: int = 0, largest: int | None = None):
        """Start the command in a new process.

        Parameters
        ----------
        out : Path
            The directory where it may write.
        kill_at : int
            The process kills itself when it is about to open, rename or remove a file of the directory for the
            `kill_at`-th time; 0 means never.
        largest : int, optional
            The size in bytes that no file can exceed.
        """
        words = [word.replace("OUT", str(out)) for word in self.arguments]
        process = FORKS.Process(target=_run, args=(words, str(out), self.server, kill_at, largest))
        process.start()
        return process

    def run(self, out: Path, **options) -> tuple[int, str]:
        """Run it to its end; its exit code and what it printed to the standard error stream."""
        process = self.start(out, **options)
        process.join()
        return process.exitcode, _beside(out, "errors").read_text(errors="replace")


def _beside(out: Path | str, name: str) -> Path:
    return Path(f"{out}.{name}")


def _run(words, out, server, kill_at, largest):
    """The command, in the new process."""
    for stream, name in ((1, "output"), (2, "errors")):
        os.dup2(os.open(_beside(out, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    from hietan.cli import main
    from hietan.datasets._fetching import registry

    registry.GO_CURRENT = server
    sys.argv = ["hietan", *words]
    seen = _watch(kill_at, out)
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    try:
        main()
    finally:
        _beside(out, "events").write_text(str(seen()))
        # As at the end of a program; the end of this process would wait until idle workers of loky give up.
        threading._shutdown()


def _watch(kill_at, directory):
    """Count what happens to files of the directory, and die at the right moment; a function that says the count."""
    number, seen = count(1), [0]

    def hook(event, arguments):
        if event in EVENTS and f"{directory}/" in str(arguments[0]):
            seen[0] = next(number)
            if seen[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return lambda: seen[0]


def file_events(out: Path) -> int:
    """How often the last whole run in this directory was about to open, rename or remove a file."""
    return int(_beside(out, "events").read_text())


def files_in(directory: Path) -> dict[str, bytes]:
    """The files below a directory, except times, which differ between runs, and locks."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    names = ((str(path.relative_to(directory)), path) for path in paths)
    return {name: path.read_bytes() for name, path in names if path.name not in ("times.csv", ".lock")}


def make_commands(directory: Path, server: str = "") -> dict[str, Command]:
    """The commands, with inputs in this directory; `hietan fetch` downloads from the server at this address."""
    data = make_hierarchical_classification(300, 150, random_state=0)
    data.save(directory / "data.hietan")
    train_model(make_estimator("aode"), data, method="aode").save(directory / "model.hietan")
    for name, text in (("go.obo", text_files.OBO), ("a.gaf", text_files.GAF), ("labels.csv", text_files.CSV)):
        (directory / name).write_text(text)
    small = make_hierarchical_classification(60, 20, random_state=1)
    methods = {"TAN": hietan.TAN(), "HIP": hietan.HIPNB()}
    results = run_study([small], methods, cv=3, output=directory / "study", explain=True)
    write_tables(results, directory / "study")
    d = str(directory)
    build = f"build --ontology {d}/go.obo --annotations {d}/a.gaf --labels {d}/labels.csv --min-support 1"
    study = f"study --data {d}/data.hietan --methods tan --methods hip-nb --folds 3 --jobs 2 --no-figures -q"
    return {
        "build": Command((*build.split(), "-o", "OUT/data.hietan"), "data.hietan"),
        "fit": Command(("fit", f"{d}/data.hietan", "-m", "aode", "-o", "OUT/model.hietan"), "model.hietan"),
        "predict": Command(
            ("predict", f"{d}/model.hietan", f"{d}/data.hietan", "-o", "OUT/p.csv", "--report"), "p.csv"
        ),
        "fetch": Command(
            ("fetch", "gene-ontology", "--data-home", "OUT"),
            "gene-ontology/current/go-basic.obo",
            server=server,
        ),
        "fetch again": Command(
            ("fetch", "gene-ontology", "--refresh", "--data-home", "OUT"),
            "gene-ontology/current/go-basic.obo",
            server=server,
        ),
        "report": Command(("report", f"{d}/study", "-o", "OUT/report.html"), "report.html"),
        "study": Command((*study.split(), "-o", "OUT/study"), "study", resumable=True),
        "study in processes": Command(
            (*study.split(), "--backend", "processes", "-o", "OUT/study"), "study", resumable=True
        ),
    }
