"""Run as a program: a call of the library that lasts for hours, in one thread or several, until it is interrupted."""

import sys

import numpy as np
from sklearn.base import clone

from hietan import AODE, ProximalGraph
from hietan._runtime import parallel
from hietan.datasets import make_hierarchical_classification


def main(what: str, n_jobs: int) -> None:
    data = make_hierarchical_classification(300, 100, random_state=0)
    if what == "fit":
        model = ProximalGraph(hierarchy=data.hierarchy, lam=1e-7, tol=1e-14, max_iter=10**12)
        calls = [(clone(model), data.X, data.y) for _ in range(n_jobs)]  # no two threads fit the same model
        print("ready", flush=True)
        parallel.run_ordered(ProximalGraph.fit, calls, n_jobs)
    else:
        model = AODE(n_jobs=n_jobs).fit(data.X, data.y)
        X = data.X.toarray()[np.zeros(4096 * n_jobs, dtype=int)]
        print("ready", flush=True)
        while True:
            model.predict(X)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
