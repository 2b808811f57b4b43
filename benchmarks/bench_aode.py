"""Time and memory of AODE, its hierarchical variants and HIP, as multiples of the matrix products they consist of.

For all rows at once, AODE is two matrix products per class; the floor is four products of the rows with a square
matrix of doubles. Times are for one thread and medians of rounds in which all cases take turns.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from _data import load
from _memory import peaks
from _methods import AVERAGES, new
from _timing import Case, Part, alternate, ratio_figures, ratio_table, table, verdict
from hietan import Hierarchy

TARGET, MEGABYTES = 6, 400


def report(rounds: int = 20) -> Part:
    X, y, hierarchy, sentence = load()
    with threadpool_limits(1):
        cases = _cases(X, y, hierarchy)
        timings = alternate(cases, rounds)
        peer, ratio = peer_sentence(X, y, hierarchy)
    n, d = X.shape
    text = "\n\n".join(
        [
            "## AODE and HIP: time to fit and predict",
            f"{sentence}. Times are medians of {rounds} alternating rounds in one thread. The floor is four NumPy "
            f"products of a {n} x {d} matrix with a {d} x {d} matrix, both of doubles.",
            ratio_table(cases, timings),
            peer,
            "## AODE and HIP: memory",
            "The table shows the peak resident memory for fit and predict on all rows in a separate process, without "
            "imports and data.",
            memory_table(X, y, hierarchy),
        ]
    )
    against_peer = [("scikit-bayes's AODE / hietan", f"{ratio:,.0f}", "")] if ratio else []
    return Part(text, [*ratio_figures(cases[:5], timings[:5]), *against_peer])


def _cases(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> list[Case]:
    rng = np.random.default_rng(0)
    rows, square = X.astype(np.float64), rng.random((X.shape[1], X.shape[1]))
    sparse = sp.csr_array(X)

    def both(name: str, table: Any = X, note: str = "", **options: Any) -> Case:
        return Case(
            f"{name}{note}",
            lambda _: new(name, hierarchy, **options).fit(table, y).predict(table),
            target=TARGET,
        )

    return [
        Case("floor: four products of doubles", lambda _: [rows @ square for _ in range(4)]),
        *(both(name) for name in AVERAGES),
        *(both(name, note=", laplace", smoothing="laplace") for name in AVERAGES),
        *(both(name, sparse, ", sparse") for name in AVERAGES),
    ]


def peer_sentence(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> tuple[str, float | None]:
    """A sentence on scikit-bayes, run once on the same rows because it is slow, and its time as a multiple of ours."""
    try:
        from skbn.ande import AnDE
    except ImportError:
        return "scikit-bayes is not installed, so it was not measured.", None
    peer, ours = AnDE(bernoulli_features=list(range(X.shape[1]))), new("AODE", hierarchy)
    seconds, results = [], []
    for model in (peer, ours):
        start = time.perf_counter()
        model.fit(X, y)
        middle = time.perf_counter()
        results.append(model.predict_log_proba(X))
        seconds.append((middle - start, time.perf_counter() - middle))
    (peer_fit, peer_predict), (fit, predict) = seconds
    ratio = (peer_fit + peer_predict) / (fit + predict)
    sentence = (
        f"scikit-bayes needs {peer_fit:.1f} s to fit an AODE and {peer_predict:.1f} s to predict (one run). In the "
        f"same run, hietan needs {fit * 1e3:.0f} ms and {predict * 1e3:.0f} ms, so scikit-bayes needs "
        f"{ratio:.0f} times as long. The log-probabilities differ by at most "
        f"{np.abs(results[0] - results[1]).max():.0e}."
    )
    return sentence, ratio


def memory_table(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> str:
    rows = []
    for name, peak in peaks(X, y, hierarchy, list(AVERAGES)).items():
        megabytes = peak / 1e6
        rows.append([name, f"{megabytes:.1f}", str(MEGABYTES), verdict(megabytes, MEGABYTES)])
    return table(["what", "peak MB", "target", ""], rows)


if __name__ == "__main__":
    print(report().text)
