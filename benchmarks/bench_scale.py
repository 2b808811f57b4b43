"""How time and memory grow: whole genomes, 40,000 features, and curves over rows and features.

Every problem runs in a separate process. Curves are fitted to CPU time; targets are for wall time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from _timing import Part, table, verdict

HERE = Path(__file__).parent
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
FEATURES = (100, 300, 1_000, 3_000, 10_000, 20_000)  # and those of the two problems above
ONES = 20  # per row, along the curve over rows


def run(n: int, d: int, density: float, steps: Sequence[str] = ()) -> dict[str, Any]:
    request = json.dumps({"n": n, "d": d, "density": density, "steps": list(steps)})
    child = [sys.executable, str(HERE / "_scale_run.py"), request]
    result: dict[str, Any] = json.loads(
        subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True).stdout
    )
    return result


def targets(
    genome: dict[str, Any], wide: dict[str, Any], million: dict[str, Any]
) -> list[tuple[str, Any, float, str]]:
    """What is measured, its values in wall time and in CPU time, the target, and the unit."""

    def seconds(name: str) -> np.ndarray:
        return np.array(genome["seconds"][name])

    return [
        ("Hie-TAN-Lite: fit / SciPy's products", seconds("fit") / seconds("products"), 8.0, "x"),
        ("1,000 rows, first prediction / fit", seconds("rows") / seconds("fit"), 1.0, "x"),
        ("all 20,000 rows, s", seconds("all"), 120.0, "s"),
        ("peak memory in all, GB", [genome["peak"] / 1e9], 4.0, "GB"),
        ("HRE-TAN / Hie-TAN-Lite: 1,000 rows, first", seconds("HRE rows") / seconds("rows"), 4.0, "x"),
        (
            "Hie-TAN's tree / counting and CMI",
            seconds("Hie-TAN tree") / (seconds("counting") + seconds("CMI")),
            1.0,
            "x",
        ),
        ("40,000 features: peak memory, GB", [wide["peak"] / 1e9], 24.0, "GB"),
        ("fit in two threads / in one", seconds("fit")[:1] / seconds("fit in one thread")[:1], 0.6, "x"),
        (
            "a million rows: Hie-TAN-Lite fit / SciPy's products",
            np.divide(million["seconds"]["fit"], million["seconds"]["products"]),
            2.0,
            "x",
        ),
        (
            "a million rows: memory above the data, GB",
            [(million["peak"] - million["before"]) / 1e9],
            3.0,
            "GB",
        ),
    ]


def genome_table(figures: Sequence[tuple[str, Any, float, str]]) -> str:
    """Figures in wall time, which other programs disturb, and in CPU time, which they do not."""
    rows = []
    for name, values, target, unit in figures:
        cpu = f"{values[1]:.2f} {unit}" if len(values) > 1 else ""
        rows.append([name, f"{values[0]:.2f} {unit}", cpu, f"{target:g} {unit}", verdict(values[0], target)])
    return table(["what", "wall time", "CPU time", "at most (wall time)", ""], rows)


def seconds_table(runs: Sequence[dict[str, Any]]) -> str:
    names = list(runs[0]["seconds"])
    rows = []
    for name in names:
        taken = [r["seconds"].get(name) for r in runs]
        rows.append([name, *("" if t is None else f"{t[0]:.2f} ({t[1]:.2f})" for t in taken)])
    sizes = [
        ["peak GB", *(f"{r['peak'] / 1e9:.2f}" for r in runs)],
        ["co-occurring pairs, million", *(f"{(r['occurring'] or r['pairs']) / 1e6:.1f}" for r in runs)],
        ["edges sorted, million", *(f"{r['sorted'] / 1e6:.1f}" for r in runs)],
    ]
    return table(["wall time in s (CPU time)", *(f"{r['features']:,} features" for r in runs)], rows + sizes)


def exponent(runs: Sequence[dict[str, Any]], size: str, name: str) -> float:
    """The slope of log seconds over log size."""
    x = np.log([r[size] for r in runs])
    y = np.log([r["seconds"][name][1] for r in runs])
    return float(np.polyfit(x, y, 1)[0])


def curve(runs: Sequence[dict[str, Any]], size: str, fitted_from: int) -> str:
    rows = [
        [
            f"{r[size]:,}",
            f"{1e3 * r['seconds']['fit'][1]:,.0f}",
            f"{1e6 * r['seconds']['rows again'][1] / min(1000, r['rows']):,.0f}",
            "all" if r["occurring"] is None else f"{r['occurring'] / r['pairs']:.1%}",
            f"{(r['peak'] - r['before']) / 1e6:,.0f}",
        ]
        for r in runs
    ]
    large = [r for r in runs if r[size] >= fitted_from]
    slopes = [f"{exponent(large, size, name):.2f}" for name in ("fit", "rows again")]
    rows.append([f"exponent, {fitted_from:,} or more", *slopes, "", ""])
    return table([size, "fit ms", "one row, us", "pairs kept", "memory MB"], rows)


def memory_model(genome: dict[str, Any], wide: dict[str, Any]) -> str:
    each = max((r["peak"] - r["before"]) / r["occurring"] for r in (genome, wide))
    ones = genome["ones"] / genome["rows"]
    pairs_of_row = ones**2 / 2
    room = 20e9 / each
    return "\n".join(
        [
            "With fewer than 4,096 features, or if many of them occur together, all pairs are kept. Each pair then",
            "needs 4 bytes per class and 8 bytes for its key. Otherwise only pairs that occur together are kept.",
            "Each pair then needs 4 bytes, another 4 bytes per class, and 8 bytes for its key. Each sorted edge",
            "needs 8 bytes, and each sorting thread at most 200 MB. Pairs between equally frequent features need at",
            "most 128 MB. Each prediction thread needs 1.1 kB per feature.",
            "",
            f"Measured: **{each:.0f} bytes per pair that occurs together** (two classes). A row with {ones:.0f} ones "
            f"adds at most {pairs_of_row:,.0f} pairs, so {genome['rows']:,} such rows never need more than "
            f"{genome['rows'] * pairs_of_row * each / 1e9:.1f} GB with any number of features. A machine with "
            f"20 GB of free memory has room for {room / 1e6:,.0f} million such pairs. This is enough for "
            f"{room / pairs_of_row:,.0f} rows without a common pair, or for {np.sqrt(2 * room):,.0f} features that all "
            "occur together.",
            "",
            "**On a cluster**, each worker needs memory for its block and its counts (4 bytes per pair that "
            "occurs in the "
            "block, and another 4 bytes per class). While a worker adds counts, it also needs memory for eight parts "
            f"and two sums. The parts and sums need at most {10 * 12 * genome['occurring'] / 1e9:.1f} GB for the "
            f"{genome['features']:,} features above, and {10 * 12 * wide['occurring'] / 1e9:.1f} GB for "
            f"{wide['features']:,} features. The process that learns the "
            "structure, or predicts, needs as much memory as it would on a single machine.",
        ]
    )


def empty_columns(r: dict[str, Any]) -> str:
    taken = r["seconds"]
    return (
        f"We measured this on {r['rows']:,} rows with {r['ones'] / r['rows']:.0f} ones each and {r['features']:,} "
        f"features, of which {r['empty']:,} are empty and {r['single']:,} are present in one row. Fitting took "
        f"{taken['fit'][1]:.1f} s and prediction {1e3 * taken['rows again'][1] / 1000:.1f} ms per row, with at most "
        f"{r['peak'] / 1e9:.1f} GB of memory. Of {r['pairs'] / 1e6:,.0f} million edges, {r['sorted'] / 1e6:.1f} "
        "million "
        "were sorted."
    )


def report() -> Part:
    genome = run(20_000, 14_000, 0.0047, ["products", "threads", "all", "others"])
    wide = run(20_000, 40_000, 66 / 40_000, ["products", "others"])
    million = run(1_000_000, 100_000, 30 / 100_000, ["products", "fit only"])
    measured = targets(genome, wide, million)
    over_rows = [run(n, 2_000, ONES / 2_000) for n in ROWS]
    over_features = [run(20_000, d, min(66 / d, 0.2)) for d in FEATURES] + [genome, wide]
    over_features.sort(key=lambda r: int(r["features"]))
    empty = run(5_000, 40_000, 20 / 40_000)
    notes = (HERE / "scale_notes.md").read_text().strip()
    parts = [
        "## A whole genome: 20,000 rows, 14,000 features, 66 ones per row",
        "The data are synthetic and resemble genes and the Gene Ontology (`make_hierarchical_classification`). "
        "Rows are "
        "sparse, predictions use two threads, and each problem runs in a separate process.",
        genome_table(measured),
        "The million rows have 100,000 features and 30 ones each. The fit on these rows runs in one thread.",
        "A fit counts pairs, computes the keys for the edge order and sorts the first edges. "
        'The line "rows" is the first prediction for 1,000 rows, "rows again" is the second, and "all" is the '
        'prediction for all rows. The lines "fit" and "rows" belong to Hie-TAN-Lite, unless they name another method.',
        seconds_table([genome, wide]),
        f"## Growth with the number of rows: 2,000 features, {ONES} ones per row",
        curve(over_rows, "rows", 3_000),
        "## Growth with the number of features: 20,000 rows, 66 ones per row (at most a fifth of the features)",
        curve(over_features, "features", 3_000),
        "## Memory",
        memory_model(genome, wide),
        notes.replace("{empty columns}", empty_columns(empty)),
    ]
    growth = [
        (
            f"fit over features, exponent from 3,000 to {wide['features']:,}",
            _slope(over_features, "fit"),
            "2",
        ),
        (
            f"one row over features, exponent from 3,000 to {wide['features']:,}",
            _slope(over_features, "rows again"),
            "",
        ),
    ]
    figures = [(name, f"{values[0]:.2f}", f"{target:g}") for name, values, target, _ in measured]
    return Part("\n\n".join(parts), [*figures, *growth])


def _slope(runs: Sequence[dict[str, Any]], name: str) -> str:
    return f"{exponent([r for r in runs if r['features'] >= 3_000], 'features', name):.2f}"


if __name__ == "__main__":
    print(report().text)
