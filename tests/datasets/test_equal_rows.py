"""Equal rows: counted again pair by pair, expected by chance, and found in the published datasets."""

from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

from hietan._runtime.equal_rows import count_equal_rows, has_equal
from hietan.catalogue import load_datasets
from hietan.datasets import build_dataset, load_ageing_genes
from hietan.exceptions import DataWarning

few_rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=2, max_size=30)


def pairs_of(X, y):
    """For each pair of equal rows, whether their classes differ."""
    groups = {}
    for row, label in zip(X.toarray().tolist(), y.tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(label)
    return [a != b for labels in groups.values() for a, b in combinations(labels, 2)], groups


@given(few_rows)
def test_counts_are_those_of_all_pairs(rows):
    kinds, y = np.array(rows).T
    X = csr_array((kinds[:, None] >> np.arange(3) & 1).astype(np.uint8))
    found = count_equal_rows(X, y)
    differ, groups = pairs_of(X, y)
    assert found.rows == sum(len(labels) for labels in groups.values() if len(labels) > 1)
    assert (found.pairs, found.contradictions) == (len(differ), sum(differ))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    assert found.expected == pytest.approx(len(differ) * (1 - sum(shares**2)))
    for other in (X.toarray(), csc_array(X), 0.5 * X.toarray()):
        assert count_equal_rows(other, y) == found
    assert has_equal(X).sum() == found.rows


def test_expectation_and_deviation_are_those_of_random_classes():
    rng = np.random.default_rng(0)
    X = csr_array(np.repeat(np.eye(6, dtype=np.uint8), [1, 2, 2, 5, 20, 60], axis=0))
    drawn = [count_equal_rows(X, rng.random(90) < 0.3) for _ in range(2000)]
    counts = np.array([found.contradictions for found in drawn])
    assert counts.mean() == pytest.approx(np.mean([found.expected for found in drawn]), rel=0.02)
    assert np.std(counts) == pytest.approx(np.mean([found.deviation for found in drawn]), rel=0.1)
    assert np.mean([bool(found.warning) for found in drawn]) < 0.005


def test_no_rows_have_no_equal():
    found = count_equal_rows(csr_array((0, 3), dtype=np.uint8), np.array([], dtype=int))
    assert str(found) == "no rows are equal" and not found.warning


def test_values_other_than_one_count():
    assert count_equal_rows(np.array([[1.0, 0], [2.0, 0], [2.0, 0]]), np.array(["a", "b", "b"])).pairs == 1


def test_a_warning_needs_many_contradictions_far_beyond_chance():
    X = csr_array(np.repeat(np.eye(12, dtype=np.uint8), 2, axis=0))
    opposite = np.tile([0, 1], 12)
    assert "12 of 12 pairs" in count_equal_rows(X, opposite).warning
    assert count_equal_rows(X, np.sort(opposite)).warning == ""
    assert count_equal_rows(X[:18], opposite[:18]).warning == ""  # 9 contradictions are too few
    unlabelled = count_equal_rows(X, np.full(24, -1))
    assert str(unlabelled) == "24 rows have an equal: 12 pairs" and not unlabelled.warning


def test_a_build_warns_and_keeps_the_counts():
    names = [f"r{i}" for i in range(40)]
    pairs = [(name, f"t{i // 2}") for i, name in enumerate(names)]
    labels = {name: "yes" if i % 2 else "no" for i, name in enumerate(names)}
    edges = [("root", f"t{i}") for i in range(20)]
    with pytest.warns(DataWarning, match="20 of 20 pairs of equal rows have different classes; 10.0 would"):
        data = build_dataset(edges, pairs, labels, min_support=1)
    assert data.provenance["equal_rows"] == asdict(data.equal_rows)
    assert data.equal_rows.rows == 40
    assert data.subset(rows=range(0, 40, 2)).equal_rows.pairs == 0


def counted_again(datasets):
    differ = [pairs_of(data.X, data.y)[0] for data in datasets]
    assert [data.equal_rows.contradictions for data in datasets] == list(map(sum, differ))
    assert [data.equal_rows.pairs for data in datasets] == list(map(len, differ))
    return sum(map(sum, differ)), sum(map(len, differ))


def test_packaged_datasets_have_more_agreeing_pairs():
    datasets = load_datasets(["ageing-2025"])
    assert counted_again(datasets) == (1659, 5174)
    assert not any(data.equal_rows.warning for data in datasets)
    data = load_ageing_genes("worm", "MF")
    assert data.provenance["equal_rows"] == asdict(data.equal_rows)


@pytest.mark.patient
def test_published_datasets_have_149_contradicting_and_6_agreeing_pairs(real_data):
    datasets = load_datasets(["ageing-2014"])
    assert counted_again(datasets) == (149, 155)
    warned = [data.name for data in datasets if data.equal_rows.warning]
    assert warned == ["CE-BP", "CE-MF", "CE-CC", "CE-MFCC", "SC-CC"]
