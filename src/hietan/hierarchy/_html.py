"""How a hierarchy shows itself in a notebook: first a plain summary, then HTML made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hietan._runtime.notebook import BOX, FAINT

if TYPE_CHECKING:
    from hietan.hierarchy import Hierarchy


@dataclass(frozen=True)
class Line:
    """One line of the preview: a feature and how many features stand right below it, or a remark."""

    indent: int
    text: str
    n_children: int | None = None


def preview(hierarchy: Hierarchy, widths: tuple[int, ...] = (4, 3, 2)) -> list[Line]:
    """The top of the hierarchy, indented: on each level the first few features below the one above."""

    def below(names: Sequence[str], level: int) -> Iterator[Line]:
        width = widths[level]
        for name in names[:width]:
            children = hierarchy.children(name)
            yield Line(level, name, len(children))
            if level + 1 < len(widths):
                yield from below(children, level + 1)
        if len(names) > width:
            yield Line(level, f"and {len(names) - width:,} more")

    with_children_first = sorted(hierarchy.roots, key=lambda name: not hierarchy.children(name))
    return list(below(with_children_first, 0))


def hierarchy_html(hierarchy: Hierarchy) -> str:
    counts = {
        "features": len(hierarchy),
        "edges": int(hierarchy.adjacency.nnz),
        "roots": len(hierarchy.roots),
        "leaves": len(hierarchy.leaves),
        "depth": int(hierarchy.depths.max(initial=0)),
    }
    cells = "".join(
        f'<span style="margin-right:1.2em"><b>{count:,}</b> <span style="{FAINT}">{what}</span></span>'
        for what, count in counts.items()
    )
    lines = "".join(map(_line_html, preview(hierarchy)))
    return (
        f'<div style="{BOX}"><div style="font-weight:600">Hierarchy</div><div>{cells}</div>'
        f'<details><summary style="cursor:pointer;{FAINT}">from the top</summary>{lines}</details></div>'
    )


def _line_html(line: Line) -> str:
    indent = f"padding-left:{1.4 * line.indent + 0.4:.1f}em"
    if line.n_children is None:
        return f'<div style="{indent};{FAINT};font-style:italic">{escape(line.text)}</div>'
    count = f' <span style="{FAINT}">{line.n_children:,} below</span>' if line.n_children else ""
    return f'<div style="{indent}"><code>{escape(line.text)}</code>{count}</div>'
