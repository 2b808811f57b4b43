"""Edge tables, which describe a hierarchy in two columns: parent and child."""

from __future__ import annotations

import re
import warnings
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.binary_tables import Listed
from hietan.datasets._readers.files import TextSource
from hietan.datasets._readers.ontology import RELATIONS, Ontology, Term, relation_name
from hietan.datasets._readers.tables import Table, is_position
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._edge_columns import (
    BESIDE_A_PARENT,
    CHILD,
    DISTANCE,
    EDGE_ORDERS,
    PARENT,
    RELATION,
    find_ends,
    find_names,
    order_from_roots,
)
from hietan.hierarchy._hierarchy import rebuild

_NAME = re.compile("(child_|term_)?name|label|title|description")
_NAMESPACE = re.compile("namespace|aspect")

_Edge = tuple[str, str, str, str, str, int]  # the two ends, name, relation, namespace, line


def read_edges(
    source: TextSource,
    *,
    columns: Sequence[str | int] | None = None,
    order: str | None = None,
    header: bool | None = None,
) -> Ontology:
    """Read a hierarchy from a table with an edge per row, separated by commas, semicolons or tabs.

    A row with a child but no parent makes the child a root. A column called "name" or "description" contains the
    child's readable name, and a column called "namespace" its namespace. A column called "relation" contains the kind
    of edge; an empty cell means "is_a". A relation column needs no name, because it is recognised by values such as
    is_a and part_of. `Ontology.remarks` lists unused columns.

    A table of all ancestors, such as OMOP's `concept_ancestor`, has columns such as "ancestor", "descendant" and
    "distance" (or "min_levels_of_separation"). Its pairs at distance 1 are edges. Pairs of a term with itself and
    pairs at larger distances that follow from edges are dropped, and counted in `Ontology.remarks`.

    Parameters
    ----------
    source : path or open file
        The table: plain, `.gz`, or a `.zip` with one file.
    columns : two or three of str or int, optional
        The two columns of an edge and, optionally, the relation column, by name or by position, counted from 1. They
        are needed unless the table has just two columns next to the relation column, or recognisable column names
        such as "parent" and "child".
    order : {"parent-child", "child-parent"}, optional
        Which of the two columns is the parent [default: detected from the column names or, failing that, from the
        data, because a hierarchy has fewer roots than leaves]. If the data decide, `Ontology.remarks` reports it.
    header : bool, optional
        Whether the first row contains the column names [default: yes, if one of them is a word such as "parent" or
        "child", or if neither of its two values occurs again]. A row with a relation such as "is_a" is an edge,
        unless another of its fields is a header word.

    Returns
    -------
    Ontology

    Warns
    -----
    DataWarning
        If a table without column names has an unused column that may contain relations.

    Examples
    --------
    >>> import io
    >>> goods = read_edges(io.StringIO("child,parent\\ntea,drinks\\ncoffee,drinks\\ndrinks,goods\\n"))
    >>> goods.hierarchy.edges
    (('drinks', 'tea'), ('drinks', 'coffee'), ('goods', 'drinks'))
    """
    if order is not None and order not in EDGE_ORDERS:
        raise ValueError(f"edge_order is {order!r}; expected one of {', '.join(EDGE_ORDERS)}")
    table = Table.open(source)
    remarks = list[str]()
    has_relation, has_words = _first_row(table)
    by_name = columns is not None and any(not is_position(column) for column in columns)
    if header or (header is None and (by_name or has_words or table.has_marked_heading)):
        table.take_heading()
    at, named_order = _find_columns(table, columns)
    unused = table.unused(j for j in at if j is not None)
    if unused and table.heading is None and at.relation is None:
        warnings.warn(
            f"{unused[0]}; if a column contains relations, name it relation in the file, or pass edge_columns (for "
            "`hietan build`: --edge-columns PARENT,CHILD,RELATION)",
            DataWarning,
            stacklevel=3,
        )
    is_closure = table.heading is not None and any("ancestor" in name.casefold() for name in table.heading)
    if at.distance is not None and named_order is not None and is_closure:
        edges, remark = direct_edges(table, at, order or named_order)
        return _ontology(edges, table.name, (f"{table.name}: {remark}", *unused), has_relations=False)
    edges = _read(table, at)
    # An edge of which neither end occurs again would be a separate hierarchy, so it is a header.
    others = {name for edge in edges[1:] for name in edge[:2]}
    is_open = header is None and table.heading is None and not has_relation
    if is_open and others and others.isdisjoint(edges[0][:2]):
        remarks.append(f"the first row ({edges[0][0]}, {edges[0][1]}) is a header")
        edges = edges[1:]
    if not edges:
        raise DataError("the table has no edges; expected a row (parent, child) for each edge", table.name)
    if at.relation is not None:
        counts = Counter(edge[3] for edge in edges).most_common()
        listed = ", ".join(f"{name[:40]} {count:,}" for name, count in counts[:8])
        more = f" and {len(counts) - 8} more" if len(counts) > 8 else ""
        remarks.append(
            f"column {at.relation + 1} contains relations: {listed}{more}; only requested relations count"
        )
    found = order or named_order
    if found is None:
        found = order_from_roots(edges)
        what = "first" if found == "parent-child" else "second"
        remarks.append(
            f"the {what} column contains the parents, because there are then fewer roots than leaves"
        )
    if found is None:
        what = "the table does not show which column is the parent;"
        if is_open and not others:
            what = f"the table has no edges after the row ({edges[0][0]}, {edges[0][1]}); if this is an edge,"
        raise DataError(
            f"{what} name the columns parent and child in the first row, or set edge_order (for `hietan build`: "
            f"--edge-order) to {' or '.join(EDGE_ORDERS)}",
            table.name,
        )
    if found == "child-parent":
        edges = [(parent, child, *rest) for child, parent, *rest in edges]  # type: ignore[misc]
    found_out = (*(f"{table.name}: {remark}" for remark in remarks), *unused)
    return _ontology(edges, table.name, found_out, has_relations=at.relation is not None)


def ontology_of(hierarchy: Hierarchy) -> Ontology:
    """Return a hierarchy as an ontology, with a term for each feature."""
    terms = {name: Term(name, name, is_a=hierarchy.parents(name)) for name in hierarchy.features}
    return Ontology(terms, is_plain=True, has_relations=False)


class _Columns(NamedTuple):
    """The columns for an edge's two ends and, if present, for names, relations, namespaces and distances."""

    first: int
    second: int
    name: int | None
    relation: int | None
    namespace: int | None
    distance: int | None = None


def _find_columns(table: Table, columns: Sequence[str | int] | None) -> tuple[_Columns, str | None]:
    """Return the columns of an edge table, and the order of the ends if the column names show it."""
    heading, stated = table.heading or [], [table.column(column) for column in columns or ()]
    if len(set(stated)) < len(stated):
        raise ValueError(f"edge_columns is {columns!r}; expected columns that differ from one another")
    relation = stated[2] if len(stated) == 3 else _find_relations(table, stated)
    ends = find_ends(heading, stated[:2] or [j for j in range(table.width) if j != relation])
    if ends is None:
        raise DataError(
            "the parent and child columns are unclear; name them parent and child in the first row, or set "
            f"edge_columns (for `hietan build`: --edge-columns). The columns are {table.shown_columns()}",
            table.name,
        )
    first, second, order = ends
    name, namespace, distance = (
        next((j for j in find_names(heading, words) if j not in (first, second, relation)), None)
        for words in (_NAME, _NAMESPACE, DISTANCE)
    )
    return _Columns(first, second, name, relation, namespace, distance), order


def _first_row(table: Table) -> tuple[bool, bool]:
    """Return whether the first row contains a relation, and whether it contains words that make it a header.

    "is_a" is both a relation and a header for parents. It is a header in a table of two columns, or next to another
    header word.
    """
    first = table.start[0]
    plain = [cell for cell in first if relation_name(cell) not in RELATIONS]
    second = table.start[1] if len(table.start) > 1 else []
    goes_on = any(
        relation_name(a) in RELATIONS and relation_name(b) in RELATIONS
        for a, b in zip(first, second, strict=False)
    )
    by_parents = (
        not goes_on
        and find_names(first, PARENT)
        and (
            table.width == 2
            or any(find_names(plain, words) for words in (BESIDE_A_PARENT, _NAME, _NAMESPACE))
        )
    )
    return plain != first, bool(find_names(plain, PARENT) or find_names(plain, CHILD) or by_parents)


def _find_relations(table: Table, ends: Sequence[int]) -> int | None:
    """Return the relation column: the named column, or a column that contains only known relations."""
    others = [j for j in range(table.width) if j not in ends]
    named = [j for j in find_names(table.heading or [], RELATION) if j in others]
    rows = table.start[1:] if table.heading is None and len(table.start) > 1 else table.start
    by_value = (
        j
        for j in others
        if (values := {row[j] for row in rows if j < len(row)} - {""})
        and {relation_name(value) for value in values} <= RELATIONS
    )
    return next(iter(named), None) if named else next(by_value, None)


def _read(table: Table, at: _Columns) -> list[_Edge]:
    def cell(row: list[str], at: int | None) -> str:
        return row[at].strip() if at is not None and at < len(row) else ""

    edges = []
    for line, row in table.rows(max(at.first, at.second), Tally("edges")):
        first, second, name, relation, namespace, _ = (cell(row, j) for j in at)
        ends = ((one, other) for one in _parts(first) for other in _parts(second) if one or other)
        edges += [(*pair, name, relation_name(relation or "is_a"), namespace, line) for pair in ends]
    return edges


def _parts(cell: str) -> list[str]:
    return (cell.parts or [""]) if isinstance(cell, Listed) else [cell]


def direct_edges(table: Table, at: _Columns, order: str) -> tuple[list[_Edge], str]:
    """Return the direct edges from a table of all ancestors, and a remark with the number of other pairs.

    A pair at a larger distance is an edge if no chain of closer pairs connects it, for example in an excerpt without
    the terms in between.
    """
    assert at.distance is not None
    number, numbers = dict[str, int](), array("q")  # of each pair: ancestor, descendant, distance and line
    ends = (at.first, at.second) if order == "parent-child" else (at.second, at.first)
    for line, row in table.rows(max(*ends, at.distance), Tally("pairs")):
        distance, names = row[at.distance].strip(), [row[j].strip() for j in ends]
        if not (all(names) and distance.isdecimal() and len(distance) < 9):
            expected = "expected an ancestor, a descendant, and a distance of 0 or more"
            raise DataError(f"{', '.join(names)[:80]}, {distance[:20]!r}: {expected}", table.name, line)
        numbers.extend([*(number.setdefault(name, len(number)) for name in names), int(distance), line])
    if not numbers:
        raise DataError(
            "the table has no edges; expected a row (ancestor, descendant, distance) for each pair",
            table.name,
        )
    above, below, distances, lines = np.frombuffer(numbers, dtype=np.int64).reshape(-1, 4).T
    features = tuple(number)
    _refuse(
        (above == below) != (distances == 0),
        "the distance is 0 only between a term and itself",
        lines,
        table.name,
    )
    keys = below * len(features) + above
    _, first_at, same = np.unique(keys, return_index=True, return_inverse=True)
    _refuse(
        distances != distances[first_at][same], "an earlier row gives another distance", lines, table.name
    )
    is_edge = (distances == 1) & (np.arange(len(keys)) == first_at[same])
    for distance in np.unique(distances[distances > 1]).tolist():
        try:
            far = rebuild(features, above[is_edge], below[is_edge]).ancestor_matrix.tocoo()
        except ValueError as error:
            ends_of = zip(above.tolist(), below.tolist(), lines.tolist(), strict=True)
            at_line = next(n for a, b, n in ends_of if f"{features[a]} -> {features[b]}" in f"{error} -> ")
            raise DataError(
                f"the pairs contradict each other, because {error}", table.name, at_line
            ) from None
        known = far.row.astype(np.int64) * len(features) + far.col
        is_edge |= (distances == distance) & ~np.isin(keys, known)
    kept = zip(above[is_edge].tolist(), below[is_edge].tolist(), lines[is_edge].tolist(), strict=True)
    edges = [(features[a], features[b], "", "is_a", "", line) for a, b, line in kept]
    selves = above == below
    edges += [("", features[a], "", "is_a", "", n) for a, n in zip(above[selves], lines[selves], strict=True)]
    remark = (
        f"the table lists all ancestors: {is_edge.sum():,} of {len(keys):,} pairs are edges "
        f"({(is_edge & (distances > 1)).sum():,} of them at a distance above 1); {selves.sum():,} pairs of a term "
        f"with itself and {(~is_edge & ~selves).sum():,} pairs that follow from other pairs were dropped"
    )
    return edges, remark


def _refuse(wrong: NDArray[np.bool_], why: str, lines: NDArray[np.int64], name: str) -> None:
    if wrong.any():
        raise DataError(
            f"the table of ancestors contradicts itself ({why}); correct this row", name, int(lines[wrong][0])
        )


def _ontology(
    edges: Sequence[_Edge], source: str, remarks: tuple[str, ...], *, has_relations: bool
) -> Ontology:
    names, lines, namespaces = dict[str, str](), dict[str, int](), dict[str, str]()
    is_a, related = dict[str, dict[str, None]](), dict[str, dict[tuple[str, str], None]]()
    for parent, child, name, relation, namespace, line in edges:
        if not child:
            raise DataError(
                f"the row has the parent {parent!r:.80} but no child; fill in the child, or remove the row",
                source,
                line,
            )
        for term in filter(None, (parent, child)):
            names.setdefault(term, "")
            lines.setdefault(term, line)
        names[child] = names[child] or name
        namespaces[child] = namespaces.get(child) or namespace
        if parent and relation == "is_a":
            is_a.setdefault(child, {})[parent] = None
        elif parent:
            related.setdefault(child, {})[relation, parent] = None
    for parent, child, *_ in edges:  # a root without a row is in the namespace of its children
        namespaces.setdefault(parent, namespaces[child])
    terms = {
        term: Term(
            term,
            name or term,
            namespaces[term],
            is_a=tuple(is_a.get(term, ())),
            relationships=tuple(related.get(term, ())),
        )
        for term, name in names.items()
    }
    return Ontology(terms, "", source, lines, remarks, is_plain=True, has_relations=has_relations)
