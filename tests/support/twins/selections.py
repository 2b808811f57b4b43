"""Selections of features as they were published: lazy ones by looking at every path, eager ones by enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from support.twins.counts import Counts, mi
from support.twins.graphs import ABSENT, ROOT, Ancestors, Edge, descendants_of
from support.twins.scores import hip_selected, joint_log
from support.twins.trees import tan_tree

Children = Sequence[set[int]]


# ------------------------------------------------------------------------------------------ relevance


def relevance(v: int, counts: Counts) -> float:
    """R(v), the terms added in the order of the classes."""
    total = 0.0
    for c in range(counts.n_classes):
        at_one = (counts.value(c, v, 1) + 1) / (counts.value_all(v, 1) + counts.n_classes)
        at_zero = (counts.value(c, v, 0) + 1) / (counts.value_all(v, 0) + counts.n_classes)
        total += (at_one - at_zero) * (at_one - at_zero)
    return total


# ------------------------------------------------------------------------------------------ paths


def reduced_children(ancestors: Ancestors) -> list[set[int]]:
    """The children of each feature: descendants with no other descendant between the two."""
    below = descendants_of(ancestors)
    return [{u for u in below[v] if not any(u in below[w] for w in below[v])} for v in range(len(ancestors))]


def reversed_edges(children: Children) -> list[set[int]]:
    return [{u for u in range(len(children)) if v in children[u]} for v in range(len(children))]


def paths_from(v: int, steps: Children) -> Iterator[list[int]]:
    """All paths from v that end where there is no further step."""
    if not steps[v]:
        yield [v]
    for u in sorted(steps[v]):
        for rest in paths_from(u, steps):
            yield [v, *rest]


# ------------------------------------------------------------------------------------------ lazy selections


def mr_by_paths(x: Sequence[int], ancestors: Ancestors, R: Sequence[float]) -> set[int]:
    """MR in a closed row, as published.

    From each feature at 1, every path up to a root has nothing but ones, and from each at 0, every path down to a leaf
    nothing but zeros. The most relevant feature of each path stays, the nearest to its beginning of several; the others
    are removed.
    """
    children = reduced_children(ancestors)
    parents = reversed_edges(children)
    removed: set[int] = set()
    for v in range(len(x)):
        for path in paths_from(v, parents if x[v] == 1 else children):
            assert all(x[u] == x[v] for u in path), "the row is not closed"
            best = max(path, key=lambda u: (R[u], -path.index(u)))
            removed |= set(path) - {best}
    return set(range(len(x))) - removed


def mr_selected(x: Sequence[int], ancestors: Ancestors, R: Sequence[float]) -> set[int]:
    """MR as it is laid down for any row."""
    below = descendants_of(ancestors)
    kept = set()
    for v in range(len(x)):
        if x[v] == 1:
            stays = all(R[v] >= R[a] for a in ancestors[v])
            stays = stays and all(R[v] > R[u] for u in below[v] if x[u] == 1)
        else:
            stays = all(R[v] >= R[u] for u in below[v])
            stays = stays and all(R[v] > R[a] for a in ancestors[v] if x[a] == 0)
        if stays:
            kept.add(v)
    return kept


def hip_mr_selected(x: Sequence[int], ancestors: Ancestors, R: Sequence[float]) -> set[int]:
    """Every feature in turn removes its relatives that it implies and that are not more relevant."""
    below = descendants_of(ancestors)
    removed: set[int] = set()
    for v in range(len(x)):
        removed |= {u for u in (ancestors[v] if x[v] == 1 else below[v]) if R[u] <= R[v]}
    return set(range(len(x))) - removed


def most_relevant(features: set[int], R: Sequence[float], k: int) -> set[int]:
    return set(sorted(features, key=lambda v: (-R[v], v))[:k])


def lazily_selected(
    selection: str, x: Sequence[int], counts: Counts, ancestors: Ancestors, k: int = 50
) -> set[int]:
    """The features that a row keeps."""
    R = [relevance(v, counts) for v in range(counts.n_features)]
    if selection == "hip":
        return hip_selected(x, ancestors, descendants_of(ancestors))
    if selection == "mr":
        return mr_selected(x, ancestors, R)
    if selection == "rnb":
        return most_relevant(set(range(counts.n_features)), R, k)
    kept = hip_mr_selected(x, ancestors, R)
    return kept if selection == "hip-mr" else most_relevant(kept, R, k)


# ------------------------------------------------------------------------------------------ models of what is left


def selected_tree(kept: set[int], ranked: Sequence[Edge], root_order: Sequence[int], d: int) -> list[int]:
    """TAN's tree of the kept features alone, numbered as they are among all."""
    features = sorted(kept)
    place = {v: k for k, v in enumerate(features)}
    among = [(place[i], place[j]) for i, j in ranked if i in kept and j in kept]
    order = [place[v] for v in root_order if v in kept]
    tree = [ABSENT] * d
    for v, p in zip(features, tan_tree(len(features), among, order), strict=True):
        tree[v] = p if p == ROOT else features[p]
    return tree


def selected_joint_log(
    kept: set[int], x: Sequence[int], tree: Sequence[int] | None, counts: Counts, alpha: float, smoothing: str
) -> list[float]:
    """Naive Bayes over the kept features, or the tree, where there is one."""
    if tree is None:
        tree = [ROOT if v in kept else ABSENT for v in range(counts.n_features)]
    return joint_log(x, tree, counts, alpha, smoothing)


# ------------------------------------------------------------------------------------------ eager selections


def gain_ratio(v: int, counts: Counts) -> float:
    n, ones = counts.n_rows, counts.value_all(v, 1)
    if ones in (0, n):
        return 0.0
    entropy = -sum(k / n * math.log(k / n) for k in (ones, n - ones))
    return mi(v, counts) / entropy


def lift(v: int, counts: Counts) -> Fraction:
    ones = counts.value_all(v, 1)
    if not ones:
        return Fraction(0)
    return max(
        Fraction(counts.value(c, v, 1) * counts.n_rows, ones * counts.class_rows[c])
        for c in range(counts.n_classes)
        if counts.class_rows[c]
    )


def gtd_selected(counts: Counts, children: Children, ancestors: Ancestors) -> set[int]:
    """Branch after branch, the best of what is left, until nothing is left."""
    below, parents = descendants_of(ancestors), reversed_edges(children)
    ratio = [round(gain_ratio(v, counts) * 1e12) for v in range(counts.n_features)]
    roots = [v for v in range(counts.n_features) if not parents[v]]
    branches = [{c} | below[c] for c in {c for r in roots for c in children[r]}]
    chosen = {v for v in roots if not children[v]}
    for branch in branches:
        left = set(branch)
        while left:
            best = min(left, key=lambda v: (-ratio[v], v))
            chosen.add(best)
            left -= {best} | ancestors[best] | below[best]
    return chosen


def shsel_selected(counts: Counts, children: Children, threshold: float) -> set[int]:
    """Children too similar to a parent go; then features below the mean of every path through them."""
    d, parents = counts.n_features, reversed_edges(children)
    gain = [mi(v, counts) for v in range(d)]
    key = [round(g * 1e12) for g in gain]
    left = {v for v in range(d) if not any(1 - abs(gain[v] - gain[p]) >= threshold for p in parents[v])}
    down = [children[v] & left if v in left else set() for v in range(d)]
    up = reversed_edges(down)
    kept = set()
    for v in left:
        for above in paths_from(v, up):
            for under in paths_from(v, down):
                path = above + under[1:]
                if key[v] * len(path) >= sum(key[u] for u in path):
                    kept.add(v)
    return kept


def tsel_selected(counts: Counts, children: Children, ancestors: Ancestors) -> set[int]:
    """Down every path as far as the lift rises; of what is found, the most specific."""
    d, parents, below = counts.n_features, reversed_edges(children), descendants_of(ancestors)
    found = set()
    for root in (v for v in range(d) if not parents[v]):
        for path in paths_from(root, children):
            k = 0
            while k + 1 < len(path) and lift(path[k + 1], counts) > lift(path[k], counts):
                k += 1
            found.add(path[k])
    return {v for v in found if not below[v] & found}
