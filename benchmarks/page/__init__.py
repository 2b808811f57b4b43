"""How soon a page of 20,000 candidates can be used, and how soon it answers a search, in a real browser.

A figure is the median over visits, in milliseconds. Next to it is the time that the same browser takes to parse the
page's data as JSON: no page could be ready sooner.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from _timing import Part, table
from hietan import HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.models import rank_rows, train_model
from hietan.models.names import RowNames
from hietan.report import write_candidates

ROOT = Path(__file__).parents[2]
N_CANDIDATES, VISITS = 20_000, 9
AT_MOST = {"ready": 1500.0, "search": 150.0, "filter": 150.0}  # milliseconds
WORDS = {
    "parse": "JSON.parse of the data",
    "ready": "opened and ready for use",
    "search": "a name searched by Enter, and its row shown",
    "filter": "filtered by the number of terms",
}


def report() -> Part:
    """The section of the page about performance."""
    title = f"## A report of {N_CANDIDATES:,} candidates"
    missing = _missing()
    if missing:
        return Part(f"{title}\n\nNot measured: {missing}.")
    with tempfile.TemporaryDirectory() as folder:
        page = _write_page(Path(folder) / "candidates.html")
        size = page.stat().st_size / 1e6
        command = ["node", str(Path(__file__).parent / "visits.mjs"), str(page), str(VISITS)]
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    taken = {name: float(np.median(values)) for name, values in json.loads(answer).items()}
    rows = [
        [WORDS[name], f"{ms:.0f}", f"{AT_MOST[name]:.0f}" if name in AT_MOST else ""]
        for name, ms in taken.items()
    ]
    text = f"The report is a file of {size:.1f} MB, opened in headless Chromium. Times are medians of {VISITS} visits."
    figures = [
        (f"page of {N_CANDIDATES:,} candidates, ms: {WORDS[name]}", f"{taken[name]:.0f}", f"{most:g}")
        for name, most in AT_MOST.items()
    ]
    return Part("\n\n".join([title, text, table(["what", "ms", "at most"], rows)]), figures)


def _missing() -> str:
    """What this machine lacks to visit a page; empty if it has everything."""
    if not shutil.which("node"):
        return "Node.js is not installed"
    if not (ROOT / "tests/browser/node_modules/playwright-core").is_dir():
        return "playwright-core is not installed; `tests/browser/set_up.sh` installs it"
    if not shutil.which(os.environ.get("CHROMIUM", "chromium")):
        return "Chromium is not installed"
    return ""


def _write_page(path: Path) -> Path:
    data = make_hierarchical_classification(200, 120, random_state=1)
    trained = train_model(HieTANLite(), data, validate=False)
    picked = np.random.default_rng(0).integers(0, 200, N_CANDIDATES)
    names = tuple(f"gene{i}" for i in range(N_CANDIDATES))
    rows = replace(
        data, X=csr_array(data.X[picked]), y=data.y[picked], instance_names=names, symbols=(), name="genome"
    )
    known = RowNames(("gene0", *(f"known{i}" for i in range(199))))
    trained = replace(trained, training=replace(trained.training, names=known))
    return write_candidates(rank_rows(trained, rows), path)


if __name__ == "__main__":
    print(report().text)
