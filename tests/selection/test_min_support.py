"""Columns chosen in the training rows: compared with a loop over the folds, and by the names that are reported."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hietan import GTD, HIPNB, HRETAN, TAN, HieAODELite, Hierarchy, HieTAN, HieTANLite, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._outputs.report_data import read_details
from hietan.evaluation._study.fingerprint import method_fingerprint
from hietan.evaluation._usage import count_usage
from hietan.scores import cross_validate
from hietan.selection import MinSupport, SelectedColumns

# Terms are rare, so that the training folds keep different columns.
DATA = make_hierarchical_classification(90, 120, random_state=2)
METHODS = [
    TAN(random_state=0),
    HieTAN(random_state=0),
    HieTANLite(random_state=0),
    HRETAN(random_state=0),
    HieAODELite(),
    HIPNB(),
    ProximalGraph(lam=0.01, random_state=0),
]


def kept_by_hand(X, rows, least):
    """The columns that have enough ones in the given rows and are not constant there."""
    dense = X.toarray()
    kept = []
    for j in range(dense.shape[1]):
        values = [dense[i, j] for i in rows]
        if sum(values) >= least and len(set(values)) > 1:
            kept.append(j)
    return kept


@pytest.mark.parametrize("least", [1, 3, 8])
@pytest.mark.parametrize("clf", METHODS, ids=lambda clf: type(clf).__name__)
def test_against_a_loop_over_the_folds(clf, least):
    expected = np.empty((len(DATA.y), 2))
    sizes = set()
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(DATA.X, DATA.y):
        kept = kept_by_hand(DATA.X, train, least)
        sizes.add(len(kept))
        # Every pair of an ancestor and its descendant as an edge: reachability stated in full.
        names = [DATA.feature_names[j] for j in kept]
        pairs = [(a, b) for b in names for a in DATA.hierarchy.ancestors(b) if a in names]
        by_hand = type(clf)(**{**clf.get_params(), "hierarchy": Hierarchy.from_edges(pairs, features=names)})
        if isinstance(clf, ProximalGraph):  # its groups follow the edges, so redundant edges are left out
            by_hand.set_params(hierarchy=DATA.hierarchy.restrict(names))
        by_hand.fit(DATA.X[train][:, kept], DATA.y[train])
        expected[test] = by_hand.predict_proba(DATA.X[test][:, kept])
    result = cross_validate(MinSupport(clf, least), DATA, n_splits=5, seed=3)
    np.testing.assert_allclose(result.proba, expected, rtol=1e-9, atol=1e-12)
    if least == 3:
        assert len(sizes) > 1 and max(sizes) < DATA.X.shape[1]  # otherwise the test would show little


def test_trees_and_explanations_keep_the_names_of_the_columns():
    rows = np.arange(60)
    kept = kept_by_hand(DATA.X, rows, 5)
    names = [DATA.feature_names[j] for j in kept]
    dropped = set(DATA.feature_names) - set(names)
    frame = pd.DataFrame(DATA.X.toarray()[:, kept], columns=names)
    plain = HieTANLite(hierarchy=DATA.hierarchy, random_state=0).fit(frame.iloc[rows], DATA.y[rows])
    clf = MinSupport(HieTANLite(hierarchy=DATA.hierarchy, random_state=0), 5).fit(DATA.X[rows], DATA.y[rows])
    assert clf.support_.nonzero()[0].tolist() == kept and dropped
    trees, narrow = clf.trees(DATA.X[60:]), plain.trees(frame.iloc[60:])
    assert [tree.edges for tree in trees] == [tree.edges for tree in narrow]
    assert all(tree.feature_names == DATA.feature_names for tree in trees)
    usage, expected = count_usage(trees), count_usage(narrow)
    assert usage.selected[kept].tolist() == expected.selected.tolist()
    assert usage.in_edges[kept].tolist() == expected.in_edges.tolist()
    assert usage.selected.sum() == expected.selected.sum()
    term_names = [f"term {j}" for j in range(DATA.X.shape[1])]
    for ours, theirs in zip(
        clf.explain(DATA.X[60:65], term_names=term_names), plain.explain(frame.iloc[60:65]), strict=True
    ):
        assert {p.feature: p.contribution for p in ours.contributions} == {
            p.feature: p.contribution for p in theirs.contributions
        }
        assert all(p.name == f"term {DATA.feature_names.index(p.feature)}" for p in ours.contributions)
        assert [str(r) for r in ours.removed] == [str(r) for r in theirs.removed]
        assert ours.hierarchy == DATA.hierarchy


def test_without_a_hierarchy_columns_keep_their_identity():
    clf = MinSupport(TAN(random_state=0), 8).fit(DATA.X, DATA.y)
    assert set(clf.trees(DATA.X[:1])[0].features) == {f"x{j}" for j in clf.support_.nonzero()[0]}


def test_frames_are_matched_by_name_whatever_the_order():
    frame = pd.DataFrame(DATA.X.toarray(), columns=list(DATA.feature_names))
    clf = HieTANLite(hierarchy=DATA.hierarchy, random_state=0)
    in_order = MinSupport(clf, 5).fit(DATA.X, DATA.y).predict_log_proba(DATA.X)
    framed = MinSupport(clf, 5).fit(frame, DATA.y)
    np.testing.assert_array_equal(framed.predict_log_proba(frame), in_order)
    shuffled = frame.iloc[:, ::-1]
    other = MinSupport(HieAODELite(hierarchy=DATA.hierarchy), 5)
    np.testing.assert_allclose(
        other.fit(shuffled, DATA.y).predict_log_proba(shuffled),
        other.fit(frame, DATA.y).predict_log_proba(frame),
        rtol=1e-9,
    )


def test_hierarchies_deep_in_a_classifier_are_restricted():
    inner = make_pipeline(MaxAbsScaler(), HieTAN(hierarchy=DATA.hierarchy, random_state=0))
    deep = MinSupport(GridSearchCV(inner, {"hietan__alpha": [0.5]}, cv=2), 5).fit(DATA.X, DATA.y)
    flat = MinSupport(HieTAN(hierarchy=DATA.hierarchy, random_state=0, alpha=0.5), 5).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(deep.predict_proba(DATA.X), flat.predict_proba(DATA.X))
    assert not hasattr(deep, "trees") and not hasattr(MinSupport(LogisticRegression()), "explain")
    assert hasattr(MinSupport(HieTAN()), "trees")


def test_without_a_hierarchy_the_steps_before_may_change_the_columns():
    inner = make_pipeline(SelectKBest(chi2, k=3), HieTAN(random_state=0))
    clf = MinSupport(inner, 5).fit(DATA.X, DATA.y)
    kept = kept_by_hand(DATA.X, range(len(DATA.y)), 5)
    by_hand = inner.fit(DATA.X[:, kept], DATA.y).predict_proba(DATA.X[:, kept])
    np.testing.assert_array_equal(clf.predict_proba(DATA.X), by_hand)


def test_numbers_that_vary_are_not_constant():
    X = np.column_stack([np.arange(1.0, 9), np.full(8, 3.0), np.eye(8)[0]])
    clf = MinSupport(LogisticRegression()).fit(X, [0, 1] * 4)
    assert clf.support_.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("least", "message"),
    [
        (0, "min_support must be an integer above 0, got 0"),
        (2.5, "got 2.5"),
        (91, "none of the 120 features varies and is present in at least 91 of the 90 training rows"),
    ],
)
def test_what_cannot_be_done_is_refused(least, message):
    with pytest.raises(ValueError, match=message):
        MinSupport(TAN(), least).fit(DATA.X, DATA.y)


@pytest.mark.parametrize("kind", ["array", "sparse", "pandas", "list"])
def test_rows_with_weights_count_as_often_as_these_say(kind):
    X, y = DATA.X.toarray(), DATA.y
    w = np.random.default_rng(0).integers(0, 4, len(y))
    held = {"sparse": DATA.X, "list": X.tolist(), "pandas": pd.DataFrame(X, columns=DATA.feature_names)}
    clf = HieTANLite(hierarchy=DATA.hierarchy, random_state=0)
    for chosen in (MinSupport(clf, 8), SelectedColumns(clf, GTD(hierarchy=DATA.hierarchy))):
        weighed = clone(chosen).fit(held.get(kind, X), y, sample_weight=w)
        copies = clone(chosen).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_array_equal(weighed.support_, copies.support_)
        np.testing.assert_array_equal(weighed.predict_proba(held.get(kind, X)), copies.predict_proba(X))
    by_weight = MinSupport(clf, 3).fit(X, y, sample_weight=np.full(len(y), 0.5))
    np.testing.assert_array_equal(by_weight.support_, MinSupport(clf, 6).fit(X, y).support_)
    plain = SelectedColumns(clf, SelectKBest(chi2, k=9)).fit(X, y, sample_weight=w)  # takes no weights
    np.testing.assert_array_equal(
        plain.support_, SelectKBest(chi2, k=9).fit(X[w > 0], y[w > 0]).get_support()
    )
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        MinSupport(clf).fit(X, y, sample_weight=np.zeros(len(y)))


def test_it_is_part_of_the_fingerprint():
    prints = {method_fingerprint(clf) for clf in (TAN(), MinSupport(TAN(), 1), MinSupport(TAN(), 2))}
    assert len(prints) == 3
    weighted = TAN(class_weight="balanced")
    prints |= {
        method_fingerprint(clf) for clf in (weighted, MinSupport(weighted, 1), MinSupport(weighted, 2))
    }
    assert len(prints) == 6


def test_a_study_counts_and_explains_the_right_columns(tmp_path):
    results = run_study(
        [DATA], {"lite": MinSupport(HieTANLite(), 5)}, cv=3, output=tmp_path / "out", explain=True
    )
    pooled = next(iter(results.predictions.values()))
    never = set(range(120))
    for fold in range(3):
        never -= set(kept_by_hand(DATA.X, np.flatnonzero(pooled.fold != fold), 5))
    (usage,) = results.usage.values()
    assert never and usage.selected.shape == (120,)
    assert not usage.selected[sorted(never)].any() and usage.selected.sum() > 0
    details = read_details(tmp_path / "out", DATA.name)
    for entry in details["explained"]:
        (explained,) = entry["methods"].values()
        row = DATA.X[[entry["row"]]].toarray().ravel()
        assert explained["values"] == row[explained["features"]].astype(int).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")  # about numbers that are not 0 and 1
@parametrize_with_checks([MinSupport(BernoulliNB()), MinSupport(HieTAN()), MinSupport(LogisticRegression())])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
