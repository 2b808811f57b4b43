"""Killed at any moment and called again, a study ends with the same bytes as one that ran undisturbed."""

import os
import random
import signal
import subprocess
import time

import pytest

from support.processes import contents, program

KILLS = int(os.environ.get("HIETAN_KILLS", "3"))  # `make soak` asks for more


def start(directory):
    return subprocess.Popen(**program("study", directory))


def finished_jobs(directory):
    return sum(path.read_bytes().count(b"\n") for path in directory.rglob("*.jsonl"))


def kill_after(process, directory, n_jobs):
    """Kill the process once this many jobs are on disk and a random time has passed."""
    while process.poll() is None and finished_jobs(directory) < n_jobs:
        time.sleep(0.002)
    time.sleep(random.random() * 0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_kill_and_resume(tmp_path):
    calm, hunted = tmp_path / "calm", tmp_path / "hunted"
    assert start(calm).wait() == 0
    total = finished_jobs(calm)
    assert total == 3 * 2 * 2 * 5
    moments = sorted(random.sample(range(total - 2), KILLS))
    before = 0
    for moment in moments:
        kill_after(start(hunted), hunted, moment)
        assert finished_jobs(hunted) >= before  # what was on disk stays there
        before = finished_jobs(hunted)
    assert start(hunted).wait() == 0
    assert contents(hunted) == contents(calm)
    times = [(d / "times.csv").read_text().splitlines() for d in (calm, hunted)]
    assert len(times[0]) == len(times[1]) == 1 + total
