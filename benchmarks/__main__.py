"""`python benchmarks` prints all figures, `python benchmarks small page` those of some parts.

The last figures of each part are kept in out/bench. Once every part has some, benchmarks/LOG.md is written.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

import bench_aode
import bench_hie_ban
import bench_hie_logistic
import bench_scale
import bench_serving
import bench_tan
import page
import peers
from _timing import Part, machine, table, verdict
from commands import bench_build, bench_commands

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "out" / "bench"
PARTS = ("small", "peers", "page", "scale", "commands", "serving")
HEAD = """# Benchmark log

`make bench` writes this log. Most figures are ratios between times from the same run, because seconds depend on the
machine. Unless a section names another floor, the floor is the time that NumPy or SciPy needs for the matrix products
on the same data. The "at most" column contains limits that we set for this project. Figures above their limit are known
and marked "over"."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python benchmarks", description="Time and memory of hietan and of its peers."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=20, help="alternating runs of each case (default 20)")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each peer (default 60)")
    parser.add_argument(
        "--peers-python",
        default=".venv-bench/bin/python",
        help="Python of the environment that has the peers installed",
    )
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; expected one of {', '.join(PARTS)}")

    run = {
        "small": tuple(
            partial(bench.report, options.rounds)
            for bench in (bench_tan, bench_aode, bench_hie_ban, bench_hie_logistic)
        ),
        "peers": (lambda: peers.report(options.limit, options.peers_python),),
        "page": (page.report,),
        "scale": (bench_scale.report, bench_hie_ban.report_scale),
        "commands": (bench_commands.report, bench_build.report),
        "serving": (partial(bench_serving.report, options.rounds),),
    }
    print(machine(), end="\n\n", flush=True)
    for name in options.parts or PARTS:
        found = []
        about = machine()
        for part in run[name]:
            found.append(part())
            print(found[-1].text, end="\n\n", flush=True)
        print(summary(found), flush=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = {"machine": about, "parts": [asdict(part) for part in found]}
        (KEPT / f"{name}.json").write_text(json.dumps(kept, indent=1))
    write()


def write() -> None:
    """Make benchmarks/LOG.md of the last figures of all parts, if there are some of each."""
    paths = [KEPT / f"{name}.json" for name in PARTS]
    missing = [path.stem for path in paths if not path.exists()]
    if missing:
        print(f"benchmarks/LOG.md stays as it is: there are no figures of {', '.join(missing)} yet")
        return
    kept = [json.loads(path.read_text()) for path in paths]
    done = [Part(**part) for one in kept for part in one["parts"]]
    text = "\n\n".join([HEAD, kept[0]["machine"], "## Summary", summary(done), *(part.text for part in done)])
    (ROOT / "benchmarks" / "LOG.md").write_text(text.rstrip() + "\n")


def summary(parts: list[Part]) -> str:
    rows = [
        [what, figure, most, verdict(float(figure.replace(",", "")), float(most)) if most else ""]
        for part in parts
        for what, figure, most in part.figures
    ]
    return table(["what", "figure", "at most", ""], rows)


main()
