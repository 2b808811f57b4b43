"""Random problems: an ontology, training rows, test rows and settings.

`random_problem` builds one from a `random.Random`. The strategies give it hypothesis' own source or a drawn
seed; `fixed_problems` gives it seeds that never change.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from random import Random

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from hietan.classifiers._checks import SMOOTHINGS

SHAPES = ("empty", "chain", "tree", "dag", "dense dag", "mostly unrelated")
ALPHAS = (1.0, 0.01, 0.5, 3.7)
USUAL_EXAMPLES = 50
TEST_SIZES = (1, 2, 5, 63, 64, 65, 130, 300)  # either side of a machine word


@dataclass(frozen=True, eq=False)
class Problem:
    """`edges` are (parent, child) names and may pass through terms that are not features."""

    names: list[str]
    edges: list[tuple[str, str]]
    ancestors: list[set[int]]
    X_train: np.ndarray
    y: np.ndarray
    n_classes: int
    X_test: np.ndarray
    alpha: float
    smoothing: str
    seed: int

    @property
    def n_features(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        shown = (f"{f.name}={_shown(getattr(self, f.name))}" for f in fields(self))
        return f"Problem({', '.join(shown)})"


def _shown(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim == 1:
        return repr(value.tolist())
    rows, repeats = np.unique(value, axis=0, return_counts=True)
    body = value if len(value) <= 40 else rows
    note = "" if len(value) <= 40 else f" (distinct rows of {len(value)}, at most {repeats.max()} times)"
    return repr(["".join(map(str, row)) for row in body.tolist()]) + note


# ----------------------------------------------------------------------------------------------- ontology


def random_parents(random: Random, shape: str, n_terms: int) -> list[set[int]]:
    """Parents of each term; they always have smaller numbers."""
    parents: list[set[int]] = [set() for _ in range(n_terms)]
    for t in range(1, n_terms):
        if shape == "chain":
            parents[t] = {t - 1}
        elif shape == "tree":
            parents[t] = {random.randint(0, t - 1)} if random.randint(0, 4) else set()
        elif shape == "dag":
            parents[t] = {random.randint(0, t - 1) for _ in range(random.randint(0, 3))}
        elif shape == "dense dag":
            parents[t] = {random.randint(0, t - 1) for _ in range(random.randint(1, 5))}
        elif shape == "mostly unrelated":
            parents[t] = set() if random.randint(0, 3) else {random.randint(0, t - 1)}
    return parents


def all_above(parents: list[set[int]]) -> list[set[int]]:
    """Ancestors of each term, by walking upwards from it."""
    above = []
    for t in range(len(parents)):
        seen: set[int] = set()
        waiting = list(parents[t])
        while waiting:
            p = waiting.pop()
            if p not in seen:
                seen.add(p)
                waiting.extend(parents[p])
        above.append(seen)
    return above


# --------------------------------------------------------------------------------------------------- rows


def random_row(random: Random, d: int, density: str) -> list[int]:
    bits = random.getrandbits(d) if d else 0
    if density == "few ones":
        bits &= random.getrandbits(d) if d else 0
    elif density == "many ones":
        bits |= random.getrandbits(d) if d else 0
    return [bits >> i & 1 for i in range(d)]


def closed_upwards(row: list[int], ancestors: list[set[int]]) -> list[int]:
    """An annotation implies all its ancestors."""
    forced = {u for v, value in enumerate(row) if value for u in ancestors[v]}
    return [1 if v in forced else value for v, value in enumerate(row)]


def random_classes(random: Random, n_rows: int, n_classes: int) -> list[int]:
    """Every class at least once, the rest unevenly, in no order."""
    urn = [c for c in range(n_classes) for _ in range(random.choice((1, 2, 4, 8)))]
    labels = list(range(n_classes)) + [random.choice(urn) for _ in range(n_rows - n_classes)]
    random.shuffle(labels)
    return labels


def random_training_rows(
    random: Random, n_rows: int, d: int, ancestors: list[set[int]], density: str
) -> list[list[int]]:
    rows = [random_row(random, d, density) for _ in range(n_rows)]
    if d:
        for _ in range(random.randint(0, 2)):  # duplicate columns
            source, copy = random.randint(0, d - 1), random.randint(0, d - 1)
            for row in rows:
                row[copy] = row[source]
        for _ in range(random.randint(0, 1)):  # a constant column
            column, value = random.randint(0, d - 1), random.randint(0, 1)
            for row in rows:
                row[column] = value
    if random.randint(0, 3):
        rows = [closed_upwards(row, ancestors) for row in rows]
    return rows


def neighbours_swapped(row: list[int]) -> list[int]:
    """Columns 0 and 1, 2 and 3, ... exchanged: rows and their images make (0, 3) tie with (1, 2)."""
    return [row[v ^ 1] if v ^ 1 < len(row) else row[v] for v in range(len(row))]


def random_test_rows(
    random: Random, pool_size: int, d: int, ancestors: list[set[int]], density: str
) -> list[list[int]]:
    """A few distinct rows: the twins work on each row once, however often it is repeated."""
    pool = [random_row(random, d, density) for _ in range(pool_size)]
    if random.randint(0, 2):
        pool = [closed_upwards(row, ancestors) for row in pool]
    if random.randint(0, 1):
        pool += [[0] * d, [1] * d]
    return pool


# ------------------------------------------------------------------------------------------------ problem


def random_problem(
    random: Random,
    min_features: int = 0,
    max_features: int = 9,
    max_train_rows: int = 30,
    pool_size: int = 8,
) -> Problem:
    d = random.randint(min_features, max_features)
    hidden = random.randint(0, 3)
    n_terms = d + hidden
    parents = random_parents(random, random.choice(SHAPES), n_terms)
    places = list(range(n_terms))
    random.shuffle(places)
    columns = places[:d]  # column -> term: the order of columns says nothing about the order of terms
    column_of = {term: column for column, term in enumerate(columns)}
    above = all_above(parents)
    ancestors = [{column_of[u] for u in above[t] if u in column_of} for t in columns]

    density = random.choice(("few ones", "even", "many ones"))
    n_classes = random.randint(2, 4)
    n_rows = random.randint(n_classes, max_train_rows)
    train = random_training_rows(random, n_rows, d, ancestors, density)
    labels = random_classes(random, n_rows, n_classes)
    if not random.randint(0, 3):
        train += [neighbours_swapped(row) for row in train]
        labels += labels
    pool = random_test_rows(random, random.randint(1, pool_size), d, ancestors, density)
    n_test = random.choice(TEST_SIZES)
    seed = random.randint(0, 1000)
    draws = np.random.default_rng(seed).integers(len(pool), size=n_test)

    return Problem(
        names=[f"T{t:02d}" for t in columns],
        edges=[(f"T{p:02d}", f"T{t:02d}") for t in range(n_terms) for p in sorted(parents[t])],
        ancestors=ancestors,
        X_train=np.array(train, dtype=np.uint8).reshape(len(train), d),
        y=np.array(labels),
        n_classes=n_classes,
        X_test=np.array(pool, dtype=np.uint8).reshape(len(pool), d)[draws],
        alpha=random.choice(ALPHAS),
        smoothing=random.choice(SMOOTHINGS),
        seed=seed,
    )


def sources_of_randomness() -> st.SearchStrategy[Random]:
    """Hypothesis' own source shrinks but leans to the trivial; a seeded one does neither."""
    seeded = st.integers(0, 2**32 - 1).map(Random)
    return st.one_of(st.randoms(use_true_random=False), seeded, seeded)


def problems(min_features: int = 0, max_features: int = 9) -> st.SearchStrategy[Problem]:
    """Small problems."""
    return sources_of_randomness().map(
        lambda random: random_problem(random, min_features=min_features, max_features=max_features)
    )


def larger_problems() -> st.SearchStrategy[Problem]:
    """Up to 30 features; few distinct test rows."""
    return sources_of_randomness().map(
        lambda random: random_problem(
            random, min_features=15, max_features=30, max_train_rows=60, pool_size=3
        )
    )


def fixed_problems(n: int = 80) -> list[Problem]:
    """The same problems in every run, half of them with enough features for rare cases to occur."""
    few = [random_problem(Random(k), min_features=2) for k in range(n // 2)]
    more = [random_problem(Random(k), min_features=8, max_features=14, pool_size=5) for k in range(n // 2, n)]
    return few + more


def visible_ancestors(problem: Problem) -> list[set[int]]:
    """Ancestors as they would be if the terms that are not features were simply dropped."""
    column_of = {name: v for v, name in enumerate(problem.names)}
    parents: list[set[int]] = [set() for _ in problem.names]
    for parent, child in problem.edges:
        if parent in column_of and child in column_of:
            parents[column_of[child]].add(column_of[parent])
    return all_above(parents)


def with_hidden_relation(problem: Problem) -> bool:
    """Whether some relation of two features exists only through terms that are not features."""
    return visible_ancestors(problem) != problem.ancestors


def examples(number: int) -> settings:
    """So many problems, or more or fewer in the measure that the hypothesis profile asks for."""
    return settings(max_examples=max(2, number * settings().max_examples // USUAL_EXAMPLES))
