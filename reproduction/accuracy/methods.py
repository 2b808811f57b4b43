"""Every method on the page: its name, how to make it, and with how many seeds it is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.naive_bayes import BernoulliNB

from hietan import HIPNB, TAN, HieBAN, HieLogistic, HieTAN, HieTANLite
from hietan.catalogue import METHODS as CATALOGUE
from reproduction.accuracy import peers


@dataclass(frozen=True)
class Measured:
    """A method that is measured.

    Attributes
    ----------
    make : callable
        Makes the unfitted classifier; its hierarchy and random_state are set later.
    seeds : int
        The number of seeds, from 0.
    is_ours : bool
        Whether it is a classifier of this package.
    balanced : bool
        Whether its probabilities are those of equally frequent classes.
    """

    make: Callable[[], Any]
    seeds: int = 5
    is_ours: bool = True
    balanced: bool = True


EQUAL = (0.5, 0.5)
METHODS = {
    "HieLogistic": Measured(HieLogistic),
    "HieBAN": Measured(partial(HieBAN, class_prior=EQUAL)),
    "Hie-TAN": Measured(partial(HieTAN, class_prior=EQUAL)),
    "TAN": Measured(partial(TAN, class_prior=EQUAL)),
    "Hie-TAN-Lite": Measured(partial(HieTANLite, class_prior=EQUAL)),
    "HIP + NB": Measured(partial(HIPNB, class_prior=EQUAL)),
    "logistic regression": Measured(peers.RidgeLogistic, 5, False),
    "simGIC neighbours": Measured(peers.SimGIC, 5, False),
    "naive Bayes": Measured(BernoulliNB, 5, False, False),
    "random forest": Measured(peers.Forest, 5, False, False),
    "XGBoost, chosen": Measured(peers.XGBoost, 5, False),
    "ExtraTrees": Measured(peers.ExtraTrees, 1, False, False),
    "balanced forest": Measured(peers.BalancedForest, 1, False),
    "forest, chosen": Measured(peers.ChosenForest, 1, False),
}

# The names on the page, which say how a method smooths and whether it weights the classes.
SHOWN = {
    **{name: f"{name} (odds)" for name in ("Hie-TAN", "TAN", "Hie-TAN-Lite", "HIP + NB")},
    "logistic regression": "logistic regression, balanced",
    "XGBoost, chosen": "XGBoost, balanced (tuned)",
    "forest, chosen": "random forest, balanced (tuned)",
}

# The methods that estimate probabilities from counts, by their key in the catalogue, with each smoothing.
SMOOTHING_SEEDS = 2
SMOOTHINGS = ("laplace", "pooled", "odds")
SMOOTHED = {
    key: CATALOGUE[key].title.partition(" (")[0]  # the smoothing has a column of its own
    for key in (
        "hie-logistic",
        "hie-ban",
        "tan",
        "hie-tan",
        "hre-tan",
        "hie-tan-lite",
        "aode",
        "hie-aode",
        "hie-aode-lite",
        "hip-nb",
        "mr-nb",
        "hip-mr-nb",
        "hnb",
        "rnb",
        "hip-tan",
        "mr-tan",
        "hip-mr-tan",
    )
}


def smoothed_name(key: str, smoothing: str) -> str:
    """Return the name under which the scores of a method with a smoothing are kept."""
    return f"{key} {smoothing}"


def make_smoothed(key: str, smoothing: str) -> Any:
    """Make a method with a smoothing, at equal class priors."""
    model = CATALOGUE[key].make()
    prior = {} if key == "hie-logistic" else {"class_prior": (0.5, 0.5)}
    return model.set_params(smoothing=smoothing, **prior)


# The part of the page, the methods that are measured there, and the most seeds; what is needed first comes first.
EVERYWHERE = tuple(METHODS)
COMPARED = (
    "HieLogistic",
    "HieBAN",
    "Hie-TAN",
    "HIP + NB",
    "logistic regression",
    "random forest",
    "XGBoost, chosen",
    "simGIC neighbours",
)
CURVES = ("HieLogistic", "HieBAN", "Hie-TAN", "HIP + NB", "logistic regression", "random forest")
CLOSED_OR_NOT = ("logistic regression", "random forest")
PLAN = {
    "published": (EVERYWHERE, 5),
    "packaged": (EVERYWHERE, 5),
    "later": (EVERYWHERE, 5),
    "both years": (COMPARED, 1),
    "curves": (CURVES, 10),
}


def planned_seeds(part: str, method: str) -> int:
    """Return the number of seeds of a method in a part of the page."""
    names, seeds = PLAN[part]
    if method not in names:
        return 0
    return seeds if part == "curves" else min(seeds, METHODS[method].seeds)
