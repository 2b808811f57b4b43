"""The plain twin of the ridge with offsets: its objective word by word, and a minimum by SciPy's BFGS."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def logistic_objective(w, b, X, offsets, codes, weights, penalty):
    """sum_i m_i ln(1 + exp(-y_i (G_i + w.x_i + b))) + (penalty / 2) |w|^2 + 5 b^2."""
    total = 0.0
    for x, g, k, m in zip(X, offsets, codes, weights, strict=True):
        score = (1 if k == 1 else -1) * (g + sum(w[v] for v in range(len(x)) if x[v]) + b)
        total += m * (math.log1p(math.exp(-score)) if score > 0 else -score + math.log1p(math.exp(score)))
    return total + penalty / 2 * sum(v * v for v in w) + 5 * b * b


def multinomial_objective(W, b, X, offsets, codes, weights, penalty):
    """sum_i m_i (ln sum_c exp f_ic - f_ik) + penalty |W|^2 + 10 |b|^2, with f_ic = G_ic + W_c.x_i + b_c."""
    total = 0.0
    for x, g, k, m in zip(X, offsets, codes, weights, strict=True):
        f = [g[c] + sum(W[c][v] for v in range(len(x)) if x[v]) + b[c] for c in range(len(b))]
        top = max(f)
        total += m * (top + math.log(sum(math.exp(s - top) for s in f)) - f[k])
    return total + penalty * sum(v * v for row in W for v in row) + 10 * sum(v * v for v in b)


def minimum(X, offsets, codes, weights, penalty, n_classes):
    """The smallest objective, and the weights and constants there: shapes (1 or n_classes, d) and (1 or n_classes,)."""
    d = len(X[0])
    rows = 1 if n_classes == 2 else n_classes

    def value(flat):
        W, b = flat[: rows * d].reshape(rows, d), flat[rows * d :]
        if n_classes == 2:
            return logistic_objective(W[0], b[0], X, offsets, codes, weights, penalty)
        return multinomial_objective(W, b, X, offsets, codes, weights, penalty)

    start = np.zeros(rows * (d + 1))
    found = minimize(value, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    again = minimize(value, found.x, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    best = found if found.fun <= again.fun else again
    return best.fun, best.x[: rows * d].reshape(rows, d), best.x[rows * d :]
