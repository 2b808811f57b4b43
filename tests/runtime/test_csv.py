"""Tables as CSV: no text runs in a spreadsheet, every text comes back, and numbers are never touched."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hietan._io.tables import DANGEROUS, comment_line, csv_text, neutralise_text, read_csv, restore_text

ENCODABLE = st.characters(exclude_categories=["Cs"])
TRICKY = st.text(st.sampled_from("'=+-@\t\r\n\",;#a1.＝＠ ")) | st.text(ENCODABLE)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@given(TRICKY)
@example("'")
@example("''=")
@example("-0.5")
def test_a_neutral_text_can_be_restored(text):
    neutral = neutralise_text(text)
    assert restore_text(neutral) == text
    assert not neutral.startswith(tuple(DANGEROUS))
    assert neutral in (text, f"'{text}")


@given(TRICKY, TRICKY)
def test_no_two_texts_become_one(first, second):
    assert (neutralise_text(first) == neutralise_text(second)) == (first == second)


@pytest.mark.parametrize("text", ["daf-2", "", "'tis", "3'-UTR", "GO:0008150", "a=b", "1-2", "'"])
def test_usual_names_stay_as_they_are(text):
    assert neutralise_text(text) == restore_text(text) == text


@given(st.lists(st.tuples(TRICKY, NUMBERS, TRICKY), min_size=1), TRICKY)
def test_round_trip_through_csv(tmp_path_factory, rows, column):
    column = f"{column}c"  # other than the names of the others
    path = tmp_path_factory.getbasetemp() / "table.csv"
    text = csv_text([column, "number", "other"], rows)
    path.write_bytes(text.encode())
    cells = list(csv.reader(io.StringIO(text, newline="")))
    assert not any(cell.startswith(tuple(DANGEROUS)) for a, _, b in cells for cell in (a, b))
    assert [row[1] for row in cells[1:]] == [repr(number) for _, number, _ in rows]
    found = [tuple(row.values()) for row in read_csv(path)]
    assert found == [(a, repr(number), b) for a, number, b in rows]
    assert all(list(row) == [column, "number", "other"] for row in read_csv(path))


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), NUMBERS))
)
@example([("=1+1", -0.5), ("-", -1), ("+1", 2), ("\r", 0), ("a\rb", 1), ('"', 1)])
def test_round_trip_through_pandas(rows):
    """The number of a row keeps its type; pandas itself ends a text at a NUL."""
    text = csv_text(["name", "number"], rows)
    table = pd.read_csv(io.StringIO(text, newline=""), dtype={"name": str}, keep_default_na=False)
    assert [restore_text(name) for name in table["name"]] == [name for name, _ in rows]
    if rows and all(isinstance(number, float) for _, number in rows):
        np.testing.assert_allclose(table["number"], [number for _, number in rows], rtol=1e-14)


def test_numbers_and_missing_values():
    cells = [-0.5, -3, np.float64(-1e-300), np.int64(-2), None, np.nan, True, "-0.5", "+1", "-"]
    assert csv_text(None, [cells]) == "-0.5,-3,-1e-300,-2,,,True,'-0.5,'+1,'-\n"


@given(TRICKY)
@example('x,"y')
@example("a\n=b")
def test_a_comment_is_one_line_without_formulas(text):
    line = comment_line(text)
    assert line.splitlines(keepends=True) == [line] and line.startswith("# ")
    (cells,) = csv.reader(io.StringIO(line, newline=""))
    assert not any(cell.startswith(tuple(DANGEROUS)) for cell in cells)
    frame = pd.read_csv(io.StringIO(line + "a,b\n1,2\n"), comment="#")
    assert frame.to_dict("list") == {"a": [1], "b": [2]}
