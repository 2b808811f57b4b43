"""Out-of-fold scores of every row, by every method: everything else is derived from them without another fit."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from hietan._io.files import atomic_write, safe_file_name
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.evaluation._cross_validation import configure, fold_of_rows, predict_rows, row_scores
from reproduction.accuracy.methods import METHODS, ORDER, SEEDS, Measured

OUT = Path(__file__).parents[2] / "out" / "accuracy"
N_FOLDS, INNER_FOLDS = 10, 3
Floats = NDArray[np.float64]
dataset_of = cache(fetch_ageing_genes)


@dataclass(frozen=True, eq=False)
class FoldScores:
    """The scores of one method on one dataset with one seed.

    Attributes
    ----------
    score : array of shape (n,)
        The log-odds of class 1 of each row, by the model that did not see it.
    train : float32 array of shape (n_folds, n), or None
        For each fold, scores of its training rows by models that did not see them; NaN for the rows set aside. None if
        they are not kept.
    threshold : array of shape (n_folds,), or None
        The threshold chosen on the training rows of each fold; None for what was only tried.
    fold : array of shape (n,)
        The fold in which each row was set aside.
    seconds : float
        The processor time of all fits and predictions together, without the choice of the threshold.
    """

    score: Floats
    train: NDArray[np.float32] | None
    threshold: Floats | None
    fold: NDArray[np.int64]
    seconds: float

    @property
    def natural(self) -> NDArray[np.bool_]:
        """Whether each row is predicted to be of class 1, at log-odds of 0."""
        return self.score > 0

    @property
    def tuned(self) -> NDArray[np.bool_] | None:
        """The same at the threshold chosen on the training rows."""
        return None if self.threshold is None else self.score > self.threshold[self.fold]


def path_of(dataset: str, method: str, seed: int) -> Path:
    """Where the scores are kept."""
    return OUT / f"seed-{seed}" / safe_file_name(method) / f"{dataset}.npz"


def load(dataset: str, method: str, seed: int) -> FoldScores | None:
    """The scores that are kept, or None."""
    return load_file(path_of(dataset, method, seed))


def load_file(path: Path) -> FoldScores | None:
    """The scores in a file, or None if there is no such file."""
    if not path.exists():
        return None
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    return FoldScores(
        kept["score"],
        kept.get("train"),
        kept.get("threshold"),
        kept["fold"].astype(np.int64),
        float(kept["seconds"]),
    )


def tasks(seeds: tuple[int, ...] = SEEDS) -> Iterator[tuple[tuple[str, str], str, int]]:
    """(dataset, method, seed) of all measurements: all datasets of a seed before the next seed."""
    for seed in seeds:
        for name in ORDER:
            for pair in AGEING_DATASETS:
                yield pair, name, seed


def run(seeds: tuple[int, ...] = SEEDS) -> None:
    """Measure whatever is not kept yet."""
    for pair, name, seed in tasks(seeds):
        data = dataset_of(*pair)
        if not path_of(data.name, name, seed).exists():
            found = measure(METHODS[name], data, seed)
            save(found, path_of(data.name, name, seed))
            print(
                time.strftime("%H:%M:%S"),
                f"seed {seed}",
                name,
                data.name,
                f"{found.seconds:.1f} s",
                flush=True,
            )


def measure(method: Measured, data: Any, seed: int) -> FoldScores:
    """Score every row of a dataset out of fold."""
    model = configure(method.make(), data.hierarchy, seed)
    fold = fold_of_rows(data.y, N_FOLDS, seed)
    score, seconds = np.empty(len(fold)), 0.0
    train = np.full((N_FOLDS, len(fold)), np.nan, dtype=np.float32)
    threshold = np.empty(N_FOLDS)
    for k in range(N_FOLDS):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        X, y = data.X[inside], data.y[inside]
        start = time.process_time()
        fitted = _fit(model, X, y)
        score[outside] = scores_of(fitted, data.X[outside])
        seconds += time.process_time() - start
        held_out = out_of_sample_scores(fitted, model, X, y, seed)
        train[k, inside] = held_out
        threshold[k] = best_threshold(y == 1, held_out)
    return FoldScores(score, train, threshold, fold, seconds)


def save(found: FoldScores, path: Path) -> None:
    """Write the scores whole or not at all."""
    arrays = {"score": found.score, "fold": found.fold.astype(np.uint8), "seconds": np.array(found.seconds)}
    arrays |= {name: array for name in ("train", "threshold") if (array := getattr(found, name)) is not None}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    atomic_write(path, buffer.getvalue())


def scores_of(fitted: Any, X: Any) -> Floats:
    """The log-odds of class 1."""
    rows = predict_rows(fitted, X)
    assert rows.log_proba is not None
    return row_scores(rows.log_proba)


def out_of_sample_scores(fitted: Any, model: Any, X: Any, y: Any, seed: int) -> Floats:
    """Scores of training rows by models that did not see them: the method's own, or from inner folds."""
    if hasattr(fitted, "out_of_sample_scores_"):
        return np.asarray(fitted.out_of_sample_scores_)
    if hasattr(fitted, "out_of_sample_scores"):
        return np.asarray(fitted.out_of_sample_scores(X, y))
    if hasattr(fitted, "leave_one_out_joint_log_proba"):
        return row_scores(fitted.leave_one_out_joint_log_proba(X, y))
    held_out = np.empty(len(y))
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    for inside, outside in folds.split(np.zeros(len(y)), y):
        held_out[outside] = scores_of(_fit(model, X[inside], y[inside]), X[outside])
    return held_out


def best_threshold(positive: NDArray[np.bool_], score: Floats) -> float:
    """The threshold with the highest GMean on these rows; the middle one of several.

    >>> best_threshold(np.array([False, False, True, True]), np.array([0.0, 1.0, 3.0, 4.0]))
    2.0
    """
    values, group = np.unique(np.clip(score, -1e300, 1e300), return_inverse=True)
    if len(values) == 1:
        return 0.0
    above = np.bincount(group, weights=positive, minlength=len(values))[::-1].cumsum()[::-1][1:]
    false = np.bincount(group, weights=~positive, minlength=len(values)).cumsum()[:-1]
    product = (above / positive.sum()) * (false / (~positive).sum())
    best = np.flatnonzero(product >= product.max() - 1e-12)
    cut = int(best[len(best) // 2])
    return float(values[cut] / 2 + values[cut + 1] / 2)


def _fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are constant in the training rows
        return clone(model).fit(X, y)


def progress() -> str:
    """How much of the measurements is kept, seed by seed."""
    lines = []
    for seed in SEEDS:
        wanted = [path_of(dataset_of(*pair).name, name, s) for pair, name, s in tasks((seed,))]
        lines.append(f"seed {seed}: {sum(path.exists() for path in wanted)} of {len(wanted)}")
    return "\n".join(lines)
