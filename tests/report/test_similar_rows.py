"""The most similar rows of the report agree with the data."""

import numpy as np
import pytest

from hietan.datasets import make_hierarchical_classification
from hietan.evaluation._outputs.report_data import similar_rows

DATA = make_hierarchical_classification(80, 25, random_state=4)
X = DATA.X.toarray()


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


def test_similar_rows_are_looked_for_among_some():
    everyone = dict(similar_rows(DATA.X, [3], n=79)[3])
    some = similar_rows(DATA.X, [3], n=5, among=[3, 9, 20, 40])[3]
    assert {j for j, _ in some} == {9, 20, 40} and all(everyone[j] == value for j, value in some)
