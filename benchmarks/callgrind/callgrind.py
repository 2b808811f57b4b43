"""Instructions that the kernel's steps execute on a small fixed problem: valgrind counts them, so there is no noise.

Compared with callgrind.json. They depend on the compiler and the C library, so `--update` replaces them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXPECTED, TOLERANCE = HERE / "callgrind.json", 0.05


def build(folder: Path = HERE.parents[1] / "out") -> Path:
    """Compile the program into a folder; returns its path."""
    program = folder / "callgrind"
    folder.mkdir(exist_ok=True)
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++17", "-O3", "-ffp-contract=off", "-g", f"-I{HERE.parents[1] / 'kernel'}"]
    subprocess.run([compiler, *flags, str(HERE / "callgrind.cpp"), "-o", str(program)], check=True)
    return program


def steps() -> list[str]:
    """The names of the steps, in the order of the program."""
    return re.findall(r"^STEP (step_\w+)", (HERE / "callgrind.cpp").read_text(), flags=re.MULTILINE)


def instructions(program: Path, step: str) -> int:
    """The number of instructions executed within one step, including everything that it calls."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={step}"]
    run = subprocess.run([*tool, str(program)], check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    assert found, run.stderr
    return int(found[1])


def main() -> None:
    """Count the instructions of every step and compare them with the expected numbers."""
    parser = argparse.ArgumentParser(prog="python benchmarks/callgrind.py", description=__doc__)
    parser.add_argument("--update", action="store_true", help="make these counts the expected ones")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed; install it, or leave this check to a machine that has it")
    program = build()
    counted = {step: instructions(program, step) for step in steps()}
    if options.update:
        EXPECTED.write_text(json.dumps(counted, indent=2) + "\n")
    expected = json.loads(EXPECTED.read_text())
    wrong = 0
    for step, count in counted.items():
        change = count / expected[step] - 1
        wrong += abs(change) > TOLERANCE
        print(f"{step:26} {count:>12,} instructions, {change:+.1%} against the expected")
    sys.exit(f"{wrong} of {len(counted)} steps changed by more than {TOLERANCE:.0%}" if wrong else 0)


if __name__ == "__main__":
    main()
