"""Joint log-probabilities: of a tree, of averaged one-dependence estimators, of HIP's naive Bayes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from support.twins.counts import Counts
from support.twins.graphs import ABSENT, ROOT, Ancestors
from support.twins.smoothing import odds_log_share, pseudo_count


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
    if smoothing == "odds":
        return odds_log_share(hits, condition, hits_all, condition_all, alpha)
    if smoothing == "laplace":
        guess = 0.5
    elif smoothing == "pooled":
        guess = (hits_all + 0.5) / (condition_all + 1.0)
    else:
        raise ValueError(f"smoothing must be 'laplace', 'pooled' or 'odds', got {smoothing!r}")
    return math.log((hits + 2.0 * alpha * guess) / (condition + 2.0 * alpha))


def log_prior(
    c: int, counts: Counts, alpha: float, smoothing: str, class_prior: Sequence[float] | None = None
) -> float:
    if class_prior is not None:
        return math.log(class_prior[c])
    pseudo = pseudo_count(alpha, smoothing)
    return math.log((counts.class_rows[c] + pseudo) / (counts.n_rows + counts.n_classes * pseudo))


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
        total = log_prior(c, counts, alpha, smoothing, class_prior)
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
    terms = one_dependence_terms(i, c, x, counts, alpha, smoothing, ancestors, variant)
    return estimator_log_prior(c, counts, alpha, smoothing) + sum(terms)


def estimator_log_prior(c: int, counts: Counts, alpha: float, smoothing: str) -> float:
    """The ln P(c) with which P(c) P(x_i | c) = (count + k) / (n + 2 C k), k being the pseudo-count."""
    two = 2.0 * pseudo_count(alpha, smoothing)
    return math.log((counts.class_rows[c] + two) / (counts.n_rows + counts.n_classes * two))


def one_dependence_terms(
    i: int,
    c: int,
    x: Sequence[int],
    counts: Counts,
    alpha: float,
    smoothing: str,
    ancestors: Ancestors,
    variant: str,
) -> list[float]:
    """What each feature adds to estimator i of a class: i itself adds ln P(x_i | c), with a pseudo-count."""
    if variant not in ("aode", "hie", "lite"):
        raise ValueError(f"variant must be 'aode', 'hie' or 'lite', got {variant!r}")
    terms, pseudo = [0.0] * counts.n_features, pseudo_count(alpha, smoothing)
    for j in range(counts.n_features):
        if j == i:
            terms[j] = math.log((counts.value(c, i, x[i]) + pseudo) / (counts.class_rows[c] + 2.0 * pseudo))
        elif variant == "aode" or j not in ancestors[i]:
            terms[j] = log_probability(j, x[j], i, x[i], c, counts, alpha, smoothing)
        elif variant == "hie":
            terms[j] = log_probability(j, x[j], ROOT, 0, c, counts, alpha, smoothing)
    return terms


def aode_factors(
    x: Sequence[int],
    c: int,
    counts: Counts,
    alpha: float,
    smoothing: str,
    min_frequency: int,
    ancestors: Ancestors,
    variant: str,
) -> tuple[list[float], float]:
    """What each feature adds to the ln of the mean of p_i, and what averaging adds: H(q) - ln n.

    With q_i the share of p_i in the sum of n estimators, its ln is sum_i q_i ln p_i + H(q). Without any estimator, the
    features add what they add in naive Bayes.
    """
    d = counts.n_features
    arguments = (counts, alpha, smoothing, ancestors, variant)
    estimators = [i for i in range(d) if counts.value_all(i, x[i]) >= min_frequency]
    if not estimators:
        return [log_probability(j, x[j], ROOT, 0, c, counts, alpha, smoothing) for j in range(d)], 0.0
    terms = [one_dependence_terms(i, c, x, *arguments) for i in estimators]
    logs = [estimator_log_prior(c, counts, alpha, smoothing) + sum(of_estimator) for of_estimator in terms]
    total = log_sum_exp(logs)
    shares = [math.exp(log - total) for log in logs]
    factors = [sum(q * t[j] for q, t in zip(shares, terms, strict=True)) for j in range(d)]
    entropy = sum(-share * math.log(share) for share in shares if share > 0)
    return factors, entropy - math.log(len(estimators))


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
