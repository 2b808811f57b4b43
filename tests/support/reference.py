"""Plain Python twins of everything the compiled kernel computes.

They follow the definitions word by word and take no short cut: sets of edges, Python integers and floats,
propagation until nothing changes, connection by walking the graph. Slow, and meant to be read.

Conventions. Features are 0..d-1, classes 0..C-1. A hierarchy is `ancestors`, one set of features per
feature, transitive. A tree is a list of parents: `ROOT` for its root, `ABSENT` for a feature that is not in
it. A ranking is a list of pairs (i, j), i < j, best first.

Wherever a rule could be got wrong, it is a field of `Rules`; `MUTANTS` holds wrong versions, so that a test
can show that a comparison notices them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

ROOT = -1
ABSENT = -2

Edge = tuple[int, int]
Ancestors = Sequence[set[int]]


# ------------------------------------------------------------------------------------------------ counts


@dataclass(frozen=True)
class Counts:
    """`class_rows[c]` rows of class c; `ones[c][i][j]` of them have x_i = x_j = 1."""

    class_rows: list[int]
    ones: list[list[list[int]]]
    n_features: int

    @property
    def n_classes(self) -> int:
        return len(self.class_rows)

    @property
    def n_rows(self) -> int:
        return sum(self.class_rows)

    def value(self, c: int, i: int, a: int) -> int:
        """Rows of class c with x_i = a."""
        with_one = self.ones[c][i][i]
        return with_one if a == 1 else self.class_rows[c] - with_one

    def pair(self, c: int, i: int, a: int, j: int, b: int) -> int:
        """Rows of class c with x_i = a and x_j = b."""
        if a == 1 and b == 1:
            return self.ones[c][i][j]
        if a == 1:
            return self.value(c, i, 1) - self.ones[c][i][j]
        return self.value(c, j, b) - self.pair(c, i, 1, j, b)

    def value_all(self, i: int, a: int) -> int:
        return sum(self.value(c, i, a) for c in range(self.n_classes))

    def pair_all(self, i: int, a: int, j: int, b: int) -> int:
        return sum(self.pair(c, i, a, j, b) for c in range(self.n_classes))


def count(X: Sequence[Sequence[int]], y: Sequence[int], n_classes: int, n_features: int) -> Counts:
    """Count by looking at every pair of features in every row."""
    class_rows = [0] * n_classes
    ones = [[[0] * n_features for _ in range(n_features)] for _ in range(n_classes)]
    for row, c in zip(X, y, strict=True):
        class_rows[c] += 1
        for i in range(n_features):
            for j in range(n_features):
                if row[i] == 1 and row[j] == 1:
                    ones[c][i][j] += 1
    return Counts(class_rows, ones, n_features)


# -------------------------------------------------------------------------------------------- information


def k_log_k(k: int) -> float:
    return 0.0 if k == 0 else float(k) * math.log(float(k))


def cmi(i: int, j: int, counts: Counts) -> float:
    """CMI(i, j | class), with the additions in the one order that is laid down."""
    L = k_log_k
    total = 0.0
    for c in range(counts.n_classes):
        n11, n10 = counts.pair(c, i, 1, j, 1), counts.pair(c, i, 1, j, 0)
        n01, n00 = counts.pair(c, i, 0, j, 1), counts.pair(c, i, 0, j, 0)
        gain = (L(n11) + L(n00)) + (L(n10) + L(n01)) + L(counts.class_rows[c])
        loss = (L(n11 + n10) + L(n01 + n00)) + (L(n11 + n01) + L(n10 + n00))
        total += gain - loss
    return total / counts.n_rows


def cmi_key(i: int, j: int, counts: Counts) -> int:
    """The integer by which edges are ranked: CMI in units of 1e-12, halves to even."""
    return round(cmi(i, j, counts) * 1e12)


def cmi_equation_1(i: int, j: int, counts: Counts) -> float:
    """Equation 1 as printed: sum of P(x_i, x_j, y) log [P(x_i, x_j | y) / (P(x_i | y) P(x_j | y))]."""
    terms = []
    for c in range(counts.n_classes):
        n_c = counts.class_rows[c]
        for a in (0, 1):
            for b in (0, 1):
                together = counts.pair(c, i, a, j, b)
                if together == 0:
                    continue
                p_i = counts.value(c, i, a) / n_c
                p_j = counts.value(c, j, b) / n_c
                terms.append(together / counts.n_rows * math.log(together / n_c / (p_i * p_j)))
    return math.fsum(terms)


def mi(i: int, counts: Counts) -> float:
    """Mutual information of feature i and the class."""
    L = k_log_k
    cells = 0.0
    classes = 0.0
    for c in range(counts.n_classes):
        cells += L(counts.value(c, i, 1)) + L(counts.value(c, i, 0))
        classes += L(counts.class_rows[c])
    values = L(counts.value_all(i, 1)) + L(counts.value_all(i, 0))
    return (cells + L(counts.n_rows) - values - classes) / counts.n_rows


def mi_key(i: int, counts: Counts) -> int:
    return round(mi(i, counts) * 1e12)


def mi_textbook(i: int, counts: Counts) -> float:
    """Sum of P(x_i, y) log [P(x_i, y) / (P(x_i) P(y))]."""
    n = counts.n_rows
    terms = []
    for c in range(counts.n_classes):
        for a in (0, 1):
            together = counts.value(c, i, a)
            if together:
                p = counts.value_all(i, a) / n * (counts.class_rows[c] / n)
                terms.append(together / n * math.log(together / n / p))
    return math.fsum(terms)


# -------------------------------------------------------------------------------------------------- rules


def smaller_pair_first(edge: Edge) -> Edge:
    """Among edges of equal key."""
    return edge


def ancestor_is_parent(ancestor: int, descendant: int) -> Edge:
    """(parent, child) of an edge between related features."""
    return ancestor, descendant


def propagate(directed: set[Edge], undirected: set[Edge]) -> None:
    """While an undirected edge has exactly one endpoint with a parent, make that one the other's parent."""
    while propagate_once(directed, undirected):
        pass


def propagate_once(directed: set[Edge], undirected: set[Edge]) -> bool:
    for i, j in sorted(undirected):
        if has_parent(i, directed) != has_parent(j, directed):
            undirected.remove((i, j))
            directed.add((i, j) if has_parent(i, directed) else (j, i))
            return True
    return False


def redundant_to(v: int, x: Sequence[int], ancestors: Ancestors) -> set[int]:
    """Ancestors and descendants of v with v's value in x: what v removes once it is in the tree."""
    return {u for u in range(len(x)) if related(u, v, ancestors) and x[u] == x[v]}


def both_endpoints(edge: Edge, is_undirected: bool) -> Iterable[int]:
    """Which endpoints of an edge just added remove what is redundant to them."""
    return edge


def redundant_edge_is_skipped(i: int, j: int, x: Sequence[int], ancestors: Ancestors) -> bool:
    return related(i, j, ancestors) and x[i] == x[j]


def first_in_order(candidates: set[int], root_order: Sequence[int]) -> int:
    return min(candidates, key=list(root_order).index)


def largest_mi_then_smallest_index(counts: Counts) -> int:
    """The feature kept alone where no edge can be added."""
    return min(range(counts.n_features), key=lambda i: (-mi_key(i, counts), i))


@dataclass(frozen=True)
class Rules:
    """Every decision of the tree builders; the defaults are the right ones."""

    tie: Callable[[Edge], Edge] = smaller_pair_first
    orient: Callable[[int, int], Edge] = ancestor_is_parent
    propagate: Callable[[set[Edge], set[Edge]], object] = propagate
    redundant_to: Callable[[int, Sequence[int], Ancestors], set[int]] = redundant_to
    removers: Callable[[Edge, bool], Iterable[int]] = both_endpoints
    skip: Callable[[int, int, Sequence[int], Ancestors], bool] = redundant_edge_is_skipped
    root: Callable[[set[int], Sequence[int]], int] = first_in_order
    alone: Callable[[Counts], int] = largest_mi_then_smallest_index


RULES = Rules()


# ------------------------------------------------------------------------------------------------- graphs


def related(i: int, j: int, ancestors: Ancestors) -> bool:
    return i in ancestors[j] or j in ancestors[i]


def descendants_of(ancestors: Ancestors) -> list[set[int]]:
    d = len(ancestors)
    return [{u for u in range(d) if v in ancestors[u]} for v in range(d)]


def has_parent(v: int, directed: set[Edge]) -> bool:
    return any(child == v for _, child in directed)


def neighbours(v: int, edges: Iterable[Edge]) -> set[int]:
    return {b for a, b in edges if a == v} | {a for a, b in edges if b == v}


def reachable(v: int, edges: Iterable[Edge]) -> set[int]:
    """v and all that can be reached from it, edges taken both ways."""
    edges = list(edges)
    seen: set[int] = set()
    waiting = [v]
    while waiting:
        u = waiting.pop()
        if u not in seen:
            seen.add(u)
            waiting.extend(neighbours(u, edges))
    return seen


def connected(i: int, j: int, edges: Iterable[Edge]) -> bool:
    return j in reachable(i, edges)


def away_from(root: int, edges: Iterable[Edge]) -> set[Edge]:
    """The edges of root's tree as (parent, child), pointing away from root."""
    edges = list(edges)
    directed: set[Edge] = set()
    waiting = [(ROOT, root)]
    while waiting:
        before, v = waiting.pop()
        for u in neighbours(v, edges) - {before}:
            directed.add((v, u))
            waiting.append((v, u))
    return directed


def parent_list(d: int, kept: set[int], directed: set[Edge]) -> list[int]:
    parent = [ROOT if v in kept else ABSENT for v in range(d)]
    for p, v in sorted(directed):
        parent[v] = p
    return parent


# -------------------------------------------------------------------------------------------------- trees


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

    With an instance x, redundancy is removed on the way (Hie-TAN-Lite); without, nothing is (Hie-TAN).
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


# -------------------------------------------------------------------------------------------- predictions


def log_probability(
    v: int, xv: int, p: int, xp: int, c: int, counts: Counts, alpha: float, smoothing: str
) -> float:
    """ln P(x_v | x_p, c), or ln P(x_v | c) where p is `ROOT`."""
    if p == ROOT:
        hits, condition = counts.value(c, v, xv), counts.class_rows[c]
        hits_all, condition_all = counts.value_all(v, xv), counts.n_rows
    else:
        hits, condition = counts.pair(c, v, xv, p, xp), counts.value(c, p, xp)
        hits_all, condition_all = counts.pair_all(v, xv, p, xp), counts.value_all(p, xp)
    if smoothing == "laplace":
        guess = 0.5
    elif smoothing == "pooled":
        guess = (hits_all + 0.5) / (condition_all + 1.0)
    else:
        raise ValueError(f"smoothing must be 'laplace' or 'pooled', got {smoothing!r}")
    return math.log((hits + 2.0 * alpha * guess) / (condition + 2.0 * alpha))


def log_prior(c: int, counts: Counts, alpha: float, class_prior: Sequence[float] | None = None) -> float:
    if class_prior is not None:
        return math.log(class_prior[c])
    return math.log((counts.class_rows[c] + alpha) / (counts.n_rows + counts.n_classes * alpha))


def joint_log(
    x: Sequence[int],
    parent: Sequence[int],
    counts: Counts,
    alpha: float,
    smoothing: str,
    class_prior: Sequence[float] | None = None,
) -> list[float]:
    """For each class c: ln P(c) + sum over the features in the tree of ln P(x_v | x_parent(v), c)."""
    joint = []
    for c in range(counts.n_classes):
        total = log_prior(c, counts, alpha, class_prior)
        for v, p in enumerate(parent):
            if p == ABSENT:
                continue
            xp = 0 if p == ROOT else x[p]
            total += log_probability(v, x[v], p, xp, c, counts, alpha, smoothing)
        joint.append(total)
    return joint


def aode_joint_log(
    x: Sequence[int],
    counts: Counts,
    alpha: float,
    smoothing: str,
    min_frequency: int = 1,
    ancestors: Ancestors | None = None,
    variant: str = "aode",
) -> list[float]:
    """ln of the mean of the one-dependence estimators; `variant` is "aode", "hie" or "lite"."""
    d = counts.n_features
    ancestors = [set() for _ in range(d)] if ancestors is None else ancestors
    estimators = [i for i in range(d) if counts.value_all(i, x[i]) >= min_frequency]
    if not estimators:
        return joint_log(x, [ROOT] * d, counts, alpha, smoothing)
    joint = []
    for c in range(counts.n_classes):
        logs = [one_dependence_log(i, c, x, counts, alpha, smoothing, ancestors, variant) for i in estimators]
        joint.append(log_sum_exp(logs) - math.log(len(estimators)))
    return joint


def one_dependence_log(
    i: int,
    c: int,
    x: Sequence[int],
    counts: Counts,
    alpha: float,
    smoothing: str,
    ancestors: Ancestors,
    variant: str,
) -> float:
    """ln P(c, x_i) + the other features, given x_i or, where they are ancestors of i, as the variant says."""
    if variant not in ("aode", "hie", "lite"):
        raise ValueError(f"variant must be 'aode', 'hie' or 'lite', got {variant!r}")
    total = math.log((counts.value(c, i, x[i]) + alpha) / (counts.n_rows + 2.0 * counts.n_classes * alpha))
    for j in range(counts.n_features):
        if j == i:
            continue
        if variant == "aode" or j not in ancestors[i]:
            total += log_probability(j, x[j], i, x[i], c, counts, alpha, smoothing)
        elif variant == "hie":
            total += log_probability(j, x[j], ROOT, 0, c, counts, alpha, smoothing)
    return total


def log_sum_exp(logs: Sequence[float]) -> float:
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in logs))


def hip_selected(x: Sequence[int], ancestors: Ancestors, descendants: Sequence[set[int]]) -> set[int]:
    """Features with no descendant at 1 and no ancestor at 0."""
    return {
        v
        for v in range(len(x))
        if not any(x[u] == 1 for u in descendants[v]) and not any(x[u] == 0 for u in ancestors[v])
    }


def hip_joint_log(
    x: Sequence[int],
    counts: Counts,
    alpha: float,
    smoothing: str,
    ancestors: Ancestors,
    descendants: Sequence[set[int]],
    class_prior: Sequence[float] | None = None,
) -> list[float]:
    """Naive Bayes over the selected features."""
    selected = hip_selected(x, ancestors, descendants)
    forest = [ROOT if v in selected else ABSENT for v in range(counts.n_features)]
    return joint_log(x, forest, counts, alpha, smoothing, class_prior)


# ------------------------------------------------------------------------------------------------ mutants


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
