"""Timing on a noisy machine: all cases take turns, so that whatever disturbs one of them disturbs them all."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info


@dataclass(frozen=True)
class Case:
    """`run` is timed. It receives the result of `prepare`, which is not timed."""

    name: str
    run: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None
    target: float | None = None


@dataclass(frozen=True)
class Timing:
    """Seconds of each round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        low, high = np.percentile(self.seconds, [25, 75])
        return float(low), float(high)


@dataclass(frozen=True)
class Part:
    """A part of the page: its text, and rows for the summary (what, figure, at most)."""

    text: str
    figures: Sequence[tuple[str, str, str]] = ()


def alternate(cases: Sequence[Case], rounds: int) -> list[Timing]:
    """Run every case once per round, after one round that does not count."""
    seconds: list[list[float]] = [[] for _ in cases]
    gc.freeze()  # existing objects need not be examined each time
    for k in range(rounds + 1):
        for case, taken in zip(cases, seconds, strict=True):
            prepared = case.prepare()
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            result = case.run(prepared)
            stop = time.perf_counter()
            gc.enable()
            del result, prepared
            if k:
                taken.append(stop - start)
    gc.unfreeze()
    return [Timing(tuple(taken)) for taken in seconds]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is also readable in a terminal; the first column is text, the others are figures."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if k else "-") for k, w in enumerate(widths)) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


def ratio_figures(cases: Sequence[Case], timings: Sequence[Timing]) -> list[tuple[str, str, str]]:
    """Rows for the summary, of the cases that have a target."""
    return [
        (f"{case.name} / {cases[0].name}", f"{timing.median / timings[0].median:.2f}", f"{case.target:g}")
        for case, timing in zip(cases, timings, strict=True)
        if case.target is not None
    ]


def ratio_table(cases: Sequence[Case], timings: Sequence[Timing]) -> str:
    """Each case as a multiple of the first, the floor."""
    rows = []
    for case, timing in zip(cases, timings, strict=True):
        low, high = timing.quartiles
        ratio = timing.median / timings[0].median
        rows.append(
            [
                case.name,
                f"{1e3 * timing.median:.2f}",
                f"{1e3 * low:.2f} .. {1e3 * high:.2f}",
                f"{ratio:.2f}",
                "" if case.target is None else f"{case.target:g}",
                verdict(ratio, case.target),
            ]
        )
    return table(["what", "median ms", "quartiles", "x floor", "target", ""], rows)


def verdict(value: float, target: float | None) -> str:
    return "" if target is None else "ok" if value <= target else "over"


def machine() -> str:
    """The machine and software that the figures were measured on, as a Markdown list."""
    blas = sorted({f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info() if _is_blas(lib)})
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return "\n".join(
        [
            f"- {_cpu()}, {os.cpu_count()} cores{load} at the start",
            f"- {platform.python_implementation()} {platform.python_version()}, {platform.system()}",
            f"- NumPy {np.__version__}, BLAS: {', '.join(blas) or 'unknown'}",
        ]
    )


def _is_blas(library: dict[str, Any]) -> bool:
    return library["user_api"] == "blas" and library["version"] is not None


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
