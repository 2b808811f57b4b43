"""The program whose instructions `make callgrind` counts: it builds from the present kernel, and runs."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "callgrind"
spec = importlib.util.spec_from_file_location("callgrind", BENCHMARKS / "callgrind.py")
callgrind = importlib.util.module_from_spec(spec)
spec.loader.exec_module(callgrind)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which(os.environ.get("CXX", "c++")), reason="there is no C++ compiler")
@pytest.mark.patient
def test_the_program_builds_and_runs(tmp_path):
    program = callgrind.build(tmp_path)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    # The sum of all joint log-probabilities that the steps worked out, as it was when the steps were written.
    assert float(done.stdout) == pytest.approx(-21654.739682, abs=1e-5)


def test_every_step_has_an_expected_number_of_instructions():
    assert callgrind.steps() == list(json.loads((BENCHMARKS / "callgrind.json").read_text()))
