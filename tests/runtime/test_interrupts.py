"""Ctrl-C, with real signals in real processes: it ends any command, and nothing survives it."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

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
    assert "terminate" not in stderr


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
    "options",
    [
        "",
        pytest.param("--jobs 2", marks=pytest.mark.patient),
        pytest.param("--jobs 2 --backend processes", marks=pytest.mark.patient),
        pytest.param("--jobs 2 --backend dask", marks=pytest.mark.patient),
    ],
)
def test_one_signal_ends_a_study(options, tmp_path):
    process, jobs = start_study(tmp_path, *options.split())
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=SOON)
    assert process.returncode == 130 and "Traceback" not in stderr
    lines = [line for line in stderr.splitlines() if " - distributed." not in line]
    assert lines == ["0 of 3 jobs", "interrupted; run the same command again to resume"]
    assert_gone(jobs)
    assert not list((tmp_path / "out").rglob(".tmp-*"))
    assert not [
        path for path in (tmp_path / "temporary").iterdir() if "hietan" in path.name or "dask" in path.name
    ]


def test_ctrl_c_leaves_no_semaphore():
    """The command ends without Python's own cleaning up, so it must remove what a pool of processes has opened."""
    code = (
        "import hietan.cli, hietan.cli._app as app\n"
        "from joblib.externals.loky.backend.synchronize import Lock\n"
        "lock = Lock()\n"
        "def interrupted():\n    raise KeyboardInterrupt\n"
        "app.make_app = lambda: interrupted\n"
        "hietan.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, timeout=SOON)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
