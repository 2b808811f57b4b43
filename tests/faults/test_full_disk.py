"""Where the disk is full, a command says so in one line, leaves the former files, and succeeds once there is space.

The system refuses to let any file grow beyond a random size (RLIMIT_FSIZE), which fails at any byte.
"""

import os
import random

import pytest

from hietan._io.files import TEMPORARY
from support.faults import SEED, Faults, number_of
from support.faults.commands import files_in, make_commands

POINTS = number_of("FULL_DISKS", 5)
NAMES = ("build", "fit", "predict", "report", "study")
FORMER = b"the former file\n"
SMALLEST = 600  # bytes: what a command prints goes to files, too
APPENDED = (".jsonl", "times.csv")  # to these lines are added


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return make_commands(tmp_path_factory.mktemp("inputs"))


def check_failure(faults, case, command, disk, code, errors, expected):
    lines = [line for line in errors.splitlines() if not line.startswith("warning: ")]
    named = any(os.path.basename(path) in errors for path in expected) or str(disk) in errors
    if code == 0 or len(lines) != 1 or not lines[0].startswith("error: ") or not named:
        faults.note("foreign", f"{case}: exit code {code}: {errors[-600:]}")
    for path, content in files_in(disk).items():
        if TEMPORARY in path:
            faults.note("lost", f"{case}: left behind: {path}")
        elif content not in (FORMER, expected.get(path)) and not path.endswith(APPENDED):
            faults.note("lost", f"{case}: {path} is neither the former nor the new file")
    for path in () if command.resumable else expected:
        if not (disk / path).exists():
            faults.note("lost", f"{case}: the former {path} is gone")


def check_success(faults, case, command, disk, expected):
    code, errors = command.run(disk)
    if code or files_in(disk) != expected:
        faults.note("changed", f"{case}: exit code {code}: {errors[-300:]}")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk(tmp_path, commands, name):
    command, rng = commands[name], random.Random(f"{SEED} {name}")
    faults = Faults(f"full disk during {name}")
    calm = tmp_path / "calm"
    calm.mkdir()
    assert command.run(calm)[0] == 0
    expected = files_in(calm)
    largest = max(map(len, expected.values()))
    for number in range(-(-POINTS // len(NAMES))):
        disk = tmp_path / f"disk-{number}"
        disk.mkdir()
        if not command.resumable:
            for path in expected:
                (disk / path).write_bytes(FORMER)
        size = rng.randrange(SMALLEST, largest)
        case = f"{name} {number}, {size} bytes"
        code, errors = command.run(disk, largest=size)
        faults.injected += 1
        check_failure(faults, case, command, disk, code, errors, expected)
        check_success(faults, case, command, disk, expected)
    faults.finish()
