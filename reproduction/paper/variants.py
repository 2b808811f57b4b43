"""Everything that is measured: a variant says how methods are made, and how rows, columns and folds are treated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from hietan.catalogue._estimators import make_methods
from hietan.scores.cross_validation import fold_of_rows

BAYES = ("tan", "hie-tan", "hie-tan-lite", "hre-tan", "hie-aode-lite")
GRAPH = "proximal-graph"
PAPER = (*BAYES, GRAPH)
TREES = BAYES[:4]
SEEDS = tuple(range(5))
ORDERS = ROOTS = (1, 2, 3, 4, 5)
N_FOLDS = 10
ALPHAS, SMOOTHINGS = (1.0, 0.5, 0.05), ("laplace", "pooled")
DEFAULT = "alpha 1, laplace"
TENTH, KNOWN = "lambda max / 10", "lambda 0.002"
RELATIVE = {"lam_relative": 0.1}
CRITERIA = ("log_loss", "auc", "gmean")
MODERN = (
    "bernoulli-nb",
    "logistic-l1-balanced",
    "logistic-l2-balanced",
    "logistic-elastic-net-balanced",
    "random-forest",
    "balanced-random-forest",
    "gradient-boosting",
)


class Data(Protocol):
    """What a variant needs of a dataset."""

    X: Any
    y: NDArray[np.intp]
    hierarchy: Any

    def subset(self, rows: Any = None, features: Any = None) -> Any:
        """Some of the rows and columns."""


def stratified(y: NDArray[np.intp], seed: int) -> NDArray[np.int64]:
    """The fold of each row, as everywhere in this package."""
    return fold_of_rows(y, N_FOLDS, seed)


def unstratified(y: NDArray[np.intp], seed: int) -> NDArray[np.int64]:
    """The fold of each row if the classes play no part."""
    fold = np.empty(len(y), dtype=np.int64)
    splits = KFold(N_FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)))
    for k, (_, rows) in enumerate(splits):
        fold[rows] = k
    return fold


@dataclass(frozen=True)
class Variant:
    """One way to run the experiment.

    Attributes
    ----------
    name : str
        Its name in the files of results.
    methods : tuple of str
        The methods that are measured in this way.
    options : dict
        What `hietan.catalogue.make_methods` is told.
    seeds : tuple of int
        The seeds of the folds.
    order : int
        0 for the columns as they are in the files; otherwise the seed of a random order.
    root : int or None
        A random_state for the models other than that of the folds.
    folds : callable
        Makes the folds from the classes and a seed.
    swaps_classes : bool
        Whether the positive class is called 0 and the negative one 1.
    drops_twins : bool
        Whether training rows that are identical to a row set aside are left out.
    part : str
        The part of the experiment that it belongs to; see `PARTS`.
    """

    name: str
    methods: tuple[str, ...]
    options: dict[str, Any]
    part: str
    seeds: tuple[int, ...] = SEEDS
    order: int = 0
    root: int | None = None
    folds: Callable[[NDArray[np.intp], int], NDArray[np.int64]] = stratified
    swaps_classes: bool = False
    drops_twins: bool = False

    def estimator(self, method: str) -> Any:
        """The unfitted classifier of one of its methods."""
        (made,) = make_methods([method], **self.options)
        model = made.estimator
        if self.root is not None and "random_state" in model.get_params():
            model.set_params(random_state=1000 + self.root)
        return model

    def view(self, data: Data) -> Any:
        """The dataset with its columns in the order of this variant."""
        if self.order == 0:
            return data
        columns = np.random.default_rng(self.order).permutation(data.X.shape[1])
        return data.subset(features=columns)


def chosen_lambda(criterion: str) -> str:
    """The name of the variant that chooses lambda by a criterion."""
    return f"lambda chosen by {criterion.replace('_', ' ')}"


def _variants() -> list[Variant]:
    """All variants, in the order in which they are measured."""
    default = {"alphas": [1.0], "smoothings": ["laplace"]}
    found = [
        Variant(
            f"alpha {alpha:g}, {smoothing}",
            BAYES,
            {"alphas": [alpha], "smoothings": [smoothing]},
            "untuned",
        )
        for smoothing in SMOOTHINGS
        for alpha in ALPHAS
    ]
    found += [
        Variant(TENTH, (GRAPH,), RELATIVE, "untuned"),
        Variant(KNOWN, (GRAPH,), {"lam": 0.002}, "untuned"),
    ]
    found += [Variant(f"order {k}", BAYES, default, "orders", (0,), order=k) for k in ORDERS]
    found += [Variant(f"order {k}, {TENTH}", (GRAPH,), RELATIVE, "orders", (0,), order=k) for k in ORDERS]
    found += [Variant(f"root {k}", TREES, default, "points", (0,), root=k) for k in ROOTS]
    found += [
        Variant("unstratified folds", BAYES, default, "points", folds=unstratified),
        Variant("classes exchanged", BAYES, default, "points", (0,), swaps_classes=True),
        Variant("identical rows left out of training", BAYES, default, "points", (0,), drops_twins=True),
        Variant("support of 3 in training rows", BAYES, {**default, "min_support": 3}, "points", (0,)),
    ]
    tuned = {"tune_threshold": True}
    found += [
        Variant(
            f"threshold, {kind}", BAYES, {"alphas": [1.0], "smoothings": [kind], **tuned}, "threshold", (0,)
        )
        for kind in SMOOTHINGS
    ]
    found.append(Variant(f"threshold, {KNOWN}", (GRAPH,), {"lam": 0.002, **tuned}, "threshold", (0,)))
    found += [
        Variant(f"alpha chosen, {kind}", BAYES, {"smoothings": [kind], "tune_alpha": True}, "alpha", seeds)
        for kind, seeds in zip(SMOOTHINGS, (SEEDS, (0,)), strict=True)
    ]
    found += [
        Variant(chosen_lambda(c), (GRAPH,), {"lam": "tuned", "lam_criterion": c}, "lambda", seeds)
        for c, seeds in zip(CRITERIA, (SEEDS, (0,), (0,)), strict=True)
    ]
    found.append(Variant("modern", MODERN, {}, "modern", (0,)))
    return found


VARIANTS = {variant.name: variant for variant in _variants()}
PARTS = tuple(dict.fromkeys(variant.part for variant in VARIANTS.values()))
"""The parts of the experiment, in the order in which they are run."""
