"""What `make faults` found, into docs/reliability.*: python -m reproduction.reliability [write].

The tests of `make faults` leave their counts in out/faults. They are joined into out/faults.json and, by promise, into
docs/reliability.csv, from which the table of docs/reliability.md is made. `write` only rewrites the table on the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.pages import fill, read_csv, write_csv

ROOT = Path(__file__).parent.parent
DOCS, COUNTED = ROOT / "docs", ROOT / "out" / "faults"
FIELDS = ("promise", "test", "faults", "refused", "lost", "changed", "foreign", "seeds")


class Promise(NamedTuple):
    """A promise, the test that holds it, and how the names of its counts begin."""

    text: str
    test: str
    parts: str


PROMISES = (
    Promise(
        "A killed study can be resumed, writes the same bytes as an undisturbed study, and loses no finished job",
        "tests/faults/test_kills.py::test_kill_and_run_again",
        "kills of study",
    ),
    *(
        Promise(
            f"If you kill `hietan {name}`, the old file or the new file is complete, and you can run the command again",
            "tests/faults/test_kills.py::test_kill_and_run_again",
            f"kills of {name}",
        )
        for name in ("build", "fit", "predict", "fetch", "report")
    ),
    Promise(
        "If the disk is full, a command prints one line and keeps the old files; it succeeds once the disk has space",
        "tests/faults/test_full_disk.py::test_a_full_disk",
        "full disk",
    ),
    Promise(
        "If the saved jobs of a study are damaged, only the jobs on damaged lines are lost, and no result changes",
        "tests/faults/test_damaged_journals.py::test_a_damaged_journal",
        "damaged journals",
    ),
    Promise(
        "hietan refuses a forged or damaged model file, unless the file contains a valid model",
        "tests/test_forged_files.py::test_a_forged_model_is_refused_or_answers",
        "forged models",
    ),
    Promise(
        "hietan refuses a forged or damaged dataset file, unless the file contains a valid dataset",
        "tests/test_forged_files.py::test_a_forged_dataset_is_refused_or_sound",
        "forged datasets",
    ),
    Promise(
        "hietan refuses damaged ontologies, annotations and labels, or counts every entry as used or dropped",
        "tests/faults/test_mutated_files.py::test_a_mutated_file_is_read_with_an_account_or_refused",
        "mutated",
    ),
    Promise(
        "hietan refuses unusual numbers in parameters, arguments and options at once, or returns finite results",
        "tests/faults/test_arguments.py",
        "odd",
    ),
    Promise(
        "Eight processes with 16 threads each (four load the files, four inherit the models) return the serial results",
        "tests/test_threads.py::test_processes_with_threads_share_models_and_their_files",
        "threads and processes",
    ),
    Promise(
        "Every regular expression runs in linear time",
        "tests/faults/test_regular_expressions.py::test_each_takes_linear_time",
        "regular expressions",
    ),
)  # fmt: skip


def collect() -> list[dict[str, str]]:
    """Join the counts into out/faults.json and docs/reliability.csv; one row per promise that was put to the test."""
    counts = {path.stem: json.loads(path.read_text()) for path in sorted(COUNTED.glob("*.json"))}
    (ROOT / "out" / "faults.json").write_text(json.dumps(counts, indent=1) + "\n")
    rows = []
    for promise in PROMISES:
        parts = [count for part, count in counts.items() if part.startswith(promise.parts)]
        if not parts:
            continue
        row = {"promise": promise.text, "test": promise.test}
        for field, key in (("faults", "injected"), *((key, key) for key in FIELDS[3:7])):
            row[field] = str(sum(part[key] for part in parts))
        rows.append(row | {"seeds": " ".join(map(str, sorted({part["seed"] for part in parts})))})
    write_csv(DOCS / "reliability.csv", FIELDS, rows)
    return rows


def read() -> list[dict[str, str]]:
    """The rows of docs/reliability.csv."""
    return read_csv(DOCS / "reliability.csv")


def table(rows: list[dict[str, str]]) -> str:
    """The table of the page in Markdown."""
    heading = (
        "promise",
        "test",
        "faults",
        "refused",
        "lost",
        "answers changed",
        "other exceptions",
    )
    cells = []
    for row in rows:
        counts = (f"{int(row[key]):,}" for key in FIELDS[2:7])
        cells.append((row["promise"], f"`{row['test']}`", *counts))
    total = sum(int(row["faults"]) for row in rows)
    return TextTable(f"{total:,} faults", heading, tuple(cells)).to_markdown()


def write() -> None:
    """Put the table of docs/reliability.csv on the page."""
    path = DOCS / "reliability.md"
    atomic_write(path, fill(path.read_text(encoding="utf-8"), {"faults": lambda: table(read())}))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit("usage: python -m reproduction.reliability [write]")
    if not sys.argv[1:]:
        collect()
    write()
