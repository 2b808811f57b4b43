"""The steps of a command in Python, `python _run.py fit METHOD DATA MODEL`, and what is compared in one process.

`python _run.py tail METHODS DATA FOLDER` prints the CPU seconds of a study: its jobs, and what follows the last one.
"""

from __future__ import annotations

import json
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hietan
from hietan.catalogue import StudyOptions, load_dataset, run_named_study
from hietan.catalogue._estimators import make_fitted_method
from hietan.evaluation._outputs.figures import write_figures
from hietan.evaluation._outputs.tables import write_tables
from hietan.report import write_report
from hietan.scores.cross_validation import configure

LONG, SHORT = 15.0, 0.05  # CPU seconds: a step that takes longer is not repeated, a shorter one often


def fit(method: str, data: str, model: str) -> None:
    """Read, fit and save."""
    rows = load_dataset(data)
    fitted = configure(make_fitted_method(method), rows.hierarchy, 0).fit(rows.X, rows.y)
    hietan.save(fitted, model)


def predict(method: str, data: str, model: str) -> None:
    """Read a model and rows, and predict all of them."""
    hietan.load(model).predict(load_dataset(data).X)


def seconds(step: Callable[[], object]) -> float:
    """The CPU time of a step."""
    start = time.process_time()
    step()
    return time.process_time() - start


def figures(method: str, data: str, model: str) -> None:
    """Print the CPU seconds of steps that are compared within one process, as JSON."""

    def fewest(step: Callable[[], object]) -> float:
        """Of several calls, unless they are long: the first also waits for memory that nothing has used before."""
        first = seconds(step)
        again = 0 if first > LONG else 4 if first > SHORT else 24
        return min([first, *(seconds(step) for _ in range(again))])

    rows, fitted = load_dataset(data), hietan.load(model)
    copy, plain = Path(model).with_name("copy.hietan"), Path(model).with_name("plain.npz")
    with zipfile.ZipFile(model) as archive:
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name: np.load(archive.open(name)) for name in members}
    fitted.predict(rows.X[:64])  # what is learned on first use is learned
    taken = {"predict": fewest(lambda: fitted.predict(rows.X))}
    taken["contributions"] = fewest(lambda: fitted.contributions(rows.X))
    taken["savez"] = fewest(lambda: np.savez(plain, **arrays))  # type: ignore[arg-type]
    taken["save"] = fewest(lambda: hietan.save(fitted, copy))
    taken["load"] = fewest(lambda: hietan.load(copy))
    taken["megabytes"] = copy.stat().st_size / 1e6
    print(json.dumps(taken))


def tail(methods: str, data: str, folder: str) -> None:
    """Print the CPU seconds of the jobs of a study, and of each step of the command after the last job, as JSON."""
    options, output = StudyOptions([data], [methods]), Path(folder)
    results = []
    bare = seconds(lambda: run_named_study(options, output / "bare"))
    first = seconds(lambda: results.append(run_named_study(options, output / "explained", explain=True)))
    again = seconds(lambda: run_named_study(options, output / "explained", explain=True))
    taken = {"predicting": bare - again, "explaining": first - bare}
    output = output / "explained"
    taken["tables"] = seconds(lambda: write_tables(results[0], output))
    taken["figures"] = seconds(lambda: write_figures(results[0], output))
    taken["report"] = seconds(lambda: write_report(output))
    print(json.dumps(taken))


if __name__ == "__main__":
    steps = {"fit": fit, "predict": predict, "figures": figures, "tail": tail}
    steps[sys.argv[1]](*sys.argv[2:])
