"""Score every row to predict, by every method: all results follow from these scores without another fit."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hietan._io.files import atomic_write, safe_file_name
from hietan.scores.cross_validation import configure, score_rows
from reproduction.accuracy.sets import Task

OUT = Path(__file__).parents[2] / "out" / "accuracy"
Floats = NDArray[np.float64]
Job = tuple[Task, str, Callable[[], Any], int]
"""A set, the name of a method, what makes it, and a seed."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one method on one set with one seed.

    Attributes
    ----------
    by_version : dict of str to array of shape (n,)
        The log-odds of class 1 of each row to predict, in each version of the rows; NaN if it is not predicted.
    fold : array of shape (n,)
        The split in which each row is predicted, or -1.
    seconds : float
        The processor time of all fits and of the predictions of the first version.
    """

    by_version: dict[str, Floats]
    fold: NDArray[np.int64]
    seconds: float


def measure(make: Any, task: Task, seed: int) -> Scores:
    """Fit once for each split, then score all versions of the rows to predict."""
    model = configure(make(), task.hierarchy, seed)
    versions = task.versions(seed)
    scores = {version: np.full(len(task.target), np.nan) for version in versions}
    fold, seconds = np.full(len(task.target), -1), 0.0
    for k, (inside, outside) in enumerate(task.splits(seed)):
        fold[outside] = k
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = clone(model).fit(task.X[inside], task.y[inside])
            for version, X in versions.items():
                scores[version][outside] = scores_of(fitted, X[outside])
                if version == next(iter(versions)):
                    seconds += time.process_time() - start
    return Scores(scores, fold, seconds)


def scores_of(fitted: Any, X: Any) -> Floats:
    """Return the log-odds of class 1."""
    return score_rows(fitted, X, ("0", "1")).log_odds


def path_of(task: Task, method: str, seed: int) -> Path:
    """Return where the scores are kept."""
    folder = OUT / safe_file_name(task.part) / safe_file_name(method)
    return folder / f"{safe_file_name(task.name)}-{seed}.npz"


def load(task: Task, method: str, seed: int) -> Scores | None:
    """Return the kept scores, or None."""
    path = path_of(task, method, seed)
    if not path.exists():
        return None
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    fold, seconds = kept.pop("fold").astype(np.int64), float(kept.pop("seconds"))
    return Scores(kept, fold, seconds)


def save(found: Scores, path: Path) -> None:
    """Write the scores whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, fold=found.fold.astype(np.int8), seconds=np.array(found.seconds), **found.by_version
    )
    atomic_write(path, buffer.getvalue())


def run(jobs: Iterable[Job]) -> None:
    """Measure every job that is not kept yet."""
    for task, name, make, seed in jobs:
        path = path_of(task, name, seed)
        if not path.exists():
            found = measure(make, task, seed)
            save(found, path)
            print(
                time.strftime("%H:%M:%S"),
                task.part,
                task.name,
                name,
                seed,
                f"{found.seconds:.1f} s",
                flush=True,
            )
