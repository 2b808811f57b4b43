"""Run as a program: fits on a cluster of two processes, one of which is killed while it loads a block of rows.

The data are so wide and sparse that their pair counts are kept sparse, and are sent and added up so.
Prints whether a worker was killed, whether the counts are sparse, whether the model says the same, to the bit, as one
fitted here, and which classifiers predict anything else there than here.
"""

import json
import os
import signal
import sys
from pathlib import Path

import dask
import distributed
import numpy as np

from hietan import HieTANLite
from hietan.datasets import make_hierarchical_classification
from support.families import BAYES, seeded


def load(X, rows, lethal):
    """A block of rows. Whoever loads the lethal one first is killed outright, as by a failing machine."""
    if lethal is not None and not Path(lethal).exists():
        Path(lethal).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return X[rows]


def differing(data):
    """The predictions of all classifiers that are others on the workers."""
    X = [dask.delayed(rows) for rows in (data.X[:192], data.X[192:])]
    found = []
    for make in BAYES:
        model = make(hierarchy=data.hierarchy, **seeded(make)).fit(data.X, data.y)
        names = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")
        there = dask.compute(*(getattr(model, name)(X) for name in names))
        pairs = zip(names, there, strict=True)
        found += [
            f"{make.__name__}.{name}"
            for name, result in pairs
            if not np.array_equal(result, getattr(model, name)(data.X))
        ]
    return found


def main(marker: str) -> None:
    data = make_hierarchical_classification(300, 4200, density=0.002, random_state=0)
    parts = np.array_split(np.arange(300), 12)
    X = [dask.delayed(load)(data.X, rows, marker if k == 6 else None) for k, rows in enumerate(parts)]
    y = [dask.delayed(data.y[rows]) for rows in parts]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(X, y)
        found = model.predict_joint_log_proba(X).compute()
        different = differing(make_hierarchical_classification(300, 80, random_state=0))
    here = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    same = np.array_equal(found, here.predict_joint_log_proba(data.X))
    said = {
        "killed": int(Path(marker).read_text()) in workers,
        "sparse": not model.counts_.is_dense,
        "same": same,
        "different": different,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
