"""A running study's directory: its description and every finished job, safe against any interruption.

`study.json` describes the study. `jobs/DATASET/METHOD.jsonl` contains a line per finished job. Each line begins with
a checksum and is written with one call, so a truncated line is detected and its job is run again. The checksum
depends on everything that determines a job's result, so the line of another job is never used by mistake. When all
jobs are done, the lines are sorted. Only `times.csv` contains times: two runs of a study write the same bytes
elsewhere.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.files import (
    TEMPORARY,
    atomic_write,
    find_same_but_for_case,
    ignores_case,
    lock_file,
    refuse_special,
    safe_file_name,
    to_json,
)
from hietan._io.tables import csv_text, restore_text
from hietan.evaluation._usage import FeatureUsage
from hietan.exceptions import StudyError
from hietan.scores.scores import Scores

FORMAT = 4
"""The format of a study's directory."""
LOCK = ".lock"
TIMES = ("dataset", "method", "setting", "tuning", "seed", "fold", "fit_seconds", "predict_seconds")


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Prevent a second run in the directory. The lock ends when its process ends, even if the process is killed."""
    refuse_special(directory / LOCK)
    with open(directory / LOCK, "a") as file:
        try:
            lock_file(file.fileno())
        except BlockingIOError:
            raise StudyError(
                f"another run is writing to {directory}; wait until it ends, or choose another directory"
            ) from None
        yield


def refuse_other(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Raise StudyError if a directory is not empty and does not belong to this study."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise StudyError(f"{directory} is a file; choose a directory for the study")
    if (directory / "study.json").exists():
        _refuse_difference(directory, read_manifest(directory), manifest)
    elif any(entry.name != LOCK and not entry.name.startswith(TEMPORARY) for entry in directory.iterdir()):
        raise StudyError(f"{directory} is not empty and does not contain a study; choose another directory")


def claim(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Claim the directory for this study if necessary. Raise StudyError if the directory belongs to another study."""
    refuse_other(directory, manifest)
    _refuse_shared_files(directory, manifest)
    if not (directory / "study.json").exists():
        atomic_write(directory / "study.json", to_json(manifest))


def _refuse_shared_files(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Raise StudyError if two datasets or methods would share a file on a file system that ignores case."""
    for what in ("datasets", "methods"):
        pair = find_same_but_for_case(manifest[what])
        if pair is not None and ignores_case(directory / LOCK):
            raise StudyError(
                f"the names of the {what} {pair[0]!r} and {pair[1]!r} differ only in case, but the file system of "
                f"{directory} ignores case. They would share files; rename one of them, or choose another "
                "directory"
            )


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return a study's description from the file `study.json` in its directory."""
    path = directory / "study.json"
    refuse_special(path)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        known = manifest["format"] == FORMAT
    except FileNotFoundError:
        raise StudyError(
            f"{directory} does not contain a study, because the file study.json is missing; check the path"
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StudyError(
            f"{path} is not a valid study description; run the study again in another directory"
        ) from None
    if not known:
        raise StudyError(
            f"{path} uses format {manifest['format']!r:.40}, but this version of hietan reads format {FORMAT}; "
            "run the study again in another directory"
        )
    return dict(manifest)


class Journal:
    """One method's finished jobs on one dataset, in one file.

    Parameters
    ----------
    directory : Path
        The study's directory.
    manifest : mapping
        The description of the study, as in `study.json`.
    dataset, method : str
        The dataset's name and the method's key.
    """

    def __init__(self, directory: Path, manifest: Mapping[str, Any], dataset: str, method: str) -> None:
        self.path = directory / "jobs" / safe_file_name(dataset) / f"{safe_file_name(method)}.jsonl"
        self._key = journal_key(manifest, dataset, method)

    def read(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Return the jobs by (seed, fold), and remove damaged lines and lines of other studies from the file."""
        refuse_special(self.path)
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        jobs = [job for job in map(self._decode, lines) if job is not None]
        if len(jobs) < len(lines):
            atomic_write(self.path, b"".join(map(self._encode, jobs)))
        return {(job["seed"], job["fold"]): job for job in jobs}

    def append(self, job: Mapping[str, Any]) -> None:
        """Append a job to the file with a single write."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab", buffering=0) as file:
            _write_whole(file, self._encode(job))

    def seal(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Sort the file's lines, and return the jobs in this order."""
        jobs = dict(sorted(self.read().items()))
        data = b"".join(map(self._encode, jobs.values()))
        if jobs and self.path.read_bytes() != data:
            atomic_write(self.path, data)
        return jobs

    def line_of(self, text: bytes) -> bytes:
        """Return a line with a text's checksum, a space, and the text."""
        return b"%s %s\n" % (self._checksum(text), text)

    def _checksum(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, digest_size=8, key=self._key).hexdigest().encode()

    def _encode(self, job: Mapping[str, Any]) -> bytes:
        return self.line_of(json.dumps(job, separators=(",", ":")).encode())

    def _decode(self, line: bytes) -> dict[str, Any] | None:
        check, _, text = line.rstrip(b"\n").partition(b" ")
        if not line.endswith(b"\n") or check != self._checksum(text):
            return None
        try:
            job = json.loads(text)
        except (ValueError, RecursionError):
            return None
        is_job = isinstance(job, dict) and all(type(job.get(key)) is int for key in ("seed", "fold"))
        return job if is_job else None


def journal_key(manifest: Mapping[str, Any], dataset: str, method: str) -> bytes:
    """Return a hash of everything that affects a method's results on a dataset, except the seed and the fold."""
    parts = [manifest[name] for name in ("versions", "cv", "usage")]
    parts += [
        manifest["seeds"][0],
        dataset,
        manifest["datasets"][dataset],
    ]  # usage is counted in the first seed
    parts += [method, manifest["methods"][method], *manifest.get("lose", ())]
    parts += [manifest["classes"][dataset]]  # scores have a column for each class, in this order
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def append_time(folder: Path, method: Any, job: Any, seconds: tuple[float, float]) -> None:
    """Append a job's fitting and prediction times to `times.csv`."""
    path = folder / "times.csv"
    times = [f"{s:.6f}" for s in seconds]
    row = [job.dataset, method.name, method.setting, method.tuning, job.seed, job.fold, *times]
    text = csv_text(None if path.exists() else TIMES, [row])
    with open(path, "ab", buffering=0) as file:
        file.write(text.encode())


def tidy_times(folder: Path) -> None:
    """Keep only each job's last line in `times.csv`, because a killed run may have left duplicate or partial lines."""
    path = folder / "times.csv"
    if not path.exists():
        return
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        rows = [row for row in csv.reader(file) if len(row) == len(TIMES) and row != list(TIMES)]
    last = {tuple(row[:6]): row for row in rows}
    atomic_write(path, csv_text(TIMES, (map(restore_text, row) for row in last.values())))


def _write_whole(file: Any, data: bytes) -> None:
    if file.write(data) < len(data):
        raise OSError(28, "no space left on the disk", file.name)


def _refuse_difference(directory: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise StudyError if two studies differ, naming the first difference."""
    # The description of a method shows which parameter has changed; its fingerprint does not.
    first = ["format", "versions", "cv", "seeds", "usage", "datasets", "descriptions"]
    for key in dict.fromkeys([*first, *there, *asked]):
        old, new = there.get(key), asked.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            what = "method" if key == "descriptions" else key.removesuffix("s")
            difference = _difference_of_entries(what, old, new)
        else:
            difference = f"{key} was {there.get(key, 'not set')} and is now {asked.get(key, 'not set')}"
        raise StudyError(f"{directory} belongs to a different study ({difference}); choose another directory")


def _difference_of_entries(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Describe the first entry that differs between two dicts."""
    name = next(
        name
        for name in dict.fromkeys([*old, *new])
        if name not in old or name not in new or old[name] != new[name]
    )
    if name not in old:
        return f"{what} {name!r} is new"
    if name not in new:
        return f"{what} {name!r} is no longer in it"
    change = f" from {old[name]} to {new[name]}" if isinstance(old[name], str) else ""
    return f"{what} {name!r} has changed{change}"


def encode_outcome(scores: Scores, usage: FeatureUsage | None) -> dict[str, Any]:
    """Return a job's scores and feature usage as plain values."""
    outcome: dict[str, Any] = {"predicted": scores.predicted.tolist()}
    if scores.log_proba is not None:
        outcome["log_proba"] = scores.log_proba.tolist()
    if usage is not None:
        outcome["usage"] = {"selected": usage.selected.tolist(), "in_edges": usage.in_edges.tolist()}
    return outcome


def decode_scores(outcome: Mapping[str, Any], classes: tuple[str, ...]) -> Scores:
    """Return the scores of a job that did not fail."""
    logs = outcome.get("log_proba")
    predicted = np.array(outcome["predicted"], dtype=np.intp)
    return Scores(classes, predicted, None if logs is None else np.array(logs))


def decode_usage(outcome: Mapping[str, Any]) -> FeatureUsage:
    """Return the feature usage of a job that counted it."""
    columns = (np.array(outcome["usage"][name]) for name in ("selected", "in_edges"))
    return FeatureUsage(len(outcome["predicted"]), *columns)


def usage_problem(usage: FeatureUsage, n_rows: int, n_features: int) -> str | None:
    """Return why the feature usage cannot belong to these rows and columns, or None if it can."""
    if usage.n_rows != n_rows:
        return f"trees returned {usage.n_rows} trees for {n_rows} rows"
    for counts in (usage.selected, usage.in_edges):
        if counts.shape != (n_features,):
            return f"trees returned trees over {counts.size} features; expected {n_features}"
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            return "trees returned trees whose features cannot be counted"
    return (
        "trees returned trees whose features cannot be counted" if (usage.selected > n_rows).any() else None
    )
