"""Rows scored by models: the value from which metrics, calibration, lists and rankings are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows, scored by one model, or each by the model of the fold that held the row out.

    Attributes
    ----------
    classes : tuple of str
        The class names. The positive one is the last.
    predicted : int array of shape (n,)
        The class that the classifier itself predicts for each row, as an index into `classes`.
    log_proba : array of shape (n, n_classes), or None
        ln P(class | row); None if the classifier has no probabilities.
    truth : int array of shape (n,), or None
        Each row's known class, as an index into `classes`.
    fold : int array of shape (n,), or None
        The fold in which each row was held out; None if one model scored all rows.
    rows : int array of shape (n,), or None
        Each row's position in its dataset, in increasing order; None means all rows.

    Examples
    --------
    >>> scores = Scores(("no", "yes"), np.array([0, 1]), np.log([[0.8, 0.2], [0.25, 0.75]]), np.array([0, 1]))
    >>> scores.log_odds.round(3).tolist()
    [-1.386, 1.099]
    >>> turned = scores.with_positive("no")
    >>> turned.classes, turned.truth.tolist(), turned.log_odds.round(3).tolist()
    (('yes', 'no'), [1, 0], [1.386, -1.099])
    """

    classes: tuple[str, ...]
    predicted: NDArray[np.intp]
    log_proba: Floats | None = None
    truth: Any = None  # arrays, whose users know that they are there
    fold: Any = None
    rows: Any = None

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def proba(self) -> Floats | None:
        """P(class | row), or None if the classifier has no probabilities."""
        return None if self.log_proba is None else np.exp(self.log_proba)

    @cached_property
    def log_odds(self) -> Floats:
        """Each row's log-odds of the positive class against all others. Raise ValueError without probabilities."""
        return self.odds_of(len(self.classes) - 1)

    @property
    def most_probable_odds(self) -> Floats:
        """Each row's log-odds of its most probable class against all others."""
        return self.odds_of(None)

    def odds_of(self, position: int | None) -> Floats:
        """Return each row's log-odds of the class at this position, or of its most probable class."""
        if self.log_proba is None:
            raise ValueError("the classifier has no probabilities, so rows have no log-odds")
        return class_odds(self.log_proba, position)

    @property
    def ranked_by(self) -> Floats | None:
        """The values that rank the rows for AUC: log-odds of two classes, log-probabilities of several, or None."""
        if self.log_proba is None:
            return None
        return self.log_odds if len(self.classes) == 2 else self.log_proba

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Whether each row is known to belong to the positive class."""
        return np.asarray(self.truth == len(self.classes) - 1)

    def select(self, chosen: NDArray[Any]) -> Scores:
        """Return the scores of some rows, chosen by a mask or by their numbers."""
        rows = np.arange(len(self)) if self.rows is None else self.rows
        return replace(
            self,
            predicted=self.predicted[chosen],
            log_proba=None if self.log_proba is None else self.log_proba[chosen],
            truth=None if self.truth is None else self.truth[chosen],
            fold=None if self.fold is None else self.fold[chosen],
            rows=rows[chosen],
        )

    def with_positive(self, name: str) -> Scores:
        """Return the same scores with this class as the positive one."""
        classes = positive_last(self.classes, name)
        if classes == self.classes:
            return self
        columns = [self.classes.index(label) for label in classes]
        number = np.argsort(columns)
        return replace(
            self,
            classes=classes,
            predicted=number[self.predicted],
            log_proba=None if self.log_proba is None else self.log_proba[:, columns],
            truth=None if self.truth is None else number[self.truth],
        )


def positive_last(classes: tuple[str, ...], positive: str) -> tuple[str, ...]:
    """Return the classes with the positive one at the end. Raise ValueError if it is unknown.

    >>> positive_last(("a", "b", "c"), "a")
    ('b', 'c', 'a')
    """
    if positive not in classes:
        raise ValueError(f"positive is {positive!r:.80}; expected one of the classes {', '.join(classes)}")
    return (*(name for name in classes if name != positive), positive)


def class_odds(log_proba: Floats, position: int | None) -> Floats:
    """Return each row's log-odds of the class at this position against all others. None: its most probable class.

    >>> class_odds(np.log([[0.25, 0.75]]), 1).round(4).tolist(), class_odds(np.log([[0.25, 0.75]]), 0).round(4).tolist()
    ([1.0986], [-1.0986])
    >>> class_odds(np.log([[0.2, 0.5, 0.3]]), None).round(4).tolist()
    [0.0]
    """
    if log_proba.shape[1] == 2 and position is not None:
        return np.asarray(log_proba[:, position] - log_proba[:, 1 - position], dtype=np.float64)
    at = log_proba.argmax(axis=1) if position is None else np.full(len(log_proba), position)
    is_rest = at[:, None] != np.arange(log_proba.shape[1])
    rest = np.logaddexp.reduce(log_proba, axis=1, where=is_rest, initial=-np.inf)
    # At least -1e9: probabilities of exactly 0 have finite odds.
    return np.asarray(np.maximum(log_proba[~is_rest], -1e9) - np.maximum(rest, -1e9), dtype=np.float64)


def normalised(joint: Floats) -> Floats:
    """Return log-probabilities, computed by normalising these log joints."""
    return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), dtype=np.float64)
