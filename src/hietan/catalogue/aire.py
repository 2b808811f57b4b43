"""The comparison of hierarchical selections (Wan & Freitas, Artificial Intelligence Review 2018), as methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hietan.catalogue.entries import MethodEntry, balanced_logistic
from hietan.classifiers import TAN, LazySelection
from hietan.selection import GTD, SHSEL, TSEL, SelectedColumns

AIRE = ("aire",)
"""The set of all methods of the comparison."""
_ALL_FEATURES = 2**31 - 1  # more than there are: "rnb" then keeps all of them

# The lazy selections: a name, a title, the idea, and when to take it with naive Bayes.
_LAZY = (
    ("hip", "HIP", "the most specific features of a row", ""),
    (
        "mr",
        "MR",
        "the most relevant features of each lineage in a row",
        "to compare with HIP: what stays is chosen by relevance, not by how specific it is",
    ),
    (
        "hip-mr",
        "HIP-MR",
        "specific features remove less relevant ones",
        "to compare with HIP: relevant ancestors stay beside what implies them",
    ),
)
_EAGER: tuple[tuple[str, Callable[[], Any], str], ...] = (
    ("GTD", GTD, "the best features of each branch"),
    ("SHSEL", SHSEL, "features that stand out on a path"),
    ("TSEL", TSEL, "the first peaks of the lift"),
)
_MODELS: tuple[tuple[str, str, str, Callable[[], Any], str], ...] = (
    (
        "nb",
        "NB",
        "naive Bayes",
        partial(LazySelection, selection="rnb", n_features=_ALL_FEATURES),
        "to compare a selection that is the same for all rows with HIP's, which differs by row",
    ),
    ("tan", "TAN", "a tree", TAN, "for one small tree for all rows, over features that were selected first"),
    (
        "logistic",
        "logistic regression",
        "small weights",
        balanced_logistic(0.0),
        "for a linear model of few terms, chosen along the hierarchy",
    ),
)


def _make_on_selected(make: Callable[[], Any], selector: Callable[[], Any]) -> SelectedColumns:
    return SelectedColumns(make(), selector())


def _lazy_entries() -> list[MethodEntry]:
    entries = []
    for name, title, idea, when in _LAZY:
        if when:  # HIP with naive Bayes is HIPNB
            make = partial(LazySelection, selection=name)
            entries.append(MethodEntry(f"{name}-nb", f"{title} + NB", idea, when, make, AIRE))
        entries += [
            MethodEntry(
                f"{name}-tan",
                f"{title} + TAN",
                f"{idea}; a tree of them",
                f"for a tree per row over what {title} leaves; Hie-TAN-Lite selects while its tree grows",
                partial(LazySelection, selection=name, model="tan"),
                AIRE,
            ),
        ]
    return entries


AIRE_ENTRIES = (
    *_lazy_entries(),
    MethodEntry(
        "hnb",
        "HNB",
        "the 50 most relevant features after HIP-MR",
        "for at most n_features reasons per row, without redundant ones",
        partial(LazySelection, selection="hnb"),
        AIRE,
    ),
    MethodEntry(
        "rnb",
        "RNB",
        "the 50 most relevant features; ignores the hierarchy",
        "as the baseline of HNB",
        partial(LazySelection, selection="rnb"),
        AIRE,
    ),
    *(
        MethodEntry(
            f"{title.lower()}-{name}",
            f"{title} + {model}",
            f"{idea}; {what}",
            when,
            partial(_make_on_selected, make, selector),
            AIRE,
        )
        for title, selector, idea in _EAGER
        for name, model, what, make, when in _MODELS
    ),
)
"""The methods of the comparison that are not in it for another reason as well."""
