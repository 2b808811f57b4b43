"""The paper's worked examples, learned by the classifiers themselves: docs/worked-examples.md and its drawings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from hietan import HRETAN, TAN, Hierarchy, HieTAN, HieTANLite
from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.paper.drawing import draw
from reproduction.paper.walk import Trace, trace_row, trace_tree

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
    "figure 1b": Example(
        "Figure 1b: TAN with root C",
        _ranked(*BEST),
        "TAN ignores the hierarchy: its tree is the maximum spanning tree, directed away from a random root. Here the "
        "root is C, as in the figure, so C > F and A > E point against the hierarchy. The tree also joins D and B, "
        "which the hierarchy does not, and lacks the hierarchy's edge F > B.",
    ),
    "figure 1c": Example(
        "Figure 1c: a parent gives the direction",
        _ranked("CF", "AC", features="ACF"),
        "The edge F > C comes first. C then has a parent and A has none, so the edge between C and A becomes C > A.",
        "ACF",
        True,
    ),
    "figure 1d": Example(
        "Figure 1d: two parents rule out an edge",
        _ranked("CF", "AE", "AC", features="ACEF"),
        "The edges F > C and E > A come first. C and A then both have a parent, so Hie-TAN skips the edge C - A. "
        "The next edge, A - F, completes the tree.",
        "ACEF",
        True,
    ),
    "figure 1e": Example(
        "Figure 1e: an edge without a direction",
        _ranked("CF", "AE", "EF", features="ACEF"),
        "The edges F > C and E > A come first. Neither E nor F has a parent, so Hie-TAN adds the edge between E and F "
        "without a direction. In the finished tree, this edge points away from the random root.",
        "ACEF",
        True,
    ),
    "figure 2": Example("Figure 2: Hie-TAN", _ranked(*BEST), "Hie-TAN learns one tree for all rows."),
    "figure 3": Example(
        "Figure 3: Hie-TAN-Lite",
        _ranked(*BEST),
        "Hie-TAN-Lite learns a tree for each row. In this example, the row is "
        + ", ".join(f"{name} = {value}" for name, value in INSTANCE.items())
        + ".",
    ),
    "hre-tan": Example(
        "The same row with HRE-TAN",
        _ranked(*BEST),
        "Like Hie-TAN-Lite, HRE-TAN removes redundant features. HRE-TAN's edges point away from a random root.",
    ),
}
MODELS = {
    "figure 1b": TAN(random_state=1),  # the seed gives the root C
    "figure 2": HieTAN(hierarchy=HIERARCHY, random_state=0),
    "figure 3": HieTANLite(hierarchy=HIERARCHY, random_state=0),
    "hre-tan": HRETAN(hierarchy=HIERARCHY, random_state=0),
}


@cache
def trace_of(name: str) -> Trace:
    """How the tree of an example is learned: by a fitted classifier, or from a ranking that is given."""
    example = EXAMPLES[name]
    if not example.given:
        row = pd.DataFrame([INSTANCE], columns=list(FEATURES))
        return trace_row(MODELS[name].fit(*table()), row, "the row")
    ranked = [
        (k, example.features.index(a), example.features.index(b), 0.0)
        for k, (a, b) in enumerate(example.ranking, start=1)
    ]
    order = range(len(example.features))
    return trace_tree(ranked, example.hierarchy, order, directed=True, method="HieTAN", row="any row")


# ------------------------------------------------------------------ the page

HEAD = """# Worked examples

The paper explains its algorithms with six features, the hierarchy in its Figure 1a and a given edge order. On this
page, `reproduction/paper/walk.py` records each step of an example. For Figures 1b, 2 and 3, hietan's classifiers
are trained on the rows of the next section. The paper does not list any rows, so we searched for rows whose conditional
mutual information gives the paper's edge order. `python -m reproduction.paper examples` writes this page and its
drawings. A test checks that the page and the drawings are up to date.

The drawings show the hierarchy on the left and the tree on the right. Features that were removed as redundant are
dashed. In the text, *F > C* means that F is the parent of C. Colours show how each edge got its direction:

- Blue edges follow the hierarchy.
- Dashed green edges point away from a feature that already had a parent.
- Dotted orange edges point away from a randomly chosen root."""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## The rows", _rows_section()]
    for name, example in EXAMPLES.items():
        parts += [f"## {example.title}", _example_section(name)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _listed(names: Iterable[str]) -> str:
    """Names in alphabetical order, as a sentence lists them."""
    *first, last = sorted(names)
    return f"{', '.join(first)} and {last}"


def _rows_section() -> str:
    """All patterns with the number of rows of either class, and what Figure 5 says about them."""
    lines = [
        (*map(str, pattern), *map(str, counts)) for pattern, *counts in zip(patterns(), *ROWS, strict=True)
    ]
    shown = TextTable(
        f"The closed rows, and how often each occurs in the training data ({sum(map(sum, ROWS))} training rows)",
        (*FEATURES, "rows of class 0", "rows of class 1"),
        tuple(lines),
        (),
        len(FEATURES),
    )
    words = (
        "A row is closed if all ancestors of its present features are present. "
        f"Of the {2 ** len(FEATURES)} possible rows of six zeros and ones, {len(patterns())} are closed. The paper's "
        "Figure 5 shows two consequences. "
        f"If D is 1, its ancestors {_listed(HIERARCHY.ancestors('D'))} must be 1. "
        f"If E is 0, its descendants {_listed(HIERARCHY.descendants('E'))} must be 0."
    )
    return f"{words}\n{shown.to_markdown()}"


def _example_section(name: str) -> str:
    """Return the drawing of an example and its trace."""
    trace, example = trace_of(name), EXAMPLES[name]
    note = "" if not example.given else " We set the edge order of this example by hand."
    listed = str(trace)
    if example.given:
        listed = listed.replace("  0.0000  ", "  ")
    image = f"![{example.title}: the hierarchy and the tree](images/{file_name(name)})"
    return f"{example.words}{note}\n\n{image}\n\n```text\n{listed}\n```\n"


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
