"""What all experiments share: tables of results in docs/, and pages whose marked places are filled from them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from hietan._io.files import atomic_write


def write_csv(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write a table, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    atomic_write(path, text.getvalue())


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if there is no such file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(page: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    """The text of a page with everything between ``<!-- name -->`` and ``<!-- end of name -->`` made again.

    >>> print(fill("a\\n<!-- x -->\\nold\\n<!-- end of x -->", {"x": lambda: "new\\n"}))
    a
    <!-- x -->
    new
    <!-- end of x -->
    """
    for name, make in blocks.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if not pattern.search(page):
            raise ValueError(f"the page has no place for {name!r}: expected <!-- {name} --> and its end")
        text = make()
        page = pattern.sub(lambda match, text=text: match[1] + text + match[2], page)
    return page
