"""From the network's scores of training rows to a regression with offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hietan.classifiers._solvers.losses import make_loss
from hietan.classifiers._solvers.ridge_problem import RidgeProblem
from hietan.structure import BinaryRows

# Differences between classes below this fraction of their scores are rounding.
ROUNDING = 1e-12


def as_matrix(rows: BinaryRows) -> Any:
    """Rows in lists of ones as a CSR array of floats."""
    assert rows.indices is not None
    stored: Any = np.ones(len(rows.indices)), rows.indices, rows.indptr
    return sp.csr_array(stored, shape=rows.shape)


def offsets_of(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is added to the scores: log-odds of the second of two classes, or a column per class, centred in a row."""
    if joint.shape[1] == 2:
        return joint[:, 1:] - joint[:, :1]
    centred: NDArray[np.float64] = joint - joint.mean(axis=1, keepdims=True)
    return centred


def spread_of(joint: NDArray[np.float64]) -> float:
    """The root of the mean, over all pairs of classes, of the variance of their log-odds; 1 if there is none.

    The variances of all pairs add up to C times those of the scores minus their mean in each row.
    """
    n_classes = joint.shape[1]
    centred = joint - joint.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(2 / (n_classes - 1) * centred.var(axis=0).sum()))
    return spread if spread > ROUNDING * float(np.abs(joint).max()) else 1.0


def problem_of(
    rows: BinaryRows,
    joint: NDArray[np.float64],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> RidgeProblem:
    """The regression that corrects the network.

    Parameters
    ----------
    rows : BinaryRows
        The training rows, in lists of ones.
    joint : array of shape (n_rows, n_classes)
        The scores of the network, divided by their spread.
    codes : array of shape (n_rows,)
        The class of each row, as a position among the classes.
    weights : array of shape (n_rows,)
        The weights of the rows.
    """
    X = as_matrix(rows)
    unit = X.nnz / X.shape[0] or 1.0  # without ones, nothing is penalised
    return RidgeProblem(X, offsets_of(joint), make_loss(codes, joint.shape[1], weights), unit)
