"""A hierarchy as an SVG picture and as a card in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from hietan._runtime.notebook import FAINT, card, details

LINE, INDENT, LETTER = 24, 28, 6.8
"""Pixels: between two lines, between two levels, and across a letter."""


@dataclass(frozen=True)
class HierarchyDrawing:
    """Terms of a hierarchy and their edges, ready to be drawn; a notebook shows it as SVG.

    Attributes
    ----------
    terms : tuple of (str, int)
        The terms from top to bottom, each with its level: one more than that of the deepest parent.
    edges : tuple of (str, str)
        The (parent, child) pairs.
    names : mapping of str to str
        Readable names of terms.
    chosen : frozenset of str
        The terms that were asked for; the others lie above them.
    """

    terms: tuple[tuple[str, int], ...]
    edges: tuple[tuple[str, str], ...]
    names: Mapping[str, str] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()

    def label(self, term: str) -> str:
        """The readable name of a term, with the term itself behind it; the term alone if it has no other name."""
        name = self.names.get(term, term)
        return name if name == term else f"{name} ({term})"

    def to_svg(self) -> str:
        """An SVG picture: a term on each line, so that no name lies on a point or on another name."""
        place = {
            term: (14 + level * INDENT, (i + 0.5) * LINE + 4) for i, (term, level) in enumerate(self.terms)
        }
        width = (
            max((x + 12 + LETTER * len(self.label(term)) for term, (x, _) in place.items()), default=0) + 10
        )
        height = len(self.terms) * LINE + 8
        paths = "".join(
            f'<path d="{_edge(*place[parent], *place[child])}" fill="none" stroke="#9aa5b1"/>'
            for parent, child in self.edges
        )
        nodes = "".join(self._node(term, *place[term]) for term, _ in self.terms)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
            f'viewBox="0 0 {width:.0f} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" '
            f'aria-label="{len(self.terms)} terms of a hierarchy">{paths}{nodes}</svg>'
        )

    def _node(self, term: str, x: float, y: float) -> str:
        is_chosen = term in self.chosen
        fill, weight = ("#1769b5", 600) if is_chosen else ("#ffffff", 400)
        text = escape(self.label(term))
        return (
            f'<g><circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="#1769b5" stroke-width="1.5"/>'
            f'<text x="{x + 11}" y="{y + 4}" font-weight="{weight}" fill="currentColor">{text}</text></g>'
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()


def draw(hierarchy: Any, terms: Iterable[str] | None, names: Mapping[str, str] | None) -> HierarchyDrawing:
    """Draw some terms of a hierarchy, or all of them, and all terms above them."""
    chosen = list(hierarchy.features if terms is None else dict.fromkeys(terms))
    kept = {above for term in chosen for above in hierarchy.ancestors(term)} | set(chosen)
    levels = _levels_from_the_top(hierarchy, kept)
    edges = tuple((term, child) for term in levels for child in hierarchy.children(term) if child in kept)
    marked = frozenset() if terms is None else frozenset(chosen)
    return HierarchyDrawing(tuple(levels.items()), edges, dict(names or {}), marked)


def _levels_from_the_top(hierarchy: Any, kept: set[str]) -> dict[str, int]:
    """The level of each term, in the order in which they are listed: depth first, each below the last of its parents.

    So every edge leads downwards. `kept` has, with a term, all that lie above it.
    """
    missing = {term: len(hierarchy.parents(term)) for term in kept}
    level = {root: 0 for root in hierarchy.roots if root in kept}
    ordered: dict[str, int] = {}
    stack = list(reversed(level))
    while stack:
        term = stack.pop()
        ordered[term] = level[term]
        for child in reversed(hierarchy.children(term)):
            if child in kept:
                level[child] = max(level.get(child, 0), level[term] + 1)
                missing[child] -= 1
                if not missing[child]:
                    stack.append(child)
    return ordered


def _edge(x1: float, y1: float, x2: float, y2: float) -> str:
    beside = x1 - 8  # not through the points in between
    turn = f"C{beside},{y1 + 2} {beside},{y1 + 6} {beside},{y1 + 12}V{y2 - 8}Q{beside},{y2} {beside + 8},{y2}"
    return f"M{x1},{y1}{turn}H{x2}"


def hierarchy_html(hierarchy: Any) -> str:
    """Return HTML with the counts of a hierarchy; a preview of its top unfolds when it is clicked."""
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
    """Return the first few names of a level, each followed by the first few of its children."""
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
