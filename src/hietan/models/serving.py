"""Predictions from lists of terms, for a single row or for millions of rows, for example in a web service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hietan._runtime.spelling import bare_name
from hietan.datasets._building.term_lookup import TermMeanings
from hietan.datasets._readers.edges import ontology_of
from hietan.datasets._readers.ontology import Ontology
from hietan.explain import Branch, Contribution
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._term_rows import ClosedColumns, rows_from_lists

if TYPE_CHECKING:
    from hietan.models.model import Model

MOST_UNKNOWN = 10_000
"""The largest number of different unknown terms to count by name."""


@dataclass(frozen=True)
class RowPrediction:
    """A model's prediction for a row of terms.

    Attributes
    ----------
    predicted : str
        The predicted class; "" if one class of the model is unlabelled.
    probability : float or None
        The probability of the positive class, or of the most probable one of several, calibrated if the model is. None
        if one class is unlabelled.
    log_odds : float
        The log-odds of the same class.
    lift : float or None
        If one class is unlabelled, how many times as often rows like this one occur among positives.
    unknown : tuple of str
        The row's terms that are not in the model.
    reasons : tuple of Contribution
        The strongest contributions to the log-odds, if they were requested.
    positive : str
        The class that probability, log-odds and reasons refer to; "" for the most probable of several classes.
    cutoff : float or None
        The lowest probability at which the positive class is predicted; None for more than two classes, or if one is
        unlabelled.
    no_known_term : bool
        Whether the model knows none of the row's terms, so that the prediction is that for a row without terms.
    base : float or None
        The part of the log-odds that belongs to no feature, if reasons were requested.
    branches : tuple of Branch
        The branches of the hierarchy and the rest, if reasons were requested. Their amounts and `base` add up to the
        log-odds.
    """

    predicted: str
    probability: float | None
    log_odds: float
    lift: float | None = None
    unknown: tuple[str, ...] = ()
    reasons: tuple[Contribution, ...] = ()
    positive: str = ""
    cutoff: float | None = None
    no_known_term: bool = False
    base: float | None = None
    branches: tuple[Branch, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as plain values for JSON, without fields that do not apply."""
        found = {name: value for name, value in vars(self).items() if value not in (None, "", ())}
        found["unknown"] = list(self.unknown)
        if found.pop("no_known_term"):
            found["warning"] = "no term of this row is known to the model"
        if self.reasons:
            found["reasons"] = [
                {
                    "feature": part.feature,
                    "name": part.name,
                    "value": part.value,
                    "contribution": part.contribution,
                }
                for part in self.reasons
            ]
        if self.branches:
            found["branches"] = [
                {"feature": branch.feature, "name": branch.name, "amount": branch.amount}
                for branch in self.branches
            ]
        return found


def closed_columns(model: Model, newer: Hierarchy | None, ontology: Ontology | None = None) -> ClosedColumns:
    """Return the model's features that a term implies. For terms that the model lacks, use the newer hierarchy.

    A term that only the newer hierarchy contains counts as its known ancestors, unless the training data were built
    without it. `ontology` is the source of the newer hierarchy, with other ids and the namespace of each term.
    """
    if not hasattr(model.classifier, "hierarchy_"):
        raise ValueError(
            f"{type(model.classifier).__name__} has no hierarchy of terms; use a hietan classifier"
        )
    known, newer = model.classifier.hierarchy_, newer or Hierarchy.unrelated(())
    about, ontology = model.provenance, ontology or ontology_of(newer)
    aliases, options = about.get("aliases", {}), about.get("options", {})
    # Without any of the recorded namespaces, the newer terms are divided differently, or not at all.
    namespaces = set(options.get("namespaces", ())).intersection(ontology.namespaces) or ontology.namespaces
    left_out = {
        name
        for term in options.get("drop_terms", ())
        if (current := ontology.resolve(term) or term) in newer
        for name in (current, *newer.descendants(current))
    }
    ignores_punctuation = bool(options.get("ignore_punctuation"))
    meanings = TermMeanings(
        ontology, namespaces, bool(options.get("follow_replaced")), left_out, ignores_punctuation
    )
    meant_by: dict[str, set[tuple[str, ...]]] = {}
    if ignores_punctuation:
        for name in (*known.features, *aliases):
            meant = (name,) if name in known else tuple(aliases[name])
            meant_by.setdefault(bare_name(name), set()).add(meant)

    def find(term: str) -> NDArray[np.int32] | None:
        names = [term] if term in known else aliases.get(term)
        if names is None and (current := meanings.find(term).term) is not None:
            names = [
                name
                for each in (current, *newer.ancestors(current))
                for name in (each, *aliases.get(each, ()))
            ]
        if names is None and meant_by and isinstance(term, str):
            meant = meant_by.get(bare_name(term), set())
            if len(meant) == 1:
                names = list(*meant)
        found = [known._closed[name] for name in names or () if name in known]
        return None if names is None else np.unique(np.concatenate([np.empty(0, dtype=np.int32), *found]))

    return ClosedColumns(find, len(known))


def predict_terms(
    model: Model, lists: Iterable[Any], closed: ClosedColumns, seen: Counter[str], reasons: int
) -> list[RowPrediction]:
    """Predict rows given as terms, and count unknown terms in `seen`; see `Model.predict`."""
    lists = [list(each) if isinstance(each, Iterator) else each for each in lists]
    rows = rows_from_lists(lists, closed)
    for term, n in rows.unknown.items():
        seen[term if term in seen or len(seen) < MOST_UNKNOWN else ""] += n
    if not lists:
        return []
    X = rows.ones.astype(np.uint8)
    scores = model.score(X)
    log_odds = model.log_odds(scores)
    n = len(lists)
    predicted, probabilities = [""] * n, [None] * n
    if not model.unlabelled:
        predicted = [scores.classes[k] for k in scores.predicted.tolist()]
        probabilities = model.probabilities(log_odds).tolist()
    lifts = model.lifts(log_odds)
    unknown: list[tuple[str, ...]] = [()] * n
    if rows.unknown:
        unknown = [tuple(str(term) for term in terms if str(term) in rows.unknown) for terms in lists]
    border = model.border
    found = [
        RowPrediction(
            predicted=predicted[i],
            probability=probabilities[i],
            log_odds=log_odds[i].item(),
            lift=None if lifts is None else lifts[i].item(),
            unknown=unknown[i],
            positive=model.positive,
            cutoff=border,
            no_known_term=len(lists[i]) == len(unknown[i]),
        )
        for i in range(n)
    ]
    if not reasons:
        return found
    names = dict(zip(model.feature_names, model.term_names or model.feature_names, strict=True))
    explained = model.classifier.explain(X, target=model.positive_label, term_names=names)
    return [
        replace(
            row,
            reasons=tuple(each.strongest[:reasons]),
            base=each.base + sum(amount for _, amount in each.other),
            branches=each.by_branch(),
        )
        for row, each in zip(found, explained, strict=True)
    ]
