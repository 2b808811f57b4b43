"""Which terms matter to a method: sums per term over the rows that were set aside, in few bytes.

A method takes part if it offers `contributions`: an array, sparse or not, of what each feature adds to the log-odds of
the second class in each row. How much a term matters is how much its contribution varies between the rows of a fold: a
term that every row has adds the same to all of them, so it tells nothing about any, however large its contribution is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.evaluation.outputs.explanation_json import decimals, significant

# How many terms are listed, how many of them are shown row by row, and how many rows are looked at.
MOST_TERMS, SWARM_TERMS, MOST_ROWS, SWARM_ROWS = 200, 30, 5000, 400
STEPS = 40  # the largest contribution is this many steps from zero
_BATCH = 128


class TermEffects:
    """The effects of the terms of a dataset in the models of one method, added fold by fold.

    Parameters
    ----------
    n_features : int
        The number of columns.
    n_folds : int
        The number of folds that will be added: each takes part with its share of the rows.
    """

    def __init__(self, n_features: int, n_folds: int) -> None:
        self.n_rows = 0
        self._rows_of_fold = -(-MOST_ROWS // n_folds)
        self._shown_of_fold = -(-SWARM_ROWS // n_folds)
        self._absolute = np.zeros(n_features)
        self._within = np.zeros(n_features)  # squared deviations from the mean of the fold
        self._with = np.zeros((2, n_features))  # the sum over rows that have the term, and their number
        self._without = np.zeros((2, n_features))
        self._used = np.zeros(n_features, dtype=np.int64)
        self._directions: list[NDArray[np.float64]] = []
        self._shown: list[tuple[NDArray[np.float32], NDArray[np.bool_]]] = []

    def add_fold(self, model: Any, X: Any) -> None:
        """Add the rows that a fitted model has not seen."""
        # Rows from everywhere, since rows are often sorted by class; the first of them are shown one by one.
        first, chosen = (_spread(X.shape[0], most) for most in (self._shown_of_fold, self._rows_of_fold))
        rows = X[np.concatenate([first, np.setdiff1d(chosen, first)])]
        total, squares = np.zeros(len(self._absolute)), np.zeros(len(self._absolute))
        with_before, without_before = self._with.copy(), self._without.copy()
        shown = []
        for start in range(0, rows.shape[0], _BATCH):
            batch = rows[start : start + _BATCH]
            has = _dense(batch) > 0
            adds = np.clip(_dense(model.contributions(batch)).astype(np.float64), -1e6, 1e6)
            total += adds.sum(axis=0)
            squares += (adds**2).sum(axis=0)
            self._absolute += np.abs(adds).sum(axis=0)
            self._used += (adds != 0).sum(axis=0)
            self._with += [(adds * has).sum(axis=0), has.sum(axis=0)]
            self._without += [(adds * ~has).sum(axis=0), (~has).sum(axis=0)]
            if start < self._shown_of_fold:
                shown.append((adds[: self._shown_of_fold - start].astype(np.float32), has))
        n = rows.shape[0]
        self.n_rows += n
        self._within += np.maximum(squares - total**2 / max(n, 1), 0)
        self._directions.append(_gap(self._with - with_before, self._without - without_before))
        self._shown += [(adds, has[: len(adds)]) for adds, has in shown]

    def content(self) -> dict[str, Any] | None:
        """The terms that matter most, as arrays; None if no rows were added.

        `effect` is the standard deviation of the contribution within folds, `absolute` the mean of its size, `gap` the
        mean contribution with the term minus that without it, `compared` the number of folds with both kinds of rows,
        and `agree` the number of those in which the gap has the same sign. `swarm` has, for the first terms,
        [contribution in steps, 1 with the term or 0 without, rows].
        """
        if not self.n_rows:
            return None
        effect = np.sqrt(self._within / self.n_rows)
        order = np.argsort(-effect, kind="stable")[:MOST_TERMS]
        order = order[effect[order] > 1e-9]
        gap = np.nan_to_num(_gap(self._with, self._without))
        directions = np.array(self._directions)
        compared = np.isfinite(directions).sum(axis=0)
        same = (np.sign(directions) == np.sign(gap)).sum(axis=0)
        return {
            "rows": self.n_rows,
            "folds": len(self._directions),
            "columns": order.tolist(),
            "effect": decimals(effect[order].tolist(), 3),
            "absolute": decimals((self._absolute / self.n_rows)[order].tolist(), 3),
            "gap": decimals(gap[order].tolist(), 3),
            "agree": same[order].tolist(),
            "compared": compared[order].tolist(),
            "used": self._used[order].tolist(),
            **self._swarm(order[:SWARM_TERMS]),
        }

    def _swarm(self, columns: NDArray[np.intp]) -> dict[str, Any]:
        adds = np.concatenate([adds[:, columns] for adds, _ in self._shown])
        has = np.concatenate([has[:, columns] for _, has in self._shown])
        if not adds.size:
            return {"step": 1, "swarm": []}
        step = significant(max(float(np.abs(adds).max()), 1e-9) / STEPS)
        places = np.rint(adds / step).astype(int)
        swarm = []
        for place, value in zip(places.T, has.T, strict=True):
            found, rows = np.unique(np.column_stack([place, value]), axis=0, return_counts=True)
            swarm.append([[int(b), int(v), int(n)] for (b, v), n in zip(found, rows, strict=True)])
        return {"step": step, "swarm": swarm}


def class_counts(X: Any, y: Any) -> list[list[int]]:
    """For each class, in sorted order, how many of its rows have each term.

    >>> class_counts(np.array([[1, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]))
    [[2, 1], [0, 1]]
    """
    return [
        np.asarray((X[np.flatnonzero(y == label)] > 0).sum(axis=0)).ravel().tolist() for label in np.unique(y)
    ]


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _gap(present: NDArray[np.float64], absent: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean contribution with the term minus the mean without it; NaN where either is a mean over no rows."""
    with np.errstate(invalid="ignore"):
        return np.asarray(present[0] / present[1] - absent[0] / absent[1])


def _spread(n_rows: int, most: int) -> NDArray[np.intp]:
    """At most this many of the numbers below `n_rows`, evenly spaced.

    >>> _spread(10, 4).tolist(), _spread(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))
