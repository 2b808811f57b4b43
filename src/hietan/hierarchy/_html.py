"""How a hierarchy is shown in a notebook: first a plain preview, then HTML made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from hietan._runtime.notebook import FAINT, card, details

_Children = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Line:
    """One line of the preview: a feature and the number of its children, or a remark."""

    indent: int
    text: str
    n_children: int | None = None


def preview(roots: Sequence[str], children: _Children, widths: tuple[int, ...] = (4, 3, 2)) -> list[Line]:
    """The top of the hierarchy, indented: on each level the first few children of the feature above."""

    def below(names: Sequence[str], level: int) -> Iterator[Line]:
        width = widths[level]
        for name in names[:width]:
            yield Line(level, name, len(children(name)))
            if level + 1 < len(widths):
                yield from below(children(name), level + 1)
        if len(names) > width:
            yield Line(level, f"and {len(names) - width:,} more")

    with_children_first = sorted(roots, key=lambda name: not children(name))
    return list(below(with_children_first, 0))


def hierarchy_html(counts: Mapping[str, int], roots: Sequence[str], children: _Children) -> str:
    """HTML with the counts of a hierarchy; a preview unfolds when it is clicked."""
    lines = "".join(map(_line_html, preview(roots, children)))
    return card("Hierarchy", counts, details("from the top", lines))


def _line_html(line: Line) -> str:
    indent = f"padding-left:{1.4 * line.indent + 0.4:.1f}em"
    if line.n_children is None:
        return f'<div style="{indent};{FAINT};font-style:italic">{escape(line.text)}</div>'
    count = f' <span style="{FAINT}">{line.n_children:,} below</span>' if line.n_children else ""
    return f'<div style="{indent}"><code>{escape(line.text)}</code>{count}</div>'
