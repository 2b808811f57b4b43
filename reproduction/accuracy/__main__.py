"""The command: python -m reproduction.accuracy [run|smooth|collect|draw|write].

`run` measures every method, and `smooth` every smoothing, unless its scores are kept in out/accuracy; this takes hours,
and an interrupted run resumes. `collect` writes docs/accuracy*.csv from the kept scores. `draw` makes the figures and
`write` the page from these files alone. Without a word, all five are done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

from reproduction.accuracy import collect, figures, measure, page, sets
from reproduction.accuracy.methods import (
    CLOSED_OR_NOT,
    METHODS,
    PLAN,
    SMOOTHED,
    SMOOTHING_SEEDS,
    SMOOTHINGS,
    make_smoothed,
    planned_seeds,
    smoothed_name,
)


def methods() -> Iterator[measure.Job]:
    """Return all measurements of methods, all of a seed before the next seed."""
    for seed in range(max(seeds for _, seeds in PLAN.values())):
        for name, method in METHODS.items():
            for part in PLAN:
                if seed < planned_seeds(part, name):
                    for task in sets.tasks(part):
                        if name in CLOSED_OR_NOT or not task.name.endswith("as annotated"):
                            yield task, name, method.make, seed


def smoothings() -> Iterator[measure.Job]:
    """Return all measurements of smoothings."""
    for seed in range(SMOOTHING_SEEDS):
        for part in ("published", "packaged"):
            for smoothing in SMOOTHINGS:
                for key in SMOOTHED:
                    for task in sets.without_losses(part):
                        yield (
                            task,
                            smoothed_name(key, smoothing),
                            partial(make_smoothed, key, smoothing),
                            seed,
                        )


STEPS = {
    "run": lambda: measure.run(methods()),
    "smooth": lambda: measure.run(smoothings()),
    "collect": collect.collect,
    "draw": figures.draw,
    "write": page.write,
}

if __name__ == "__main__":
    if any(word not in STEPS for word in sys.argv[1:]):
        sys.exit(f"usage: python -m reproduction.accuracy [{'|'.join(STEPS)}]")
    for word in sys.argv[1:] or STEPS:
        STEPS[word]()
