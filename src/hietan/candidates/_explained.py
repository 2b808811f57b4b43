"""Rows of a dataset that are asked for by name, explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hietan.candidates._models import TrainedModel
from hietan.candidates._names import RowNames, find_rows, match_rows
from hietan.candidates._ranking import align_columns
from hietan.datasets import Dataset
from hietan.explain import Explanation

_STRONGEST = 5


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of a row requested by name, and whether the model was trained on it.

    Attributes
    ----------
    instance : str
        The name of the row.
    explanation : Explanation
        Why the model classifies it as it does.
    in_training : bool
        Whether a row of the training data shares a name with it.
    row_noun : str
        What a row is called.
    support : tuple of tuple of int
        For each contribution of the explanation, how many training rows of each class have the same value of the
        feature; empty if the model does not know.
    class_sizes : tuple of int
        The number of training rows of each class.
    """

    instance: str
    explanation: Explanation
    in_training: bool
    row_noun: str = "row"
    support: tuple[tuple[int, ...], ...] = ()
    class_sizes: tuple[int, ...] = ()

    def text(self, limit: int = 15) -> str:
        """The explanation as text, with at most `limit` features listed individually."""
        parts = [self.explanation.text(limit), self._support_text(limit)]
        if self.in_training:
            parts.append(f"The model was trained on this {self.row_noun} and knew its class.")
        return "\n\n".join(filter(None, parts))

    def _support_text(self, limit: int) -> str:
        """How many training rows are behind the strongest reasons."""
        if not self.support:
            return ""
        reasons = zip(self.explanation.contributions, self.support, strict=True)
        strongest = sorted(reasons, key=lambda pair: -abs(pair[0].contribution))[: min(limit, _STRONGEST)]
        lines = [f"Training {self.row_noun}s with the same value of the strongest features:"]
        for part, counts in strongest:
            named = f" {part.name}" if part.name != part.feature else ""
            classes = zip(self.explanation.classes, counts, self.class_sizes, strict=True)
            behind = ", ".join(f"{label} {count} of {size}" for label, count, size in classes)
            lines.append(f"  {part.feature}{named} = {part.value:g}: {behind}")
        return "\n".join(lines)


def explain_rows_by_name(
    trained: TrainedModel, data: Dataset, names: Sequence[str]
) -> tuple[RowExplanation, ...]:
    """Explain rows of a dataset, with the readable names of features, rows and classes.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset that has the rows; its columns are matched with the model's by name.
    names : sequence of str
        The names of the rows: ids, symbols or synonyms, in any case where that is unambiguous.

    Raises
    ------
    DataError
        If the dataset has no such row, or lacks features of the model.
    ValueError
        If the classifier offers no explanations.

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
        raise ValueError(f"{kind} cannot be explained as a whole; explain the classifier within it")
    rows = find_rows(data, names)
    X = align_columns(data, trained.feature_names)[rows]
    terms = dict(zip(data.feature_names, data.term_names, strict=True))
    matches, classes = match_rows(RowNames.of(data), trained.training_names), trained.class_names
    noun = data.row_noun if data.row_noun != "row" else trained.row_noun
    column = {name: j for j, name in enumerate(trained.feature_names)}
    explained = []
    for i, found in zip(rows, trained.classifier.explain(X, term_names=terms), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        label = f"{name} ({symbol})" if symbol not in ("", name) else name
        target = classes[found.classes.index(found.target)]
        named = replace(found, row=label, classes=classes, target=target)
        support = tuple(
            tuple(
                ones[column[part.feature]] if part.value else size - ones[column[part.feature]]
                for ones, size in zip(trained.term_counts, trained.class_sizes, strict=True)
            )
            for part in (found.contributions if trained.term_counts else ())
        )
        explained.append(
            RowExplanation(name, named, matches[i] is not None, noun, support, trained.class_sizes)
        )
    return tuple(explained)
