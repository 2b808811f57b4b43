"""Plots of an explanation, drawn with matplotlib (extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hietan._runtime.optional import import_optional
from hietan.explain._explanation import Contribution, Explanation

FOR, AGAINST, NEUTRAL = "#2166ac", "#b2182b", "#777777"


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plotting an explanation")
    return pyplot.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def plot_contributions(explanation: Explanation, ax: Any, limit: int) -> Any:
    """Draw a waterfall from the base value to the log-odds, and return the axes. If `ax` is None, make a new figure."""
    shown, rest = explanation.strongest[:limit], explanation.strongest[limit:]
    steps = [(_short(f"{part.feature} = {part.value:g}", part.name), part.contribution) for part in shown]
    if rest:
        steps.append((f"{len(rest)} weaker features", sum(part.contribution for part in rest)))
    steps += list(explanation.other)
    ax = _axes(ax, (8, 1.2 + 0.3 * (len(steps) + 2)))
    level = explanation.base
    labels = [explanation.base_label, *(label for label, _ in steps), "log-odds"]
    ax.barh(0, level, color=NEUTRAL)
    for k, (_, value) in enumerate(steps, start=1):
        ax.barh(k, value, left=level, color=FOR if value >= 0 else AGAINST)
        ax.plot([level, level], [k - 1.4, k + 0.4], color=NEUTRAL, linewidth=0.7)
        ax.annotate(
            f"{value:+.2f}", (max(level, level + value), k), (4, 0), textcoords="offset points", va="center"
        )
        level += value
    ax.barh(len(steps) + 1, explanation.log_odds, color=FOR if explanation.log_odds >= 0 else AGAINST)
    ax.annotate(
        f"{explanation.log_odds:+.2f}",
        (max(0.0, explanation.log_odds), len(steps) + 1),
        (4, 0),
        textcoords="offset points",
        va="center",
        weight="bold",
    )
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.axvline(0, color=NEUTRAL, linewidth=0.7)
    ax.margins(x=0.12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"log-odds of {explanation.target}")
    ax.set_title(
        f"{explanation.method}, {explanation.row}: P({explanation.target}) = {explanation.probability:.3g}"
    )
    return ax


def plot_tree(explanation: Explanation, ax: Any, labels: int) -> Any:
    """Draw the learned tree over the hierarchy's edges, and return the axes. If `ax` is None, make a new figure."""
    if not explanation.has_tree:
        raise ValueError(
            f"{explanation.method} does not learn a tree; use plot_contributions to show its contributions"
        )
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plotting a tree")
    parts = {part.feature: part for part in explanation.contributions}
    place = layout(parts)
    width = max(x for x, _ in place.values()) + 1
    depth = max(y for _, y in place.values()) + 1
    ax = _axes(ax, (min(16.0, 7 + 0.05 * width), min(12.0, 3.5 + 0.3 * depth)))
    for above, below in explanation.hierarchy.restrict(
        [f for f in explanation.hierarchy.features if f in parts]
    ).edges:
        (x0, y0), (x1, y1) = place[above], place[below]
        ax.plot([x0, x1], [y0, y1], color="#bbbbbb", linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    for part in parts.values():
        if part.parent is not None:
            (x0, y0), (x1, y1) = place[part.parent], place[part.feature]
            ax.plot([x0, x1], [y0, y1], color="#555555", linewidth=1, zorder=2)
    strength = max(abs(part.contribution) for part in parts.values()) or 1.0
    dots = ax.scatter(
        [place[f][0] for f in parts],
        [place[f][1] for f in parts],
        c=[part.contribution for part in parts.values()],
        s=[18 + 110 * abs(part.contribution) / strength for part in parts.values()],
        cmap="RdBu",
        norm=colors.TwoSlopeNorm(0, -strength, strength),
        edgecolors="#333333",
        linewidths=0.6,
        zorder=3,
    )
    _name_strongest(ax, explanation.strongest[:labels], place, lambda value: dots.cmap(dots.norm(value)))
    ax.figure.colorbar(dots, ax=ax, label=f"contribution to the log-odds of {explanation.target}", shrink=0.6)
    ax.invert_yaxis()
    ax.set_axis_off()
    ax.margins(0.04)
    unnamed = len(parts) - min(labels, len(parts))
    note = f"; {unnamed} weaker ones not named" if unnamed else ""
    ax.set_title(
        f"{explanation.method}, {explanation.row}: {len(parts)} features{note}\n"
        f"lines: learned edges; dotted: edges of the hierarchy",
        fontsize="medium",
    )
    return ax


def _name_strongest(
    ax: Any, parts: Sequence[Contribution], place: dict[str, tuple[float, float]], color: Any
) -> None:
    """Number the strongest features in the tree and name them below it, because names would overlap in a dense tree."""
    lines = import_optional("matplotlib.lines", extra="plot", purpose="plotting a tree")
    handles = []
    for number, part in enumerate(parts, start=1):
        ax.annotate(
            str(number),
            place[part.feature],
            (5, 4),
            textcoords="offset points",
            fontsize="small",
            weight="bold",
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
            zorder=4,
        )
        label = (
            f"{number}  {_short(f'{part.feature} = {part.value:g}', part.name, 48)}  {part.contribution:+.2f}"
        )
        dot = {"marker": "o", "linestyle": "", "markeredgecolor": "#333333", "markeredgewidth": 0.6}
        handles.append(lines.Line2D([], [], color=color(part.contribution), label=label, **dot))
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        frameon=False,
        fontsize="small",
        handletextpad=0.2,
    )


def layout(parts: dict[str, Contribution]) -> dict[str, tuple[float, float]]:
    """Return each feature's position, in layers from the root down, with leaves side by side and parents above
    children.
    """
    children: dict[str | None, list[str]] = {}
    for part in parts.values():
        children.setdefault(part.parent, []).append(part.feature)
    order = [(root, 0) for root in children[None]]
    for feature, depth in order:
        order.extend((child, depth + 1) for child in children.get(feature, ()))
    depths = dict(order)
    stack, leaves = list(reversed(children[None])), []
    while stack:
        feature = stack.pop()
        stack.extend(reversed(children.get(feature, ())))
        if feature not in children:
            leaves.append(feature)
    x = {leaf: float(k) for k, leaf in enumerate(leaves)}
    for feature, _ in reversed(order):
        if feature in children:
            x[feature] = sum(x[child] for child in children[feature]) / len(children[feature])
    return {feature: (x[feature], float(depths[feature])) for feature in parts}


def _short(feature: str, name: str, width: int = 60) -> str:
    label = feature if feature.startswith(name) else f"{feature} {name}"
    return label if len(label) <= width else label[: width - 1] + "…"
