"""Ctrl-C, with real signals in real processes: two at most end any command, and nothing survives it."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from hietan import TAN
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from support.misbehaving import Raises
from support.processes import program, python_path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
# Far longer than the busiest machine takes to end a process, and far shorter than the work that is interrupted.
SOON = 100


@pytest.mark.patient
@pytest.mark.parametrize(("what", "n_jobs"), [("fit", 1), ("fit", 2), ("predict", 1), ("predict", 2)])
def test_one_signal_ends_a_long_call(what, n_jobs):
    process = subprocess.Popen(
        **program("long_call", what, n_jobs), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SOON)
    assert process.returncode in (-signal.SIGINT, 130), stderr
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert "nanobind" not in stderr and "terminate" not in stderr


def start_study(folder, *options):
    """A study whose jobs never end, as a command in a session of its own, and the processes that run its jobs."""
    marker = folder / "started"
    (folder / "temporary").mkdir()
    (folder / "deaf_method.py").write_text(
        f"from support.misbehaving import Deaf\n\n\nclass Method(Deaf):\n"
        f"    def __init__(self):\n        super().__init__({str(marker)!r})\n"
    )
    words = "study --data synthetic-0 --methods deaf_method.Method --folds 3 --no-figures --no-report -o out"
    process = subprocess.Popen(
        [sys.executable, "-c", "from hietan.cli import main; main()", *words.split(), *options],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), python_path()]),
            "TMPDIR": str(folder / "temporary"),
        },
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 3 * SOON
    while not marker.exists() or not marker.read_text().endswith("\n"):
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.02)
    return process, [psutil.Process(int(line)) for line in marker.read_text().split()]


def assert_gone(processes):
    """None of the processes runs any more, though nobody may have asked yet how it ended."""
    until = time.monotonic() + SOON
    for process in processes:
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < until, process
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("options", "signals"),
    [
        ("", 2),  # the job runs in the main thread, and takes the first signal for its own
        pytest.param("--jobs 2", 1, marks=pytest.mark.patient),
        pytest.param("--jobs 2 --backend processes", 1, marks=pytest.mark.patient),
        pytest.param("--jobs 2 --job-timeout 3000", 1, marks=pytest.mark.patient),
        pytest.param("--jobs 2 --backend dask", 1, marks=pytest.mark.patient),
    ],
)
def test_so_many_signals_end_a_study(options, signals, tmp_path):
    process, jobs = start_study(tmp_path, *options.split())
    for _ in range(signals):
        time.sleep(0.3)  # a signal that arrives while another is handled would be lost
        os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=SOON)
    assert process.returncode == 130 and "Traceback" not in stderr and "nanobind" not in stderr
    last = (
        "interrupted; run the same command again to resume" if signals == 1 else "interrupted; ended at once"
    )
    lines = [line for line in stderr.splitlines() if line != "stopping; press Ctrl-C again to end at once"]
    assert lines == ["0 of 3 jobs", last]
    assert_gone(jobs)
    assert not list((tmp_path / "out").rglob(".tmp-*"))
    assert not [
        path for path in (tmp_path / "temporary").iterdir() if "hietan" in path.name or "dask" in path.name
    ]


@pytest.mark.patient
@pytest.mark.parametrize("options", ["--jobs 2 --backend processes", "--jobs 2 --job-timeout 3000"])
def test_no_job_survives_a_study_that_is_killed(options, tmp_path):
    process, jobs = start_study(tmp_path, *options.split())
    process.kill()
    process.communicate()
    assert process.pid not in {job.pid for job in jobs}
    assert_gone(jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_job_that_raises_what_ends_programs_has_failed_alone(error, n_jobs):
    data = make_hierarchical_classification(60, 12, random_state=0)
    results = run_study([data], {"odd": Raises(error), "TAN": TAN()}, cv=2, seeds=2, n_jobs=n_jobs)
    assert [(f.method, f.seed, f.error) for f in results.failures] == [
        ("odd @ tuned none", 1, f"{error.__name__}: enough")
    ] * 2
    assert {(row.method, row.seed) for row in results.summary} == {("odd", 0), ("TAN", 0), ("TAN", 1)}
