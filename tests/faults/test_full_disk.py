"""Where the disk is full, a command says so in one line, leaves the former files, and succeeds once there is space.

The disk is a small file system in memory where mounting one is permitted; elsewhere, and in every second case, the
system refuses to let any file grow beyond a random size (RLIMIT_FSIZE), which fails at any byte.
"""

import os
import random
import subprocess
from contextlib import contextmanager

import pytest

from hietan._io import TEMPORARY
from support.faults import SEED, Faults, number_of
from support.faults.commands import files_in, make_commands

POINTS = number_of("FULL_DISKS", 10)
NAMES = ("build", "fit", "predict", "report", "study")
FORMER = b"the former file\n"
PAGE = os.sysconf("SC_PAGE_SIZE")
APPENDED = (".jsonl", "times.csv")  # to these lines are added


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return make_commands(tmp_path_factory.mktemp("inputs"))


@contextmanager
def small_disk(path, pages):
    """A file system of so many pages at the path; False if none may be mounted."""
    path.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", str(path)]
    if os.name != "posix" or subprocess.run(["mount", *options], capture_output=True).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", str(path)], check=True)


def enlarge(path):
    subprocess.run(["mount", "-o", "remount,size=64m", str(path)], check=True)


def failing_run(command, disk, mounted, size):
    """Run the command where it runs out of space; its exit code and errors."""
    return command.run(disk, largest=None if mounted else size)


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
    pages = sum(-(-len(content) // PAGE) for content in expected.values())
    for number in range(-(-POINTS // len(NAMES))):
        disk = tmp_path / f"disk-{number}"
        # Beside the former files, there is room for a part of the new ones.
        few = rng.randrange(1, pages) if command.resumable else len(expected) + rng.randrange(pages)
        with small_disk(disk, few) if number % 2 else unlimited(disk) as mounted:
            if not command.resumable:
                for path in expected:
                    (disk / path).write_bytes(FORMER)
            size = rng.randrange(len(FORMER), largest)
            case = f"{name} {number}, {f'{few} pages' if mounted else f'{size} bytes'}"
            code, errors = failing_run(command, disk, mounted, size)
            faults.injected += 1
            check_failure(faults, case, command, disk, code, errors, expected)
            if mounted:
                enlarge(disk)
            check_success(faults, case, command, disk, expected)
    faults.finish()


@contextmanager
def unlimited(path):
    path.mkdir()
    yield False
