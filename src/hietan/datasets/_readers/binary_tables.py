"""Tables in Parquet, Arrow and Excel files, read in batches with every cell as text."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hietan._runtime.optional import import_optional
from hietan.datasets._readers.files import LONGEST_LINE, TextSource, is_path, source_name
from hietan.exceptions import DataError, DataWarning

_MOST_BYTES = 1 << 30  # of a column in a row group of Parquet, or of a part of a workbook
_MOST_VALUES = 1 << 28  # of a column of lists in a row group
_MOST_EXCEL_ROWS = 1 << 20  # as in Excel; a forged row number would stand for any number of blank rows
_BATCH_ROWS, _BATCH_VALUES = 1 << 16, 1 << 22
_Row = tuple[int, list[str]]


class Listed(str):
    """A cell that contains a list, stored as its parts and as text separated by semicolons."""

    parts: list[str]

    def __new__(cls, parts: list[str]) -> Listed:
        cell = super().__new__(cls, ";".join(parts))
        cell.parts = parts
        return cell

    def strip(self, chars: str | None = None, /) -> str:
        """Return the cell unchanged, because its parts contain no outer blanks."""
        return self


def text_of(value: Any) -> str:
    """Return a cell's text: "" for a missing value, and whole numbers without a decimal point.

    >>> text_of(12.0), text_of("012"), text_of(None), text_of(["a", None, "b"])
    ('12', '012', '', 'a;b')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return Listed([text for each in value if (text := text_of(each).strip())])
    if isinstance(value, bytes):
        return value.decode()
    whole = isinstance(value, float) and value.is_integer()
    return "" if value is None or value != value else str(int(value) if whole else value)


def binary_rows(source: TextSource, kind: str) -> Iterator[_Row]:
    """Yield (line, cells) for each row of a binary table, header first. Line numbers match the same table in CSV.

    Parameters
    ----------
    source : path or open file
        The table.
    kind : str
        The result of `binary_kind`.
    """
    name, line = source_name(source), 0
    if kind not in _READERS:
        raise DataError(
            f"this is an {kind}, which hietan does not read; save the table as .xlsx or CSV", name
        )
    with Path(source).open("rb") if is_path(source) else nullcontext(source) as file:
        try:
            for line, row in _READERS[kind](file, name):
                yield line, row
        except (DataError, ImportError):
            raise
        except Exception as error:  # each of the libraries has its own, and lets many others through
            raise DataError(
                f"the {kind} is damaged or truncated at this line ({error}); save or download it again",
                name,
                line + 1,
            ) from error


def _parquet(file: Any, name: str) -> Iterator[_Row]:
    table = import_optional("pyarrow.parquet", extra="tables", purpose="reading Parquet").ParquetFile(file)
    groups, most = [table.metadata.row_group(k) for k in range(table.num_row_groups)], 1
    has_lists = any(field.type.num_fields for field in table.schema_arrow)
    if has_lists:
        table.scan_contents()  # raises an error for damage at which `group.column` aborts the process
    for k, group in enumerate(groups):
        columns = map(group.column, range(group.num_columns)) if has_lists else ()
        n_values = max((column.num_values for column in columns), default=group.num_rows)
        most = max(most, n_values // max(1, group.num_rows))
        if group.total_byte_size > _MOST_BYTES or (has_lists and n_values > _MOST_VALUES):
            raise DataError(
                f"row group {k + 1} has {n_values:,} values in a column and {group.total_byte_size:,} bytes; at most "
                f"{_MOST_VALUES:,} values and {_MOST_BYTES:,} bytes can be read together, so write smaller row groups",
                name,
            )
    batches = table.iter_batches(batch_size=max(1, min(_BATCH_ROWS, _BATCH_VALUES // most)))
    return _rows_of(table.schema_arrow, batches, name)


def _arrow(file: Any, name: str) -> Iterator[_Row]:
    table = import_optional("pyarrow.ipc", extra="tables", purpose="reading Arrow").open_file(file)
    return _rows_of(table.schema, map(table.get_batch, range(table.num_record_batches)), name)


def _rows_of(schema: Any, batches: Any, name: str) -> Iterator[_Row]:
    read = [j for j, field in enumerate(schema) if _is_read(field.type)]
    if left := [f"{field.name[:80]} ({field.type!s:.80})" for j, field in enumerate(schema) if j not in read]:
        warnings.warn(
            f"{name}: skipped columns that contain neither text nor numbers nor lists of these: "
            f"{', '.join(left[:8])}",
            DataWarning,
            stacklevel=2,
        )
    line = 1
    yield line, [schema.names[j] for j in read]
    for batch in batches:
        batch.validate(full=True)  # otherwise, damage may crash the process
        for start in range(0, len(batch), _BATCH_ROWS):
            part = batch.slice(start, _BATCH_ROWS)
            for row in zip(*(map(text_of, part.column(j).to_pylist()) for j in read), strict=True):
                line += 1
                if max(map(len, row)) > LONGEST_LINE:
                    raise DataError(
                        f"a cell has more than {LONGEST_LINE:,} characters; shorten it or remove the column",
                        name,
                        line,
                    )
                yield line, list(row)


def _is_read(kind: Any) -> bool:
    """Return whether a column of this type contains texts, numbers or similar values, or lists of them."""
    types = import_optional("pyarrow.types", extra="tables", purpose="reading Arrow")
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return not types.is_nested(kind.value_type if is_list else kind)


def _excel(file: Any, name: str) -> Iterator[_Row]:
    openpyxl = import_optional("openpyxl", extra="tables", purpose="reading an Excel workbook")
    with zipfile.ZipFile(file) as archive:
        largest = max(archive.infolist(), key=lambda part: part.file_size)
    if largest.file_size > _MOST_BYTES:
        raise DataError(
            f"the part {largest.filename[:80]} unpacks to {largest.file_size:,} bytes; at most {_MOST_BYTES:,} bytes "
            "are read, so save the table as Parquet or CSV",
            name,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and the like
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    sheet, width = book.worksheets[0], 0
    if len(book.worksheets) > 1:
        warnings.warn(
            f"{name}: only the first of {len(book.worksheets)} sheets, {sheet.title!r:.80}, is read; to read "
            "another sheet, save it as a separate file",
            DataWarning,
            stacklevel=2,
        )
    for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if line > _MOST_EXCEL_ROWS:
            raise DataError(
                f"the sheet has more than {_MOST_EXCEL_ROWS:,} rows; save the table as Parquet or CSV",
                name,
                line,
            )
        row = list(map(text_of, cells))
        filled = max((j + 1 for j, cell in enumerate(row) if cell.strip()), default=0)
        width = width or filled
        if filled:
            yield line, [*row, *[""] * width][: max(filled, width)]


_READERS: dict[str, Callable[[Any, str], Iterator[_Row]]] = {
    "Parquet file": _parquet,
    "Arrow file": _arrow,
    "Excel workbook": _excel,
}
