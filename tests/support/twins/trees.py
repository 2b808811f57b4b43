"""The ranking of the edges and the trees of TAN, Hie-TAN, Hie-TAN-Lite and HRE-TAN."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from support.twins.counts import Counts, cmi_key
from support.twins.graphs import (
    ROOT,
    Ancestors,
    Edge,
    away_from,
    connected,
    has_parent,
    parent_list,
    reachable,
    related,
)
from support.twins.rules import RULES, Rules


def ranking(counts: Counts, rules: Rules = RULES) -> list[Edge]:
    d = counts.n_features
    edges = [(i, j) for i in range(d) for j in range(i + 1, d)]
    return sorted(edges, key=lambda edge: (-cmi_key(*edge, counts), rules.tie(edge)))


def tan_tree(d: int, ranked: Sequence[Edge], root_order: Sequence[int], rules: Rules = RULES) -> list[int]:
    """Kruskal over the ranking, then directions away from the root."""
    chosen: set[Edge] = set()
    for i, j in ranked:
        if not connected(i, j, chosen):
            chosen.add((i, j))
    everything = set(range(d))
    if not everything:
        return []
    return parent_list(d, everything, away_from(rules.root(everything, root_order), chosen))


Watch = Callable[[set[Edge], set[Edge], set[int]], None]


def hie_walk(
    ranked: Sequence[Edge],
    ancestors: Ancestors,
    x: Sequence[int] | None,
    rules: Rules = RULES,
    watch: Watch | None = None,
) -> tuple[set[Edge], set[Edge], set[int]]:
    """The one walk over the ranking: directed edges, undirected edges, removed features.

    With an instance x, redundancy is removed (Hie-TAN-Lite, Algorithms 3 to 5); without, nothing is (Hie-TAN,
    Algorithms 1 and 2). The kernel has two quick versions of it, HierarchicalSearch in kernel/trees/eager_trees.hpp and
    LazyBatch in kernel/trees/lazy_trees.hpp; reproduction/paper/walk.py records it step by step.
    `watch` is called with all three after every edge of the ranking.
    """
    directed: set[Edge] = set()
    undirected: set[Edge] = set()
    removed: set[int] = set()

    def consider(i: int, j: int) -> None:
        if i in removed or j in removed:
            return
        if x is not None and rules.skip(i, j, x, ancestors):
            return
        if connected(i, j, directed | undirected):
            return
        open_direction = False
        if related(i, j, ancestors):
            parent, child = rules.orient(i, j) if i in ancestors[j] else rules.orient(j, i)
            if has_parent(child, directed):
                return
            directed.add((parent, child))
            rules.propagate(directed, undirected)
        elif has_parent(i, directed) and has_parent(j, directed):
            return
        elif has_parent(i, directed):
            directed.add((i, j))
            rules.propagate(directed, undirected)
        elif has_parent(j, directed):
            directed.add((j, i))
            rules.propagate(directed, undirected)
        else:
            undirected.add((i, j))
            open_direction = True
        if x is not None:
            for v in rules.removers((i, j), open_direction):
                removed.update(rules.redundant_to(v, x, ancestors))

    for i, j in ranked:
        consider(i, j)
        if watch is not None:
            watch(set(directed), set(undirected), set(removed))
    return directed, undirected, removed


def settle(
    directed: set[Edge], undirected: set[Edge], root_order: Sequence[int], rules: Rules = RULES
) -> set[Edge]:
    """Directions for the edges still open: in each cluster of them, away from its root."""
    settled = set(directed)
    waiting = {v for edge in undirected for v in edge}
    while waiting:
        cluster = reachable(min(waiting), undirected)
        settled |= away_from(rules.root(cluster, root_order), undirected)
        waiting -= cluster
    return settled


def hie_tan_tree(
    ranked: Sequence[Edge], ancestors: Ancestors, root_order: Sequence[int], rules: Rules = RULES
) -> list[int]:
    d = len(ancestors)
    directed, undirected, _ = hie_walk(ranked, ancestors, None, rules)
    return parent_list(d, set(range(d)), settle(directed, undirected, root_order, rules))


def hie_tan_lite_tree(
    x: Sequence[int],
    ranked: Sequence[Edge],
    ancestors: Ancestors,
    root_order: Sequence[int],
    counts: Counts | None = None,
    rules: Rules = RULES,
) -> list[int]:
    """`counts` matter only where no edge can be added."""
    d = len(ancestors)
    directed, undirected, removed = hie_walk(ranked, ancestors, x, rules)
    if not directed and not undirected:
        return lone_feature(d, counts, rules)
    return parent_list(d, set(range(d)) - removed, settle(directed, undirected, root_order, rules))


def hre_tan_tree(
    x: Sequence[int],
    ranked: Sequence[Edge],
    ancestors: Ancestors,
    root_order: Sequence[int],
    counts: Counts | None = None,
    rules: Rules = RULES,
) -> list[int]:
    """Redundancy as in Hie-TAN-Lite; the hierarchy gives no direction."""
    d = len(ancestors)
    chosen: set[Edge] = set()
    removed: set[int] = set()
    for i, j in ranked:
        if i in removed or j in removed:
            continue
        if rules.skip(i, j, x, ancestors):
            continue
        if connected(i, j, chosen):
            continue
        chosen.add((i, j))
        for v in rules.removers((i, j), True):
            removed |= rules.redundant_to(v, x, ancestors)
    if not chosen:
        return lone_feature(d, counts, rules)
    in_tree = {v for edge in chosen for v in edge}
    directed = away_from(rules.root(in_tree, root_order), chosen)
    return parent_list(d, set(range(d)) - removed, directed)


def lone_feature(d: int, counts: Counts | None, rules: Rules = RULES) -> list[int]:
    if d == 0:
        return []
    if d == 1:
        return [ROOT]
    if counts is None:
        raise ValueError(
            "no edge can be added: the counts are needed to choose the feature that is kept alone"
        )
    return parent_list(d, {rules.alone(counts)}, set())
