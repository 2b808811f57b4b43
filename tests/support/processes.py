"""Processes that tests start: a Dask cluster of real ones, and programs of `support/programs` to be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "programs"
# How long to wait for something that always comes: far longer than the busiest machine takes.
START_SECONDS = 300
# A scheduler that cannot import the package: it needs nothing but Dask.
SCHEDULER = (
    "import sys; sys.modules['hietan'] = None; from distributed.cli.dask_scheduler import main; main()"
)
WORKERS = "from distributed.cli.dask_worker import main; main()"
ENVIRONMENT = {
    # A nanny sets these to 1 where they are not given, and would hide what is to be tested.
    "OMP_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "3",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
}


@contextmanager
def cluster(directory, n_workers=2):
    """The address of a scheduler with this many workers, each a process with a nanny that starts it again."""
    with scheduler(directory) as address:
        own = ["--local-directory", str(directory), "--nworkers", str(n_workers), "--nthreads", "1"]
        workers = start(directory, WORKERS, *_place(directory), *own)
        try:
            yield address
        finally:
            stop(workers)


@contextmanager
def scheduler(directory):
    """The address of a scheduler without workers."""
    process = start(directory, SCHEDULER, *_place(directory), "--port", "0")
    found = Path(directory, "scheduler.json")
    try:
        until = time.monotonic() + START_SECONDS
        while (address := _written_address(found)) is None:
            assert process.poll() is None and time.monotonic() < until, logs(directory)
            time.sleep(0.02)
        yield address
    finally:
        stop(process)


def _written_address(path):
    """The address in the file of a scheduler; None if it is not there yet, or only in part."""
    try:
        return json.loads(path.read_text())["address"]
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def _place(directory):
    """Where scheduler and workers of a cluster meet."""
    found = Path(directory, "scheduler.json")
    return ["--scheduler-file", str(found), "--no-dashboard", "--host", "127.0.0.1"]


def start(directory, code, *options):
    with open(Path(directory, "log.txt"), "a") as log:
        return subprocess.Popen(
            [sys.executable, "-c", code, *options],
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": python_path()},
            stdout=log,
            stderr=log,
        )


def stop(process):
    """Ask it to close; kill it if it does not."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def logs(directory):
    return Path(directory, "log.txt").read_text()


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
