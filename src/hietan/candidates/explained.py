"""Rows of a dataset that are asked for by name, explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hietan.candidates.models import TrainedModel
from hietan.candidates.ranking import align_columns
from hietan.datasets import Dataset
from hietan.exceptions import DataError
from hietan.explain import Explanation, NeighbourExplanation


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of a row requested by name; `in_training` says whether the model was trained on it."""

    instance: str
    explanation: Explanation
    in_training: bool

    def text(self, limit: int = 15) -> str:
        """The explanation as text, with at most `limit` features listed individually."""
        known = "\n\nThe model was trained on this row and knew its class." if self.in_training else ""
        return self.explanation.text(limit) + known


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
        The names of the rows, or their symbols.

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
    training_rows, classes = set(trained.training_rows), trained.class_names
    explained = []
    for i, found in zip(rows, trained.classifier.explain(X, term_names=terms), strict=True):
        name, symbol = data.instance_names[i], data.symbols[i] if data.symbols else ""
        label, target = f"{name} ({symbol})" if symbol else name, classes[found.classes.index(found.target)]
        named = replace(found, row=label, classes=classes, target=target)
        if isinstance(named, NeighbourExplanation):
            named = _with_names_of_voters(named, found, trained)
        explained.append(RowExplanation(name, named, name in training_rows))
    return tuple(explained)


def _with_names_of_voters(
    named: NeighbourExplanation, found: NeighbourExplanation, trained: TrainedModel
) -> NeighbourExplanation:
    """The explanation with the names of the training rows that vote, and those of their classes."""
    rows = {f"training row {number}": name for number, name in enumerate(trained.training_rows)}
    label_of = dict(zip(found.classes, named.classes, strict=True))
    voters = (replace(n, row=rows.get(n.row, n.row), label=label_of[n.label]) for n in found.neighbours)
    return replace(named, neighbours=tuple(voters))


def find_rows(data: Dataset, names: Sequence[str]) -> list[int]:
    """The positions of rows, by name or by a symbol that no other row has; raises DataError if there is no such row."""
    times = Counter(data.symbols)
    index = {symbol: i for i, symbol in enumerate(data.symbols) if symbol and times[symbol] == 1}
    index |= {name: i for i, name in enumerate(data.instance_names)}
    unknown = [name for name in names if name not in index]
    if unknown:
        example = f"; its rows have names such as {data.instance_names[0]!r}" if data.instance_names else ""
        raise DataError(f"{data.name or 'the dataset'} has no row {unknown[0]!r}{example}")
    return [index[name] for name in names]
