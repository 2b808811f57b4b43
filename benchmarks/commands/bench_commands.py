"""The commands that users type, compared with the same steps in Python: CPU time of whole processes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _timing import Part, table, verdict
from hietan.datasets import make_hierarchical_classification

HERE = Path(__file__).parent
N_ROWS, N_FEATURES, DENSITY = 20_826, 14_013, 0.0047  # a worm's genes and their terms
METHODS = ("hie-tan-lite", "hie-tan", "hie-ban", "hie-logistic")
INSIDE = (*METHODS, "hip-nb", "hie-aode-lite")
STUDIED = "bayes"
MOST_FIT, MOST_PREDICT, MOST_CONTRIBUTIONS, MOST_TAIL = 3.0, 2.0, 5.0, 6.0


def cpu_seconds(command: Sequence[str]) -> float:
    """The CPU time of a process and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def python(*arguments: str) -> list[str]:
    return [sys.executable, str(HERE / "_run.py"), *arguments]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from hietan.cli import main; main()", *arguments]


def compare(method: str, data: str, folder: Path) -> tuple[list[str], list[tuple[str, str, str]]]:
    """A row of the table of commands, and its figures."""
    model, other = str(folder / f"{method}.hietan"), str(folder / "python.hietan")
    taken = [
        cpu_seconds(python("fit", method, data, other)),
        cpu_seconds(command("fit", data, "-m", method, "-o", model)),
        cpu_seconds(python("predict", method, data, other)),
        cpu_seconds(command("predict", model, data, "--report", "-o", str(folder / "rows.csv"))),
    ]
    ratios = taken[1] / taken[0], taken[3] / taken[2]
    row = [method, *(f"{t:.1f}" for t in taken[:2]), f"{ratios[0]:.2f}", verdict(ratios[0], MOST_FIT)]
    row += [*(f"{t:.1f}" for t in taken[2:]), f"{ratios[1]:.2f}", verdict(ratios[1], MOST_PREDICT)]
    figures = [
        (f"`hietan fit` / Python, {method}", f"{ratios[0]:.2f}", f"{MOST_FIT:g}"),
        (f"`hietan predict --report` / Python, {method}", f"{ratios[1]:.2f}", f"{MOST_PREDICT:g}"),
    ]
    return row, figures


def within(method: str, data: str, folder: Path) -> tuple[list[list[str]], list[tuple[str, str, str]]]:
    """The steps that are compared in one process."""
    model = str(folder / f"{method}.hietan")
    if method not in METHODS:
        cpu_seconds(python("fit", method, data, model))
    done = subprocess.run(python("figures", method, data, model), check=True, stdout=subprocess.PIPE)
    taken = json.loads(done.stdout)
    rows, figures = [], []
    for name, floor, most in (
        ("contributions", "predict", MOST_CONTRIBUTIONS),
        ("save", "savez", None),
        ("load", "savez", None),
    ):
        ratio = taken[name] / taken[floor]
        cells = [
            f"{taken[name]:.3f}",
            f"{taken[floor]:.3f}",
            f"{ratio:.2f}",
            "" if most is None else f"{most:g}",
        ]
        rows.append([f"{method}: {name} / {floor}", *cells, verdict(ratio, most)])
        if most is not None:
            figures.append((f"{name} / {floor}, {method}", f"{ratio:.2f}", f"{most:g}"))
    return rows, figures


def study_tail(folder: Path) -> dict[str, float]:
    """CPU seconds of the jobs of a study, and of each step after the last of them."""
    data = "ageing-2014" if "HIETAN_DATA" in os.environ else "ageing-2025"
    done = subprocess.run(
        python("tail", STUDIED, data, str(folder / "study")), check=True, stdout=subprocess.PIPE
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report(*, study: bool = True) -> Part:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = str(folder / "genome.hietan")
        made = make_hierarchical_classification(N_ROWS, N_FEATURES, density=DENSITY, random_state=0)
        made.save(data)
        compared = [compare(method, data, folder) for method in METHODS]
        inside = [within(method, data, folder) for method in INSIDE]
        tail = study_tail(folder) if study else None
    head = [
        "method",
        "fit in Python",
        "hietan fit",
        "ratio",
        "",
        "predict in Python",
        "predict --report",
        "ratio",
        "",
    ]
    figures = [figure for _, found in (*compared, *inside) for figure in found]
    parts = [
        f"## Commands: {N_ROWS:,} rows, {N_FEATURES:,} features",
        "The table shows CPU seconds for whole processes. In Python, one script reads the data, and fits and saves the "
        "model. Another script reads the data and the model, and predicts all rows. The commands should need at most "
        f"{MOST_FIT:g} and {MOST_PREDICT:g} times as much CPU time as the scripts, although they do more work. `hietan "
        "fit` also evaluates the model on rows that it holds out once (`--folds 5` cross-validates). `hietan predict "
        "--report` also explains both ends of the list.",
        table(head, [row for row, _ in compared]),
        "The next table shows CPU seconds within one process, as the minimum of five calls. Calls below 0.05 s are "
        "repeated 25 times, and calls above 15 s run only once.",
        table(
            ["what", "seconds", "floor", "ratio", "at most", ""],
            [row for rows, _ in inside for row in rows],
        ),
    ]
    if tail is not None:
        after = sum(tail[step] for step in ("tables", "figures", "report"))
        parts.append(
            f"In a study of {'28' if 'HIETAN_DATA' in os.environ else '14'} datasets (`--methods {STUDIED}`), the "
            f"prediction jobs take {tail['predicting']:.0f} CPU seconds and the explanation jobs "
            f"{tail['explaining']:.0f}. "
            f"After the last job, the tables take {tail['tables']:.1f} s, the figures {tail['figures']:.1f} s and the "
            f"report {tail['report']:.1f} s. The total is {after:.1f} s (at most {MOST_TAIL:g}: "
            f"{verdict(after, MOST_TAIL)})."
        )
        figures.append(("after the last job of a study, CPU s", f"{after:.1f}", f"{MOST_TAIL:g}"))
    return Part("\n\n".join(parts), figures)


if __name__ == "__main__":
    print(report().text)
