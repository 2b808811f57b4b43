"""A table as text, in the formats that people publish in: CSV, Markdown, LaTeX (booktabs) and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hietan._io.tables import comment_line, csv_text


@dataclass(frozen=True)
class TextTable:
    """Cells as text, with a title and lines that say how they were made.

    Attributes
    ----------
    title : str
        What the table shows.
    header : tuple of str
        The headings of the columns.
    rows : tuple of tuple of str
        The cells.
    provenance : tuple of str
        Lines that say how the table was made.
    text_columns : int
        The first columns, as many as this, hold text; the others hold numbers.
    bold : set of (row, column)
        The cells that are emphasised; CSV does not show it.

    Examples
    --------
    >>> table = TextTable("Ranks", ("method", "rank"), (("TAN", "4.86"),), ("made by hand",))
    >>> print(table.to_markdown())
    <BLANKLINE>
    **Ranks**
    <BLANKLINE>
    | method | rank |
    |:---|---:|
    | TAN | 4.86 |
    <BLANKLINE>
    <!-- made by hand -->
    <BLANKLINE>
    >>> print(table.to_latex())
    % made by hand
    \\begin{tabular}{lr}
    \\toprule
    method & rank \\\\
    \\midrule
    TAN & 4.86 \\\\
    \\bottomrule
    \\end{tabular}
    <BLANKLINE>
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    provenance: tuple[str, ...] = ()
    text_columns: int = 1
    bold: frozenset[tuple[int, int]] = frozenset()

    def to_markdown(self) -> str:
        """A Markdown table; the provenance is a comment below it."""
        marks = [":---"] * self.text_columns + ["---:"] * (len(self.header) - self.text_columns)
        lines = [
            "",
            f"**{self.title}**",
            "",
            _piped(self.header),
            f"|{'|'.join(marks)}|",
            *(_piped(self._marked(r, row, "**{}**")) for r, row in enumerate(self.rows)),
        ]
        return "\n".join([*lines, "", *(f"<!-- {_comment(line)} -->" for line in self.provenance), ""])

    def to_latex(self) -> str:
        """A LaTeX table for the package booktabs; the provenance is a comment above it."""
        columns = "l" * self.text_columns + "r" * (len(self.header) - self.text_columns)
        body = [
            " & ".join(self._marked(r, list(map(_latex, row)), r"\textbf{{{}}}")) + r" \\"
            for r, row in enumerate(self.rows)
        ]
        lines = [*(f"% {line}" for line in self.provenance), f"\\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.header)) + r" \\", r"\midrule", *body]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def to_csv(self) -> str:
        """Comma-separated values, after lines with the provenance, which begin with #.

        Names that a spreadsheet would run are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = ((*row[: self.text_columns], *map(_Number, row[self.text_columns :])) for row in self.rows)
        return "".join(map(comment_line, self.provenance)) + csv_text(self.header, cells)

    def to_html(self) -> str:
        """An HTML table; the title is its caption, and the provenance a comment. Everything is escaped."""

        def line(cells: Sequence[str], tag: str, r: int | None = None) -> str:
            aligned = ["left"] * self.text_columns + ["right"] * (len(cells) - self.text_columns)
            shown = list(map(escape, cells))
            marked = shown if r is None else self._marked(r, shown, "<b>{}</b>")
            parts = (
                f'<{tag} style="text-align:{a}">{c}</{tag}>' for a, c in zip(aligned, marked, strict=True)
            )
            return f"<tr>{''.join(parts)}</tr>"

        lines = ["<table>", f"<caption>{escape(self.title)}</caption>"]
        lines += [f"<thead>{line(self.header, 'th')}</thead>", "<tbody>"]
        lines += [line(row, "td", r) for r, row in enumerate(self.rows)]
        lines += ["</tbody>", "</table>", *(f"<!-- {escape(_comment(text))} -->" for text in self.provenance)]
        return "\n".join([*lines, ""])

    _repr_html_ = to_html

    def _marked(self, r: int, cells: Sequence[str], mark: str) -> list[str]:
        """The cells of a row, with the bold ones put into the mark."""
        return [mark.format(cell) if (r, c) in self.bold else cell for c, cell in enumerate(cells)]


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _comment(line: str) -> str:
    return line.replace("--", "- -")  # two hyphens would end the comment


def _latex(text: str) -> str:
    for plain, escaped in (("\\", r"\textbackslash "), ("±", r"$\pm$"), *((c, f"\\{c}") for c in "&%#_")):
        text = text.replace(plain, escaped)
    return text


class _Number:
    """A cell whose text is that of a number, or empty: it is written as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text
