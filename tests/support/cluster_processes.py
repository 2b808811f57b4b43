"""A Dask cluster of real processes to send studies to, and methods that misbehave there."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_info

TESTS = Path(__file__).parents[1]
START_SECONDS = 90  # a busy machine is slow to import scikit-learn
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
def processes(directory, n_workers=2):
    """The address of a scheduler with so many workers, each a process with a nanny that starts it again."""
    found = Path(directory, "scheduler.json")
    common = ["--scheduler-file", str(found), "--no-dashboard", "--host", "127.0.0.1"]
    scheduler = start(directory, SCHEDULER, *common, "--port", "0")
    workers = None
    try:
        until = time.monotonic() + START_SECONDS
        while not found.exists():
            assert scheduler.poll() is None and time.monotonic() < until, logs(directory)
            time.sleep(0.02)
        own = ["--local-directory", str(directory), "--nworkers", str(n_workers), "--nthreads", "1"]
        workers = start(directory, WORKERS, *common, *own)
        yield json.loads(found.read_text())["address"]
    finally:
        for process in filter(None, (workers, scheduler)):
            stop(process)


def start(directory, code, *options):
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    with open(Path(directory, "log.txt"), "a") as log:
        return subprocess.Popen(
            [sys.executable, "-c", code, *options],
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path},
            stdout=log,
            stderr=log,
        )


def stop(process):
    """Ask it to close, and do not wait for ever."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def logs(directory):
    return Path(directory, "log.txt").read_text()


class OneThread(BernoulliNB):
    """Refuses to fit where any pool has more than one thread."""

    def fit(self, X, y):
        numbers = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
        if not numbers or max(numbers.values()) > 1:
            raise RuntimeError(f"pools of threads: {sorted(numbers.values())}")
        return super().fit(X, y)


class KillsOnce(BernoulliNB):
    """Kills the process that fits it, the first time."""

    def __init__(self, marker=None):
        super().__init__()
        self.marker = marker

    def fit(self, X, y):
        try:
            Path(self.marker).touch(exist_ok=False)
        except FileExistsError:
            return super().fit(X, y)
        os.kill(os.getpid(), signal.SIGKILL)


class Kills(BernoulliNB):
    """Kills every process but one that fits it to so many rows."""

    def __init__(self, n_rows=0, spared=0):
        super().__init__()
        self.n_rows = n_rows
        self.spared = spared

    def fit(self, X, y):
        if X.shape[0] == self.n_rows and os.getpid() != self.spared:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Traveller:
    """Stands in for a hierarchy, and writes down which process it leaves and where it arrives."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        with open(f"{self.path}-left", "a") as file:
            file.write(f"{os.getpid()}\n")
        return _arrive, (self.path,)

    def __repr__(self):
        return "Traveller()"


def _arrive(path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    return Traveller(path)
