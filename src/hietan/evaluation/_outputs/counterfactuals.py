"""Counterfactuals: the fewest annotations whose addition or removal changes the predicted class of a row.

A hierarchy is any object with the attributes of `hietan.hierarchy.Hierarchy`: evaluation does not import it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# How many single changes are tried for a row, at most, and in a whole study; and how many changes a set may have.
MOST_TRIES, TRIES_IN_ALL, MOST_CHANGES = 1000, 40_000, 3
_CELLS = 1 << 24  # changed rows are tried together up to so many values
_TRIED_AGAIN = (
    100  # of the single changes, those that moved the answer most are tried as second and third ones
)


def find_counterfactuals(
    model: Any,
    rows: NDArray[Any],
    hierarchy: Any,
    orders: Sequence[Sequence[int]],
    tries: int,
    *,
    predicted: Sequence[Any] | None = None,
) -> list[dict[str, Any] | None]:
    """For each of some rows, the fewest annotations found whose addition or removal changes the predicted class.

    Parameters
    ----------
    model : classifier
        It is fitted, and has `predict` and `predict_log_proba`, which is asked about the changes of all rows together.
    rows : array of shape (n_rows, n_features)
        The binary features.
    hierarchy : Hierarchy or None
        A term is added with all more general ones, and removed with all more specific ones, so that the row stays
        closed.
    orders : sequence of sequences of int
        For each row the columns, those to try first at the beginning.
    tries : int
        How many columns are tried for each row.
    predicted : sequence of labels, optional
        The classes that the model predicts for the rows, if they are known; otherwise the model is asked.

    Returns
    -------
    list of dict or None
        `changes` has [column, 1 if it is added or 0 if it is removed, how many columns change with it]; it is empty if
        nothing was found. `to` is the new class, and `tried` the number of single changes.
        None if the model has no probabilities.
    """
    if not hasattr(model, "predict_log_proba") or not tries or not len(rows):
        return [None] * len(rows)
    present = (np.asarray(rows) > 0).astype(np.uint8)
    if predicted is None:
        predicted = np.asarray(model.predict(csr_array(present))).tolist()
    classes, flips = list(model.classes_), _Flips(hierarchy)
    searches = [
        _search(row, classes, classes.index(label), [int(j) for j in order[:tries]], flips)
        for row, label, order in zip(present, predicted, orders, strict=True)
    ]
    found: list[dict[str, Any] | None] = []
    at_once = max(1, _CELLS // max(1, tries * present.shape[1]))
    for start in range(0, len(searches), at_once):
        found += _answered(
            searches[start : start + at_once],
            lambda changed: np.asarray(model.predict_log_proba(csr_array(changed))),
        )
    return found


_Search = Generator[NDArray[np.uint8], NDArray[np.float64], dict[str, Any]]


def _answered(
    searches: Sequence[_Search], answer: Callable[[NDArray[np.uint8]], NDArray[np.float64]]
) -> list[dict[str, Any] | None]:
    """What searches find: each asks for the log-probabilities of some rows, and those of all are computed at once."""
    found: list[dict[str, Any] | None] = [None] * len(searches)
    answers: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while True:
        asked = {}
        for k, logs in answers.items():
            try:
                asked[k] = searches[k].send(logs)
            except StopIteration as end:
                found[k] = end.value
        if not asked:
            return found
        ends = np.cumsum([len(rows) for rows in asked.values()])
        parts = np.split(answer(np.vstack(list(asked.values()))), ends[:-1])
        answers = dict(zip(asked, parts, strict=True))


def _search(
    row: NDArray[np.uint8], classes: Sequence[Any], at: int, candidates: list[int], flips: _Flips
) -> _Search:
    """Look for what changes the class of a row: yields rows, and is sent their log-probabilities."""
    current, tried = row, len(candidates)
    columns: list[int] = []
    for _ in range(MOST_CHANGES):
        if not candidates:
            break
        changed = flips.of(current, candidates)
        margin = _margins((yield changed), at)
        sizes = (changed != current).sum(axis=1)
        flipped = np.flatnonzero(margin < 0)
        # Of those that flip the class the smallest change is taken, otherwise the one that comes nearest to it.
        best = int(
            flipped[np.lexsort((margin[flipped], sizes[flipped]))[0]] if len(flipped) else np.argmin(margin)
        )
        columns.append(candidates[best])
        current = changed[best]
        if len(flipped):
            return {**(yield from _shortest_flip(row, classes, at, flips, columns)), "tried": tried}
        nearest = np.argsort(margin, kind="stable")[:_TRIED_AGAIN]
        candidates = [candidates[k] for k in nearest if candidates[k] != columns[-1]]
    return {"changes": [], "tried": tried}


def _margins(logs: NDArray[np.float64], at: int) -> NDArray[np.float64]:
    """How much more probable a class is than the most probable other one, in logarithms."""
    logs = np.maximum(logs, -1e9)
    return np.asarray(logs[:, at] - np.delete(logs, at, axis=1).max(axis=1))


def _shortest_flip(
    row: NDArray[np.uint8], classes: Sequence[Any], at: int, flips: _Flips, columns: Sequence[int]
) -> _Search:
    """The shortest part of changes, in their order, that still flips the class: a later one may do without another."""
    sequences = [part for n in range(1, len(columns) + 1) for part in combinations(columns, n)]
    walks = [_walk(row, part, flips) for part in sequences]
    logs = yield np.array([current for current, _ in walks])
    found = int(np.flatnonzero(_margins(logs, at) < 0)[0])
    to = int(np.argmax(np.where(np.arange(len(classes)) == at, -np.inf, logs[found])))
    return {
        "changes": walks[found][1],
        "to": str(classes[to]),
    }


def _walk(
    row: NDArray[np.uint8], columns: Sequence[int], flips: _Flips
) -> tuple[NDArray[np.uint8], list[list[int]]]:
    """A row after some columns were flipped one after the other, and what each step changed."""
    current, changes = row, []
    for column in columns:
        (after,) = flips.of(current, [column])
        changes.append([column, int(after[column]), int((after != current).sum())])
        current = after
    return current, changes


class _Flips:
    """Changes rows one term at a time; their relatives change with them, so that closed rows stay closed."""

    def __init__(self, hierarchy: Any) -> None:
        # Each access makes a new matrix.
        self._related = (
            None if hierarchy is None else (hierarchy.ancestor_matrix, hierarchy.descendant_matrix)
        )

    def of(self, row: NDArray[np.uint8], columns: Sequence[int]) -> NDArray[np.uint8]:
        """The row once for each of some columns, with this column changed."""
        changed = np.tile(row, (len(columns), 1))
        for new, column in zip(changed, columns, strict=True):
            new[column] = 1 - row[column]
            if self._related is not None:
                related = self._related[int(row[column])]
                new[related.indices[related.indptr[column] : related.indptr[column + 1]]] = new[column]
        return changed


def telling_columns(X: Any, y: Any) -> list[int]:
    """All columns, those in which the classes differ most first."""
    shares = [np.asarray((X[np.flatnonzero(y == label)] > 0).mean(axis=0)).ravel() for label in np.unique(y)]
    return by_spread(np.array(shares))


def by_spread(shares: NDArray[np.float64]) -> list[int]:
    """The columns of `telling_columns`, given the share of the rows of each class that have each term."""
    found: list[int] = np.argsort(-np.ptp(shares, axis=0), kind="stable").tolist()
    return found


def promising_columns(
    explanation: Any, column_of: Mapping[str, int], telling: Sequence[int], most: int | None = None
) -> list[int]:
    """The columns that may change an answer, by their contributions and by how the classes differ in them.

    `telling` are the columns in the order of `telling_columns`, for the rows that the model was fitted to. Only the
    `most` promising ones are returned, or all of them.
    """
    strongest = [column_of[part.feature] for part in explanation.strongest[:most]]
    # One of each in turn: terms that the model did not look at in this row may still matter if they are added.
    mixed = [j for k, j in enumerate(telling[:most]) for j in (*strongest[k : k + 1], j)]
    return list(dict.fromkeys(mixed))[:most]
