"""However the journals of a study are damaged, a second run ends with the same bytes, and runs only what is lost."""

import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest

from hietan import HIPNB, TAN
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._study.journal import Journal, read_manifest
from hietan.exceptions import HietanError
from support.faults import SEED, Faults, number_of
from support.processes import contents

DAMAGES = number_of("DAMAGES", 14)
FOLDS, METHODS = 3, ("TAN", "HIP")
TOTAL = 2 * 2 * len(METHODS) * FOLDS


def study(folder, first=0):
    """A small study; `first` chooses the data, whose names and shapes are always the same. What it said first."""
    said = []
    data = [
        replace(make_hierarchical_classification(40, 12, random_state=first + k), name=f"d{k}")
        for k in range(2)
    ]
    methods = dict(zip(METHODS, (TAN(), HIPNB()), strict=True))
    run_study(data, methods, cv=FOLDS, seeds=2, output=folder, progress=said.append)
    return said[0]


def flip_bit(rng, content, other, line_of):
    damaged = bytearray(content)
    damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def cut_off(rng, content, other, line_of):
    return content[: rng.integers(len(content))]


def swap_lines(rng, content, other, line_of):
    lines = content.splitlines(keepends=True)
    return b"".join(lines[i] for i in rng.permutation(len(lines)))


def splice(rng, content, other, line_of):
    """A line ends as one of another method, dataset or study."""
    lines, foreign = content.splitlines(keepends=True), other.splitlines(keepends=True)
    k = rng.integers(len(lines))
    at = rng.integers(1, len(lines[k]))
    lines[k] = lines[k][:at] + foreign[k][at - 1 :]
    return b"".join(lines)


def foreign_line(rng, content, other, line_of):
    """A whole, undamaged line of another method, dataset or study replaces the line of the same job."""
    lines, foreign = content.splitlines(keepends=True), other.splitlines(keepends=True)
    k = rng.integers(len(lines))
    lines[k] = foreign[k]
    return b"".join(lines)


def foreign_lines_follow(rng, content, other, line_of):
    """Whole, undamaged lines of another method, dataset or study follow; the last line of a job would count."""
    return content + other


def no_job(rng, content, other, line_of):
    """A line that is not a job; its checksum is right."""
    return content + line_of(NO_JOBS[rng.integers(len(NO_JOBS))])


NO_JOBS = (b"1", b"[]", b"{}", b'{"seed":0}', b'{"seed":[],"fold":0}', b"[" * 9999, b'[["a",1]]')
WAYS = (
    flip_bit,
    foreign_line,
    cut_off,
    foreign_lines_follow,
    swap_lines,
    splice,
    no_job,
)


def journal_at(folder, path):
    """The journal of a study whose file this is."""
    manifest = read_manifest(folder)
    journals = (Journal(folder, manifest, d, m) for d in manifest["datasets"] for m in manifest["methods"])
    return next(journal for journal in journals if journal.path == path)


@pytest.mark.slow
def test_a_damaged_journal(tmp_path):
    faults = Faults("damaged journals")
    calm, other = tmp_path / "calm", tmp_path / "other"
    study(calm)
    study(other, first=7)
    expected = contents(calm)
    for number in range(DAMAGES):
        rng, folder = np.random.default_rng([SEED, number]), tmp_path / f"case-{number}"
        shutil.copytree(calm, folder)
        way = WAYS[number % len(WAYS)]
        case = f"{way.__name__} {number}"
        journals = sorted(folder.rglob("*.jsonl"))
        path = journals[rng.integers(len(journals))]
        others = [journal for journal in journals if journal != path]
        elsewhere = (other / path.relative_to(folder), others[rng.integers(len(others))])[rng.integers(2)]
        line_of = journal_at(folder, path).line_of
        damaged = way(rng, path.read_bytes(), elsewhere.read_bytes(), line_of)
        whole = set(path.read_bytes().splitlines(keepends=True))
        lost = len(whole - set(damaged.splitlines(keepends=True)))
        path.write_bytes(damaged)
        faults.injected += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                said = study(folder)
        except HietanError as error:
            faults.note("lost", f"{case}: {error}")
        except Exception as error:
            faults.note("foreign", f"{case}: {type(error).__name__}: {error}")
        else:
            if (said.resumed, said.total) != (TOTAL - lost, TOTAL):
                faults.note("lost", f"{case}: {said.resumed} jobs resumed, {lost} lines lost")
            if contents(folder) != expected:
                faults.note("changed", case)
        shutil.rmtree(folder)
    faults.finish()
