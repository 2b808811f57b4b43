"""Everything that is measured: our classifiers and their peers, by the name that tables and files use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.naive_bayes import BernoulliNB

from hietan import HieBAN, HieLogistic, ProximalGraph
from hietan.catalogue import METHODS as CATALOGUE
from reproduction.accuracy import peers

SEEDS = tuple(range(5))
PAIRS = ("tan", "hie-tan", "hie-tan-lite", "hre-tan", "aode", "hie-aode", "hie-aode-lite", "hip-nb")


@dataclass(frozen=True)
class Measured:
    """A method that is measured.

    Attributes
    ----------
    name : str
        Its name in files and tables.
    make : callable
        Makes the unfitted classifier; its hierarchy and random_state are set later.
    is_ours : bool
        Whether it is a classifier of this package.
    """

    name: str
    make: Callable[[], Any]
    is_ours: bool = True


def _ours() -> list[Measured]:
    methods = [
        Measured("HieLogistic", HieLogistic),
        Measured("HieLogistic, ridge chosen", partial(HieLogistic, ridge=None)),
        Measured("HieLogistic, calibrated", partial(HieLogistic, calibrate=True)),
        Measured("HieLogistic, class_weight None", partial(HieLogistic, class_weight=None)),
        Measured("HieBAN", HieBAN),
        Measured("HieBAN, equal priors", partial(HieBAN, class_prior=(0.5, 0.5))),
        Measured("HieBAN, calibrated", partial(HieBAN, calibrate=True)),
    ]
    for key in PAIRS:
        entry = CATALOGUE[key]
        for smoothing in ("pooled", "laplace"):
            methods.append(Measured(f"{entry.title}, {smoothing}", partial(entry.make, smoothing=smoothing)))
    return methods


_PEERS = [
    Measured("ridge logistic regression", peers.RidgeLogistic, False),
    Measured("ridge logistic regression, C 0.1", partial(peers.RidgeLogistic, C=0.1), False),
    Measured("balanced random forest", peers.BalancedForest, False),
    Measured("XGBoost", peers.XGBoost, False),
    Measured("CatBoost", peers.CatBoost, False),
    Measured("naive Bayes (scikit-learn)", BernoulliNB, False),
    Measured("simGIC nearest neighbours", peers.SimGIC, False),
    Measured("number of annotations", peers.AnnotationCount, False),
]
_GRAPHS = [
    Measured("proximalGraph, lambda 0.002", partial(ProximalGraph, lam=0.002)),
    Measured("proximalGraph, lambda tuned", ProximalGraph),
]
METHODS = {method.name: method for method in [*_ours(), *_PEERS, *_GRAPHS]}
# Within a seed, the methods that the page compares come first, and what takes long comes last.
_FIRST = (
    "HieL",
    "HieB",
    "ridge",
    "XGBoost",
    "HIP",
    "number",
    "simGIC",
    "naive",
    "balanced",
    "CatBoost",
    "TAN",
)
_LAST = ("AODE", "Hie-AODE", "Hie-AODE-Lite", "proximalGraph, lambda tuned")


def _turn(name: str) -> tuple[bool, int]:
    place = [i for i, start in enumerate(_FIRST) if name.startswith(start)]
    return name.startswith(_LAST), place[0] if place else len(_FIRST)


ORDER = sorted(METHODS, key=_turn)
