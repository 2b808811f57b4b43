"""A hierarchy's notebook card."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from hietan._runtime.notebook import FAINT, card, details


def hierarchy_html(hierarchy: Any) -> str:
    """Return HTML with a hierarchy's counts. A preview of its top levels unfolds when you click it."""
    counts = {
        "features": len(hierarchy),
        "edges": len(hierarchy.edges),
        "roots": len(hierarchy.roots),
        "leaves": len(hierarchy.leaves),
        "depth": int(hierarchy.depths.max(initial=0)),
    }
    with_children_first = sorted(hierarchy.roots, key=lambda name: not hierarchy.children(name))
    return card("Hierarchy", counts, details("from the top", _preview(hierarchy, with_children_first)))


def _preview(hierarchy: Any, names: Sequence[str], level: int = 0) -> str:
    """Return the first few names in a level, each followed by its first few children."""
    style, width, lines = f"padding-left:{1.4 * level + 0.4:.1f}em", 4 - level, ""
    for name in names[:width]:
        below = hierarchy.children(name)
        count = f' <span style="{FAINT}">{len(below):,} below</span>' if below else ""
        lines += f'<div style="{style}"><code>{escape(name)}</code>{count}</div>'
        lines += _preview(hierarchy, below, level + 1) if level < 2 else ""
    if len(names) > width:
        more = f"and {len(names) - width:,} more"
        lines += f'<div style="{style};{FAINT};font-style:italic">{more}</div>'
    return lines
