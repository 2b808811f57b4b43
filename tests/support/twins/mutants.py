"""Wrong versions of the rules: a comparison with the twins must notice each of them."""

from __future__ import annotations

from dataclasses import replace

from support.twins.counts import mi_key
from support.twins.graphs import Edge, has_parent, related
from support.twins.rules import RULES, Rules, propagate_once


def propagate_in_one_sweep(directed: set[Edge], undirected: set[Edge]) -> None:
    """Only edges that touch a vertex which had a parent before the sweep: one step, not the closure."""
    before = set(directed)
    for i, j in sorted(undirected):
        if has_parent(i, before) != has_parent(j, before):
            undirected.remove((i, j))
            directed.add((i, j) if has_parent(i, before) else (j, i))


METHODS = ("tan", "hie_tan", "hie_tan_lite", "hre_tan")

# Each wrong version of a rule, and the methods whose results it changes.
MUTANTS: dict[str, tuple[tuple[str, ...], Rules]] = {
    "ties to the larger pair": (METHODS, replace(RULES, tie=lambda edge: (-edge[0], -edge[1]))),
    "ties by the second feature": (METHODS, replace(RULES, tie=lambda edge: (edge[1], edge[0]))),
    "last candidate as root": (
        METHODS,
        replace(RULES, root=lambda candidates, order: max(candidates, key=list(order).index)),
    ),
    "smallest candidate as root": (METHODS, replace(RULES, root=lambda candidates, order: min(candidates))),
    "descendant as parent": (
        ("hie_tan", "hie_tan_lite"),
        replace(RULES, orient=lambda ancestor, descendant: (descendant, ancestor)),
    ),
    "no propagation": (
        ("hie_tan", "hie_tan_lite"),
        replace(RULES, propagate=lambda directed, undirected: None),
    ),
    "propagation of one edge": (("hie_tan", "hie_tan_lite"), replace(RULES, propagate=propagate_once)),
    "propagation of one step": (
        ("hie_tan", "hie_tan_lite"),
        replace(RULES, propagate=propagate_in_one_sweep),
    ),
    "removal forgotten": (
        ("hie_tan_lite", "hre_tan"),
        replace(RULES, redundant_to=lambda v, x, ancestors: set()),
    ),
    "only ancestors removed": (
        ("hie_tan_lite", "hre_tan"),
        replace(RULES, redundant_to=lambda v, x, ancestors: {u for u in ancestors[v] if x[u] == x[v]}),
    ),
    "values ignored in removal": (
        ("hie_tan_lite", "hre_tan"),
        replace(
            RULES,
            redundant_to=lambda v, x, ancestors: {u for u in range(len(x)) if related(u, v, ancestors)},
        ),
    ),
    "one endpoint removes": (
        ("hie_tan_lite", "hre_tan"),
        replace(RULES, removers=lambda edge, is_undirected: edge[:1]),
    ),
    "open edges remove nothing": (
        ("hie_tan_lite", "hre_tan"),
        replace(RULES, removers=lambda edge, is_undirected: () if is_undirected else edge),
    ),
    "redundant edges not skipped": (
        ("hie_tan_lite", "hre_tan"),
        replace(RULES, skip=lambda i, j, x, ancestors: False),
    ),
    "lone feature by index": (("hie_tan_lite", "hre_tan"), replace(RULES, alone=lambda counts: 0)),
    "lone feature by smallest information": (
        ("hie_tan_lite", "hre_tan"),
        replace(
            RULES,
            alone=lambda counts: min(range(counts.n_features), key=lambda i: (mi_key(i, counts), i)),
        ),
    ),
}
