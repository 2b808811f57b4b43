"""Time and memory of the TAN family, as multiples of a floor that no method can avoid.

The floor is the matrix product that counts the pairs of ones in each class. Times are for one thread and medians of
rounds in which all cases take turns. A lazy method computes its keys and sorts the first edges in `fit`, and sorts more
edges when the first prediction needs them. Each prediction is therefore made by a freshly fitted model, unless it is
called "warm".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_X_y
from threadpoolctl import threadpool_limits

from _data import load
from _memory import peaks
from _methods import TREES, new
from _timing import Case, Part, alternate, ratio_figures, ratio_table, table, verdict
from hietan import Hierarchy, _kernel
from hietan.structure._counts import count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows

BYTES_PER_PAIR = 40


def report(rounds: int = 20) -> Part:
    X, y, hierarchy, sentence = load()
    with threadpool_limits(1):
        cases = [floor(X, y), *_methods(X, y, hierarchy), *_steps(X, y, hierarchy)]
        timings = alternate(cases, rounds)
    text = "\n\n".join(
        [
            "## TAN family: time",
            f"{sentence}. Times are medians of {rounds} alternating rounds in one thread. The floor is "
            "`[Z.T @ Z for Z in (X[y == c].astype(np.float32) for c in classes)]`.",
            ratio_table(cases, timings),
            "## TAN family: memory",
            "The table shows the peak resident memory for fit and predict on all rows in a separate process, without "
            "imports and data. It lists totals and bytes per pair of features.",
            memory_table(X, y, hierarchy),
        ]
    )
    return Part(text, ratio_figures(cases, timings))


def floor(X: np.ndarray, y: np.ndarray) -> Case:
    """The matrix product that counts the pairs of ones in each class."""
    classes = np.unique(y)
    return Case(
        "floor: a product per class",
        lambda _: [Z.T @ Z for Z in (X[y == c].astype(np.float32) for c in classes)],
    )


def _methods(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> list[Case]:
    sparse = sp.csr_array(X)

    def fit(name: str, table: Any = X, note: str = "", target: float | None = None) -> Case:
        return Case(f"{name} fit{note}", lambda _: new(name, hierarchy).fit(table, y), target=target)

    def predict(
        name: str,
        table: Any = X,
        note: str = "",
        target: float | None = None,
        warm: bool = False,
        **options: Any,
    ) -> Case:
        def fitted() -> Any:
            model = new(name, hierarchy, **options).fit(table, y)
            if warm:
                model.predict(table)
            return model

        return Case(f"{name} predict{note}", lambda model: model.predict(table), fitted, target)

    def both(name: str) -> Case:
        return Case(f"{name} fit and predict", lambda _: new(name, hierarchy).fit(X, y).predict(X))

    return [
        fit("TAN", target=3),
        fit("Hie-TAN", target=5),
        predict("Hie-TAN-Lite", target=4),
        predict("HRE-TAN", target=6),
        fit("TAN", sparse, ", sparse"),
        fit("Hie-TAN", sparse, ", sparse"),
        fit("Hie-TAN-Lite"),
        fit("HRE-TAN"),
        both("Hie-TAN-Lite"),
        both("HRE-TAN"),
        predict("TAN"),
        predict("Hie-TAN"),
        predict("Hie-TAN-Lite", note=", warm", warm=True),
        predict("HRE-TAN", note=", warm", warm=True),
        predict("Hie-TAN-Lite", sparse, ", sparse"),
        predict("HRE-TAN", sparse, ", sparse"),
        predict("TAN", note=", laplace", smoothing="laplace"),
        predict("Hie-TAN-Lite", note=", laplace", smoothing="laplace"),
        predict("HRE-TAN", note=", laplace", smoothing="laplace"),
    ]


def _steps(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> list[Case]:
    """The steps that the methods consist of, each given the results of the previous steps, which are not timed."""
    classes, codes = np.unique(y, return_inverse=True)
    members = [np.flatnonzero(codes == c) for c in range(len(classes))]
    rows, sparse_rows = BinaryRows.from_matrix(X), BinaryRows.from_matrix(sp.csr_array(X))
    counts = count_pairs(rows, codes, len(classes))
    ranking = EdgeRanking(counts, hierarchy)
    keys, relations, d = ranking.keys, ranking.relations, X.shape[1]
    order = np.random.RandomState(0).permutation(d)
    words = rows.words(np.arange(len(X)))
    log_prior = np.log(counts.class_count / counts.n_rows)

    def trees(directed: bool) -> Callable[[_kernel.Ranking], object]:
        return lambda edges: _kernel.lazy_trees(edges, words, len(X), order, 0, directed)

    def scores(directed: bool, odds: bool = False) -> Callable[[_kernel.Ranking], object]:
        smoothing = _kernel.Smoothing("odds" if odds else "laplace", 1.0)
        tables = (counts.kernel, log_prior, smoothing)
        return lambda edges: _kernel.lazy_joint_log(edges, words, len(X), order, 0, directed, *tables)

    def unsorted() -> _kernel.Ranking:
        return _kernel.Ranking(keys, relations)

    sorted_edges = unsorted()
    sorted_edges.edges(keys.size)

    def read_sorted() -> _kernel.Ranking:
        return sorted_edges

    return [
        Case("step: scikit-learn's validation", lambda _: check_X_y(X, y, dtype="numeric")),
        Case("step: threshold to bytes", lambda _: BinaryRows.from_matrix(X)),
        Case("step: packing", lambda _: [rows.words(m) for m in members]),
        Case("step: packing and counting", lambda _: count_pairs(rows, codes, len(classes))),
        Case("step: counting, sparse", lambda _: count_pairs(sparse_rows, codes, len(classes))),
        Case("step: CMI keys", lambda _: _kernel.cmi_keys(counts.kernel)),
        Case("step: Prim's tree", lambda _: _kernel.spanning_tree(keys, d, int(order[0]))),
        Case("step: Hie-TAN's tree", lambda _: _kernel.hierarchical_tree(keys, relations, order)),
        Case(
            "step: closure of a new hierarchy",
            lambda fresh: (fresh.ancestor_matrix, fresh.descendant_matrix),
            lambda: Hierarchy.from_adjacency(hierarchy.adjacency),
        ),
        Case(
            "step: relations for the kernel",
            lambda new: new.relations,
            lambda: EdgeRanking(counts, hierarchy),
        ),
        Case("step: histogram of keys", lambda _: unsorted()),
        Case("step: lazy trees, Hie-TAN-Lite, sorting", trees(True), unsorted),
        Case("step: lazy trees, Hie-TAN-Lite, sorted", trees(True), read_sorted),
        Case("step: with scores, Hie-TAN-Lite, sorted", scores(True), read_sorted),
        Case("step: with odds scores, Hie-TAN-Lite", scores(True, odds=True), read_sorted),
        Case("step: lazy trees, HRE-TAN, sorting", trees(False), unsorted),
        Case("step: lazy trees, HRE-TAN, sorted", trees(False), read_sorted),
        Case("step: with scores, HRE-TAN, sorted", scores(False), read_sorted),
        Case("step: sorting of all edges", lambda edges: edges.edges(keys.size), unsorted),
    ]


def memory_table(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> str:
    pairs = X.shape[1] * (X.shape[1] - 1) // 2
    rows = []
    for name, peak in peaks(X, y, hierarchy, ["nothing", *TREES]).items():
        target = BYTES_PER_PAIR if name in TREES else None
        share = peak / pairs
        shown = "" if target is None else str(target)
        rows.append([name, f"{peak / 2**20:.1f}", f"{share:.1f}", shown, verdict(share, target)])
    return table(["what", "peak MiB", "bytes per pair", "target", ""], rows)


if __name__ == "__main__":
    print(report().text)
