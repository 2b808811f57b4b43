"""Tables that contradict the hierarchy are found and repaired, in whatever container they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given

from hietan.hierarchy import Hierarchy
from support.hierarchies import Twin, tables


@given(tables())
def test_close_gives_the_smallest_closed_superset(table):
    names, edges, X = table
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    before = X.copy()
    closed = hierarchy.close(X)
    assert closed.tolist() == [twin.close(row) for row in X.tolist()]
    assert np.array_equal(X, before)
    assert hierarchy.is_closed(closed)
    assert np.array_equal(hierarchy.close(closed), closed)
    assert hierarchy.is_closed(X) == np.array_equal(closed, X) == (not hierarchy.violations(X))
    assert set(hierarchy.violations(X, limit=1000)) == {
        (i, p, c)
        for i, row in enumerate(X.tolist())
        for p, c in edges
        if row[names.index(c)] > row[names.index(p)]
    }


def test_violations_come_row_by_row_and_stop_at_the_limit(worked):
    X = np.zeros((4, 6), dtype=int)
    X[1:, worked.index("D")] = 1
    assert worked.violations(X, limit=3) == ((1, "C", "D"), (1, "A", "D"), (2, "C", "D"))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize(
    "wrap", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_matrix]
)
def test_arrays_come_back_in_kind(worked, dtype, wrap):
    X = np.zeros((3, 6), dtype=dtype)
    X[1, worked.index("D")] = 1
    X[2, worked.index("B")] = 1
    given_table = wrap(X)
    closed = worked.close(given_table)
    assert type(closed) is type(given_table)
    assert closed.dtype == dtype
    values = closed.toarray() if sp.issparse(closed) else closed
    assert values.astype(int).tolist() == [[0] * 6, [1, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]]
    assert not worked.is_closed(given_table)
    assert worked.is_closed(closed)
    before = given_table.toarray() if sp.issparse(given_table) else given_table
    assert np.array_equal(before, X)


def test_sparse_tables_with_explicit_zeros_and_no_room_to_be_dense(worked):
    X = sp.csr_array((np.array([0, 1]), np.array([5, 1]), np.array([0, 2])), shape=(1, 6))
    assert worked.close(X).toarray().tolist() == [[1, 1, 0, 0, 0, 0]]
    assert X.nnz == 2
    d, n = 100_000, 200_000
    wide = Hierarchy.from_adjacency(sp.coo_array(([1], ([0], [d - 1])), shape=(d, d)))
    huge = sp.csr_array(([1.0], ([n - 1], [d - 1])), shape=(n, d))
    assert wide.violations(huge) == ((n - 1, "x0", f"x{d - 1}"),)
    assert wide.close(huge).nnz == 2


def test_pandas_columns_are_matched_by_name(worked):
    frame = pd.DataFrame(
        {"note": ["p", "q"], "D": [0, 1], "other": [7, 8], "F": [False, False], "E": [0.0, 0.0]},
        index=pd.Index(["g1", "g2"], name="gene"),
    ).rename_axis(columns="term")
    before = frame.copy()
    closed = worked.close(frame)
    expected = frame.assign(F=[False, True], E=[0.0, 1.0])
    pd.testing.assert_frame_equal(closed, expected)
    pd.testing.assert_frame_equal(frame, before)
    assert not worked.is_closed(frame)
    assert worked.is_closed(closed)
    assert worked.violations(frame) == ((1, "F", "D"), (1, "E", "D"))


def test_pandas_columns_without_names_are_the_features(worked):
    frame = pd.DataFrame(np.eye(6, dtype=int))
    closed = worked.close(frame)
    assert np.array_equal(closed.to_numpy(), worked.close(np.eye(6, dtype=int)))
    assert list(closed.columns) == list(range(6))
    with pytest.raises(ValueError, match="6 features but X has 5 columns"):
        worked.is_closed(frame[[0, 1, 2, 3, 4]])


def test_polars_columns_are_matched_by_name(worked):
    frame = pl.DataFrame({"note": ["p", "q"], "D": [0, 1], "F": [False, False], "E": [0.0, 0.0]})
    closed = worked.close(frame)
    assert closed.equals(pl.DataFrame({"note": ["p", "q"], "D": [0, 1], "F": [False, True], "E": [0.0, 1.0]}))
    assert closed.schema == frame.schema
    assert worked.violations(frame) == ((1, "F", "D"), (1, "E", "D"))


def test_repeated_columns_pass_only_where_unknown(worked):
    frame = pd.DataFrame([[1, 5, 6, 0]], columns=["D", "p", "p", "F"])
    pd.testing.assert_frame_equal(
        worked.close(frame), pd.DataFrame([[1, 5, 6, 1]], columns=["D", "p", "p", "F"])
    )
    with pytest.raises(ValueError, match="repeats 'D'"):
        worked.close(pd.DataFrame([[1, 1]], columns=["D", "D"]))


@pytest.mark.parametrize(
    ("value", "shown"), [(2, "2"), (-1, "-1"), (0.5, "0.5"), (np.nan, "nan"), ("1", "'1'"), (None, "None")]
)
def test_values_other_than_0_and_1_are_refused_and_shown(worked, value, shown):
    column = worked.index("A")
    X = np.zeros((3, 6), dtype=object if value is None or isinstance(value, str) else type(value))
    X[2, column] = value
    tables = [X, pd.DataFrame(X, columns=list(worked.features))]
    if X.dtype != object:
        tables.append(sp.csr_array(X))
    for table in tables:
        where = "'A'" if hasattr(table, "columns") else column
        for method in (worked.close, worked.is_closed, worked.violations):
            with pytest.raises(
                ValueError, match=f"only 0 and 1, but row 2, column {where} contains {shown}$"
            ):
                method(table)


def test_tables_that_do_not_fit(worked):
    with pytest.raises(
        ValueError, match="hierarchy has 6 features but X has 5 columns. Use the dataset's hierarchy"
    ):
        worked.close(np.zeros((2, 5)))
    with pytest.raises(ValueError, match=r"rows and columns, got shape \(6,\)"):
        worked.is_closed(np.zeros(6))
    with pytest.raises(ValueError, match=r"none of the columns .*'p'.*'F', 'B', 'C' and 3 more"):
        worked.is_closed(pd.DataFrame({"p": [1]}))
