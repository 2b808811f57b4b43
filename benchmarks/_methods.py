"""The classifiers by the names that the tables use."""

from __future__ import annotations

from typing import Any

from hietan import AODE, HIPNB, HRETAN, TAN, HieAODE, HieAODELite, Hierarchy, HieTAN, HieTANLite

METHODS: dict[str, Any] = {
    "TAN": TAN,
    "Hie-TAN": HieTAN,
    "Hie-TAN-Lite": HieTANLite,
    "HRE-TAN": HRETAN,
    "AODE": AODE,
    "Hie-AODE": HieAODE,
    "Hie-AODE-Lite": HieAODELite,
    "HIP + NB": HIPNB,
}
# Trees choose their roots at random; the others have nothing to choose.
TREES = [name for name, kind in METHODS.items() if "random_state" in kind().get_params()]
AVERAGES = [name for name in METHODS if name not in TREES]


def new(name: str, hierarchy: Hierarchy, **options: Any) -> Any:
    """A classifier that is not fitted yet."""
    if name in TREES:
        options["random_state"] = 0
    return METHODS[name](hierarchy=hierarchy, **options)
