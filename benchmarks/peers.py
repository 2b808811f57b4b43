"""TAN in other packages and in hietan, on as many columns as the other packages can handle.

A peer runs in its own environment and process, with twice as many columns each time, until its time is up. The trees
are compared too: a maximum spanning tree has the same total information however ties are broken.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from _data import load
from _timing import Part, table
from hietan import TAN, Hierarchy
from hietan.structure._edges import EdgeRanking

NAMES = {"pyagrum": "pyAgrum", "pgmpy": "pgmpy", "weka": "WEKA"}
FIRST_SIZE = 16
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True)
class Run:
    """One fit of a peer: its result, or why there is none."""

    result: dict | None = None
    failure: str = ""


def report(limit: float = 60, python: str = ".venv-bench/bin/python") -> Part:
    X, y, _, _ = load()
    varies = X.min(axis=0) != X.max(axis=0)
    X = np.ascontiguousarray(X[:, varies])
    rows, remarks, figures = [], [], []
    for peer in NAMES:
        found, remark = _race(peer, X, y, limit, python)
        rows += found
        if found:
            name, features, *_, ratio = found[-1][:5]
            figures.append((f"{name}'s TAN on {features} features / hietan", ratio, ""))
        remarks.append(f"- {remark}")
    header = ["package", "features", "its time, s", "hietan, ms", "ratio", "edges", "common", "total CMI"]
    text = "\n\n".join(
        [
            "## Other packages",
            f"Each package fits TAN to the first columns of the same data, with one thread and a limit of {limit:g} s. "
            f"We dropped constant columns ({np.sum(~varies)} in this case), because pyAgrum and pgmpy cannot predict "
            "values that did not occur in training.",
            table(header, rows) if rows else "No package finished.",
            "\n".join(
                [
                    *remarks,
                    "- WEKA reports its own times, rounded to a hundredth of a second. They include building "
                    "the model, but "
                    "not starting Java or reading the file.",
                    "- pyAgrum's fit also predicts the training rows to choose a threshold. It leaves out edges with "
                    "less than half the mean information, so we compare its forest with the same number of hietan's "
                    "heaviest edges.",
                ]
            ),
        ]
    )
    return Part(text, figures)


def _race(peer: str, X: np.ndarray, y: np.ndarray, limit: float, python: str) -> tuple[list[list[str]], str]:
    """A row for each size that the peer finished, and a sentence on how it ended."""
    rows = []
    name = NAMES[peer]
    end = time.monotonic() + limit
    size = min(FIRST_SIZE, X.shape[1])
    while True:
        columns = np.ascontiguousarray(X[:, :size])
        run = _run(peer, columns, y, end - time.monotonic(), python)
        if run.result is None:
            return rows, f"{name}, {size} features: {run.failure}."
        name = f"{NAMES[peer]} {run.result['version']}"
        rows.append([name, *_compare(columns, y, run.result)])
        if size == X.shape[1]:
            return rows, f"{name}: finished all {size} features within the limit."
        size = min(2 * size, X.shape[1])


def _run(peer: str, X: np.ndarray, y: np.ndarray, seconds: float, python: str) -> Run:
    if not Path(python).is_file():
        return Run(failure=f"not installed ({python} is missing; `make bench` creates it)")
    if seconds <= 0:
        return Run(failure="no time left")
    with tempfile.TemporaryDirectory() as folder:
        data, result = Path(folder, "data.npz"), Path(folder, "result.json")
        np.savez(data, X=X, y=y)
        command = [python, str(Path(__file__).with_name("_peer_fit.py")), peer, str(data), str(result)]
        try:
            done = subprocess.run(
                command, timeout=seconds, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}
            )
        except subprocess.TimeoutExpired:
            return Run(failure=f"stopped after the remaining {seconds:.0f} s")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            return Run(failure=f"failed, {last}")
        return Run(result=json.loads(result.read_text()))


def _compare(X: np.ndarray, y: np.ndarray, result: dict) -> list[str]:
    model, seconds = _ours(X, y)
    d = X.shape[1]
    ranking = EdgeRanking(model.counts_, Hierarchy.unrelated([f"x{j}" for j in range(d)]))
    key = np.zeros((d, d), dtype=np.int64)
    key[np.triu_indices(d, 1)] = ranking.keys
    parent = model.tree_.parent
    ours = {(min(v, p), max(v, p)) for v, p in enumerate(parent.tolist()) if p >= 0}
    theirs = {(min(a, b), max(a, b)) for a, b in result["edges"]}
    total = sum(int(key[edge]) for edge in theirs)
    best = sum(sorted((int(key[edge]) for edge in ours), reverse=True)[: len(theirs)])
    apart = abs(total - best) / max(best, 1)
    return [
        str(d),
        f"{result['seconds']:.2f}",
        f"{1e3 * seconds:.2f}",
        f"{result['seconds'] / seconds:,.0f}",
        f"{len(theirs)} of {len(ours)}",
        f"{len(ours & theirs) / max(len(theirs), 1):.0%}",
        "equal" if apart < 1e-9 else f"{(total - best) / max(best, 1):+.1e}",
    ]


def _ours(X: np.ndarray, y: np.ndarray, repeats: int = 9) -> tuple[TAN, float]:
    seconds = []
    with threadpool_limits(1):
        for _ in range(repeats):
            start = time.perf_counter()
            model = TAN(random_state=0).fit(X, y)
            seconds.append(time.perf_counter() - start)
    return model, statistics.median(seconds)


if __name__ == "__main__":
    print(report().text)
