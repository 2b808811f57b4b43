"""Studies of incomplete rows and of data with equal rows, computed again from scratch."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB

from hietan import HieTANLite
from hietan._io.tables import read_csv
from hietan.catalogue import StudyOptions, read_study_file, run_named_study
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import compare_studies, run_study
from hietan.evaluation._outputs.figures import write_figures
from hietan.evaluation._outputs.tables import write_tables
from hietan.evaluation._study.compare import bootstrap_studies
from hietan.exceptions import StudyError
from hietan.report._study_page import study_summary
from hietan.scores import METRICS, auc_score, compute_metrics, gmean_score

METHODS = {"nb": BernoulliNB(), "lr": LogisticRegression(), "lite": HieTANLite()}
DATA = make_hierarchical_classification(90, 25, random_state=3)
SHARES = (0.3, 0.7)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("times.csv", ".lock"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def groups_of(data):
    """The number of each row's first equal."""
    first = {}
    return np.array([first.setdefault(tuple(row), i) for i, row in enumerate(data.X.toarray().tolist())])


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lossy") / "study"
    results = run_study([DATA], METHODS, cv=3, seeds=2, lose=(0.7, 0.3), output=folder)
    return results, folder


@pytest.fixture(scope="module")
def untested(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untested") / "study"
    options = {"equal_rows": "not-tested", "explain": True}
    return run_study([DATA], METHODS, cv=3, seeds=2, output=folder, **options), folder


def test_incomplete_rows_are_predicted_by_the_models_of_complete_rows(lossy):
    results, folder = lossy
    assert list(results.incomplete) == [0, *SHARES] and results.incomplete[0] == results.summary
    for share in SHARES:
        found = {(row.method, row.seed): row for row in results.incomplete[share]}
        for seed in (0, 1):
            damaged = DATA.hierarchy.lose_annotations(DATA.X, share, seed)
            proba = np.empty((len(DATA.y), 2))
            for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(DATA.X, DATA.y):
                model = LogisticRegression(random_state=seed).fit(DATA.X[train], DATA.y[train])
                proba[test] = model.predict_proba(damaged[test])
            expected = compute_metrics(DATA.y, proba.argmax(axis=1), proba)
            row = found["lr", seed]
            assert row.positive == "class1"
            assert [row[name] for name in METRICS] == pytest.approx(list(expected.values()))
    lines = list(read_csv(folder / "incomplete.csv"))
    assert len(lines) == 3 * 2 * 3 and {line["share_lost"] for line in lines} == {"0.0", "0.3", "0.7"}


def test_a_study_of_complete_rows_leaves_no_trace_of_the_options(tmp_path):
    results = run_study([DATA], {"nb": BernoulliNB()}, cv=3, lose=(0,), output=tmp_path)
    assert not results.incomplete and not (tmp_path / "incomplete.csv").exists()
    assert {"lose", "equal_rows"}.isdisjoint(results.manifest)
    assert b"incomplete" not in b"".join(contents(tmp_path).values())
    assert "tested" not in (tmp_path / "predictions.csv").read_text().partition("\n")[0]


@pytest.mark.parametrize(
    "where", [{"n_jobs": 2}, pytest.param({"backend": "processes", "n_jobs": 2}, marks=pytest.mark.patient)]
)
def test_incomplete_rows_give_the_same_bytes_everywhere(lossy, where, tmp_path):
    run_study([DATA], METHODS, cv=3, seeds=2, lose=SHARES, output=tmp_path / "again", **where)
    assert contents(tmp_path / "again") == contents(lossy[1])


def test_an_interrupted_study_of_incomplete_rows_is_resumed(lossy, tmp_path):
    def stop(state):
        if state.done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study([DATA], METHODS, cv=3, seeds=2, lose=SHARES, output=tmp_path, progress=stop)
    with pytest.raises(StudyError, match=r"lose was \[0.3, 0.7\] and is now \[0.3\]"):
        run_study([DATA], METHODS, cv=3, seeds=2, lose=[0.3], output=tmp_path)
    with pytest.raises(StudyError, match="equal_rows was not set and is now not-tested"):
        run_study([DATA], METHODS, cv=3, seeds=2, lose=SHARES, equal_rows="not-tested", output=tmp_path)
    resumed = []
    run_study([DATA], METHODS, cv=3, seeds=2, lose=SHARES, output=tmp_path, progress=resumed.append)
    assert resumed[-1].resumed == 7 and contents(tmp_path) == contents(lossy[1])


def test_tables_figures_and_report_show_the_means(lossy):
    results, folder = lossy
    means = {
        share: np.mean([row["auc"] for row in rows if row.method == "lr"])
        for share, rows in results.incomplete.items()
    }
    written = {path.name: path for path in [*write_tables(results, folder), *write_figures(results, folder)]}
    table = written["auc-untuned-incomplete.md"].read_text()
    assert "| lr | " in table
    cells = next(line for line in table.splitlines() if line.startswith("| lr")).replace("*", "").split(" | ")
    assert [cell.strip(" |") for cell in cells[1:]] == [f"{mean:.3f}" for mean in means.values()]
    assert {f"{metric}-untuned-incomplete.svg" for metric in ("auc", "gmean", "average_precision")} <= set(
        written
    )
    shown = next(table for table in study_summary(folder)["incomplete"] if table["metric"] == "auc")
    assert shown["shares"] == list(means)
    assert [row[1] for row in shown["means"]] == pytest.approx(list(means.values()), abs=1e-4)


@pytest.mark.parametrize("lose", [[1.5], [-0.1], [0.3, 0.3], ["0.3"], [float("nan")]])
def test_invalid_shares(lose):
    with pytest.raises(StudyError, match="lose is .*; expected different numbers from 0 to 1"):
        run_study([DATA], METHODS, lose=lose)


def test_losses_need_a_hierarchy():
    bare = SimpleNamespace(X=DATA.X, y=DATA.y, name="bare")
    with pytest.raises(StudyError, match="lose needs a hierarchy, but dataset bare has none"):
        run_study([bare], {"nb": BernoulliNB()}, cv=3, lose=[0.3])


def test_equal_rows_share_a_fold():
    results = run_study([DATA], {"nb": BernoulliNB()}, cv=3, seeds=2, equal_rows="same-fold")
    groups = groups_of(DATA)
    assert len(set(groups)) < len(groups)
    for seed in (0, 1):
        expected = np.empty(len(groups), dtype=int)
        splitter = StratifiedGroupKFold(3, shuffle=True, random_state=seed)
        numbers = np.unique(groups, return_inverse=True)[1]
        for k, (_, test) in enumerate(splitter.split(DATA.X, DATA.y, numbers)):
            expected[test] = k
        fold = results.study.folds["synthetic", seed]
        assert np.array_equal(fold, expected)
        assert all(len(set(fold[groups == g])) == 1 for g in groups)
    assert results.manifest["cv"] == "3 folds, equal rows together"
    assert results.manifest["equal_rows"] == "same-fold"


def test_rows_with_an_equal_are_predicted_but_not_tested(untested):
    results, folder = untested
    usual = run_study([DATA], METHODS, cv=3, seeds=2)
    groups = groups_of(DATA)
    alone = np.array([np.sum(groups == g) == 1 for g in groups])
    assert 0 < alone.sum() < len(alone)
    for row in results.summary:
        key = next(key for key, method in results.study.methods.items() if method.name == row.method)
        pooled, other = (r.predictions["synthetic", key, row.seed] for r in (results, usual))
        assert np.array_equal(pooled.log_proba, other.log_proba)
        assert row.n_rows == alone.sum()
        assert row["gmean"] == gmean_score(DATA.y[alone], pooled.predicted[alone])
        assert row["auc"] == auc_score(DATA.y[alone], pooled.log_odds[alone])
    lines = list(read_csv(folder / "predictions.csv"))
    assert [line["tested"] == "1" for line in lines[: len(alone)]] == alone.tolist()
    per_fold = [int(line["n_rows"]) for line in read_csv(folder / "folds.csv")]
    assert sum(per_fold) == len(results.summary) * alone.sum()


def test_draws_curves_and_reports_leave_out_rows_that_are_not_tested(untested):
    results, folder = untested
    (ranking,) = compare_studies([folder], metric="gmean")
    drawn, again = results.bootstrap(results.rankings[0]), bootstrap_studies([folder], ranking)
    assert np.array_equal(drawn.mean_gmean, again.mean_gmean)
    shown = study_summary(folder)
    (dataset,) = shown["datasets"]
    assert shown["about"]["equal_rows"] == "not-tested"
    assert dataset["equal_rows"]["rows"] == DATA.equal_rows.rows and len(dataset["genes"]) == len(DATA.y)
    for k, name in enumerate(METHODS):
        mean = np.mean([row["auc"] for row in results.summary if row.method == name])
        assert dataset["quality"]["methods"][k]["scores"]["auc"][0] == pytest.approx(mean, abs=1e-4)
        assert np.sum(dataset["quality"]["methods"][k]["confusion"]) == results.summary[0].n_rows
        assert sum(shown["reliability"]["synthetic"][k][2]) == results.summary[0].n_rows


def test_what_cannot_be_done_about_equal_rows_is_refused():
    with pytest.raises(StudyError, match="equal_rows is 'drop'; expected one of keep, same-fold, not-tested"):
        run_study([DATA], METHODS, equal_rows="drop")
    groups = {DATA.instance_names[0]: "a"}
    with pytest.raises(StudyError, match="are mutually exclusive"):
        run_study([DATA], METHODS, equal_rows="same-fold", row_groups=groups)
    twice = DATA.subset(np.repeat(np.arange(30), 2))
    twice = replace(twice, instance_names=tuple(map(str, range(60))))
    with pytest.raises(
        StudyError,
        match="dataset synthetic: every row of class 0 is identical to another row, so none of them would be tested",
    ):
        run_study([twice], METHODS, cv=3, equal_rows="not-tested")


def test_options_are_named_in_commands_and_study_files(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'data = "synthetic-0"\nmethods = "bernoulli-nb"\nfolds = 3\nlose = 0.5\nequal-rows = "not-tested"'
    )
    options = read_study_file(file)
    assert options.command().endswith("--lose 0.5 --equal-rows not-tested")
    results = run_named_study(options)
    assert list(results.incomplete) == [0, 0.5] and results.study.equal_rows == "not-tested"
    assert StudyOptions(["a"], ["b"], lose=[0.7, 0.3]).command().endswith("--lose 0.3,0.7")
    file.write_text('data = "synthetic-0"\nmethods = "bernoulli-nb"\nlose = "half"')
    with pytest.raises(StudyError, match="lose is 'half'; expected a number or a list of numbers"):
        read_study_file(file)
