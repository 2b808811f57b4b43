"""Rows of terms in every form become the same closed table; the encoder is at home in scikit-learn and in our files."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from hietan import Hierarchy, HierarchyEncoder, HierarchyWarning, HieTANLite

GOODS = Hierarchy.from_edges([("drinks", "tea"), ("drinks", "coffee"), ("food", "bread"), ("food", "cake")])
ROWS = [["tea"], ["coffee", "cake"], [], ["bread", "food"]]
CLOSED = {"drinks": [1, 1, 0, 0], "tea": [1, 0, 0, 0], "coffee": [0, 1, 0, 0], "food": [0, 1, 0, 1],
          "bread": [0, 0, 0, 1], "cake": [0, 1, 0, 0]}  # fmt: skip
FRAME = pd.DataFrame({"tea": [1, 0, 0, 0], "coffee": [0, 2, 0, 0], "cake": [False, True, False, False],
                      "bread": [0.0, 0, 0, 1]}, index=list("abcd"))  # fmt: skip


def test_scikit_learns_own_checks():
    """Its input is not a table of numbers, so scikit-learn runs only the checks that need none, and says so."""
    with pytest.warns(SkipTestWarning, match="Can't test estimator HierarchyEncoder which requires input"):
        checks = list(estimator_checks_generator(HierarchyEncoder(GOODS)))
    assert checks
    for estimator, check in checks:
        check(estimator)


def test_it_follows_the_conventions_that_the_checks_would_look_at():
    encoder = HierarchyEncoder(GOODS, min_support=2)
    rows = [list(row) for row in ROWS]
    assert encoder.fit(rows, [0, 1, 0, 1]) is encoder and rows == ROWS
    assert encoder.get_params() == clone(encoder).get_params()
    fitted = {name for name in vars(encoder) if name.endswith("_")}
    assert fitted == {"support_", "hierarchy_", "unknown_", "n_unknown_rows_"}
    first = encoder.transform(ROWS).toarray()
    assert (clone(encoder).fit(ROWS).transform(ROWS[1:2]).toarray() == first[1:2]).all()
    assert (clone(encoder).fit_transform(ROWS).toarray() == first).all()


@pytest.mark.parametrize(
    "rows",
    [ROWS, [set(row) for row in ROWS], np.array(ROWS, dtype=object), pd.Series(ROWS, index=list("abcd")), FRAME,
     pl.DataFrame(FRAME.reset_index(drop=True))],
    ids=["lists", "sets", "array", "series", "frame", "polars"],
)  # fmt: skip
def test_every_form_gives_the_same_table(rows):
    encoder = HierarchyEncoder(GOODS)
    table = encoder.fit_transform(rows)
    assert table.format == "csr" and table.dtype == np.uint8
    assert dict(zip(encoder.get_feature_names_out(), table.toarray().T.tolist(), strict=True)) == CLOSED
    assert (encoder.transform(rows) != table).nnz == 0
    assert encoder.hierarchy_.is_closed(table)


def test_pairs_make_a_row_per_item():
    pairs = [("a", "tea"), ("b", "coffee"), ("a", "bread"), ("b", "cake")]
    table = HierarchyEncoder(GOODS, input="pairs").fit_transform(pairs)
    assert table.shape == (2, 6)
    frame = pd.DataFrame(pairs, columns=["item", "category"])
    named = HierarchyEncoder(GOODS).set_output(transform="pandas").fit_transform(frame)
    assert named.index.tolist() == ["a", "b"] and named.to_numpy().tolist() == table.toarray().tolist()


@given(st.lists(st.lists(st.sampled_from(GOODS.features)), min_size=1), st.integers(0, 3))
def test_against_plain_sets(rows, least):
    closed = [set(row).union(*(GOODS.ancestors(term) for term in row)) for row in rows]
    kept = [term for term in GOODS.features if sum(term in row for row in closed) >= least]
    encoder = HierarchyEncoder(GOODS, min_support=least)
    if not kept:
        with pytest.raises(
            ValueError,
            match=r"none of the hierarchy's 6 terms is present in at least .* use a smaller min_support",
        ):
            encoder.fit(rows)
        return
    table = encoder.fit_transform(rows).toarray()
    assert encoder.get_feature_names_out().tolist() == kept
    assert table.tolist() == [[int(term in row) for term in kept] for row in closed]


def test_unknown_terms():
    rows = [["tea", "beer"], ["cake"]]
    with pytest.raises(ValueError, match="1 term is not in the hierarchy: 'beer'"):
        HierarchyEncoder(GOODS).fit(rows)
    with pytest.warns(HierarchyWarning, match="1 term is not in the hierarchy: 'beer'.*They are left out"):
        warned = HierarchyEncoder(GOODS, handle_unknown="warn").fit_transform(rows)
    ignored = HierarchyEncoder(GOODS, handle_unknown="ignore").fit_transform(rows)
    assert (warned != ignored).nnz == 0 and ignored.sum() == 4
    encoder = HierarchyEncoder(GOODS, handle_unknown="ignore").fit(ROWS)
    assert encoder.unknown_ == {} and encoder.n_unknown_rows_ == 0
    encoder.transform([["tea", "beer"], ["beer", "wine"], [], ["wine"]])  # a service can watch these numbers
    assert encoder.unknown_ == {"beer": 2, "wine": 2} and encoder.n_unknown_rows_ == 2
    with pytest.raises(ValueError, match="handle_unknown must be one of error, warn, ignore; got 'drop'"):
        HierarchyEncoder(GOODS, handle_unknown="drop").fit(rows)


def test_names_and_containers():
    encoder = HierarchyEncoder(GOODS)
    with pytest.raises(NotFittedError):
        encoder.transform(ROWS)
    frame = clone(encoder).set_output(transform="pandas").fit_transform(FRAME)
    assert frame.index.tolist() == list("abcd") and frame.to_dict("list") == CLOSED
    assert (
        clone(encoder).set_output(transform="polars").fit_transform(ROWS).to_dict(as_series=False) == CLOSED
    )
    assert isinstance(HierarchyEncoder(GOODS, sparse_output=False).fit_transform(ROWS), np.ndarray)
    again = pickle.loads(pickle.dumps(encoder.fit(ROWS)))
    assert (again.transform(ROWS) != encoder.transform(ROWS)).nnz == 0


@pytest.fixture
def pipeline():
    model = make_pipeline(HierarchyEncoder(GOODS), HieTANLite(hierarchy=GOODS, random_state=0))
    return model.set_output(transform="pandas")


def test_in_a_pipeline(pipeline):
    rows, y = [["tea"], ["bread"], ["coffee"], ["cake"]] * 10, [1, 0, 1, 0] * 10
    assert cross_val_score(pipeline, rows, y).mean() == 1.0
    pipeline.fit(rows, y)
    assert pipeline[-1].hierarchy_ == GOODS and list(pipeline[-1].feature_names_in_) == list(GOODS.features)
    assert pipeline.predict([["drinks"], []]).shape == (2,)


LISTS = pd.DataFrame({"item": list("abcd"), "terms": ROWS}, index=list("abcd"))


@pytest.mark.parametrize(
    "rows",
    [LISTS[["terms"]], LISTS, LISTS[["terms", "item"]], pl.DataFrame(LISTS)[["terms"]], pl.DataFrame(LISTS),
     LISTS.assign(terms=[np.array(row, dtype=object) for row in ROWS])],
    ids=["column", "items", "lists first", "polars column", "polars", "arrays"],
)  # fmt: skip
def test_a_frame_with_a_column_of_lists(rows):
    encoder = HierarchyEncoder(GOODS)
    table = encoder.fit_transform(rows)
    assert dict(zip(encoder.get_feature_names_out(), table.toarray().T.tolist(), strict=True)) == CLOSED


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_missing_list_is_an_empty_one(nothing):
    rows = LISTS.assign(terms=[ROWS[0], nothing, *ROWS[2:]])
    encoder = HierarchyEncoder(GOODS)
    expected = encoder.fit_transform([ROWS[0], [], *ROWS[2:]]).toarray()
    for frame in (rows, rows[["terms"]]):
        np.testing.assert_array_equal(encoder.transform(frame).toarray(), expected)


def test_a_list_of_lists_is_refused():
    for rows in (LISTS.assign(terms=[[["tea"]], [], [], []]), [[["tea"]]]):
        with pytest.raises(TypeError, match="got a list of lists|expected terms as text in row 0, got"):
            HierarchyEncoder(GOODS).fit(rows)
