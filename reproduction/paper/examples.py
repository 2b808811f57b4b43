"""The paper's worked examples, learned by the classifiers themselves: docs/worked-examples.md and its drawings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from hietan import HRETAN, TAN, Hierarchy, HieTAN, HieTANLite
from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from hietan.explain import Trace
from hietan.explain._trace import trace_tree
from reproduction.paper.drawing import draw

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "worked-examples.md"
FEATURES = tuple("ABCDEF")
HIERARCHY = Hierarchy.from_edges(
    [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")], features=FEATURES
)
# The order in which the paper's Figure 2a lists the edges, as far as its text follows it.
BEST = ("CF", "AE", "AC", "CD", "BD", "BF", "BE")
INSTANCE = {"A": 0, "B": 0, "C": 1, "D": 0, "E": 1, "F": 1}
# How many rows of either class have each of the 15 patterns that the hierarchy allows, in the order of
# `patterns`. They were searched for so that the conditional mutual information ranks the edges as the figure does.
ROWS = (
    (4, 5, 0, 11, 29, 0, 0, 4, 29, 14, 14, 0, 3, 0, 9),
    (3, 37, 14, 16, 0, 0, 58, 9, 23, 27, 23, 15, 7, 11, 0),
)


def patterns() -> list[tuple[int, ...]]:
    """All rows that are closed upwards, in the order of their digits."""
    rows = np.array(list(itertools.product((0, 1), repeat=len(FEATURES))), dtype=np.uint8)
    return [tuple(row.tolist()) for row in rows if HIERARCHY.is_closed(row[None, :])]


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """The rows of the example and their classes."""
    rows, classes = [], []
    for label, counts in enumerate(ROWS):
        for pattern, count in zip(patterns(), counts, strict=True):
            rows += [pattern] * count
            classes += [label] * count
    return pd.DataFrame(rows, columns=list(FEATURES)), np.array(classes)


@dataclass(frozen=True)
class Example:
    """A worked example: a tree that is learned from a ranking of the edges.

    Attributes
    ----------
    title : str
        What the page calls it.
    ranking : tuple of (str, str)
        All edges, in the order in which they are considered.
    words : str
        What it shows.
    features : str
        The features that take part.
    given : bool
        Whether the ranking is given by hand, as in the paper; otherwise it comes from the rows of the example.
    """

    title: str
    ranking: tuple[tuple[str, str], ...]
    words: str
    features: str = "".join(FEATURES)
    given: bool = False

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy over its features."""
        return HIERARCHY.restrict(list(self.features))


def _ranked(*first: str, features: str = "".join(FEATURES)) -> tuple[tuple[str, str], ...]:
    """These edges, and then all others in alphabetical order."""
    pairs = ["".join(pair) for pair in itertools.combinations(features, 2)]
    return tuple((pair[0], pair[1]) for pair in (*first, *(p for p in pairs if p not in first)))


EXAMPLES: Mapping[str, Example] = {
    "figure 1c": Example(
        "Figure 1c: a parent gives the direction",
        _ranked("CF", "AC", features="ACF"),
        "F > C comes first. C then has a parent and A has none, so the edge between them becomes C > A.",
        "ACF",
        True,
    ),
    "figure 1d": Example(
        "Figure 1d: two parents refuse an edge",
        _ranked("CF", "AE", "AC", features="ACEF"),
        "F > C and E > A come first. Both ends of C - A then have a parent, and the edge is refused. "
        "The next one, A - F, makes the tree complete.",
        "ACEF",
        True,
    ),
    "figure 1e": Example(
        "Figure 1e: an edge without a direction",
        _ranked("CF", "AE", "EF", features="ACEF"),
        "F > C and E > A come first. Neither E nor F has a parent, so the edge between them is added without a "
        "direction. It gets none later, and in the end points away from the random root.",
        "ACEF",
        True,
    ),
    "figure 2": Example("Figure 2: Hie-TAN", _ranked(*BEST), "One tree for all rows."),
    "figure 3": Example(
        "Figure 3: Hie-TAN-Lite",
        _ranked(*BEST),
        "The tree of the row " + ", ".join(f"{name} = {value}" for name, value in INSTANCE.items()) + ".",
    ),
    "tan": Example(
        "The same rows by TAN",
        _ranked(*BEST),
        "No hierarchy: the maximum spanning tree, directed from a random root.",
    ),
    "hre-tan": Example(
        "The same row by HRE-TAN",
        _ranked(*BEST),
        "Redundant features are removed as by Hie-TAN-Lite, and directions come from a random root.",
    ),
}
MODELS = {"figure 2": HieTAN, "figure 3": HieTANLite, "tan": TAN, "hre-tan": HRETAN}


@cache
def trace_of(name: str) -> Trace:
    """How the tree of an example is learned: by a fitted classifier, or from a ranking that is given."""
    example = EXAMPLES[name]
    if not example.given:
        model = MODELS[name](hierarchy=HIERARCHY, random_state=0) if name != "tan" else TAN(random_state=0)
        return model.fit(*table()).trace(pd.DataFrame([INSTANCE], columns=list(FEATURES), index=["the row"]))
    ranked = [
        (k, example.features.index(a), example.features.index(b), 0.0)
        for k, (a, b) in enumerate(example.ranking, start=1)
    ]
    order = range(len(example.features))
    return trace_tree(ranked, example.hierarchy, order, directed=True, method="HieTAN", row="any row")


# ------------------------------------------------------------------ the page

HEAD = """# The worked examples

The paper explains its algorithms with six features, the hierarchy of its Figure 1a and a given order of the edges. Here
the classifiers learn these examples from rows, and `clf.trace(x)` tells how. `python -m reproduction.paper examples`
makes this page and its drawings from nothing but the library, byte for byte; a test compares. The paper does not print
any rows: those below were searched for so that their conditional mutual information puts the edges into the paper's
order. Each step is also a row in the [table of claims](reproduction.md#every-claim).

In the drawings, the hierarchy is on the left, from the general features at the top to the special ones at the bottom;
features that are removed as redundant are dashed. The tree is on the right, from its root. Blue edges were directed by
the hierarchy, green and dashed ones by a parent that one of their ends already had, and orange and dotted ones by the
random choice of a root."""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## The rows", _rows_section()]
    for name, example in EXAMPLES.items():
        parts += [f"## {example.title}", _example_section(name)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _rows_section() -> str:
    """All patterns with the number of rows of either class, and what Figure 5 says about them."""
    lines = [
        (*map(str, pattern), *map(str, counts)) for pattern, *counts in zip(patterns(), *ROWS, strict=True)
    ]
    shown = TextTable(
        f"{sum(map(sum, ROWS))} rows: every pattern that the hierarchy allows",
        (*FEATURES, "rows of class 0", "rows of class 1"),
        tuple(lines),
        (),
        len(FEATURES),
    )
    words = (
        f"Of the {2 ** len(FEATURES)} rows of six zeros and ones, {len(patterns())} are closed upwards: a feature is 1 "
        "only if all its ancestors are. The paper's Figure 5 gives two such rows. Where D is 1, its ancestors "
        f"{', '.join(sorted(HIERARCHY.ancestors('D')))} must be 1; where E is 0, its descendants "
        f"{', '.join(sorted(HIERARCHY.descendants('E')))} must be 0."
    )
    return f"{words}\n{shown.to_markdown()}"


def _example_section(name: str) -> str:
    """The drawing of an example, its trace, and what directed the edges of its tree."""
    trace, example = trace_of(name), EXAMPLES[name]
    lines = tuple((f"{a} > {b}", direction.value) for (a, b), direction in trace.directions.items())
    directions = TextTable("What directed the edges", ("edge", "directed"), lines, (), 2).to_markdown()
    note = "" if not example.given else " The order of the edges is given, so they have no numbers."
    listed = trace.text(100)
    if example.given:
        listed = listed.replace("  0.0000  ", "  ")
    image = f"![{example.title}: the hierarchy and the tree](images/{file_name(name)})"
    return f"{example.words}{note}\n\n{image}\n\n```text\n{listed}\n```\n{directions}"


def file_name(name: str) -> str:
    """The name of the drawing of an example."""
    return f"worked-{name.replace(' ', '-')}.svg"


def files() -> dict[Path, str]:
    """All files of the page, with their contents."""
    drawn = {
        DOCS / "images" / file_name(name): draw(example.hierarchy, trace_of(name), example.title)
        for name, example in EXAMPLES.items()
    }
    return {PAGE: page(), **drawn}


def write() -> None:
    """Write docs/worked-examples.md and its drawings."""
    for path, text in files().items():
        atomic_write(path, text)
