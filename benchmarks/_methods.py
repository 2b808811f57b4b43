"""The classifiers by the names that the tables use."""

from __future__ import annotations

from typing import Any

from hietan import AODE, HIPNB, HRETAN, TAN, HieAODE, HieAODELite, Hierarchy, HieTAN, HieTANLite

TREES: dict[str, Any] = {"TAN": TAN, "Hie-TAN": HieTAN, "Hie-TAN-Lite": HieTANLite, "HRE-TAN": HRETAN}
AVERAGES: dict[str, Any] = {
    "AODE": AODE,
    "Hie-AODE": HieAODE,
    "Hie-AODE-Lite": HieAODELite,
    "HIP + NB": HIPNB,
}


def new(name: str, hierarchy: Hierarchy, **options: Any) -> Any:
    """A classifier that is not fitted."""
    if name in TREES:
        return TREES[name](hierarchy=hierarchy, random_state=0, **options)
    return AVERAGES[name](hierarchy=hierarchy, **options)
