"""The command: python -m reproduction.paper [run [PART...]|collect|write|examples|status].

`run` measures whatever is not kept in out/reproduction yet, or some parts of it; an interrupted run resumes.
`collect` writes docs/reproduction*.csv from what is kept. `write` makes docs/reproduction.md and the table in
docs/open-points.md from these files alone, and `examples` makes docs/worked-examples.md with its drawings. `status`
shows how much is kept. Without a word, everything is done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from reproduction.paper import collect, examples, measure, page, points
from reproduction.paper.variants import PARTS


def run(parts: Sequence[str] = PARTS) -> None:
    """Measure whatever is missing, and say how long it took."""
    start = time.monotonic()
    measure.run(parts)
    collect.collect_times()
    times = [row for row in collect.read_csv(collect.TIMES) if row["part"] in parts]
    seconds = sum(float(row["processor_seconds"]) for row in times)
    wall = time.monotonic() - start
    print(
        f"This run took {wall / 60:.1f} minutes; all measurements together {seconds / 60:.1f} of processor time."
    )


def write() -> None:
    """Make the pages from the files."""
    page.write()
    points.write()


def status() -> None:
    """Say how much is kept."""
    for part in PARTS:
        paths = [measure.path_of(task) for task in measure.tasks([part])]
        print(f"{part}: {sum(path.exists() for path in paths):,} of {len(paths):,} cross-validations")


STEPS = {"collect": collect.collect, "write": write, "examples": examples.write, "status": status}

if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            run()
            collect.collect()
            write()
            examples.write()
        case ["run", *parts] if set(parts) <= set(PARTS):
            run(tuple(parts) or PARTS)
        case [step] if step in STEPS:
            STEPS[step]()
        case _:
            sys.exit(f"usage: python -m reproduction.paper [run [{'|'.join(PARTS)}]...|{'|'.join(STEPS)}]")
