"""Methods of a fold that share their counts: the same results as alone, whatever the others do, and honest times."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from hietan import HRETAN, TAN, HieAODELite, HieTAN, HieTANLite
from hietan._runtime import shared_work
from hietan.classifiers import HIPNB, _base
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.structure import EdgeRanking, count_pairs
from support.processes import contents

DATA = make_hierarchical_classification(60, 20, random_state=0)
BAYES = {
    "TAN": TAN(),
    "Hie-TAN": HieTAN(),
    "Hie-TAN-Lite": HieTANLite(),
    "HRE-TAN": HRETAN(),
    "Hie-AODE-Lite": HieAODELite(),
}


class ChangesItsRows(TAN):
    """Turns around the rows that it was given, before it is fitted to them or afterwards."""

    def __init__(self, before=True, random_state=None, hierarchy=None):
        super().__init__(random_state=random_state, hierarchy=hierarchy)
        self.before = before

    def fit(self, X, y):
        if not self.before:
            super().fit(X, y)
        X.data[::2] = 1 - X.data[::2]
        return super().fit(X, y) if self.before else self


class FailsLate(HieTANLite):
    """Counts and ranks, and then fails."""

    def _learn(self):
        super()._learn()
        raise RuntimeError("out of order")


class Unaware(ClassifierMixin, BaseEstimator):
    """A classifier that knows nothing of this package, but has a classifier of it inside."""

    def fit(self, X, y):
        self.model_ = TAN(random_state=0).fit(X[:, ::-1], y[::-1])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X[:, ::-1])


ALL = {
    **BAYES,
    "before": ChangesItsRows(),
    "after": ChangesItsRows(before=False),
    "pooled": TAN(smoothing="pooled"),
    "balanced": TAN(class_weight="balanced"),
    "strict": HieTAN(binarize=0.5),
    "fails": FailsLate(),
    "unaware": Unaware(),
    "HIP": HIPNB(),
    "tuned": GridSearchCV(HieTANLite(), {"alpha": [0.5, 2]}, cv=2, scoring="neg_log_loss"),
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The journals of a study whose jobs share nothing."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_work, "MOST_BYTES", -1)
        run_study([DATA], ALL, cv=3, output=folder)
    return contents(folder)


@pytest.mark.parametrize(
    "where",
    [
        lambda: {},
        lambda: {"n_jobs": 3},
        lambda: {"executor": ThreadPoolExecutor(2)},
    ],
    ids=["one after the other", "threads", "an executor"],
)
def test_methods_that_share_have_the_same_results_as_alone(alone, tmp_path, where):
    options = where()
    run_study([DATA], ALL, cv=3, output=tmp_path, **options)
    if "executor" in options:
        options["executor"].shutdown()
    assert contents(tmp_path) == alone
    assert shared_work._latest is None


def test_a_resumed_study_shares_what_is_left(alone, tmp_path):
    def stop(state):
        if state.done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study([DATA], ALL, cv=3, output=tmp_path, progress=stop)
    assert shared_work._latest is None
    run_study([DATA], ALL, cv=3, output=tmp_path)
    assert contents(tmp_path) == alone


def test_the_rows_of_a_fold_are_counted_once(monkeypatch):
    counted, ranked = [], []

    def count(rows, *arguments, **options):
        counted.append(rows.shape)
        return count_pairs(rows, *arguments, **options)

    class Ranking(EdgeRanking):
        def __init__(self, *arguments, **options):
            ranked.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(_base, "count_pairs", count)
    monkeypatch.setattr("hietan.structure.edges.EdgeRanking", Ranking)
    run_study([DATA], BAYES, cv=3)
    assert (len(counted), len(ranked)) == (3, 3)
    TAN().fit(DATA.X, DATA.y)
    TAN().fit(DATA.X, DATA.y)  # outside a study, nothing is kept
    assert (len(counted), len(ranked)) == (5, 5)


def test_times_are_those_of_methods_that_share_nothing(monkeypatch):
    now, slow = [0.0], count_pairs

    def count(*arguments, **options):
        now[0] += 100
        return slow(*arguments, **options)

    monkeypatch.setattr(shared_work.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(_base, "count_pairs", count)
    seconds = []
    run_study([DATA], BAYES, cv=3, progress=lambda state: state.job and seconds.append(state.seconds))
    assert len(seconds) == 15 and all(100 <= taken < 101 for taken in seconds)
