"""The program whose instructions `make callgrind` counts: it builds from the present kernel, and runs."""

import importlib.util
import json
import os
import re
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
    assert float(done.stdout) == pytest.approx(-47155.643065, abs=1e-5)


def test_every_step_has_an_expected_number_of_instructions():
    known = json.loads((BENCHMARKS / "callgrind.json").read_text())
    assert callgrind.steps() == list(known["steps"]) and known["toolchain"]


def test_every_header_of_the_kernel_is_part_of_a_step():
    kernel = BENCHMARKS.parents[1] / "kernel"
    used, waiting = set(), [BENCHMARKS / "callgrind.cpp"]
    while waiting:
        for name in re.findall(r'#include "([^"]+)"', waiting.pop().read_text()):
            if name not in used:
                used.add(name)
                waiting.append(kernel / name)
    folders = ("counts", "trees", "models")
    assert used >= {
        path.relative_to(kernel).as_posix() for f in folders for path in (kernel / f).glob("*.hpp")
    }


def test_costs_are_those_of_a_function_and_of_what_it_calls():
    lines = "events: Ir|fn=(1) step_a|3 10|cfn=(2) helper|calls=1 7|+1 90|fn=(2)|7 90|fn=(1)|* 5|totals: 105"
    assert callgrind.inclusive_costs(lines.replace("|", "\n")) == {"step_a": 105, "helper": 90}
