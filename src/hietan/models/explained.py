"""Explain a dataset's rows by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hietan.datasets import Dataset
from hietan.explain import Explanation
from hietan.models import words
from hietan.models.model import Model
from hietan.models.names import NameMatch, RowNames, find_rows, match_rows
from hietan.models.ranking import align_columns, unlabelled_training_rows


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
    model: Model, data: Dataset, names: Sequence[str], *, raw: bool = False
) -> tuple[RowExplanation, ...]:
    """Explain a dataset's rows, with readable names for features, rows and classes.

    Parameters
    ----------
    model : Model
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
    >>> from hietan.models import train_model
    >>> from hietan.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(100, 30, random_state=0)
    >>> (found,) = explain_rows_by_name(train_model(HieTAN(), data), data, ["row3"])
    >>> found.explanation.target in data.target_names, found.in_training
    (True, True)
    """
    if not hasattr(model.classifier, "explain"):
        kind = type(model.classifier).__name__
        raise ValueError(f"{kind} cannot be explained as a whole; explain the wrapped classifier instead")
    rows = find_rows(data, names)
    X = align_columns(data, model.feature_names)[rows]
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    matches, classes = match_rows(RowNames.of(data), model.training.names), model.class_names
    noun = data.row_noun if data.row_noun != "row" else model.row_noun
    explained = []
    explanations = model.classifier.explain(X, term_names=terms, target=model.positive_label)
    scores = model.score(X)
    decisions = [classes.index(scores.classes[k]) for k in scores.predicted.tolist()]
    seen = unlabelled_training_rows(model, matches)[rows]
    for i, found, decision, at in zip(rows, explanations, decisions, seen.tolist(), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        label = f"{name} ({symbol})" if symbol not in ("", name) else name
        target = classes[found.classes.index(found.target)]
        named = replace(found, row=label, classes=classes, target=target, row_noun=noun, decision=decision)
        rank_note = ""
        if model.unlabelled:
            named = replace(named, verdict=_lift(model, found.log_odds))
        if at >= 0 and model.held_out is not None:
            held_out = float(model.held_out.log_odds[at])
            rank_note = (
                f"This {noun} is an unlabelled training {noun}, ranked by a model that did not see it: "
                f"{_lift(model, held_out)}, log-odds {held_out:+.3f}. The reasons come from the final model."
            )
        if not model.unlabelled and not raw and model.calibration is not None:
            named = replace(named, calibrated=float(model.probabilities(np.array(found.log_odds))))
        note = words.raw_note(model) if raw and not model.unlabelled else words.probability_note(model)
        seen_note = _training_note(model, matches[i], noun)
        explained.append(RowExplanation(name, named, matches[i] is not None, note, rank_note, seen_note))
    return tuple(explained)


def _training_note(model: Model, match: NameMatch | None, noun: str) -> str:
    """Return a sentence about whether the model has seen a row, or "" for a row that shares no name with one."""
    if match is None:
        return ""
    if model.held_out is not None and model.held_out.rows is not None and model.is_split:
        if match.row is None:
            return f"This {noun} is in the training data, or was held out from them."
        if match.row in model.held_out.rows:
            return f"This {noun} was held out, so the model was not fitted to it."
    return f"This {noun} is in the training data, so its class was known."


def _lift(model: Model, log_odds: float) -> str:
    lifts = model.lifts(np.array([log_odds]))
    return "no lift" if lifts is None else f"lift {lifts[0]:.3g}"
