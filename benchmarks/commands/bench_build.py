"""`hietan build` from a table of millions of pairs: its peak memory, and its time compared with splitting the lines."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from _timing import Part, table, verdict

N_PAIRS, N_ROWS, N_TERMS = 50_000_000, 1_000_000, 100_000
BLOCK = 1_000_000
MOST_GB = 4.0
CHILD = """
import json, sys, time
from pathlib import Path
from hietan.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
memory = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(json.dumps({"seconds": time.process_time(), "bytes": 1024 * int(memory)}))
"""


def digits(letter: str, numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Each number as a letter and so many decimal digits."""
    text = np.empty((len(numbers), width + 1), dtype=np.uint8)
    text[:, 0] = ord(letter)
    for k in range(width):
        text[:, width - k] = numbers // 10**k % 10 + ord("0")
    return text


def write_pairs(path: Path, n_pairs: int) -> None:
    """A table of pairs without a header, in the order of its rows; frequent terms are more frequent than rare ones."""
    rng = np.random.default_rng(0)
    row_of = np.sort(rng.integers(N_ROWS, size=n_pairs))
    with path.open("wb") as file:
        for start in range(0, n_pairs, BLOCK):
            rows = row_of[start : start + BLOCK]
            terms = (N_TERMS * rng.random(len(rows)) ** 2).astype(np.int64)
            between = np.full((len(rows), 1), ord("\t"), dtype=np.uint8)
            end = np.full((len(rows), 1), ord("\n"), dtype=np.uint8)
            file.write(np.hstack([digits("r", rows, 7), between, digits("T", terms, 6), end]).tobytes())


def write_edges(path: Path) -> None:
    """A tree in which each term has ten children, so that annotations are inherited by four to six ancestors."""
    lines = (f"T{(k - 1) // 10:06d}\tT{k:06d}\n" for k in range(1, N_TERMS))
    path.write_text("parent\tchild\n" + "".join(lines))


def split_lines(path: Path) -> float:
    """CPU seconds of the least that a reader in Python does."""
    start = time.process_time()
    with path.open() as file:
        for line in file:
            line.rstrip("\n").split("\t")
    return time.process_time() - start


def report(n_pairs: int = N_PAIRS) -> Part:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs, edges = folder / "pairs.tsv", folder / "edges.tsv"
        write_edges(edges)
        write_pairs(pairs, n_pairs)
        floor = split_lines(pairs)
        arguments = [
            "build",
            "--edges",
            str(edges),
            "--pairs",
            str(pairs),
            "-o",
            str(folder / "rows.hietan"),
            "-q",
        ]
        done = subprocess.run([sys.executable, "-c", CHILD, *arguments], check=True, stdout=subprocess.PIPE)
        taken = json.loads(done.stdout.splitlines()[-1])
        size = pairs.stat().st_size
    gigabytes, ratio = taken["bytes"] / 1e9, taken["seconds"] / floor
    rows = [
        ["the table, GB", f"{size / 1e9:.2f}", "", ""],
        ["peak memory, GB", f"{gigabytes:.2f}", f"{MOST_GB:g}", verdict(gigabytes, MOST_GB)],
        ["CPU seconds", f"{taken['seconds']:.0f}", "", ""],
        ["splitting its lines in Python, CPU seconds", f"{floor:.0f}", "", ""],
        ["ratio", f"{ratio:.2f}", "", ""],
    ]
    text = [
        f"## `hietan build` from {n_pairs / 1e6:g} million pairs",
        f"The table lists {n_pairs / 1e6:g} million pairs of {N_ROWS:,} rows and {N_TERMS:,} terms. In the hierarchy, "
        "each term has ten children. hietan reads the table as a stream and adds all ancestors of a row's terms to the "
        "row.",
        table(["what", "figure", "at most", ""], rows),
    ]
    figures = [
        (
            f"`hietan build`, {n_pairs / 1e6:g} million pairs: peak memory, GB",
            f"{gigabytes:.2f}",
            f"{MOST_GB:g}",
        ),
        (f"`hietan build`, {n_pairs / 1e6:g} million pairs / splitting the lines", f"{ratio:.2f}", ""),
    ]
    return Part("\n\n".join(text), figures)


if __name__ == "__main__":
    print(report(*map(int, sys.argv[1:])).text)
