"""Out-of-fold predictions of every row, by every variant and method: everything else is derived from them."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from hietan._io.files import atomic_write, safe_file_name
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes
from hietan.evaluation._usage import count_usage
from hietan.scores.cross_validation import configure, score_rows
from reproduction.paper.variants import BAYES, DEFAULT, N_FOLDS, PARTS, VARIANTS, Variant

OUT = Path(__file__).parents[2] / "out" / "reproduction"
# The method whose feature usage the paper reports, and the datasets on which it does.
USAGE_METHOD, USAGE_DATASETS = "hie-tan-lite", ("CE-BP", "DM-BP", "MM-BP", "SC-BP")
assert USAGE_METHOD in BAYES
Task = tuple[str, str, str, int]
dataset_of = cache(fetch_ageing_genes)
NAMES = {f"{organism}-{namespaces}": (organism, namespaces) for organism, namespaces in AGEING_DATASETS}


@dataclass(frozen=True, eq=False)
class Measured:
    """What one method predicts on one dataset with one seed.

    Attributes
    ----------
    predicted : bool array of shape (n,)
        Whether each row is predicted to be of the positive class, by a model that did not see it.
    score : array of shape (n,)
        The log-odds of the positive class.
    fold : array of shape (n,)
        The fold in which each row was set aside.
    seconds : float
        The processor time of all fits and predictions.
    usage : array of shape (2, d), or None
        How many rows keep each feature in their tree, and how many edges contain it, where this is counted.
    chosen : array
        The value of the free parameter in each fold, where it is chosen within the training rows.
    """

    predicted: NDArray[np.bool_]
    score: NDArray[np.float64]
    fold: NDArray[np.int64]
    seconds: float
    usage: NDArray[np.int64] | None
    chosen: NDArray[np.float64]


def path_of(task: Task) -> Path:
    """Where a measurement is kept."""
    variant, method, dataset, seed = task
    return OUT / safe_file_name(variant) / f"{method}-{dataset}-{seed}.npz"


def load(task: Task) -> Measured | None:
    """The measurement that is kept, or None."""
    path = path_of(task)
    if not path.exists():
        return None
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    return Measured(
        kept["predicted"],
        kept["score"],
        kept["fold"].astype(np.int64),
        float(kept["seconds"]),
        kept.get("usage"),
        kept["chosen"],
    )


def tasks(parts: Sequence[str] = PARTS) -> Iterator[Task]:
    """(variant, method, dataset, seed) of all measurements of some parts, the first seed first."""
    for part in parts:
        here = [variant for variant in VARIANTS.values() if variant.part == part]
        for seed in sorted({seed for variant in here for seed in variant.seeds}):
            for variant in here:
                if seed in variant.seeds:
                    for method in variant.methods:
                        for dataset in NAMES:
                            yield variant.name, method, dataset, seed


def run(parts: Sequence[str] = PARTS, n_jobs: int = 2) -> None:
    """Measure whatever is not kept yet, in this many processes."""
    missing = [task for task in tasks(parts) if not path_of(task).exists()]
    found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(map(delayed(_keep), missing))
    for done, (task, seconds) in enumerate(found, 1):
        variant, method, dataset, seed = task
        if done % 28 == 0 or done == len(missing) or seconds > 30:
            words = f"{variant}: {method}, {dataset}, seed {seed}, {seconds:.1f} s"
            print(time.strftime("%H:%M:%S"), f"{done:,} of {len(missing):,}", words, flush=True)


def _keep(task: Task) -> tuple[Task, float]:
    name, method, dataset, seed = task
    found = measure(VARIANTS[name], method, dataset_of(*NAMES[dataset]), seed)
    arrays = {
        "predicted": found.predicted,
        "score": found.score,
        "fold": found.fold.astype(np.uint8),
        "seconds": np.array(found.seconds),
        "chosen": found.chosen,
    }
    if found.usage is not None:
        arrays["usage"] = found.usage
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    atomic_write(path_of(task), buffer.getvalue())
    return task, found.seconds


def measure(variant: Variant, method: str, data: Any, seed: int) -> Measured:
    """Predict every row of a dataset out of fold."""
    view = variant.view(data)
    y = 1 - view.y if variant.swaps_classes else view.y
    model = configure(variant.estimator(method), view.hierarchy, seed)
    fold = variant.folds(y, seed)
    predicted, score = np.empty(len(y), dtype=bool), np.full(len(y), np.nan)
    counts = _counts_usage(variant, method, data.name)
    usage, chosen, start = None, [], time.process_time()
    for k in range(N_FOLDS):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if variant.drops_twins:
            inside = inside[~identical(view.X[inside], view.X[outside])]
        fitted = _fit(model, view.X[inside], y[inside])
        rows = score_rows(fitted, view.X[outside], ("0", "1"))
        predicted[outside], score[outside] = rows.predicted == 1, rows.log_odds
        chosen.append(_chosen(fitted))
        if counts:
            here = count_usage(fitted.trees(view.X[outside]))
            both = np.stack([here.selected, here.in_edges])
            usage = both if usage is None else usage + both
    if variant.swaps_classes:
        predicted, score = ~predicted, -score
    seconds = time.process_time() - start
    return Measured(predicted, score, fold, seconds, usage, np.array(chosen, dtype=np.float64))


def identical(rows: Any, others: Any) -> NDArray[np.bool_]:
    """Whether each row equals one of the others."""
    known = {row.tobytes() for row in others.toarray()}
    return np.array([row.tobytes() in known for row in rows.toarray()])


def _counts_usage(variant: Variant, method: str, dataset: str) -> bool:
    return variant.name == DEFAULT and method == USAGE_METHOD and dataset in USAGE_DATASETS


def _chosen(fitted: Any) -> float:
    """The alpha or lambda that a model chose, if it did."""
    if hasattr(fitted, "best_params_"):
        return float(next(iter(fitted.best_params_.values())))
    return float(getattr(fitted, "lam_", np.nan))


def _fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are constant in the training rows
        return clone(model).fit(X, y)
