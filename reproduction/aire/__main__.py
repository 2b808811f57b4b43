"""The command: python -m reproduction.aire [run|write].

`run` measures what docs/aire.csv lacks; it takes about half an hour, and an interrupted run resumes. `write` makes the
tables of docs/selections.md from that file alone. Without a word, both are done.
"""

from __future__ import annotations

import sys

from reproduction.aire import measure, page

SEEDS = range(3)


def run() -> None:
    """Measure whatever is missing."""
    measure.run(SEEDS)


STEPS = {"run": run, "write": page.write}

if __name__ == "__main__":
    if any(word not in STEPS for word in sys.argv[1:]):
        sys.exit(f"usage: python -m reproduction.aire [{'|'.join(STEPS)}]")
    for word in sys.argv[1:] or STEPS:
        STEPS[word]()
