"""`python benchmarks`: all figures, on the terminal and in a Markdown file."""

from __future__ import annotations

import argparse
from pathlib import Path

import bench_aode
import bench_tan
import peers
from _timing import machine


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python benchmarks", description="Time and memory of hietan, and peers."
    )
    parser.add_argument("--rounds", type=int, default=20, help="alternated runs of each case (default 20)")
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds for each peer; 0: no peers (default 60)"
    )
    parser.add_argument("--peers-python", default=".venv-bench/bin/python", help="Python that has the peers")
    parser.add_argument(
        "--output", type=Path, default=Path("out/bench.md"), help="where the report goes as well"
    )
    options = parser.parse_args()

    parts = ["# Benchmarks", machine()]
    print("\n\n".join(parts), end="\n\n", flush=True)
    for part in (
        lambda: bench_tan.report(options.rounds),
        lambda: bench_aode.report(options.rounds),
        lambda: peers.report(options.limit, options.peers_python) if options.limit > 0 else "",
    ):
        parts.append(part())
        print(parts[-1], end="\n\n", flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n\n".join(parts).rstrip() + "\n")


main()
