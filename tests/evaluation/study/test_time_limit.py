"""A time limit for jobs: what hangs is ended and has failed, and everything else is as without a limit."""

from dataclasses import replace

import psutil
import pytest
from typer.testing import CliRunner

from hietan import TAN
from hietan.catalogue import StudyOptions, read_study_file
from hietan.cli.app import make_app
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import StudyError, run_study
from support.misbehaving import Hangs, Nonsense
from support.processes import contents

DATA = replace(make_hierarchical_classification(60, 12, random_state=0), name="d")
ENOUGH = 300.0  # seconds: no job of these tests that finishes takes as long on the busiest machine
LATE = "TimeoutError: the job took longer than 4 s and was ended"


def children():
    return psutil.Process().children(recursive=True)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.patient), 2])
def test_a_limit_that_is_not_reached_changes_no_byte(n_jobs, tmp_path):
    methods = {"TAN": TAN(), "odd": Nonsense("NaN"), "bad": TAN(alpha=-1)}
    common = {"cv": 3, "seeds": 2, "n_jobs": n_jobs}
    run_study([DATA], methods, output=tmp_path / "free", **common)
    run_study([DATA], methods, output=tmp_path / "limited", job_timeout=ENOUGH, **common)
    assert contents(tmp_path / "limited") == contents(tmp_path / "free")


@pytest.mark.patient
@pytest.mark.parametrize("options", [{}, {"n_jobs": 2, "backend": "processes"}])
def test_a_job_that_hangs_has_failed_alone(options):
    methods = {"hangs": Hangs(), "TAN": TAN()}
    before = set(children())
    seen = []

    def look(progress):
        seen.append(len(set(children()) - before))

    results = run_study([DATA], methods, cv=2, seeds=3, job_timeout=4, progress=look, **options)
    assert max(seen) == options.get("n_jobs", 1)
    assert not set(children()) - before  # nothing keeps running
    dead = "BrokenProcessPool: the process of the job died"
    expected = [(1, 0, LATE), (1, 1, LATE), (2, 0, dead), (2, 1, dead)]
    assert [
        (f.seed, f.fold, f.error) for f in results.failures if f.method == "hangs @ tuned none"
    ] == expected
    rows = {(row.method, row.seed) for row in results.summary}
    assert ("hangs", 0) in rows and not rows & {("hangs", 1), ("hangs", 2)}


@pytest.mark.patient
def test_the_command(tmp_path):
    words = (
        "study --data synthetic-0 --methods support.misbehaving.Hangs:seed=0 --methods tan --folds 2 --jobs 2"
    )
    words += f" --no-figures --no-report --job-timeout 4 -o {tmp_path / 'out'}"
    result = CliRunner().invoke(make_app(), words.split())
    assert result.exit_code == 1, result.output
    assert (tmp_path / "out" / "failures.csv").read_text().count(LATE) >= 2


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "2", True])
def test_a_limit_that_makes_no_sense(seconds, tmp_path):
    message = f"job_timeout is {seconds!r}; expected a number of seconds above 0"
    with pytest.raises(StudyError, match=message):
        run_study([DATA], {"TAN": TAN()}, cv=3, output=tmp_path / "out", job_timeout=seconds)
    assert not (tmp_path / "out").exists()


@pytest.mark.patient
def test_a_limit_on_the_workers_of_a_cluster():
    before = set(children())
    methods = {"hangs": Hangs(seed=0), "TAN": TAN()}
    results = run_study([DATA], methods, cv=2, n_jobs=2, backend="dask", job_timeout=4)
    assert [(f.method, f.error) for f in results.failures] == [("hangs @ tuned none", LATE)] * 2
    assert [row.method for row in results.summary] == ["TAN"]
    assert not [child for child in set(children()) - before if "job_process" in " ".join(child.cmdline())]


def test_the_study_file(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('data = "synthetic-0"\nmethods = "tan"\njob-timeout = 60\n')
    options = read_study_file(file)
    assert options.job_timeout == 60 and options.run_where(job_timeout=5.5).job_timeout == 5.5
    assert options.command() == StudyOptions(["synthetic-0"], ["tan"]).command()  # the study is the same
    file.write_text('data = "synthetic-0"\nmethods = "tan"\njob-timeout = "long"\n')
    with pytest.raises(StudyError, match="job_timeout is 'long'; expected a number of seconds"):
        read_study_file(file)
