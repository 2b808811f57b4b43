"""Lists of rows with a limited false discovery rate, from conformal p-values and the Benjamini-Hochberg procedure.

Conformal selection is by Jin & Candes (2023), arXiv 2210.01408.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan._runtime.equal_rows import row_keys
from hietan.scores.scores import Floats, Scores

Hashes = NDArray[np.uint64]


def p_value_ranks(
    log_odds: Floats, held_out: Scores, *, features: Hashes, held_out_features: Hashes
) -> NDArray[np.int64]:
    """Return, for each row, 1 + the number of held-out rows of other classes that are at least as high.

    Divided by the number of held-out rows plus 1, these are p-values. A held-out row is at least as high if its
    log-odds are, or if it has the same features: the final model would give both rows the same log-odds, but the model
    of another fold may have given the held-out row lower ones.

    Parameters
    ----------
    log_odds : array of shape (n,)
        The rows' log-odds of the positive class.
    held_out : Scores
        The held-out rows, with their classes.
    features, held_out_features : arrays
        Hashes of the rows' and the held-out rows' features, from `hash_features`.
    """
    is_other = ~held_out.is_positive
    others = held_out.log_odds[is_other]
    keys, key = np.unique(held_out_features[is_other], return_inverse=True)
    by_odds = np.sort(others)
    n_below = np.searchsorted(by_odds, log_odds, side="left")
    # Of the rows below, those with the same features: keys and places are counted together, as one number.
    width = len(others) + 1
    numbered = np.sort(key * width + np.searchsorted(by_odds, others, side="left"))
    own_key = np.searchsorted(keys, features)
    first = np.searchsorted(numbered, own_key * width)
    n_equal_below = np.searchsorted(numbered, own_key * width + n_below) - first
    has_equal = np.isin(features, keys)
    return 1 + len(others) - n_below + np.where(has_equal, n_equal_below, 0)


def hash_features(X: Any) -> Hashes:
    """Return a hash of each row's present features. Identical rows have equal hashes on any machine.

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
    limit : int
        The largest p-value in the list, multiplied by the number of held-out rows plus 1; 0 if there is no list.
    """

    fdr: float
    n_rows: int
    n_ranked: int
    shortest: int
    limit: int = 0


def select_rows(ranks: NDArray[np.int64], n_held_out: int, fdr: float) -> Selection:
    """Select rows by the Benjamini-Hochberg procedure. Each row's p-value is its rank divided by `n_held_out` + 1.

    Fractions are compared exactly, so that no p-value at a limit is lost to rounding.

    >>> select_rows(np.array([1, 2, 9, 3]), 9, 0.4)
    Selection(fdr=0.4, n_rows=3, n_ranked=4, shortest=1, limit=3)
    """
    if isinstance(fdr, bool) or not 0 < fdr < 1:
        raise ValueError(f"fdr is {fdr!r}; expected a false discovery rate between 0 and 1, such as 0.2")
    n, rate = len(ranks), Fraction(str(float(fdr)))
    values, counts = np.unique(ranks, return_counts=True)
    most = 0
    limit = 0
    for rank, n_listed in zip(values.tolist(), np.cumsum(counts).tolist(), strict=True):
        if rank * n <= rate * n_listed * (n_held_out + 1):  # p <= fdr * n_listed / n
            most, limit = n_listed, rank
    return Selection(float(fdr), most, n, ceil(n / (rate * (n_held_out + 1))), limit)
