"""Counting injected faults: how many, and what came of them.

Each test of `tests/faults` injects a few faults in the ordinary suite and as many as its environment variable says in
`make faults`, which also sets HIETAN_FAULTS, the directory that the counts are written to, and HIETAN_SEED.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hietan._io.files import atomic_write, to_json

SEED = int(os.environ.get("HIETAN_SEED", "0"))


def number_of(what: str, few: int) -> int:
    """How many faults to inject: HIETAN_<WHAT> if it is set, and otherwise few of them."""
    return int(os.environ.get(f"HIETAN_{what}", few))


@dataclass
class Faults:
    """The faults of one part.

    Attributes
    ----------
    part : str
        The name of the part; the page docs/reliability.md shows its counts.
    injected : int
        The number of faults.
    lost : int
        How many of them lost something: a former file, a finished job, a statement that no account counts.
    changed : int
        How many of them changed an answer.
    foreign : int
        How many of them ended in an exception that is not ours, or in none where one was due.
    refused : int
        How many of them were met with an error of ours.
    seed : int
        The seed of the random numbers that chose them.
    slowest : float
        The CPU time that the slowest fault took, in seconds, where it is measured.
    """

    part: str
    injected: int = 0
    lost: int = 0
    changed: int = 0
    foreign: int = 0
    refused: int = 0
    seed: int = SEED
    slowest: float = 0.0
    notes: list[str] = field(default_factory=list)

    def note(self, kind: str, what: object) -> None:
        """Count a fault that was not withstood, and say how to see it again."""
        setattr(self, kind, getattr(self, kind) + 1)
        self.notes.append(f"{kind}: {what}"[:2000])

    @contextmanager
    def timed(self, limit: float):
        """Measure the CPU time of a case; more than `limit` seconds are a fault."""
        start = time.process_time()
        try:
            yield
        finally:
            seconds = time.process_time() - start
            self.slowest = max(self.slowest, seconds)
            if seconds > limit:
                self.note("foreign", f"{seconds:.1f} s of CPU time")

    def finish(self) -> None:
        """Print and write the counts; fail if a fault was not withstood."""
        print(
            f"{self.part}: {self.injected} faults, {self.lost} lost, {self.changed} answers changed, "
            f"{self.foreign} exceptions that are not ours, {self.refused} refused, seed {self.seed}"
        )
        if directory := os.environ.get("HIETAN_FAULTS"):
            counts = {key: value for key, value in asdict(self).items() if key != "notes"}
            atomic_write(Path(directory) / f"{self.part}.json", to_json(counts))
        assert self.lost == self.changed == self.foreign == 0, "\n".join(self.notes[:10])


def counts_in(directory: Path) -> dict[str, dict]:
    """The counts that the tests wrote, by part."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))}
