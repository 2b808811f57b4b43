"""The directory of a study while it runs: what it is of, and every finished job, safe against any interruption.

`study.json` says what the study is. `jobs/DATASET/METHOD.jsonl` has a line per finished job, written with one call
and begun with a checksum: a line that was cut off is noticed and its job done again. When all jobs are done the lines
are put in order. Nothing here holds a time except `times.csv`, so two runs of a study leave the same bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hietan._io import TEMPORARY, atomic_write, safe_file_name, to_json
from hietan.exceptions import StudyError

FORMAT = 1
LOCK = ".lock"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep a second run out of the directory; the lock dies with its process, whatever kills it."""
    with open(directory / LOCK, "a") as file:
        try:
            import fcntl
        except ModuleNotFoundError:  # not on this system: then nobody is kept out
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StudyError(
                f"another run is writing to {directory}; wait for it or choose another directory"
            ) from None
        yield


def refuse_other(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a directory that is not empty and not that of this study."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise StudyError(f"{directory} is a file; the results of a study need a directory")
    if (directory / "study.json").exists():
        _name_difference(directory, read_manifest(directory), manifest)
    elif any(entry.name != LOCK and not entry.name.startswith(TEMPORARY) for entry in directory.iterdir()):
        raise StudyError(f"{directory} is not empty and holds no study; choose another directory")


def claim(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Make the directory that of this study, or see that it is already; refuse that of another one."""
    refuse_other(directory, manifest)
    if not (directory / "study.json").exists():
        atomic_write(directory / "study.json", to_json(manifest))


def read_manifest(directory: Path) -> dict[str, Any]:
    """What the study in a directory is of."""
    path = directory / "study.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        known = manifest["format"] == FORMAT
    except FileNotFoundError:
        raise StudyError(f"{directory} holds no study: there is no study.json in it") from None
    except (ValueError, KeyError, TypeError):
        raise StudyError(f"{path} cannot be read as the description of a study") from None
    if not known:
        raise StudyError(f"{path} has format {manifest['format']!r}; this version reads format {FORMAT}")
    return dict(manifest)


class Journal:
    """The finished jobs of one method on one dataset."""

    def __init__(self, directory: Path, dataset: str, method: str) -> None:
        self.path = directory / "jobs" / safe_file_name(dataset) / f"{safe_file_name(method)}.jsonl"

    def read(self) -> dict[tuple[int, int], dict[str, Any]]:
        """The jobs by (seed, fold); lines that were cut off are dropped, from the file too."""
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        jobs = [job for job in map(_decode, lines) if job is not None]
        if len(jobs) < len(lines):
            atomic_write(self.path, b"".join(map(_encode, jobs)))
        return {(job["seed"], job["fold"]): job for job in jobs}

    def append(self, job: Mapping[str, Any]) -> None:
        """Add a job: one write at the end of the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab", buffering=0) as file:
            _write_whole(file, _encode(job))

    def seal(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Put the lines in order, and return the jobs in it."""
        jobs = dict(sorted(self.read().items()))
        data = b"".join(map(_encode, jobs.values()))
        if jobs and self.path.read_bytes() != data:
            atomic_write(self.path, data)
        return jobs


def _write_whole(file: Any, data: bytes) -> None:
    if file.write(data) < len(data):
        raise OSError(28, "no space left on the disk", file.name)


def _encode(job: Mapping[str, Any]) -> bytes:
    text = json.dumps(job, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode(line: bytes) -> dict[str, Any] | None:
    check, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or check != b"%08x" % zlib.crc32(text):
        return None
    return dict(json.loads(text))


def _name_difference(directory: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse if two studies differ, and name the first thing in which they do."""
    for key in dict.fromkeys([*there, *asked]):
        a, b = there.get(key), asked.get(key)
        if a == b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            name = next(
                name
                for name in dict.fromkeys([*a, *b])
                if name not in a or name not in b or a[name] != b[name]
            )
            how = "is new" if name not in a else "is missing now" if name not in b else "has changed"
            difference = f"{key.removesuffix('s')} {name!r} {how}"
            if how == "has changed" and isinstance(a[name], str):
                difference += f" from {a[name]} to {b[name]}"
        else:
            difference = f"{key} was {a} and is {b}"
        raise StudyError(f"{directory} holds another study: {difference}; choose another directory")
