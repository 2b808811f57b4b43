"""The method table, which lists each method's name, purpose, typical use and sets."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

from hietan.classifiers import (
    AODE,
    HIPNB,
    HRETAN,
    TAN,
    HieAODE,
    HieAODELite,
    HieBAN,
    HieLogistic,
    HieTAN,
    HieTANLite,
    LazySelection,
    ProximalGraph,
)
from hietan.selection import GTD, SHSEL, TSEL, SelectedColumns


@dataclass(frozen=True)
class MethodEntry:
    """A method in the catalogue.

    Attributes
    ----------
    name : str
        Its name on the command line and in the tables of a study.
    title : str
        Its name for readers, with its smoothing if it has several and with "balanced" if it weights the classes.
    idea : str
        What it does, in a few words.
    when : str
        When to use it, as the end of a sentence that begins with "Use it".
    make : callable
        Makes the unfitted classifier; for classifiers of this package, it accepts their parameters.
    sets : tuple of str
        The sets that contain it, in addition to "all".
    in_demo : bool
        Whether ``hietan demo`` shows it.
    """

    name: str
    title: str
    idea: str
    when: str
    make: Callable[..., Any]
    sets: tuple[str, ...] = ()
    in_demo: bool = False


def logistic(
    l1_ratio: float, class_weight: str | None = "balanced", **options: Any
) -> Callable[[], LogisticRegression]:
    """Return a function that makes logistic regressions, with balanced class weights by default.

    In scikit-learn 1.8, `l1_ratio` replaced `penalty`.
    """

    def make() -> LogisticRegression:
        default = inspect.signature(LogisticRegression).parameters["penalty"].default
        settings = dict(options)
        if default != "deprecated":
            settings["penalty"] = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
        if default == "deprecated" or 0 < l1_ratio < 1:
            settings["l1_ratio"] = l1_ratio
        return LogisticRegression(class_weight=class_weight, max_iter=5000, **settings)

    return make


AIRE = ("aire",)
"""The set of all methods in the comparison of selections."""
_ALL_FEATURES = 2**31 - 1  # more than there are: "rnb" then keeps all of them

# The lazy selections: a name, a title, the idea, and when to use it with naive Bayes.
_LAZY = (
    ("hip", "HIP", "the most specific features of a row", ""),
    (
        "mr",
        "MR",
        "the most relevant features of each lineage in a row",
        "to compare with HIP: keeps the most relevant features, not the most specific ones",
    ),
    (
        "hip-mr",
        "HIP-MR",
        "specific features remove less relevant ones",
        "to compare with HIP: relevant ancestors stay next to the features that imply them",
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
        "NB (odds)",
        "naive Bayes",
        partial(LazySelection, selection="rnb", n_features=_ALL_FEATURES),
        "to compare a selection that is the same for all rows with HIP's, which differs by row",
    ),
    (
        "tan",
        "TAN (odds)",
        "a tree",
        TAN,
        "for one small tree for all rows, over features that were selected first",
    ),
    (
        "logistic-balanced",
        "logistic regression, balanced",
        "small weights",
        logistic(0.0),
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
            entries.append(MethodEntry(f"{name}-nb", f"{title} + NB (odds)", idea, when, make, AIRE))
        entries += [
            MethodEntry(
                f"{name}-tan",
                f"{title} + TAN (odds)",
                f"{idea}; a tree over them",
                f"for a tree per row over the features that {title} keeps; Hie-TAN-Lite selects while its tree "
                "grows",
                partial(LazySelection, selection=name, model="tan"),
                AIRE,
            ),
        ]
    return entries


AIRE_ENTRIES = (
    *_lazy_entries(),
    MethodEntry(
        "hnb",
        "HNB (odds)",
        "the 50 most relevant features after HIP-MR",
        "for at most n_features reasons per row, without redundant ones",
        partial(LazySelection, selection="hnb"),
        AIRE,
    ),
    MethodEntry(
        "rnb",
        "RNB (odds)",
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
"""The methods that are only in the comparison of selections."""


def _laplace_entries() -> list[MethodEntry]:
    """Return the paper's trees as its experiment is repeated here: with Laplace smoothing."""
    return [
        MethodEntry(
            f"{name}-laplace",
            f"{title} (Laplace)",
            f"{name} with Laplace smoothing",
            f"to repeat the paper's experiment; {name} predicts better",
            partial(make, smoothing="laplace"),
            ("paper",),
        )
        for name, title, make in (
            ("tan", "TAN", TAN),
            ("hie-tan", "Hie-TAN", HieTAN),
            ("hie-tan-lite", "Hie-TAN-Lite", HieTANLite),
            ("hre-tan", "HRE-TAN", HRETAN),
        )
    ]


_BAYES, _NEW, _MODERN = ("bayes",), ("new",), ("modern",)
# One entry per method. Its place here is its place in sets, studies and the demo.
_ENTRIES = (
    MethodEntry(
        "tan",
        "TAN (odds)",
        "one tree; ignores the hierarchy",
        "as the baseline that shows what the hierarchy adds to a tree",
        TAN,
        _BAYES + AIRE,
        True,
    ),
    MethodEntry(
        "hie-tan",
        "Hie-TAN (odds)",
        "one tree, directed by the hierarchy",
        "to see dependences in one tree for all rows",
        HieTAN,
        _BAYES,
        True,
    ),
    MethodEntry(
        "hie-tan-lite",
        "Hie-TAN-Lite (odds)",
        "a tree per row, directed, without redundancy",
        "for a small tree that explains each row",
        HieTANLite,
        _BAYES,
        True,
    ),
    MethodEntry(
        "hre-tan",
        "HRE-TAN (odds)",
        "a tree per row, without redundancy",
        "to compare with Hie-TAN-Lite: its edges get no directions from the hierarchy",
        HRETAN,
        _BAYES,
        True,
    ),
    *_laplace_entries(),
    MethodEntry(
        "aode",
        "AODE (Laplace)",
        "an average of estimators; ignores the hierarchy",
        "as the baseline of Hie-AODE and Hie-AODE-Lite",
        AODE,
        (),
    ),
    MethodEntry(
        "hie-aode",
        "Hie-AODE (Laplace)",
        "ancestors depend on the class alone",
        "to compare with Hie-AODE-Lite",
        HieAODE,
        (),
    ),
    MethodEntry(
        "hie-aode-lite",
        "Hie-AODE-Lite (Laplace)",
        "ancestors are left out",
        "for an average instead of a tree",
        HieAODELite,
        (*_BAYES, "paper"),
        True,
    ),
    MethodEntry(
        "hip-nb",
        "HIP + NB (odds)",
        "the most specific features of a row",
        "for short reasons: few features, each on its own",
        HIPNB,
        AIRE,
    ),
    MethodEntry(
        "hie-ban",
        "HieBAN",
        "the hierarchy itself is the network",
        "for very large data, data in parts, or reasons from counts alone",
        HieBAN,
        _NEW,
        True,
    ),
    MethodEntry(
        "hie-logistic",
        "HieLogistic",
        "HieBAN, corrected by a balanced regression",
        "first: if rows may be incomplete, or if you need reasons",
        HieLogistic,
        _NEW,
        True,
    ),
    MethodEntry(
        "proximal-graph",
        "proximalGraph",
        "a linear model; keeps a feature only with its ancestors",
        "to keep few features, each with all its ancestors, or for features that are not binary",
        ProximalGraph,
        ("paper",),
        True,
    ),
    MethodEntry(
        "logistic-l2-balanced",
        "logistic regression, L2, balanced",
        "small weights",
        "if rows are complete and only accuracy counts; it ignores the hierarchy",
        logistic(0.0),
        _MODERN + AIRE,
        True,
    ),
    MethodEntry(
        "logistic-l2",
        "logistic regression, L2",
        "small weights; no class weights",
        "to see what class weights change; compare it by AUC",
        logistic(0.0, class_weight=None),
        _MODERN,
    ),
    MethodEntry(
        "logistic-l1-balanced",
        "logistic regression, L1, balanced",
        "few weights",
        "for few features with any relations",
        logistic(1.0, solver="liblinear"),
        _MODERN,
    ),
    MethodEntry(
        "logistic-elastic-net-balanced",
        "logistic regression, elastic net, balanced",
        "L1 and L2 together",
        "for a compromise between few and small weights",
        logistic(0.5, solver="saga", tol=1e-3),
        _MODERN,
    ),
    MethodEntry(
        "random-forest",
        "random forest",
        "300 trees",
        "if rows are complete and only accuracy counts; it finds interactions",
        lambda: RandomForestClassifier(300),
        _MODERN,
    ),
    MethodEntry(
        "balanced-random-forest",
        "balanced random forest",
        "300 trees on balanced samples of rows",
        "the same for classes of different sizes",
        lambda: RandomForestClassifier(300, class_weight="balanced_subsample"),
        _MODERN,
    ),
    MethodEntry(
        "gradient-boosting",
        "gradient boosting",
        "trees, one after the other",
        "to compare with boosting",
        HistGradientBoostingClassifier,
        _MODERN,
    ),
    MethodEntry(
        "bernoulli-nb",
        "naive Bayes",
        "every feature on its own; scikit-learn's",
        "as the simplest baseline",
        BernoulliNB,
        _MODERN + AIRE,
    ),
    *AIRE_ENTRIES,
)
METHODS = {entry.name: entry for entry in _ENTRIES}


def method_names() -> tuple[str, ...]:
    """Return the names of the individual methods.

    >>> method_names()[:3]
    ('tan', 'hie-tan', 'hie-tan-lite')
    """
    return tuple(METHODS)


def method_sets() -> dict[str, tuple[str, ...]]:
    """Return the method sets by name, each with its methods' names.

    "paper" contains the methods that the paper compares, with Laplace smoothing, and "bayes" the Bayesian networks
    among them with their default smoothing. "new" contains
    the two methods that are new in hietan, and "modern" scikit-learn's classifiers. "aire" contains lazy and eager
    feature selection along the hierarchy, with naive Bayes, trees and logistic regression (Artificial Intelligence
    Review, 2018).

    >>> method_sets()["bayes"]
    ('tan', 'hie-tan', 'hie-tan-lite', 'hre-tan', 'hie-aode-lite')
    >>> method_sets()["paper"][:2]
    ('tan-laplace', 'hie-tan-laplace')
    >>> method_sets()["new"]
    ('hie-ban', 'hie-logistic')
    >>> method_sets()["aire"][:4]
    ('tan', 'hip-nb', 'logistic-l2-balanced', 'bernoulli-nb')
    """
    members = {
        name: tuple(entry.name for entry in METHODS.values() if name in entry.sets)
        for name in ("bayes", "paper", "new", "modern", "aire")
    }
    return {**members, "all": method_names()}
