"""proximalGraph compared with SPAMS (pip install spams-bin) on the worm genes; each figure is a ratio from one run.

    HIETAN_DATA=... python benchmarks/bench_proximal.py

The two take turns, so that a busy machine slows both of them equally; times are medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import spams
from scipy.special import expit

from hietan import Hierarchy, ProximalGraph
from hietan.datasets import fetch_ageing_genes
from hietan.structure._penalty import graph_penalty, prox_graph

LAM = 0.002


def in_turns(repeats: int, *functions: Callable[[], Any]) -> list[float]:
    """The median seconds of each function."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, spent in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in times]


def spams_graph(hierarchy: Hierarchy, extra: int = 0) -> dict[str, Any]:
    """The groups in the form SPAMS expects, with `extra` unrelated features at the end."""
    d = len(hierarchy) + extra
    children = sp.coo_array(hierarchy.adjacency)
    pairs = (np.ones(children.nnz, bool), (children.col, children.row))
    return {
        "eta_g": np.ones(d),
        "groups": sp.csc_matrix(pairs, shape=(d, d)),
        "groups_var": sp.csc_matrix(sp.eye(d, dtype=bool)),
    }


def objective(w: np.ndarray, b: float, data: Any) -> float:
    margin = np.where(data.y == 1, 1, -1) * (data.X @ w + b)
    return float(np.logaddexp(0, -margin).mean() + LAM * graph_penalty(data.hierarchy).maxima(w).sum())


def bench_operator() -> None:
    print("operator, one call             ours        SPAMS    ours/SPAMS   largest difference")
    for namespaces in ("CC", "BPMFCC"):
        data = fetch_ageing_genes("worm", namespaces)
        graph, d = spams_graph(data.hierarchy), len(data.hierarchy)
        fit = ProximalGraph(hierarchy=data.hierarchy, lam=LAM).fit(data.X, data.y)
        gradient = data.X.T @ (expit(fit.decision_function(data.X)) - data.y) / len(data.y)
        normal = np.random.default_rng(0).normal(size=d)
        inputs = [(f"normal, {lam}", normal, lam) for lam in (0.01, 0.1, 1.0)]
        inputs.append(("of a fit", fit.coef_[0] - gradient, LAM))
        for name, u, lam in inputs:
            column = np.asfortranarray(u[:, None])

            def ours(u: Any = u, lam: float = lam, data: Any = data) -> np.ndarray:
                return prox_graph(u, data.hierarchy, lam)

            def theirs(column: Any = column, lam: float = lam, graph: Any = graph) -> np.ndarray:
                found = spams.proximalGraph(column, graph, False, lambda1=lam, regul="graph", numThreads=1)
                return np.asarray(found)[:, 0]

            a, b = in_turns(31, ours, theirs)
            off = np.abs(ours() - theirs()).max()
            label = f"worm {namespaces} ({name})"
            print(f"{label:27}{a * 1e3:8.3f} ms {b * 1e3:9.3f} ms {a / b:10.2f} {off:16.1e}")


def bench_fit() -> None:
    data = fetch_ageing_genes("worm", "BPMFCC")
    n, d = data.X.shape
    with_ones = np.asfortranarray(np.column_stack([data.X.toarray(), np.ones(n)]).astype(float))
    sign = np.asfortranarray(np.where(data.y == 1, 1.0, -1.0)[:, None])
    graph = spams_graph(data.hierarchy, extra=1)
    start = np.zeros((d + 1, 1), order="F")

    def theirs() -> np.ndarray:
        settings = {"loss": "logistic", "regul": "graph", "lambda1": LAM, "intercept": True}
        found = spams.fistaGraph(sign, with_ones, start, graph, numThreads=1, **settings)
        return np.asarray(found)[:, 0]

    def ours() -> ProximalGraph:
        return ProximalGraph(hierarchy=data.hierarchy, lam=LAM, tol=1e-6).fit(data.X, data.y)

    results: list[Any] = []
    a, b = in_turns(1, lambda: results.append(ours()), lambda: results.append(theirs()))
    clf, w = results
    print(f"\nfit, worm BPMFCC, lambda {LAM}, tolerance 1e-6 (SPAMS: at most 1000 steps, its default):")
    print(f"ours {a:.2f} s, SPAMS {b:.2f} s, ratio {a / b:.3f}")
    values = objective(clf.coef_[0], clf.intercept_[0], data), objective(w[:-1], w[-1], data)
    print(f"objective: ours {values[0]:.9f} (gap {clf.gap_[0]:.1e}), SPAMS {values[1]:.9f}")


def bench_path() -> None:
    data = fetch_ageing_genes("worm", "BPMFCC")
    start, busy = time.perf_counter(), time.process_time()
    clf = ProximalGraph(hierarchy=data.hierarchy, n_jobs=2, random_state=0).fit(data.X, data.y)
    wall, cpu = time.perf_counter() - start, time.process_time() - busy
    print(f"\nlam=None, worm BPMFCC, two jobs: {wall:.1f} s ({cpu:.1f} s of CPU time), lambda {clf.lam_:.5f}")


if __name__ == "__main__":
    bench_operator()
    bench_fit()
    bench_path()
