"""A hierarchy and the tree that was learned over it, as a small SVG file: text that is the same wherever it is made."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import hypot

from hietan import Hierarchy
from reproduction.paper.walk import Direction, Trace

RADIUS, GAP, TOP = 17, 84, 78
STYLES = {
    Direction.HIERARCHY: ("#1f6feb", "", "by the hierarchy"),
    Direction.PARENT: ("#1a7f37", "7 4", "by a parent"),
    Direction.ROOT: ("#bc4c00", "2 4", "by the random root"),
}
INK, PALE = "#24292f", "#afb8c1"
Point = tuple[float, float]


def draw(hierarchy: Hierarchy, trace: Trace, title: str) -> str:
    """The SVG file: the hierarchy on the left, the tree on the right, a legend below."""
    graph = _layered(hierarchy)
    split = max(x for x, _ in graph.values()) + GAP
    tree = {name: (x + split, y) for name, (x, y) in _tree_places(trace).items()}
    width = max(x for x, _ in tree.values()) + GAP / 2
    height = max(y for _, y in (*graph.values(), *tree.values())) + 84
    removed = set(trace.removed_by)
    body = [_text(GAP / 2, 26, "hierarchy", INK, "start"), _text(split + GAP / 2, 26, "tree", INK, "start")]
    body += [_arrow(graph[a], graph[b], PALE, "") for a, b in hierarchy.edges]
    for (a, b), direction in trace.directions.items():
        body.append(_arrow(tree[a], tree[b], *STYLES[direction][:2]))
    body += [_node(place, name, name in removed) for name, place in graph.items()]
    body += [_node(place, name, False) for name, place in tree.items()]
    body += _legend(trace, height)
    width = max(width, 470)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="Helvetica, Arial, sans-serif" font-size="14">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _layered(hierarchy: Hierarchy) -> dict[str, Point]:
    """Features in layers by depth; within a layer, each as near as possible to the middle of its parents."""
    depths = dict(zip(hierarchy.features, hierarchy.depths.tolist(), strict=True))
    layers = [
        [name for name in hierarchy.features if depths[name] == k] for k in range(max(depths.values()) + 1)
    ]
    widest = max(map(len, layers))
    places: dict[str, Point] = {}
    for k, layer in enumerate(layers):
        above = {name: [places[p][0] for p in hierarchy.parents(name) if p in places] for name in layer}
        # The first layer is turned round, so that F stands left of E, as in the paper's figure.
        order = sorted(layer, key=lambda n: sum(above[n]) / len(above[n])) if k else layer[::-1]
        start = GAP / 2 + (widest - len(order)) * GAP / 2
        places |= {name: (start + i * GAP, TOP + k * GAP) for i, name in enumerate(order)}
    return places


def _tree_places(trace: Trace) -> dict[str, Point]:
    """Features by their distance from the root, from left to right; each branch on a line of its own."""
    children: dict[str, list[str]] = {name: [] for name in trace.tree.features}
    for parent, child in trace.tree.edges:
        children[parent].append(child)
    places: dict[str, Point] = {}

    def put(name: str, depth: int, line: int) -> int:
        places[name] = (GAP / 2 + depth * GAP, TOP + line * GAP * 0.8)
        for i, child in enumerate(children[name]):
            line = put(child, depth + 1, line + (i > 0))
        return line

    put(trace.tree.root, 0, 0)
    return places


def _arrow(start: Point, end: Point, colour: str, dash: str) -> str:
    length = hypot(end[0] - start[0], end[1] - start[1])
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    x1, y1 = start[0] + dx * RADIUS, start[1] + dy * RADIUS
    x2, y2 = end[0] - dx * (RADIUS + 8), end[1] - dy * (RADIUS + 8)
    tip = (end[0] - dx * (RADIUS + 1), end[1] - dy * (RADIUS + 1))
    points = (
        f"{tip[0]:.1f},{tip[1]:.1f} {x2 - dy * 4:.1f},{y2 + dx * 4:.1f} {x2 + dy * 4:.1f},{y2 - dx * 4:.1f}"
    )
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="2"{dashes}/>'
    return f'{line}<polygon points="{points}" fill="{colour}"/>'


def _node(place: Point, name: str, is_removed: bool) -> str:
    x, y = place
    ink, dashes = (PALE, ' stroke-dasharray="4 3"') if is_removed else (INK, "")
    style = f'fill="#ffffff" stroke="{ink}" stroke-width="1.5"{dashes}'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" {style}/>' + _text(x, y + 5, name, ink)


def _text(x: float, y: float, words: str, colour: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'


def _legend(trace: Trace, height: float) -> list[str]:
    """A line for each kind of direction that occurs."""
    found: Mapping[Direction, None] = dict.fromkeys(trace.directions.values())
    parts, x = [], GAP / 2 - RADIUS
    for direction in (d for d in STYLES if d in found):
        colour, dash, words = STYLES[direction]
        parts.append(_arrow((x - RADIUS, height - 24), (x + 34 + RADIUS, height - 24), colour, dash))
        parts.append(_text(x + 42, height - 19, words, INK, "start"))
        x += 62 + 7.2 * len(words)
    return parts
