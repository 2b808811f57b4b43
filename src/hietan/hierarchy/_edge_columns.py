"""Find the two columns of an edge table that contain the edges' ends, and which of them is the parent.

Data frames and files follow the same rule: the column names decide or, failing that, the data.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

EDGE_ORDERS = ("parent-child", "child-parent")
"""The possible orders of an edge's columns in a table."""

PARENT = re.compile(
    r"parents?(_id|_term|_code|_\w{1,60}_id)?|broader|superclass|is_a|above|ancestor(_\w{0,60}id)?"
)
CHILD = re.compile(
    r"child(ren)?(_id|_term|_code|_\w{1,60}_id)?|narrower|subclass|below|descendant(_\w{0,60}id)?"
)
DISTANCE = re.compile(r"(min_)?(distance|levels_of_separation)")  # in a table of all ancestors
RELATION = re.compile("relation(ship)?|predicate")
BESIDE_A_PARENT = re.compile("(term|node|code|category|item|feature|concept)(_id)?|id")


def find_names(heading: Sequence[str], pattern: re.Pattern[str]) -> list[int]:
    """Return the columns whose names, in lower case and with underscores, match the pattern.

    >>> find_names(["Parent ID", "Child"], re.compile("(parent|child)(_id)?"))
    [0, 1]
    """
    plain = [re.sub(r"[^0-9a-z]+", "_", name[:80].lower()).strip("_") for name in heading]
    return [j for j, name in enumerate(plain) if pattern.fullmatch(name)]


def find_ends(heading: Sequence[str], among: Sequence[int]) -> tuple[int, int, str | None] | None:
    """Return the two columns of an edge, and their order if their names show the order. Return None if the columns are
    unclear.

    Parameters
    ----------
    heading : sequence of str
        All column names; empty if they have none.
    among : sequence of int
        The columns to choose from. If there are two, both are used.
    """
    parents, children = ([j for j in find_names(heading, words) if j in among] for words in (PARENT, CHILD))
    if len(among) == 2:
        first, second = among
    else:
        if len(parents) == 1 and not children:
            children = [j for j in find_names(heading, BESIDE_A_PARENT) if j in among][:1]
        if len(parents) != 1 or len(children) != 1:
            return None
        first, second = parents[0], children[0]
    if parents == [first] or children == [second]:
        return first, second, "parent-child"
    return first, second, "child-parent" if parents == [second] or children == [first] else None


def order_from_roots(edges: Collection[Sequence[Any]]) -> str | None:
    """Return the order of an edge's ends that gives fewer roots than leaves.

    Each edge begins with its two ends; "" means a missing end. With equally many roots and leaves, the end with fewer
    different terms is the parent. If only one of the ends is ever missing, that end is the parent. Return None if the
    data do not show the order.
    """
    firsts, seconds = _different(e[0] for e in edges), _different(e[1] for e in edges)
    roots, leaves = len(firsts - seconds), len(seconds - firsts)
    if roots == leaves:  # then the column in which values repeat is the parent
        roots, leaves = len(firsts), len(seconds)
    no_first, no_second = (any(not e[end] for e in edges) for end in (0, 1))
    if no_first != no_second:  # roots without a parent
        roots, leaves = int(no_second), int(no_first)
    return None if roots == leaves else "parent-child" if roots < leaves else "child-parent"


def _different(names: Iterable[str]) -> set[str]:
    return set(names) - {""}
