"""HieLogistic against scikit-learn's logistic regression on the same rows, both to the same accuracy.

scikit-learn has a tolerance of the gradient, not of the objective. The largest one whose objective is within 1e-6 of
the minimum is found first; HieLogistic always goes further than that.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from _data import load
from _timing import Case, Part, alternate, ratio_figures, ratio_table
from hietan import HieLogistic

GAP = 1e-6


def report(rounds: int = 20) -> Part:
    dense, y, hierarchy, sentence = load()
    X = sp.csr_array(dense, dtype=np.float64)
    with threadpool_limits(1):
        theirs = partial(_logistic, X, y, tol=_tolerance(X, y))
        cases = [
            Case("scikit-learn's LogisticRegression fit", lambda _: theirs()),
            Case("HieLogistic fit", lambda _: HieLogistic(hierarchy=hierarchy).fit(X, y), target=3),
            Case(
                "HieLogistic predict",
                lambda model: model.predict(X),
                lambda: HieLogistic(hierarchy=hierarchy).fit(X, y),
            ),
            Case(
                "HieLogistic fit, ridge chosen",
                lambda _: HieLogistic(hierarchy=hierarchy, ridge=None).fit(X, y),
            ),
        ]
        timings = alternate(cases, rounds)
    gap = HieLogistic(hierarchy=hierarchy).fit(X, y).gap_
    text = "\n\n".join(
        [
            "## HieLogistic: time",
            f"{sentence}, sparse. Times are medians of {rounds} alternating rounds in one thread. The floor is "
            f"scikit-learn's lbfgs with the same penalty and class weights, stopped at most {GAP:g} above its minimum. "
            f"HieLogistic stops {gap:.0e} above its minimum. HieLogistic's time includes fitting HieBAN and scoring "
            "the rows leave-one-out.",
            ratio_table(cases, timings),
        ]
    )
    return Part(text, ratio_figures(cases, timings))


def _logistic(X: sp.csr_array, y: np.ndarray, tol: float) -> LogisticRegression:
    penalty = X.nnz / X.shape[0]
    return LogisticRegression(C=1 / penalty, class_weight="balanced", tol=tol, max_iter=10_000).fit(X, y)


def _tolerance(X: sp.csr_array, y: np.ndarray) -> float:
    """The largest power of ten as tolerance with an objective within `GAP` of the minimum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = _objective(_logistic(X, y, 1e-12), X, y)
        for tol in 10.0 ** np.arange(0, -12, -1):
            if _objective(_logistic(X, y, tol), X, y) <= (1 + GAP) * best:
                return float(tol)
    raise RuntimeError(f"scikit-learn's fit does not come within {GAP:g} of its minimum")


def _objective(model: LogisticRegression, X: sp.csr_array, y: np.ndarray) -> float:
    weights = (len(y) / (2 * np.bincount(y)))[y]
    losses = np.logaddexp(0, -np.where(y == 1, 1, -1) * model.decision_function(X))
    return float(weights @ losses + X.nnz / X.shape[0] / 2 * np.sum(model.correction_coef_**2))


if __name__ == "__main__":
    print(report().text)
