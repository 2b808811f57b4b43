"""Taxonomies of paths such as "Animals > Pets > Dogs", or of codes that begin with the parent's code."""

from __future__ import annotations

import re
from collections.abc import Iterable

LEVELS = 255
"""The largest number of levels in a path."""
_LONGEST_CODE = 100
# A rank of a lineage that is not known, such as g__.
_NO_NAME = re.compile(r"(?:[a-z]{1,2}|D_\d{1,2})__").fullmatch
_RANGE = re.compile(r"([A-Z]?\d[0-9A-Z]{1,2})-([A-Z]?\d[0-9A-Z]{1,2})").fullmatch
_LAST = "\U0010ffff"


def path_parts(path: str, separator: str) -> list[str]:
    """Return the names along a path. Lineage ranks without a name are left out.

    >>> path_parts("k__Bacteria; p__Firmicutes; c__; o__", ";")
    ['k__Bacteria', 'p__Firmicutes']
    """
    parts = [part.strip() for part in path.split(separator, LEVELS)]
    if len(parts) > LEVELS:
        raise ValueError(
            f"the path {path[:80]!r} has more than {LEVELS} levels; check the separator {separator!r}"
        )
    named = [part for part in parts if not _NO_NAME(part)]
    while named and not named[-1]:
        named.pop()
    if not all(named) or not named:
        raise ValueError(f"{path[:80]!r} has an empty part; expected names separated by {separator!r}")
    return named


def path_parents(paths: Iterable[str], separator: str) -> dict[str, str]:
    """Return the parent of each node along the paths, or "" for a root. Nodes are named by their paths."""
    parents = dict[str, str]()
    for path in paths:
        above = ""
        for part in path_parts(path, separator):
            node = f"{above}{separator}{part}" if above else part
            parents.setdefault(node, above)
            above = node
    return parents


def code_parents(codes: Iterable[str]) -> dict[str, str]:
    """Return each code's parent, which is the narrowest other code or range that covers it, or "" for a root.

    A code covers all texts that begin with it. A code such as "E08-E13" is a range, which covers the texts between its
    ends. The part before a dot is also a code, even if it is not listed. One ordered pass over these intervals finds
    the parents.
    """
    listed = dict.fromkeys(codes)
    listed |= dict.fromkeys(stem for code in listed if (stem := code.partition(".")[0]))
    if empty := [code for code in listed if not code.strip(".- ")]:
        raise ValueError(f"{empty[0]!r} is not a code; expected letters or digits in each code")
    if longest := [code for code in listed if len(code) > _LONGEST_CODE]:
        raise ValueError(f"{longest[0][:80]!r} is too long; a code has at most {_LONGEST_CODE} characters")
    ranges_first = sorted(listed, key=lambda code: "-" not in code)
    longest_first = sorted(
        ((*_interval(code), code) for code in ranges_first), key=lambda i: i[1], reverse=True
    )
    parents = dict.fromkeys(listed, "")
    above: list[tuple[str, str]] = []  # the end and the code of open intervals
    for start, end, code in sorted(longest_first, key=lambda interval: interval[0]):
        while above and above[-1][0] < start:
            above.pop()
        if above and above[-1][0] < end:
            raise ValueError(
                f"the ranges {above[-1][1]!r} and {code!r} overlap; ranges must be separate, or one must "
                "contain the other"
            )
        parents[code] = above[-1][1] if above else ""
        above.append((end, code))
    return parents


def _interval(code: str) -> tuple[str, str]:
    """Return the first and the last text that a code or a range covers.

    >>> [end.rstrip(_LAST) for code in ("E08-E13", "E11.-", "aa-1") for end in _interval(code)]
    ['E08', 'E13', 'E11', 'E11', 'aa-1', 'aa-1']
    """
    found, text = _RANGE(code), code.rstrip(".-")
    first, last = found.groups() if found else (text, text)
    return (first, last + _LAST) if len(first) == len(last) and first <= last else (text, text + _LAST)
