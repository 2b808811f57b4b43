"""What the report shows of one row: neighbours and flips agree with the data and the models."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hietan import TAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation._outputs.counterfactuals import (
    find_counterfactuals,
    promising_columns,
    telling_columns,
)
from hietan.evaluation._outputs.report_data import similar_rows

DATA = make_hierarchical_classification(80, 25, random_state=4)
X = DATA.X.toarray()


def fitted(model):
    return model.set_params(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X, DATA.y)


def test_similarity_is_simgic():
    found = similar_rows(DATA.X, [3, 9], n=79)
    information = -np.log(np.maximum(X.mean(axis=0), 1e-12)) * (X.mean(axis=0) > 0)
    for i, others in found.items():
        assert {j for j, _ in others} == set(range(80)) - {i}
        values = [value for _, value in others]
        assert values == sorted(values, reverse=True)
        for j, value in others:
            both, either = X[i] & X[j], X[i] | X[j]
            expected = information @ both / max(information @ either, 1e-12)
            assert value == pytest.approx(expected, abs=1e-3)


def flip(model, row, hierarchy, order, tries):
    (found,) = find_counterfactuals(model, row[None, :], hierarchy, [order], tries)
    return found


@pytest.mark.parametrize("model", [TAN(), HieTANLite()], ids=["TAN", "HieTANLite"])
def test_rows_flip_together_as_they_do_alone(model, monkeypatch):
    clf, rng = fitted(model), np.random.default_rng(0)
    orders = [rng.permutation(25).tolist()[: rng.integers(1, 25)] for _ in range(11)] + [[]]
    alone = [flip(clf, X[i], DATA.hierarchy, orders[i], 20) for i in range(12)]
    assert find_counterfactuals(clf, X[:12], DATA.hierarchy, orders, 20) == alone
    assert (
        find_counterfactuals(clf, X[:12], DATA.hierarchy, orders, 20, predicted=clf.predict(DATA.X[:12]))
        == alone
    )
    assert {0, 1} <= {len(found["changes"]) for found in alone}  # some searches end earlier than others
    assert find_counterfactuals(clf, X[:0], DATA.hierarchy, [], 20) == []
    monkeypatch.setattr(
        "hietan.evaluation._outputs.counterfactuals._CELLS", 2 * 20 * 25
    )  # two rows at a time
    assert find_counterfactuals(clf, X[:12], DATA.hierarchy, orders, 20) == alone


@pytest.mark.parametrize("model", [TAN(), HieTANLite()], ids=["TAN", "HieTANLite"])
def test_a_flip_changes_the_class_and_keeps_the_row_closed(model):
    clf, hierarchy = fitted(model), DATA.hierarchy
    column_of = {name: j for j, name in enumerate(hierarchy.features)}
    flips = 0
    for i, explanation in enumerate(clf.explain(DATA.X[:12])):
        order = promising_columns(explanation, column_of, telling_columns(DATA.X, DATA.y))
        assert sorted(order) == list(range(25))
        for most in (0, 1, 7, 30):
            few = promising_columns(explanation, column_of, telling_columns(DATA.X, DATA.y), most)
            assert few == order[:most]
        found = flip(clf, X[i], hierarchy, order, tries=25)
        assert found["tried"] == 25 and len(found["changes"]) <= 3
        row = X[i].copy()
        for column, value, size in found["changes"]:
            related = hierarchy.ancestors if value else hierarchy.descendants
            before = row.copy()
            row[[column, *(hierarchy.index(name) for name in related(hierarchy.features[column]))]] = value
            assert (row != before).sum() == size
        if found["changes"]:
            flips += 1
            assert clf.predict(csr_array(row[None, :]))[0] != clf.predict(csr_array(X[i][None, :]))[0]
            assert str(clf.predict(csr_array(row[None, :]))[0]) == found["to"]
            assert np.array_equal(hierarchy.close(row[None, :]), row[None, :])
    assert flips > 3


def test_a_single_change_that_is_enough_is_the_smallest():
    clf = fitted(TAN())
    found = flip(clf, X[0], DATA.hierarchy, range(25), tries=25)
    if len(found["changes"]) == 1:
        ((_, _, size),) = found["changes"]
        for j in range(25):
            other = flip(clf, X[0], DATA.hierarchy, [j], tries=1)["changes"]
            assert len(other) != 1 or other[0][2] >= size
    assert flip(clf, X[0], DATA.hierarchy, range(25), tries=0) is None


class Late:
    """The first column comes nearest to class 1 at first; with the second and the third, it is not needed."""

    classes_ = np.array([0, 1])

    def predict_log_proba(self, X):
        rows = np.asarray(X.toarray(), dtype=float)
        score = rows @ [2.0, 1.0, 1.0, 0.0, 0.0] + 9 * rows[:, 1] * rows[:, 2] - 5
        return np.column_stack([-np.logaddexp(0, score), -np.logaddexp(0, -score)])

    def predict(self, X):
        return self.predict_log_proba(X).argmax(axis=1)


def test_a_change_that_turned_out_to_be_needless_is_left_out():
    found = flip(Late(), np.zeros(5), None, range(5), tries=5)
    assert found["changes"] == [[1, 1, 1], [2, 1, 1]] and found["to"] == "1"


def test_similar_rows_are_looked_for_among_some():
    everyone = dict(similar_rows(DATA.X, [3], n=79)[3])
    some = similar_rows(DATA.X, [3], n=5, among=[3, 9, 20, 40])[3]
    assert {j for j, _ in some} == {9, 20, 40} and all(everyone[j] == value for j, value in some)
