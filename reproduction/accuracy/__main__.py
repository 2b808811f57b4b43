"""The command: python -m reproduction.accuracy [run|collect|write|status].

`run` measures whatever is not kept in out/accuracy yet: the first seed, then the test in time, then the other seeds.
It takes hours, and an interrupted run resumes. `collect` writes docs/accuracy*.csv from what is kept, `write` the page
from these files alone, and `status` says how much is kept. Without a word, the first three are done.
"""

from __future__ import annotations

import sys

from reproduction.accuracy import collect, measure, page, temporal
from reproduction.accuracy.methods import SEEDS


def run() -> None:
    """Measure whatever is missing."""
    measure.run(SEEDS[:1])
    temporal.run()
    measure.run(SEEDS)


def status() -> None:
    """Say how much is kept."""
    print(measure.progress())


STEPS = {"run": run, "collect": collect.collect, "write": page.write, "status": status}

if __name__ == "__main__":
    if any(word not in STEPS for word in sys.argv[1:]):
        sys.exit(f"usage: python -m reproduction.accuracy [{'|'.join(STEPS)}]")
    for word in sys.argv[1:] or ("run", "collect", "write"):
        STEPS[word]()
