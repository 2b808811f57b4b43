"""Options of studies, and the files that hold them."""

import shlex

import pytest

from hietan.catalogue import StudyOptions, read_study_file, run_named_study
from hietan.exceptions import HietanError, StudyError
from support.processes import contents

BEGIN = 'data = "CE-BP"\nmethods = "tan"\n'


def test_a_file_holds_the_options_of_the_command(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'data = ["synthetic-0", "mine.hietan"]\nmethods = "tan"\nfolds = 3\nseeds = 2\nalpha = [1, 0.5]\n'
        'smoothing = "pooled"\nlam = "tuned"\ntune-alpha = true\nusage = false\nmin-support-in-folds = 5\n'
        'jobs = -1\nbackend = "dask"\nscheduler = "tcp://host:8786"\n'
    )
    assert read_study_file(file) == StudyOptions(
        data=["synthetic-0", "mine.hietan"],
        methods=["tan"],
        folds=3,
        seeds=2,
        alpha=[1, 0.5],
        smoothing=["pooled"],
        lam="tuned",
        tune_alpha=True,
        usage=False,
        min_support_in_folds=5,
        jobs=-1,
        backend="dask",
        scheduler="tcp://host:8786",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('dta = ["CE-BP"]\nmethods = "tan"', "unknown key 'dta'; did you mean 'data'?"),
        (f"{BEGIN}fold = 3", "unknown key 'fold'; did you mean 'folds'?"),
        ('data = "CE-BP"', "the key 'methods' is missing"),
        (f'{BEGIN}folds = "ten"', "folds is 'ten'; expected a whole number above 1"),
        (f"{BEGIN}folds = true", "folds is True; expected a whole number above 1"),
        (f"{BEGIN}usage = 1", "usage is 1; expected true or false"),
        (f"{BEGIN}min_support_in_folds = 0", "min_support_in_folds is 0; expected a whole number above 0"),
        ('data = [3]\nmethods = "tan"', "data is [3]; expected a name or a list of names"),
        (f"{BEGIN}scheduler = 8786", "scheduler is 8786; expected an address such as tcp://"),
        (f"{BEGIN}jobs = 0", "study.toml: jobs is 0; expected a whole number other than 0"),
        (
            f"{BEGIN}lam = 0.1\nlam-relative = 0.1",
            "lam and lam_relative are mutually exclusive (got 0.1 and 0.1); set",
        ),
        (f"{BEGIN}lam-relative = true", "lam_relative is True; expected a number from 1e-10 to 1"),
        (
            f'{BEGIN}lam = "tuned"\nlam-criterion = "f1"',
            "lam_criterion is 'f1'; expected one of log_loss, auc, gmean",
        ),
        (f'{BEGIN}lam-criterion = "auc"', "lam_criterion is 'auc', but lambda is not tuned"),
        (f"{BEGIN}lam = -1", "lam is -1; expected a number above 0, or 'tuned'"),
        ("data = ", "is not a valid TOML file"),
    ],
)
def test_mistakes_in_a_file(tmp_path, content, message):
    file = tmp_path / "study.toml"
    file.write_text(content)
    with pytest.raises(HietanError) as caught:
        read_study_file(file)
    assert message in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(StudyError, match=r"there is no study file .*none.toml; check the path"):
        read_study_file(tmp_path / "none.toml")


def test_another_place_to_run_leaves_the_study_as_it_is():
    options = StudyOptions(["CE-BP"], ["tan"], jobs=3, backend="dask", scheduler="tcp://a:1")
    assert options.run_where() == options
    elsewhere = options.run_where(backend="threads")
    assert (elsewhere.jobs, elsewhere.backend, elsewhere.scheduler) == (3, "threads", None)
    same = options.run_where(jobs=1, backend="dask")
    assert (same.jobs, same.scheduler) == (1, "tcp://a:1")
    assert options.run_where(scheduler="tcp://b:2").scheduler == "tcp://b:2"
    assert elsewhere.command() == options.command()


def test_the_command_can_be_pasted_into_a_shell():
    names = ["my genes; rm.hietan", "it's.hietan"]
    words = shlex.split(StudyOptions(names, ["sklearn.svm.SVC:kernel='rbf',C=$HOME"]).command())
    assert words[:6] == ["hietan", "study", "--data", names[0], "--data", names[1]]
    assert words[6:8] == ["--methods", "sklearn.svm.SVC:kernel='rbf',C=$HOME"]


def test_a_study_runs_and_resumes_from_python(tmp_path):
    options = StudyOptions(["synthetic-0"], ["tan", "hie-tan"], folds=3)
    seen = []
    results = run_named_study(options, tmp_path / "out", progress=seen.append)
    assert [row.method for row in results.summary] == ["tan", "hie-tan"]
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (0, 6, 6)
    before = contents(tmp_path / "out")
    again = run_named_study(options.run_where(jobs=2), tmp_path / "out", progress=seen.append)
    assert seen[-1].resumed == 6 and again.summary == results.summary
    assert contents(tmp_path / "out") == before


def test_rows_are_explained_by_the_jobs_that_predict(tmp_path):
    options, seen = StudyOptions(["synthetic-0"], ["tan", "bernoulli-nb", "hip-nb"], folds=2), []
    results = run_named_study(options, tmp_path, progress=seen.append, explain=True)
    assert [(state.done, state.total) for state in seen] == [(done, 6) for done in range(7)]
    assert {key.split()[0] for _, key in results.explained} == {"tan", "hip-nb"}
    run_named_study(options, tmp_path, progress=seen.append, explain=True)
    assert [(state.done, state.resumed) for state in seen[7:]] == [(6, 6)]
    assert run_named_study(options, explain=True).explained.keys() == results.explained.keys()
    with pytest.raises(StudyError, match="no dataset in the study contains row 'nobody'"):
        run_named_study(options, rows=["nobody"])
