"""One problem in a separate process: seconds of each step, peak memory and sizes, as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from _memory import _peak, _start
from hietan import HRETAN, TAN, HieTAN, HieTANLite, _kernel
from hietan.datasets import make_hierarchical_classification
from hietan.structure._counts import SparsePairs, count_pairs
from hietan.structure._edges import EdgeRanking
from hietan.structure._rows import BinaryRows


class Clock:
    """Wall time and CPU time of named steps, in seconds."""

    def __init__(self) -> None:
        self.taken: dict[str, tuple[float, float]] = {}

    def __call__(self, name: str, step: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = step()
        self.taken[name] = (time.perf_counter() - wall, time.process_time() - cpu)
        return result


def main(n: int, d: int, density: float, steps: list[str]) -> dict[str, Any]:
    data = make_hierarchical_classification(n, d, density=density, random_state=0)
    n_jobs = 1 if "fit only" in steps else 2
    X, y, options = data.X, data.y, {"hierarchy": data.hierarchy, "random_state": 0, "n_jobs": n_jobs}
    data.hierarchy.ancestor_matrix, data.hierarchy.descendant_matrix  # noqa: B018  the closure counts as part of the data
    few = X[:, :20].toarray()
    HieTANLite(n_jobs=2).fit(few, y).predict(few[:200])  # so that whatever is loaded on first use is loaded
    clock, before = Clock(), _start()
    if "products" in steps:
        Z = X.astype(np.int32)
        clock("products", lambda: [(part.T @ part).nnz for part in (Z[y == c] for c in np.unique(y))])
    if "threads" in steps:
        clock("fit in one thread", lambda: HieTANLite(**{**options, "n_jobs": 1}).fit(X, y))
    model = clock("fit", lambda: HieTANLite(**options).fit(X, y))
    rows = min(n, 1000)
    if "fit only" not in steps:
        clock("rows", lambda: model.predict(X[:rows]))
        clock("rows again", lambda: model.predict(X[:rows]))
    if "all" in steps:
        clock("all", lambda: model.predict(X))
    sparse = model.counts_.pairs if isinstance(model.counts_.pairs, SparsePairs) else None
    sizes = {
        "rows": n,
        "features": d,
        "ones": int(X.nnz),
        "empty": int((X.sum(axis=0) == 0).sum()),
        "single": int((X.sum(axis=0) == 1).sum()),
        "pairs": d * (d - 1) // 2,
        "occurring": int(sparse.indices.size) if sparse else None,
        "sorted": model._ranking.kernel.n_sorted,
        "before": before,
        "peak": _peak(),
    }
    if "others" in steps:
        other = clock("HRE fit", lambda: HRETAN(**options).fit(X, y))
        clock("HRE rows", lambda: other.predict(X[:rows]))
        del other, model
        classes, codes = np.unique(y, return_inverse=True)
        table = BinaryRows.from_matrix(X)
        counts = clock("counting", lambda: count_pairs(table, codes, len(classes)))
        ranking = EdgeRanking(counts, data.hierarchy)
        clock("CMI", lambda: ranking.keys)
        order, relations = np.arange(d), ranking.relations
        clock("Hie-TAN tree", lambda: _kernel.hierarchical_tree(ranking.keys, relations, order))
        clock("TAN fit", lambda: TAN(**options).fit(X, y))
        clock("Hie-TAN fit", lambda: HieTAN(**options).fit(X, y))
    return {**sizes, "seconds": clock.taken}


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    print(json.dumps(main(**request)))
