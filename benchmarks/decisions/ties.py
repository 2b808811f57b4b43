"""Why edges are ranked by an integer key: how many pairs tie, and what the last bit would do to their order.

    HIETAN_DATA=... python benchmarks/decisions/ties.py

The conditional mutual information is summed twice in floating point, over the four cells of each table in one order and
in the reverse order; the two sums differ in the last bit only, but a ranking by them does not come out the same.
"""

from __future__ import annotations

import numpy as np

from hietan.datasets import fetch_ageing_genes
from hietan.structure._counts import count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows


def information(X: np.ndarray, codes: np.ndarray, cells_in_order: tuple[int, ...]) -> np.ndarray:
    """The conditional mutual information of every pair of columns, its cells added in the given order."""
    i, j = np.triu_indices(X.shape[1], 1)
    total = np.zeros(i.size)
    for code in np.unique(codes):
        rows = X[codes == code].astype(np.float64)
        n_rows, ones, both = len(rows), rows.sum(axis=0), (rows.T @ rows)[i, j]
        cells = (
            (both, ones[i], ones[j]),
            (ones[i] - both, ones[i], n_rows - ones[j]),
            (ones[j] - both, n_rows - ones[i], ones[j]),
            (n_rows - ones[i] - ones[j] + both, n_rows - ones[i], n_rows - ones[j]),
        )
        for joint, first, second in (cells[k] for k in cells_in_order):
            with np.errstate(divide="ignore", invalid="ignore"):
                total += np.where(joint > 0, joint / len(X) * np.log(joint * n_rows / (first * second)), 0.0)
    return total


def order_of(values: np.ndarray) -> np.ndarray:
    """Positions by descending value; ties keep the order of the pairs."""
    return np.argsort(-values, kind="stable")


def main() -> None:
    data = fetch_ageing_genes("worm", "BPMFCC")
    X, y, hierarchy = data.X.toarray().astype(np.uint8), data.y, data.hierarchy
    classes, codes = np.unique(y, return_inverse=True)
    keys = EdgeRanking(count_pairs(BinaryRows.from_matrix(X), codes, len(classes)), hierarchy).keys
    values, how_often = np.unique(keys, return_counts=True)
    forwards, backwards = (information(X, codes, order) for order in ((0, 1, 2, 3), (3, 2, 1, 0)))
    print(f"{data.name}: {X.shape[0]} rows x {X.shape[1]} features.")
    print(f"{keys.size:,} pairs have {values.size:,} different keys; ", end="")
    print(f"{how_often[how_often > 1].sum() / keys.size:.0%} of the pairs share theirs with another pair.")
    print(
        f"Summed in two orders, {np.mean(forwards != backwards):.0%} of the floating-point values differ, ",
        end="",
    )
    print(f"by at most {np.abs(forwards - backwards).max():.1e};")
    print(
        f"{np.mean(order_of(forwards) != order_of(backwards)):.1%} of the places in the ranking hold another pair."
    )


if __name__ == "__main__":
    main()
