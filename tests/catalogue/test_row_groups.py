"""Studies with any splitter and with rows that stay together; results of different folds never mix."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from typer.testing import CliRunner

from hietan import TAN
from hietan.catalogue._studies import StudyOptions, read_row_groups
from hietan.cli._app import make_app
from hietan.evaluation import run_study
from hietan.exceptions import StudyError

RNG = np.random.default_rng(0)
NAMES = [f"g{k}" for k in range(30)]
DATA = SimpleNamespace(
    name="tiny",
    X=RNG.integers(0, 2, (30, 4)),
    y=np.arange(30) % 2,
    instance_names=NAMES,
)
FAMILIES = {name: f"family {k // 4}" for k, name in enumerate(NAMES[:20])}
METHODS = {"TAN": TAN(random_state=0)}


def folds_of(results, seed=0):
    (found,) = [value.fold for key, value in results.predictions.items() if key[2] == seed]
    return found


def test_rows_of_a_group_are_set_aside_together():
    results = run_study([DATA], METHODS, cv=3, seeds=2, row_groups=FAMILIES)
    for seed in (0, 1):
        fold = folds_of(results, seed)
        for k in range(5):
            assert len(set(fold[4 * k : 4 * k + 4].tolist())) == 1
        assert sorted(set(fold.tolist())) == [0, 1, 2]
    assert not results.failures


@pytest.mark.parametrize(
    ("splitter", "seeded"),
    [
        (KFold(4), KFold(4)),
        (KFold(4, shuffle=True), KFold(4, shuffle=True, random_state=1)),
        (StratifiedKFold(2, shuffle=True, random_state=5), StratifiedKFold(2, shuffle=True, random_state=5)),
        (PredefinedSplit(np.arange(30) % 7), PredefinedSplit(np.arange(30) % 7)),
    ],
    ids=str,
)
def test_any_splitter_that_sets_each_row_aside_once(splitter, seeded):
    results = run_study([DATA], METHODS, cv=splitter, seeds=2)
    assert not results.failures and len(results.summary) == 2
    for k, (_, test) in enumerate(seeded.split(DATA.X, DATA.y)):
        assert (folds_of(results, 1)[test] == k).all()


def test_splitters_get_the_groups():
    thirds = {name: str(k % 3) for k, name in enumerate(NAMES)}
    for splitter in (GroupKFold(3), LeaveOneGroupOut()):
        results = run_study([DATA], METHODS, cv=splitter, row_groups=thirds)
        fold = folds_of(results)
        assert fold.max() == 2 and all(len(set(fold[k::3].tolist())) == 1 for k in range(3))


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")
@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2), None, "is in two folds"),
        (TimeSeriesSplit(3), None, "some rows are neither training rows nor held out in fold "),
        (PredefinedSplit(np.r_[[-1], np.arange(29) % 3]), None, "never hold out row 0"),
        (PredefinedSplit(np.arange(30) % 2), None, "leaves no training row of class 0"),
        (KFold(3), FAMILIES, "splits the group"),
        (
            3,
            {"stranger": "a"},
            r"row_groups contains none of the datasets' row names \(it begins with 'stranger'\)",
        ),
        ("five", None, "expected a number of folds, or a scikit-learn splitter"),
        (True, None, "expected a number of folds, or a scikit-learn splitter"),
        (1, None, "expected at least 2 folds"),
    ],
)
def test_folds_that_cannot_be_pooled_are_refused(cv, groups, message):
    with pytest.raises(StudyError, match=message):
        run_study([DATA], METHODS, cv=cv, row_groups=groups)


def test_results_of_different_folds_never_mix(tmp_path):
    run_study([DATA], METHODS, cv=3, output=tmp_path / "plain")
    plain = json.loads((tmp_path / "plain" / "study.json").read_text())
    assert plain["cv"] == 3 and " " not in plain["datasets"]["tiny"]
    for there, other in (
        ({"cv": 3}, {"cv": 3, "row_groups": FAMILIES}),
        ({"cv": KFold(3)}, {"cv": KFold(4)}),
        ({"cv": PredefinedSplit(np.arange(30) % 3)}, {"cv": PredefinedSplit(np.arange(30) // 10)}),
        ({"cv": 3, "row_groups": FAMILIES}, {"cv": 3, "row_groups": dict.fromkeys(NAMES[:4], "a")}),
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        first = run_study([DATA], METHODS, output=folder, **there)
        again = run_study(
            [DATA], METHODS, output=folder, progress=lambda p: p.resumed or pytest.fail("ran"), **there
        )
        assert again.summary == first.summary
        with pytest.raises(StudyError, match="belongs to a different study"):
            run_study([DATA], METHODS, output=folder, **other)
    assert json.loads((folder / "study.json").read_text())["cv"] == "3 folds, groups of rows"


def test_groups_of_rows_are_read_from_a_file(tmp_path):
    path = tmp_path / "groups.tsv"
    path.write_text("# gene\tfamily\ng0\tone\ng1 , two\n\ng2\tone\n", encoding="utf-8")
    assert read_row_groups(path) == {"g0": "one", "g1": "two", "g2": "one"}
    options = StudyOptions(["synthetic-0"], ["tan"], groups=str(path))
    assert options.command().endswith(f"--groups {path}")
    for content, message in (
        ("g0\n", "line 1: expected a row name and its group"),
        ("a,b\na,c", "line 2: row 'a'"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(StudyError, match=message):
            read_row_groups(path)
    with pytest.raises(StudyError, match="cannot be read from"):
        read_row_groups(tmp_path / "none")


def test_the_command_takes_groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("elsewhere,one\n", encoding="utf-8")
    arguments = [
        "study",
        "--data",
        "synthetic-0",
        "--methods",
        "bernoulli-nb",
        "--folds",
        "2",
        "--groups",
        str(path),
    ]
    ran = CliRunner().invoke(make_app(), [*arguments, "-o", str(tmp_path / "out")])
    assert ran.exit_code == 2 and not (tmp_path / "out").exists()
