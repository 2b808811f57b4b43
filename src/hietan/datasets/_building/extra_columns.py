"""Ordinary features from another table, joined by row. Numbers are binned, and other values become one-hot features.

Every feature is a test of one column, spelled out in its name (``age<30``, ``age=[30, 45)``, ``colour=red``), so that a
trained model's features can be computed for other rows from their names alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hietan.datasets._build_log import Tally
from hietan.datasets._duplicates import first_repeated
from hietan.datasets._readers.files import is_path
from hietan.datasets._readers.tables import MISSING_VALUES, Table, cell_text, is_position
from hietan.exceptions import DataError

MISSING = "missing"
# Values, unlike labels, are compared in lower case, also with words that could be classes.
_MISSING = {*map(str.lower, MISSING_VALUES), "none", "?", MISSING}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?").fullmatch
_RANGE = re.compile(r"=\[([^,]{1,40}), ([^,]{1,40})\)").fullmatch


@dataclass(frozen=True)
class Attributes:
    """The columns of a table. For each dataset row, a column contains a text or "missing".

    Attributes
    ----------
    values : dict of str to array of str
        The texts of each column, in row order.
    rows, columns : Tally
        Counts of the rows and columns of the table.
    remarks : tuple of str
        How many values of each column are missing, and what was detected in the table.
    """

    values: dict[str, NDArray[Any]]
    rows: Tally = field(default_factory=lambda: Tally("table rows"))
    columns: Tally = field(default_factory=lambda: Tally("table columns"))
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnTest:
    """A feature that tests a column for a value, or for a number from `low` up to, but not including, `high`."""

    column: str
    value: str | None = None
    low: float = -np.inf
    high: float = np.inf

    @property
    def name(self) -> str:
        """The test as text that `parse` understands."""
        if self.value is not None:
            return f"{self.column}={self.value}"
        if np.isinf(self.low):
            return f"{self.column}<{self.high:.10g}"
        return (
            f"{self.column}>={self.low:.10g}"
            if np.isinf(self.high)
            else (f"{self.column}=[{self.low:.10g}, {self.high:.10g})")
        )

    @classmethod
    def parse(cls, name: str, columns: Iterable[str]) -> ColumnTest | None:
        """Return the test with this name if it belongs to one of these columns.

        If several match, the longest column name wins.
        """
        for column in sorted(columns, key=len, reverse=True):
            if not name.startswith(column):
                continue
            rest = name[len(column) :]
            found = _RANGE(rest)
            if found and _NUMBER(found[1]) and _NUMBER(found[2]):
                return cls(column, low=float(found[1]), high=float(found[2]))
            if rest.startswith(">=") and _NUMBER(rest[2:]):
                return cls(column, low=float(rest[2:]))
            if rest.startswith("<") and _NUMBER(rest[1:]):
                return cls(column, high=float(rest[1:]))
            if rest.startswith("="):
                return cls(column, value=rest[1:])
        return None

    def passed(self, texts: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each text passes the test."""
        if self.value is None:
            numbers = as_numbers(texts)
            return (numbers >= self.low) & (numbers < self.high)
        same = np.asarray(texts == self.value, dtype=bool)
        if _NUMBER(self.value):
            same |= as_numbers(texts) == float(self.value)
        return same


def open_attributes(
    source: Any, rows: Sequence[str], id_column: str | int | None, header: bool | None
) -> Attributes:
    """Return these rows' values from a table, which may be a file, a frame indexed by id, or a dict of dicts."""
    if is_path(source) or hasattr(source, "read"):
        return _from_table(Table.open(source), rows, id_column, header)
    if hasattr(source, "iloc"):
        names = [str(name) for name in source.columns]
        records = zip(source.index, source.itertuples(index=False, name=None), strict=True)
        texts = ((str(key), [cell_text(v) for v in values]) for key, values in records)
        return _joined(names, texts, rows, Tally("table rows", read=len(source)))
    if isinstance(source, Mapping) and all(isinstance(each, Mapping) for each in source.values()):
        names = list(dict.fromkeys(str(name) for values in source.values() for name in values))
        listed = ((str(key), [cell_text(each.get(n)) for n in names]) for key, each in source.items())
        return _joined(names, listed, rows, Tally("table rows", read=len(source)))
    raise TypeError(
        "columns must be a table: a path, an open file, a pandas frame with the ids as its index, or "
        f"{{id: {{column: value}}}}; got {type(source).__name__}"
    )


def _from_table(
    table: Table, rows: Sequence[str], id_column: str | int | None, header: bool | None
) -> Attributes:
    if header is False:
        names = [f"column{j}" for j in range(1, table.width + 1)]
    else:
        table.take_heading()
        names = list(table.heading or ())
    # The label table's id column is also used here, if this table has a column of that name.
    known = id_column is not None and (id_column in names or is_position(id_column))
    at = table.column(id_column) if known and id_column is not None else 0
    if len(names) < 2:
        raise DataError(
            "the table has too few columns; expected a column of ids and at least one other column",
            table.name,
        )
    repeated = first_repeated(names)
    if repeated or not all(names):
        what = f"{repeated!r} occurs twice" if repeated else "one of them is empty"
        raise DataError(
            f"column names must be unique and not empty, but {what}; rename that column", table.name
        )
    tally = Tally("table rows")
    cells = ((row[at].strip(), [*row[:at], *row[at + 1 :]]) for _, row in table.rows(len(names) - 1, tally))
    return _joined([*names[:at], *names[at + 1 :]], cells, rows, tally, f"{table.name}: ")


def _joined(
    names: list[str],
    records: Iterable[tuple[str, Sequence[str]]],
    rows: Sequence[str],
    tally: Tally,
    source: str = "",
) -> Attributes:
    """Return the values of the rows in the table. If an id has several records, the first one counts."""
    position = {name: i for i, name in enumerate(rows)}
    values = np.full((len(names), len(rows)), MISSING, dtype=object)
    seen = set[str]()
    for name, cells in records:
        at = position.get(name)
        if at is None:
            tally.drop("not a row of the dataset")
        elif name in seen:
            tally.drop("second entry of a row")
        else:
            seen.add(name)
            texts = [cell.strip() for cell in cells[: len(names)]]
            values[:, at] = [MISSING if text.lower() in _MISSING else text for text in texts]
    lacking = (values == MISSING).sum(axis=1).tolist()
    remarks = tuple(
        f"{source}{count} of {len(rows)} values of {name!r} are missing"
        for name, count in zip(names, lacking, strict=True)
        if count
    )
    return Attributes(dict(zip(names, values, strict=True)), tally, remarks=remarks)


def as_numbers(texts: NDArray[Any]) -> NDArray[np.float64]:
    """Return the texts as numbers, with NaN for texts that are not numbers."""
    found = (float(text) if _NUMBER(text) else np.nan for text in texts.tolist())
    return np.fromiter(found, dtype=np.float64, count=len(texts))


def choose_tests(attributes: Attributes, bins: int, min_support: int) -> list[ColumnTest]:
    """Return the column tests that enough rows pass. The tally counts used and dropped columns."""
    chosen = []
    for column, texts in attributes.values.items():
        attributes.columns.read += 1
        tests = _tests_of(column, texts, bins, attributes.columns)
        kept = [test for test in tests if test.passed(texts).sum() >= min_support]
        if not kept:
            attributes.columns.drop(f"no value occurs in {min_support} rows")
        chosen += kept
    return chosen


def _tests_of(column: str, texts: NDArray[Any], bins: int, tally: Tally) -> list[ColumnTest]:
    present = texts[texts != MISSING]
    numbers = as_numbers(present)
    missing = [ColumnTest(column, MISSING)] if len(present) < len(texts) else []
    if not len(present):
        return missing
    values = sorted(set(present.tolist()))
    if not np.isnan(numbers).any():
        different = np.unique(numbers)
        if len(different) > max(bins, 2):
            tally.change("binned")
            edges = [-np.inf, *_inner_edges(numbers, bins), np.inf]
            return [*(ColumnTest(column, low=low, high=high) for low, high in pairwise(edges)), *missing]
        values = [f"{number:.10g}" for number in different.tolist()]
    tally.change("one feature per value")
    return [*(ColumnTest(column, value) for value in values), *missing]


def _inner_edges(numbers: NDArray[np.float64], bins: int) -> list[float]:
    """Return the borders between bins of about equal size, rounded to four digits so that names can show them."""
    from sklearn.preprocessing import KBinsDiscretizer  # only here: reading files does not need scikit-learn

    options = {"n_bins": bins, "encode": "ordinal", "strategy": "quantile", "random_state": 0}
    if "quantile_method" in KBinsDiscretizer().get_params():  # its default changes between versions
        options["quantile_method"] = "linear"
    binner = KBinsDiscretizer(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about bins that are empty because values repeat
        edges = binner.fit(numbers[:, None]).bin_edges_[0][1:-1]
    return sorted({float(f"{edge:.4g}") for edge in edges.tolist()})


def passed_by_rows(tests: Sequence[ColumnTest], attributes: Attributes, n_rows: int) -> csr_array:
    """Return a matrix with a column per test, which contains a 1 for each row that passes the test."""
    table = np.zeros((n_rows, len(tests)), dtype=np.uint8)
    for j, test in enumerate(tests):
        table[:, j] = test.passed(attributes.values[test.column])
    return csr_array(table)
