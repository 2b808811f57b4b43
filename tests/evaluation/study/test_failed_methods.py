"""No method disappears: dense rows for whoever needs them, and every failure where results are read."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._outputs.tables import write_tables
from hietan.exceptions import FailedMethodWarning
from hietan.report._study_page import study_summary
from hietan.scores import cross_validate
from hietan.scores.cross_validation import rows_for
from support.processes import contents

DATASETS = [replace(make_hierarchical_classification(60, 12, random_state=k), name=f"d{k}") for k in range(3)]


class Fails(BernoulliNB):
    """Fails on rows of these datasets, which it knows by their number of ones."""

    def __init__(self, bad=()):
        super().__init__()
        self.bad = bad

    def fit(self, X, y):
        if not self.bad or int(X.sum()) in self.bad:
            raise TypeError("not with <these> rows")
        return super().fit(X, y)


class NoTags:
    """A classifier without scikit-learn's base class, and so without tags."""


@pytest.mark.parametrize(
    "classifier",
    [
        HistGradientBoostingClassifier(max_iter=3),
        make_pipeline(MaxAbsScaler(), LinearDiscriminantAnalysis()),  # only the second step needs dense rows
    ],
    ids=["alone", "in a pipeline"],
)
def test_a_classifier_that_refuses_sparse_rows_gets_dense_ones(classifier):
    with pytest.raises(TypeError, match="dense"):
        classifier.fit(DATASETS[0].X, DATASETS[0].y)
    results = run_study(DATASETS[:1], {"dense": classifier}, cv=3, lose=[0.5], positive="class1")
    assert results.failures == () and len(results.incomplete[0.5]) == 1
    data = DATASETS[0]
    as_array = SimpleNamespace(X=data.X.toarray(), y=data.y, name="d0")
    expected = run_study([as_array], {"dense": classifier}, cv=3, positive="1").summary
    assert [row.metrics for row in results.summary] == [row.metrics for row in expected]
    pooled = [cross_validate(classifier, each, n_splits=3).log_proba for each in (data, as_array)]
    assert np.array_equal(*pooled)


class Remembers(ClassifierMixin, BaseEstimator):
    """Accepts sparse rows, and would notice dense ones."""

    def fit(self, X, y):
        assert issparse(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert issparse(X)
        return np.repeat(self.classes_[:1], X.shape[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def test_whoever_accepts_sparse_rows_or_has_no_tags_gets_them_as_they_are():
    assert run_study(DATASETS[:1], {"sparse": Remembers()}, cv=3).failures == ()
    assert len(cross_validate(Remembers(), DATASETS[0], n_splits=3).predicted) == 60
    assert issparse(rows_for(NoTags(), DATASETS[0].X))


def test_a_method_that_fails_in_every_fold_of_the_first_dataset_stops_there(tmp_path):
    methods = {"broken": Fails(), "NB": BernoulliNB()}
    seen = []
    with pytest.warns(FailedMethodWarning) as warned:
        results = run_study(DATASETS, methods, cv=3, seeds=2, output=tmp_path / "one", progress=seen.append)
    error = "TypeError: not with <these> rows"
    line = f"broken failed on 3 of 3 datasets (every fold of d0 failed, so it was not run on the others): {error}"
    assert [str(one.message) for one in warned] == [line] and results.failure_lines == (line,)
    assert issubclass(FailedMethodWarning, RuntimeWarning)
    assert (seen[-1].done, seen[-1].failed) == (36, 18)
    errors = {
        dataset: {f.error for f in results.failures if f.dataset == dataset} for dataset in ("d0", "d1", "d2")
    }
    stopped = {f"not run, because every fold of d0 failed: {error}"}
    assert errors == {"d0": {error}, "d1": stopped, "d2": stopped}
    with pytest.warns(FailedMethodWarning):
        run_study(DATASETS, methods, cv=3, seeds=2, output=tmp_path / "two", n_jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_method_that_fails_in_some_folds_goes_on(tmp_path):
    """The number of ones in a fold's training rows tells the fold."""
    plan = run_study(DATASETS[:1], {"NB": BernoulliNB()}, cv=3).study
    ones = [int(DATASETS[0].X[np.flatnonzero(plan.folds["d0", 0] != k)].sum()) for k in range(3)]
    with pytest.warns(FailedMethodWarning, match="^some failed on 1 of 3 datasets: TypeError"):
        results = run_study(DATASETS, {"some": Fails(tuple(ones[:1])), "NB": BernoulliNB()}, cv=3)
    assert [(f.dataset, f.fold) for f in results.failures] == [("d0", 0)]
    assert [row.dataset for row in results.summary if row.method == "some"] == ["d1", "d2"]


def test_what_was_not_run_is_run_again_on_request(tmp_path):
    methods = {"broken": Fails(), "NB": BernoulliNB()}
    progress = []
    with pytest.warns(FailedMethodWarning):
        run_study(DATASETS, methods, cv=3, output=tmp_path)
    with pytest.warns(FailedMethodWarning):
        run_study(DATASETS, methods, cv=3, output=tmp_path, retry_failed=True, progress=progress.append)
    assert (progress[0].done, progress[-1].done, progress[-1].failed) == (9, 18, 9)


def test_failures_are_in_every_table_and_in_the_report(tmp_path):
    methods = {"broken": Fails(), "NB": BernoulliNB()}
    with pytest.warns(FailedMethodWarning):
        results = run_study(DATASETS, methods, cv=3, output=tmp_path)
    (line,) = results.failure_lines
    written = write_tables(results, tmp_path)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex"}
    for path in written:
        text = path.read_text()
        if path.suffix == ".md":
            assert f"\n{line.replace('<', '&lt;')}\n" in text  # shown, not in a comment
        else:
            assert text.startswith(f"{'%' if path.suffix == '.tex' else '#'} {line}\n")
    page = study_summary(tmp_path)
    assert page["about"]["failed"] == (line,)
    assert page["verdict"] == "" or "broken" not in page["verdict"]
