"""Explain a dataset's rows by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hietan.candidates._error_rate import row_odds
from hietan.candidates._models import TrainedModel
from hietan.candidates._names import NameMatch, RowNames, find_rows, match_rows
from hietan.candidates._ranking import align_columns, unlabelled_training_rows
from hietan.datasets import Dataset
from hietan.evaluation._cross_validation import predict_rows
from hietan.explain import Explanation


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of a row requested by name, and whether the model was trained on the row.

    Attributes
    ----------
    instance : str
        The name of the row.
    explanation : Explanation
        Why the model classifies the row as it does.
    in_training : bool
        Whether a training row shares a name with it.
    probability_note : str
        The meaning of the probability or the lift.
    rank_note : str
        For an unlabelled training row, the log-odds and the lift that determine its rank.
    training_note : str
        For a row that shares a name with a training row, whether the model has seen it; otherwise empty.
    """

    instance: str
    explanation: Explanation
    in_training: bool
    probability_note: str = ""
    rank_note: str = ""
    training_note: str = ""

    def text(self, limit: int | None = None) -> str:
        """Return the explanation as text, like `Explanation.text`."""
        parts = [self.rank_note, self.explanation.text(limit), self.probability_note]
        if not self.rank_note:
            parts.append(self.training_note)
        return "\n\n".join(filter(None, parts))


def explain_rows_by_name(
    trained: TrainedModel, data: Dataset, names: Sequence[str], *, raw: bool = False
) -> tuple[RowExplanation, ...]:
    """Explain a dataset's rows, with readable names for features, rows and classes.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset with the rows; its columns are matched to the model's by name.
    names : sequence of str
        The row names: ids, symbols or synonyms, in any case if unambiguous.
    raw : bool
        Whether to show the classifier's raw probabilities even if the model has calibrated ones. A model with an
        unlabelled class shows lifts instead.

    Raises
    ------
    DataError
        If the dataset has no such row, or lacks features of the model.
    ValueError
        If the classifier has no explanations.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.candidates import train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> (found,) = explain_rows_by_name(train_model(HieTAN(), data), data, ["row3"])
    >>> found.explanation.target in data.target_names, found.in_training
    (True, True)
    """
    if not hasattr(trained.classifier, "explain"):
        kind = type(trained.classifier).__name__
        raise ValueError(f"{kind} cannot be explained as a whole; explain the wrapped classifier instead")
    rows = find_rows(data, names)
    X = align_columns(data, trained.feature_names)[rows]
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    matches, classes = match_rows(RowNames.of(data), trained.training_names), trained.class_names
    noun = data.row_noun if data.row_noun != "row" else trained.row_noun
    explained = []
    explanations = trained.classifier.explain(X, term_names=terms, target=trained.positive_label)
    predicted = predict_rows(trained.classifier, X)
    assert predicted.log_proba is not None
    labels = trained.predicted_labels(row_odds(predicted.log_proba), predicted.y_pred)
    seen = unlabelled_training_rows(trained, matches)[rows]
    scores = trained.held_out
    known = (
        scores.odds(trained.classifier.classes_, trained.positive_label)
        if trained.unlabelled and scores
        else ()
    )
    decisions = np.searchsorted(trained.classifier.classes_, labels).tolist()
    for i, found, decision, at in zip(rows, explanations, decisions, seen.tolist(), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        label = f"{name} ({symbol})" if symbol not in ("", name) else name
        target = classes[found.classes.index(found.target)]
        named = replace(found, row=label, classes=classes, target=target, row_noun=noun, decision=decision)
        rank_note = ""
        if trained.unlabelled:
            named = replace(named, verdict=_lift(trained, found.log_odds))
        if at >= 0:
            rank_note = (
                f"This {noun} is an unlabelled training {noun}, ranked by a model that did not see it: "
                f"{_lift(trained, known[at])}, log-odds {known[at]:+.3f}. The reasons come from the final model."
            )
        if not trained.unlabelled and not raw and trained.calibration is not None:
            named = replace(named, calibrated=float(trained.probabilities(np.array(found.log_odds))))
        note = trained.raw_note if raw and not trained.unlabelled else trained.probability_note
        seen_note = _training_note(trained, matches[i], noun)
        explained.append(RowExplanation(name, named, matches[i] is not None, note, rank_note, seen_note))
    return tuple(explained)


def _training_note(trained: TrainedModel, match: NameMatch | None, noun: str) -> str:
    """Return a sentence about whether the model has seen a row, or "" for a row that shares no name with one."""
    if match is None:
        return ""
    if trained.held_out is not None and trained.held_out.split:
        if match.row is None:
            return f"This {noun} is in the training data, or was held out from them."
        if match.row in trained.held_out.rows:
            return f"This {noun} was held out, so the model was not fitted to it."
    return f"This {noun} is in the training data, so its class was known."


def _lift(trained: TrainedModel, log_odds: float) -> str:
    lifts = trained.lifts(np.array([log_odds]))
    return "no lift" if lifts is None else f"lift {lifts[0]:.3g}"
