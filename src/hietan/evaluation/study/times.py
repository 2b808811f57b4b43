"""How long the jobs of a study took: the one file that differs from run to run."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from hietan._io import atomic_write

HEADER = ("dataset", "method", "setting", "tuning", "seed", "fold", "fit_seconds", "predict_seconds")


def append_time(folder: Path, method: Any, job: Any, seconds: tuple[float, float]) -> None:
    """Add the times of a job at the end of the file."""
    path = folder / "times.csv"
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    if not path.exists():
        writer.writerow(HEADER)
    times = [f"{s:.6f}" for s in seconds]
    writer.writerow([job.dataset, method.name, method.setting, method.tuning, job.seed, job.fold, *times])
    with open(path, "ab", buffering=0) as file:
        file.write(lines.getvalue().encode())


def finish_times(folder: Path) -> None:
    """One line per job, the last one written: a run that was killed may have timed a job twice, or half."""
    path = folder / "times.csv"
    if not path.exists():
        return
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) == len(HEADER) and row != list(HEADER)]
    last = {tuple(row[:6]): row for row in rows}
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([HEADER, *last.values()])
    atomic_write(path, lines.getvalue())
