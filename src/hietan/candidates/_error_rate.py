"""Lists of rows with a limited false discovery rate, from conformal p-values and the Benjamini-Hochberg procedure.

Conformal selection is by Jin & Candes (2023), arXiv 2210.01408.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._runtime.equal_rows import row_keys
from hietan.evaluation._cross_validation import normalised, row_scores


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Held-out predictions for training rows, used to calibrate false discovery rates.

    Attributes
    ----------
    joint : array of shape (m, n_classes)
        The log joint of each row with each class, or log-probabilities if the classifier has no joint.
    labels : int array of shape (m,)
        Each row's class, as an index into `target_names`.
    fold : int array of shape (m,)
        The fold in which each row was held out; 0 for all rows if they were held out once.
    rows : int array of shape (m,)
        Each row's position among the training rows, in increasing order.
    split : bool
        Whether the model itself was fitted without these rows.
    """

    joint: NDArray[np.float64]
    labels: NDArray[np.int64]
    fold: NDArray[np.int64]
    rows: NDArray[np.int64]
    split: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values, for `from_dict`."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> HeldOutScores:
        """Rebuild the scores from the output of `to_dict`. Call `check` to validate the scores."""
        joint, labels, fold, rows = (np.array(content[name]) for name in ("joint", "labels", "fold", "rows"))
        return cls(joint, labels, fold, rows, content["split"])

    def check(self, classes: NDArray[Any], class_rows: tuple[int, ...], folds: int, n_training: int) -> None:
        """Raise ValueError if the scores do not match these classes, rows, folds and training rows."""
        m, labels, fold, rows = sum(class_rows), self.labels, self.fold, self.rows
        is_sound = (
            self.joint.shape == (m, len(classes))
            and self.joint.dtype == np.float64
            and np.isfinite(self.joint).all()
            and labels.shape == fold.shape == rows.shape == (m,)
            and labels.dtype.kind == fold.dtype.kind == rows.dtype.kind == "i"
            and tuple(np.sum(labels == label) for label in classes) == class_rows
            and len(np.unique(fold)) == folds
            and 0 == fold.min() <= fold.max() < folds
            and 0 <= rows[0] <= rows[-1] < n_training
            and (np.diff(rows) > 0).all()
            and (self.split is False or (self.split is True and folds == 1))
        )
        if not is_sound:
            raise ValueError(
                f"the held-out scores do not match the validation; each of the {m} rows needs {len(classes)} "
                f"finite numbers, a class, one of {folds} folds and one of {n_training} training rows"
            )

    def odds(self, classes: NDArray[Any], wanted: Any) -> NDArray[np.float64]:
        """Return each row's log-odds of the wanted class."""
        return row_odds(normalised(self.joint), classes.tolist().index(wanted))

    def ranks(
        self,
        odds: NDArray[np.float64],
        classes: NDArray[Any],
        wanted: Any,
        *,
        features: NDArray[np.uint64],
        training_features: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Return, for each row, 1 + the number of calibration rows of other classes that are at least as high.

        Divided by m + 1, these are p-values. A calibration row is at least as high if its log-odds are, or if it has
        the same features: the final model would give both rows the same log-odds, but the model of another fold may
        have given the calibration row lower ones. `features` and `training_features` are the hashes of both from
        `hash_features`.
        """
        is_other = self.labels != wanted
        others = self.odds(classes, wanted)[is_other]
        keys, key = np.unique(training_features[self.rows[is_other]], return_inverse=True)
        by_odds = np.sort(others)
        n_below = np.searchsorted(by_odds, odds, side="left")
        # Of the rows below, those with the same features: keys and places are counted together, as one number.
        width = len(others) + 1
        numbered = np.sort(key * width + np.searchsorted(by_odds, others, side="left"))
        own_key = np.searchsorted(keys, features)
        first = np.searchsorted(numbered, own_key * width)
        n_equal_below = np.searchsorted(numbered, own_key * width + n_below) - first
        has_equal = np.isin(features, keys)
        return 1 + len(others) - n_below + np.where(has_equal, n_equal_below, 0)


def hash_features(X: Any) -> NDArray[np.uint64]:
    """Return a hash of each row's present features. Equal rows have equal hashes on any machine.

    >>> first, second, third = hash_features(np.array([[1, 0, 1], [1, 0, 1], [0, 0, 1]]))
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    keys = row_keys(csr_array(X))
    return np.array([int.from_bytes(key[:8], "little") for key in keys], dtype=np.uint64)


@dataclass(frozen=True)
class Selection:
    """The size of a list with a given false discovery rate.

    Attributes
    ----------
    fdr : float
        The false discovery rate.
    n_rows : int
        The number of rows in the list; 0 if there is no such list.
    n_ranked : int
        The number of rows that the list was chosen from.
    shortest : int
        The smallest number of rows that a list can have.
    text : str
        The result in a sentence.
    limit : int
        The largest p-value in the list, multiplied by the number of calibration rows plus 1; 0 if there is no list.
    """

    fdr: float
    n_rows: int
    n_ranked: int
    shortest: int
    text: str
    limit: int = 0


def select_rows(ranks: NDArray[np.int64], m: int, fdr: float, *, rows: str, calibrated_on: str) -> Selection:
    """Select rows by the Benjamini-Hochberg procedure. Each row's p-value is its rank divided by m + 1.

    `rows` and `calibrated_on` name the rows and the m calibration rows in the sentence. Fractions are compared exactly,
    so that no p-value at a limit is lost to rounding.

    >>> select_rows(np.array([1, 2, 9, 3]), 9, 0.4, rows="genes", calibrated_on="training genes").text
    'at a false discovery rate of 40%: 3 of 4 genes; with 9 training genes, no list can be shorter than 1'
    """
    if isinstance(fdr, bool) or not 0 < fdr < 1:
        raise ValueError(f"fdr is {fdr!r}; expected a false discovery rate between 0 and 1, such as 0.2")
    n, rate = len(ranks), Fraction(str(float(fdr)))
    values, counts = np.unique(ranks, return_counts=True)
    below, above = n * rate.denominator, (m + 1) * rate.numerator
    steps = zip(values.tolist(), np.cumsum(counts).tolist(), strict=True)
    fitting = [(rank, j) for rank, j in steps if rank * below <= j * above]  # p <= fdr * j / n
    limit, found = fitting[-1] if fitting else (0, 0)
    shortest = ceil(n / (rate * (m + 1)))
    text = (
        f"at a false discovery rate of {100 * fdr:g}%: "
        f"{f'{found:,} of {n:,} {rows}' if found else f'none of {n:,} {rows} can be listed'}; with {m:,} "
        f"{calibrated_on}, no list can be shorter than {shortest:,}"
        f"{'' if found else '; choose a higher rate, or restrict the candidates by name (--only)'}"
    )
    return Selection(float(fdr), found, n, shortest, text, limit)


def row_odds(log_proba: NDArray[np.float64], position: int | None = None) -> NDArray[np.float64]:
    """Return each row's log-odds of one class, given by its position, against all other classes.

    None means the second of two classes, or the most probable class of several.

    >>> row_odds(np.log([[0.25, 0.75]])).round(4).tolist(), row_odds(np.log([[0.2, 0.5, 0.3]])).round(4).tolist()
    ([1.0986], [0.0])
    >>> row_odds(np.log([[0.25, 0.75]]), 0).round(4).tolist()
    [-1.0986]
    """
    if log_proba.shape[1] == 2:
        return -row_scores(log_proba) if position == 0 else row_scores(log_proba)
    at = log_proba.argmax(axis=1) if position is None else np.full(len(log_proba), position)
    is_rest = at[:, None] != np.arange(log_proba.shape[1])
    rest = np.logaddexp.reduce(log_proba, axis=1, where=is_rest, initial=-np.inf)
    # At least -1e9: probabilities of exactly 0 have finite odds.
    return np.asarray(np.maximum(log_proba[~is_rest], -1e9) - np.maximum(rest, -1e9), dtype=np.float64)
