"""Which terms matter: sums over folds that agree with explanations, row by row."""

import json

import numpy as np
import pytest

from hietan import GTD, HIPNB, TAN, HieTAN, HieTANLite, LazySelection
from hietan.classifiers import HieBAN, HieLogistic, ProximalGraph
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._outputs.report_data import class_counts, combine_effects, fold_effects
from hietan.scores.cross_validation import configure
from hietan.selection import MinSupport, SelectedColumns

DATA = make_hierarchical_classification(90, 30, random_state=2)
MODELS = [TAN(), HieTAN(), HieTANLite(), HIPNB(), HieBAN(), HieLogistic(), ProximalGraph(lam=0.1)]
MODELS += [MinSupport(HieTANLite(), min_support=5), SelectedColumns(TAN(), GTD())]
MODELS += [LazySelection(selection="mr"), LazySelection(selection="hnb", model="tan", n_features=9)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_contributions_are_the_numbers_of_explain(model):
    fitted = configure(model, DATA.hierarchy, 0).fit(DATA.X, DATA.y)
    found = fitted.contributions(DATA.X[:7])
    expected = np.zeros((7, 30))
    for row, explanation in zip(expected, fitted.explain(DATA.X[:7]), strict=True):
        for part in explanation.contributions:
            row[DATA.hierarchy.index(part.feature)] = part.contribution
    assert found.shape == (7, 30) and np.array_equal(found.toarray(), expected)
    parts = [DATA.hierarchy.index(p.feature) for one in fitted.explain(DATA.X[:7]) for p in one.contributions]
    assert found.indices.tolist() == parts  # only what takes part has an entry, in the order of the columns
    again, base = fitted.contributions(DATA.X[:7], return_base=True)
    assert (again != found).nnz == 0
    explained = fitted.explain(DATA.X[:7])
    expected = [one.base + sum(value for _, value in one.other) for one in explained]
    np.testing.assert_allclose(base, expected, rtol=0, atol=1e-10)
    for one, row in zip(explained, DATA.X[:7].toarray(), strict=True):
        assert one.contributions.features == DATA.hierarchy.features
        np.testing.assert_array_equal(one.contributions.row, row)
    table = explained.by_branch()
    total = table.base + table.amounts.sum(axis=1)
    np.testing.assert_allclose(total, [one.log_odds for one in explained], rtol=0, atol=1e-10)


def test_contributions_refuse_a_class_that_is_not_there():
    for model in (TAN(), ProximalGraph(lam=0.1)):
        fitted = configure(model, DATA.hierarchy, 0).fit(DATA.X, DATA.y)
        with pytest.raises(ValueError, match=r"target must be one of the classes \[0, 1\], got 7"):
            fitted.contributions(DATA.X[:2], target=7)


def test_contributions_of_a_class_are_the_numbers_of_explain():
    y = DATA.y + (np.arange(90) % 3 == 0)
    fitted = HieTANLite(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X, y)
    for target in (None, 2):
        for row, explanation in zip(
            fitted.contributions(DATA.X[:3], target=target).toarray(),
            fitted.explain(DATA.X[:3], target=target),
            strict=True,
        ):
            assert row.sum() == pytest.approx(sum(part.contribution for part in explanation.contributions))


class Weights:
    """A model in which column 0, which every row has, adds much and always the same."""

    def contributions(self, X):
        return np.asarray(X) * np.array([9.0, 2.0, -1.0, 0.0])


X = np.array([[1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])


def test_a_term_that_every_row_has_does_not_crowd_out_the_rest():
    found = combine_effects([fold_effects(Weights(), rows, 2, {}) for rows in (X, X[::-1])])
    assert found["columns"] == [1, 2] and (found["rows"], found["folds"]) == (8, 2)
    assert found["effect"] == [1.0, 0.5] and found["gap"] == [2.0, -1.0] and found["absolute"] == [1.0, 0.5]
    assert found["agree"] == [2, 2] and found["used"] == [4, 4]
    assert found["swarm"] == [[[0, 0, 4], [40, 1, 4]], [[-20, 1, 4], [0, 0, 4]]]
    assert json.loads(json.dumps(found)) == found


def test_terms_are_counted_by_class():
    assert class_counts(X, np.array([0, 0, 1, 1]), [0, 1]) == [[2, 1, 1, 1], [2, 1, 1, 1]]


def test_only_folds_with_and_without_a_term_can_agree():
    X = np.zeros((60, 3), dtype=np.uint8)
    X[::2, 0] = X[[0, 30], 1] = 1
    X[:30, 2] = 1
    y = np.random.default_rng(0).integers(0, 2, 60)
    # The second term is in two of the folds, and two of them have the third in all rows or in none.
    model = TAN(random_state=0).fit(X, y)
    found = combine_effects([fold_effects(model, X[rows], 3, {}) for rows in np.split(np.arange(60), 3)])
    assert dict(zip(found["columns"], found["compared"], strict=True)) == {0: 3, 1: 2, 2: 1}
    assert all(a <= c for a, c in zip(found["agree"], found["compared"], strict=True))


def test_rows_that_are_shown_come_from_everywhere():
    X = np.repeat([[0], [1]], 1000, axis=0)  # sorted by class
    (swarm,) = combine_effects([fold_effects(TAN(random_state=0).fit(X, X[:, 0]), X, 1, {})])["swarm"]
    assert [rows for _, _, rows in swarm] == [200, 200]


def test_effects_are_of_the_folds_of_the_first_seed_that_explain_rows():
    results = run_study([DATA], {"TAN": TAN()}, cv=4, seeds=2, explain=True)
    ((name, chosen),) = results.study.explained_rows.items()
    assert set(results.study.folds[name, 0][list(chosen)].tolist()) == {0, 1, 2, 3}
    ((_, folds),) = results.explained.items()
    assert combine_effects([fold.effects for fold in folds])["folds"] == len(folds) == 4
    assert combine_effects([fold.effects for fold in folds])["rows"] == len(DATA.y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_contributions_do_not_depend_on_threads_or_on_how_rows_are_stored(model):
    fitted = configure(model, DATA.hierarchy, 0).fit(DATA.X, DATA.y)
    found = fitted.contributions(DATA.X)
    assert found.has_sorted_indices and (np.diff(found.indptr) <= 30).all()
    if "n_jobs" in fitted.get_params():
        fitted.set_params(n_jobs=2)
    for rows, expected in ((DATA.X.toarray(), found), (DATA.X.tocsc(), found), (DATA.X[::-1], found[::-1])):
        again = fitted.contributions(rows)
        assert again.shape == rows.shape and (again != expected).nnz == 0


def test_contributions_to_either_of_two_classes_are_opposite():
    for model in (HieTAN(), HieTANLite(), HieBAN(), HieLogistic()):
        fitted = configure(model, DATA.hierarchy, 0).fit(DATA.X, DATA.y)
        first, second = (fitted.contributions(DATA.X[:5], target=target) for target in (0, 1))
        assert np.array_equal(first.toarray(), -second.toarray())


def test_what_is_not_open_takes_part_in_a_regression_but_not_in_the_network():
    X = DATA.X.toarray()
    child = int(DATA.hierarchy.adjacency.indices[0])
    above = DATA.hierarchy.ancestors(DATA.hierarchy.features[child])
    X[0, [DATA.hierarchy.index(name) for name in above]] = 0
    X[0, child] = 1
    for model, takes_part in ((HieBAN(), False), (HieLogistic(), True)):
        fitted = configure(model, DATA.hierarchy, 0).fit(DATA.X, DATA.y)
        (row,) = fitted.explain(X[:1])
        listed = [DATA.hierarchy.index(part.feature) for part in row.contributions]
        found = fitted.contributions(X[:1])
        assert (child in listed) == takes_part and found.indices.tolist() == listed
        assert found.data.tolist() == [part.contribution for part in row.contributions]
