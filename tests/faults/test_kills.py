"""Killed at any moment and called again, a command ends with the same bytes as one that ran undisturbed."""

import hashlib
import random
import signal
import time
from pathlib import Path

import pytest

from hietan._io.files import TEMPORARY
from support.faults import SEED, Faults, number_of, text_files
from support.faults.commands import file_events, files_in, make_commands
from support.file_server import serving

KILLS = number_of("KILLS", 14)
SHARES = {
    **dict.fromkeys(("build", "fit", "predict", "fetch", "fetch again", "report"), 1),
    **{"study": 3, "study in processes": 2},
}
FORMER = b"the former file\n"
FORMER_RECORD = f"{hashlib.sha256(FORMER).hexdigest()}  go-basic.obo\n".encode()


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    served = tmp_path_factory.mktemp("served")
    (served / "ontology").mkdir()
    (served / "ontology" / "go-basic.obo").write_text(text_files.OBO + "! filling\n" * 400_000)
    with serving(served) as server:
        yield make_commands(tmp_path_factory.mktemp("inputs"), f"{server.address}/well")


def kill_at_random(rng, command, out, seconds, events):
    """Run the command, and kill it at a random time or when it is about to touch a file; whether it was killed."""
    if rng.random() < 0.6:
        process = command.start(out, kill_at=rng.randint(1, events))
    else:
        process = command.start(out)
        time.sleep(rng.random() * seconds)
        process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


WAITS = ("study in processes",)  # for the start of processes, again and again


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.patient] * (name in WAITS)) for name in SHARES]
)
def test_kill_and_run_again(tmp_path, commands, name):
    command, rng = commands[name], random.Random(f"{SEED} {name}")
    faults = Faults(f"kills of {name}")
    calm = tmp_path / "calm"
    calm.mkdir()
    start = time.monotonic()
    assert command.run(calm)[0] == 0
    seconds, events, expected = time.monotonic() - start, file_events(calm), files_in(calm)
    out, tries = tmp_path / "out", 0
    while faults.injected < -(-KILLS * SHARES[name] // sum(SHARES.values())):
        tries += 1
        assert tries < 20 + 3 * KILLS, "the command ends before it is killed"
        out.mkdir(exist_ok=True)
        if not command.resumable and name != "fetch":  # which downloads what is not there
            for path in expected:
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                (out / path).write_bytes(FORMER_RECORD if path.endswith(".sha256") else FORMER)
        jobs = finished_jobs(out)
        if not kill_at_random(rng, command, out, seconds, events):
            continue
        faults.injected += 1
        if finished_jobs(out) < jobs:
            faults.note("lost", f"{name} {tries}: of {jobs} finished jobs, {finished_jobs(out)} are left")
        found = files_in(out)
        for path, content in found.items():
            whole = content in (FORMER, expected.get(path)) or path.endswith((".jsonl", ".sha256"))
            if not is_temporary(path) and not whole:
                faults.note("lost", f"{name} {tries}: {path} is neither the former nor the new file")
            if command.server and f"{path}.sha256" in expected:
                check_record(faults, f"{name} {tries}", content, found.get(f"{path}.sha256", b""))
        if not command.resumable or rng.random() < 0.3:
            run_again(faults, command, out, expected, f"{name} {tries}")
    if out.exists():
        run_again(faults, command, out, expected, name)
    faults.finish()


def is_temporary(path):
    """Whether a killed process may leave the file: ours, or one of pooch."""
    return Path(path).name.startswith((TEMPORARY, "tmp"))


def check_record(faults, case, content, record):
    """A file that was downloaded is never without a record of its hash."""
    if hashlib.sha256(content).hexdigest().encode() not in record:
        faults.note("lost", f"{case}: the record of the download says {record}")


def finished_jobs(out):
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("*.jsonl"))


def run_again(faults, command, out, expected, case):
    """Run the command undisturbed and compare every byte; begin the next case in an empty directory."""
    code, errors = command.run(out)
    if code or "Traceback" in errors:
        faults.note("foreign", f"{case}: exit code {code}: {errors[-500:]}")
    found = files_in(out)
    different = [path for path in expected if found.get(path) != expected[path]]
    more = [path for path in found if path not in expected and not is_temporary(path)]
    if different or more:
        faults.note("changed", f"{case}: different or missing: {different}; not expected: {more}")
    out.rename(out.with_name(f"done-{time.monotonic_ns()}"))
