"""Fits the TAN of one peer and writes the result as JSON; runs in the environment of the peers, without hietan."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

Arcs = list[tuple[str, str]]
Fit = Callable[[], "Arcs | tuple[Arcs, float]"]  # with the seconds if the peer reports them itself
WEKA = os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar")  # where Debian's package puts it


def pyagrum(X: np.ndarray, y: np.ndarray) -> Fit:
    import pyagrum as gum
    from pyagrum import skbn
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    gum.setNumberOfThreads(1)
    # pyAgrum computes its information from smoothed counts, and without smoothing it refuses pairs of values that no
    # row has. This little smoothing does not change the tree.
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


def weka(X: np.ndarray, y: np.ndarray) -> Fit:
    """The seconds are WEKA's own: building the model, without starting Java and reading the file."""
    if not Path(WEKA).is_file():
        sys.exit("weka.jar was not found; install Debian's package weka, or set WEKA_JAR to its path")
    names = [f"x{j}" for j in range(X.shape[1])] + ["y"]
    values = "{" + ",".join(map(str, np.unique(y).tolist())) + "}"
    lines = ["@relation rows", *(f"@attribute {name} {{0,1}}" for name in names[:-1])]
    lines += [f"@attribute y {values}", "@data"]
    lines += [",".join(map(str, [*row, c])) for row, c in zip(X.tolist(), y.tolist(), strict=True)]

    def fit() -> tuple[Arcs, float]:
        with tempfile.NamedTemporaryFile("w", suffix=".arff") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            search = ["-Q", "weka.classifiers.bayes.net.search.local.TAN", "--", "-S", "ENTROPY"]
            estimator = ["-E", "weka.classifiers.bayes.net.estimate.SimpleEstimator", "--", "-A", "0.5"]
            command = [
                "java",
                "-cp",
                WEKA,
                "weka.classifiers.bayes.BayesNet",
                "-t",
                file.name,
                "-no-cv",
                "-D",
            ]
            done = subprocess.run([*command, *search, *estimator], capture_output=True, text=True, check=True)
        nodes = re.findall(r"^(x\d+)\(\d+\): (.*)$", done.stdout, flags=re.MULTILINE)
        arcs = [(parent, child) for child, parents in nodes for parent in parents.split()]
        built = re.search(r"Time taken to build model: ([\d.]+) seconds", done.stdout)
        assert built, done.stdout[-500:]
        return arcs, float(built[1])

    return fit


def weka_version() -> str:
    command = ["java", "-cp", WEKA, "weka.core.Version"]
    said = subprocess.run(command, capture_output=True, text=True).stdout.split()
    return said[0] if said else ""


PEERS = {"pyagrum": pyagrum, "pgmpy": pgmpy, "weka": weka}


def main(peer: str, data: str, result: str) -> None:
    warnings.simplefilter("ignore")
    with np.load(data) as saved:
        fit = PEERS[peer](saved["X"], saved["y"])
    start = time.perf_counter()
    done = fit()
    arcs, seconds = done if isinstance(done, tuple) else (done, time.perf_counter() - start)
    between_features = [(int(a[1:]), int(b[1:])) for a, b in arcs if a != "y" and b != "y"]
    Path(result).write_text(
        json.dumps(
            {
                "version": weka_version() if peer == "weka" else version(peer),
                "seconds": seconds,
                "edges": between_features,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
