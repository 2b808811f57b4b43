"""Text tables for publication, in CSV, Markdown and LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hietan._io.tables import comment_line, csv_text


@dataclass(frozen=True)
class TextTable:
    """A table of text cells, with a title and provenance lines.

    Attributes
    ----------
    title : str
        What the table shows.
    header : tuple of str
        The headings of the columns.
    rows : tuple of tuple of str
        The cells.
    provenance : tuple of str
        Lines on how the table was made.
    text_columns : int
        The number of leading text columns; the others contain numbers.
    bold : set of (row, column)
        The cells to emphasise; CSV ignores it.
    notes : tuple of str
        What readers of the table must know, such as methods that failed. Shown below the table in Markdown; comments
        in LaTeX and CSV.

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
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Return a Markdown table, with the provenance as a comment below it."""
        marks = [":---"] * self.text_columns + ["---:"] * (len(self.header) - self.text_columns)
        lines = [
            "",
            f"**{self.title}**",
            "",
            _piped(self.header),
            f"|{'|'.join(marks)}|",
            *(_piped(self._marked(r, row, "**{}**")) for r, row in enumerate(self.rows)),
        ]
        comments = [f"<!-- {_comment(line)} -->" for line in self.provenance]
        return "\n".join(
            [*lines, "", *(f"{note.replace('<', '&lt;')}\n" for note in self.notes), *comments, ""]
        )

    def to_latex(self) -> str:
        """Return a LaTeX table for the booktabs package, with the provenance as a comment above it."""
        columns = "l" * self.text_columns + "r" * (len(self.header) - self.text_columns)
        body = [
            " & ".join(self._marked(r, list(map(_latex, row)), r"\textbf{{{}}}")) + r" \\"
            for r, row in enumerate(self.rows)
        ]
        comments = [f"% {line}" for line in (*self.notes, *self.provenance)]
        lines = [*comments, f"\\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.header)) + r" \\", r"\midrule", *body]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def to_csv(self) -> str:
        """Return comma-separated values, below provenance lines that begin with #.

        Names that a spreadsheet would run as formulas are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = ((*row[: self.text_columns], *map(_Number, row[self.text_columns :])) for row in self.rows)
        return "".join(map(comment_line, (*self.notes, *self.provenance))) + csv_text(self.header, cells)

    def _marked(self, r: int, cells: Sequence[str], mark: str) -> list[str]:
        """Return a row's cells, with bold cells marked."""
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
    """An empty or numeric cell, which can be written unchanged."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text
