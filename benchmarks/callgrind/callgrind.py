"""Instructions that the kernel's steps execute on a small fixed problem: valgrind counts them, so there is no noise.

They depend on the compiler, the C library and the kind of processor. Where these are those of callgrind.json, the
numbers are compared with the ones there, and a step must not take many more; elsewhere they are only shown. `--update`
replaces the file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EXPECTED, TOLERANCE = HERE / "callgrind.json", 0.05


def build(folder: Path = HERE.parents[1] / "out") -> Path:
    """Compile the program into a folder; returns its path."""
    program = folder / "callgrind"
    folder.mkdir(exist_ok=True)
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++17", "-O3", "-ffp-contract=off", "-g", f"-I{HERE.parents[1] / 'kernel'}"]
    # Valgrind would take a step's rarely executed instructions, moved elsewhere, for another function.
    flags += ["-fno-reorder-blocks-and-partition"]
    subprocess.run([compiler, *flags, str(HERE / "callgrind.cpp"), "-o", str(program)], check=True)
    return program


def steps() -> list[str]:
    """The names of the steps, in the order of the program."""
    return re.findall(r"^STEP (step_\w+)", (HERE / "callgrind.cpp").read_text(), flags=re.MULTILINE)


def toolchain() -> str:
    """The compiler, the C library and the processor's extensions, on which the numbers depend."""
    compiler = os.environ.get("CXX", "c++")
    said = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    about = Path("/proc/cpuinfo")
    known = set(about.read_text().split()) if about.exists() else set()
    extensions = [name for name in ("avx2", "fma", "bmi2", "avx512f", "popcnt") if name in known]
    parts = [said.splitlines()[0], " ".join(platform.libc_ver()), platform.machine(), *extensions]
    return ", ".join(parts)


def instructions(program: Path) -> dict[str, int]:
    """The number of instructions executed within each step, including everything that it calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts")
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=step_*"]
        subprocess.run([*tool, str(program)], check=True, capture_output=True)
        counted = inclusive_costs(out.read_text())
    return {step: counted[step] for step in steps()}


def inclusive_costs(profile: str) -> dict[str, int]:
    """The cost of each function of callgrind's output: of its own lines, and of the calls that it makes."""
    names: dict[str, str] = {}
    cost: dict[str, int] = {}
    function = ""
    for line in profile.splitlines():
        named = re.match(r"c?fn=(\(\d+\))(?: (.+))?$", line)
        if named:
            number, name = named.groups()
            names.setdefault(number, name)  # written out once, then only its number
            if line.startswith("fn="):
                function = names[number]
        elif re.match(r"[\d+*-]", line):  # a place in the source and its cost, or that of the call before
            cost[function] = cost.get(function, 0) + int(line.split()[1])
    return cost


def show(counted: dict[str, int], expected: dict[str, int]) -> int:
    """Print the numbers, and return how many are too far above the expected ones."""
    wrong = 0
    for step, count in counted.items():
        change = count / expected[step] - 1
        wrong += change > TOLERANCE
        print(f"{step:36} {count:>12,} instructions, {change:+.1%} against the expected")
    return wrong


def main() -> None:
    """Count the instructions of every step and compare them with the expected numbers."""
    parser = argparse.ArgumentParser(prog="python benchmarks/callgrind/callgrind.py", description=__doc__)
    parser.add_argument("--update", action="store_true", help="make these counts the expected ones")
    parser.add_argument("--if-possible", action="store_true", help="succeed where valgrind is not installed")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        missing = "valgrind is not installed; install it, or leave this check to a machine that has it"
        if not options.if_possible:
            sys.exit(missing)
        print(f"Instructions were not counted: {missing}")
        return
    counted = instructions(build())
    if options.update:
        EXPECTED.write_text(json.dumps({"toolchain": toolchain(), "steps": counted}, indent=2) + "\n")
    known = json.loads(EXPECTED.read_text())
    wrong = show(counted, known["steps"])
    if known["toolchain"] != toolchain():
        print(f"Not compared: built with {toolchain()}, and the expected numbers with {known['toolchain']}.")
    elif wrong:
        sys.exit(
            f"{wrong} of {len(counted)} steps take more instructions than expected, by more than {TOLERANCE:.0%}"
        )


if __name__ == "__main__":
    main()
