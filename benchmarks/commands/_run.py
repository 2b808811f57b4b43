"""The steps of a command in Python, `python _run.py fit METHOD DATA MODEL`, and what is compared in one process."""

from __future__ import annotations

import json
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hietan
from hietan.catalogue import load_dataset, make_fitted_method
from hietan.evaluation.cross_validation import configure


def fit(method: str, data: str, model: str) -> None:
    """Read, fit and save."""
    rows = load_dataset(data)
    fitted = configure(make_fitted_method(method), rows.hierarchy, 0).fit(rows.X, rows.y)
    hietan.save(fitted, model)


def predict(method: str, data: str, model: str) -> None:
    """Read a model and rows, and predict all of them."""
    hietan.load(model).predict(load_dataset(data).X)


def figures(method: str, data: str, model: str) -> None:
    """Print the CPU seconds of steps that are compared within one process, as JSON."""

    def seconds(step: Callable[[], object]) -> float:
        start = time.process_time()
        step()
        return time.process_time() - start

    rows, fitted = load_dataset(data), hietan.load(model)
    copy, plain = Path(model).with_name("copy.hietan"), Path(model).with_name("plain.npz")
    with zipfile.ZipFile(model) as archive:
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name: np.load(archive.open(name)) for name in members}
    fitted.predict(rows.X[:64])  # what is learned on first use is learned
    taken = {"predict": seconds(lambda: fitted.predict(rows.X))}
    taken["contributions"] = seconds(lambda: fitted.contributions(rows.X))
    taken["savez"] = min(seconds(lambda: np.savez(plain, **arrays)) for _ in range(5))  # type: ignore[arg-type]
    taken["save"] = min(seconds(lambda: hietan.save(fitted, copy)) for _ in range(5))
    taken["load"] = min(seconds(lambda: hietan.load(copy)) for _ in range(5))
    taken["megabytes"] = copy.stat().st_size / 1e6
    print(json.dumps(taken))


if __name__ == "__main__":
    {"fit": fit, "predict": predict, "figures": figures}[sys.argv[1]](*sys.argv[2:])
