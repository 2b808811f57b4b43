"""Fits one peer's TAN and writes what came of it as JSON; runs in the environment of the peers, without hietan."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

Fit = Callable[[], list[tuple[str, str]]]


def pyagrum(X: np.ndarray, y: np.ndarray) -> Fit:
    import pyagrum as gum
    from pyagrum import skbn
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    gum.setNumberOfThreads(1)
    # Its information is that of the smoothed counts, and without smoothing it refuses pairs of values that no row
    # has. So little of it leaves the tree what it would be.
    classifier = skbn.BNClassifier(
        type_processor=DiscreteTypeProcessor(), learningMethod="TAN", prior="Smoothing", priorWeight=1e-6
    )

    def fit() -> list[tuple[str, str]]:
        classifier.fit(X, y)
        network = classifier.bn_
        return [(network.variable(a).name(), network.variable(b).name()) for a, b in network.arcs()]

    return fit


def pgmpy(X: np.ndarray, y: np.ndarray) -> Fit:
    import pandas as pd
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)

    def fit() -> list[tuple[str, str]]:
        search = TreeSearch(frame, root_node="x0", n_jobs=1)
        dag = search.estimate(estimator_type="tan", class_node="y", show_progress=False)
        network = DiscreteBayesianNetwork(dag.edges())
        network.fit(frame)
        return list(network.edges())

    return fit


PEERS = {"pyagrum": pyagrum, "pgmpy": pgmpy}


def main(peer: str, data: str, result: str) -> None:
    warnings.simplefilter("ignore")
    with np.load(data) as saved:
        fit = PEERS[peer](saved["X"], saved["y"])
    start = time.perf_counter()
    arcs = fit()
    seconds = time.perf_counter() - start
    between_features = [(int(a[1:]), int(b[1:])) for a, b in arcs if a != "y" and b != "y"]
    Path(result).write_text(
        json.dumps({"version": version(peer), "seconds": seconds, "edges": between_features})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
