"""Contributions that are looked up by the states of features: the kernel against its twin, and what follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import HIPNB, Hierarchy, LazySelection, _kernel
from hietan.classifiers import HieBAN, HieLogistic
from hietan.datasets import make_hierarchical_classification
from hietan.explain.assemble import contribution_matrix
from hietan.structure import BinaryRows, Openings, unpack
from support import twins


def packed(table):
    return BinaryRows.from_matrix(table, None).words(np.arange(len(table)))


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 9), st.sampled_from([0.0, 0.1, 0.5, 1.0])
)
def test_the_entries_are_those_of_the_twin(seed, n, d, density):
    rng = np.random.default_rng(seed)
    bits = [(rng.random((n, d)) < share).astype(np.uint8) for share in (density, 0.5, 0.5)]
    table = rng.normal(size=(4, d))
    found = _kernel.list_terms(*map(packed, bits), n, table)
    expected = twins.listed_terms(*(part.tolist() for part in bits), table.tolist())
    assert [part.dtype for part in found] == [np.int64, np.int32, np.float64]
    for mine, other in zip(found, expected, strict=True):
        assert mine.tolist() == other


def test_bits_beyond_the_last_row_are_not_read():
    kept = np.full((2, 3), np.iinfo(np.uint64).max, dtype=np.uint64)
    counts, columns, values = _kernel.list_terms(kept, kept, kept, 70, np.arange(12.0).reshape(4, 3))
    assert counts.tolist() == [3] * 70 and columns.tolist() == [0, 1, 2] * 70
    assert values.tolist() == [9.0, 10.0, 11.0] * 70


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rows": 65}, "words do not match the number of rows: got 1 words of 64 for 65"),
        (
            {"high": np.zeros((1, 4), np.uint64)},
            "words do not match the number of features: got 4 columns for 5",
        ),
        (
            {"low": np.zeros((2, 5), np.uint64)},
            "words do not match the number of rows: got 2 words of 64 for 9",
        ),
        ({"table": np.zeros((3, 5))}, "table must have 4 rows and a column per feature, got 3 x 5 for 5"),
        ({"table": np.zeros((4, 6))}, "table must have 4 rows and a column per feature, got 4 x 6 for 5"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    words = np.zeros((1, 5), np.uint64)
    fitting = {"kept": words, "high": words, "low": words, "n_rows": 9, "table": np.zeros((4, 5))}
    with pytest.raises(ValueError, match=message):
        _kernel.list_terms(**{**fitting, **change})


@given(st.integers(0, 2**32 - 1), st.integers(1, 130))
def test_packed_openings_are_those_of_every_cell(seed, n):
    rng = np.random.default_rng(seed)
    names = [f"f{v}" for v in range(8)]
    edges = [(names[u], names[v]) for v in range(8) for u in range(v) if rng.random() < 0.3]
    hierarchy = Hierarchy.from_edges(edges, features=names)
    values = (rng.random((n, 8)) < 0.6).astype(np.uint8)  # not closed upwards
    found = unpack(Openings(hierarchy).open_words(packed(values)), n)
    parents = twins.direct_parents(names, edges)
    expected = [[twins.is_open(v, row, parents) for v in range(8)] for row in values.tolist()]
    assert found.tolist() == np.array(expected).astype(int).tolist()


DATA = make_hierarchical_classification(200, 40, random_state=5)
MODELS = [
    HIPNB(),
    LazySelection(selection="hnb", n_features=7),
    LazySelection(selection="mr"),
    HieBAN(),
    HieLogistic(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_looking_up_gives_the_numbers_of_taking_rows_apart(model, monkeypatch):
    """Bit for bit, whatever the batches and threads; some rows contradict the hierarchy."""
    monkeypatch.setattr("hietan.explain.score_parts._PACKED_BATCH", 64)
    fitted = model.set_params(hierarchy=DATA.hierarchy, n_jobs=2).fit(DATA.X, DATA.y)
    rows = DATA.X.toarray()
    rows[150:] = np.random.default_rng(0).integers(0, 2, (50, 40))
    for target in (None, 0):
        found = fitted.contributions(rows, target=target)
        parts_of, n_rows = fitted._take_apart(rows)
        expected = contribution_matrix(parts_of, n_rows, n_features=40, classes=[0, 1], target=target)
        for name in ("data", "indices", "indptr"):
            mine, other = getattr(found, name), getattr(expected, name)
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
