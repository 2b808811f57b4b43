"""Tables of edges: a hierarchy as two columns, parent and child."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.files import TextSource
from hietan.datasets._readers.ontology import RELATIONS, Ontology, Term, relation_name
from hietan.datasets._readers.tables import Table, is_position
from hietan.exceptions import DataError, DataWarning
from hietan.hierarchy import Hierarchy
from hietan.hierarchy._edge_columns import (
    BESIDE_A_PARENT,
    CHILD,
    EDGE_ORDERS,
    PARENT,
    RELATION,
    find_ends,
    find_names,
    order_from_roots,
)

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
    """Read a hierarchy from a table with a row per edge, comma-, semicolon- or tab-separated.

    A row with a child but no parent makes the child a root. If the table has a column called "name" or "description",
    it holds the readable name of the child; one called "namespace" holds the namespace of the child; one called
    "relation" holds the kind of the edge, "is_a" if it is empty. A column of relations needs no name: its values, such
    as is_a and part_of, show what it is. `Ontology.remarks` names the columns that are not used.

    Parameters
    ----------
    source : path or open file
        The table: plain, `.gz`, or a `.zip` that holds one file.
    columns : two or three of str or int, optional
        The two columns of an edge and, if you like, the column of relations, by name or by position, counted from 1.
        They are needed unless the table has just two columns besides one of relations, or names that say which they
        are, such as "parent" and "child".
    order : {"parent-child", "child-parent"}, optional
        Which of the two columns is the parent. If not given, the names of the columns say it or, failing that, the
        data: a hierarchy has fewer roots than leaves. In the latter case, `Ontology.remarks` says so.
    header : bool, optional
        Whether the first row holds the names of the columns. If not given, it does if one of them is a word such as
        "parent" or "child", or if neither of its two values occurs again. A row with a relation such as "is_a" is an
        edge, unless another of its fields is a word of a heading.

    Returns
    -------
    Ontology

    Warns
    -----
    DataWarning
        If a table without names of columns has one that is not used and might hold relations.

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
        message = f"{unused[0]}; if a column holds relations, name it (--edge-columns PARENT,CHILD,RELATION)"
        warnings.warn(message, DataWarning, stacklevel=3)
    edges = _read(table, at)
    # An edge of which neither end occurs again would be a hierarchy of its own, so it is a heading.
    others = {name for edge in edges[1:] for name in edge[:2]}
    is_open = header is None and table.heading is None and not has_relation
    if is_open and others and others.isdisjoint(edges[0][:2]):
        remarks.append(f"the first row ({edges[0][0]}, {edges[0][1]}) was read as names of columns")
        edges = edges[1:]
    if not edges:
        raise DataError("the table has no edges; expected a row (parent, child) for each", table.name)
    if at.relation is not None:
        counts = Counter(edge[3] for edge in edges).most_common()
        listed = ", ".join(f"{name[:40]} {count:,}" for name, count in counts[:8])
        more = f" and {len(counts) - 8} more" if len(counts) > 8 else ""
        remarks.append(
            f"column {at.relation + 1} holds relations: {listed}{more}; only those asked for count"
        )
    found = order or named_order
    if found is None:
        found = order_from_roots(edges)
        what = "first" if found == "parent-child" else "second"
        remarks.append(f"the {what} column was taken as the parent, since there are fewer roots than leaves")
    if found is None:
        what = "the table does not show which column is the parent;"
        if is_open and not others:
            what = f"the table has no edges after the row ({edges[0][0]}, {edges[0][1]}); if this is an edge,"
        raise DataError(
            f"{what} state the order (edge_order, --edge-order {' or '.join(EDGE_ORDERS)})", table.name
        )
    if found == "child-parent":
        edges = [(parent, child, *rest) for child, parent, *rest in edges]  # type: ignore[misc]
    found_out = (*(f"{table.name}: {remark}" for remark in remarks), *unused)
    return _ontology(edges, table.name, found_out, has_relations=at.relation is not None)


def ontology_of(hierarchy: Hierarchy) -> Ontology:
    """An ontology with the features of a hierarchy as its terms."""
    terms = {name: Term(name, name, is_a=hierarchy.parents(name)) for name in hierarchy.features}
    return Ontology(terms, is_plain=True, has_relations=False)


class _Columns(NamedTuple):
    """Where a table has the two ends of an edge and, if it has them, names, relations and namespaces."""

    first: int
    second: int
    name: int | None
    relation: int | None
    namespace: int | None


def _find_columns(table: Table, columns: Sequence[str | int] | None) -> tuple[_Columns, str | None]:
    """The columns of a table of edges, and the order of the ends if their names tell it."""
    heading, stated = table.heading or [], [table.column(column) for column in columns or ()]
    if len(set(stated)) < len(stated):
        raise ValueError(f"edge_columns is {columns!r}; the columns must differ")
    relation = stated[2] if len(stated) == 3 else _find_relations(table, stated)
    ends = find_ends(heading, stated[:2] or [j for j in range(table.width) if j != relation])
    if ends is None:
        raise DataError(
            "say which two columns hold the edges (edge_columns, --edge-columns); the columns are "
            f"{table.shown_columns()}",
            table.name,
        )
    first, second, order = ends
    name, namespace = (
        next((j for j in find_names(heading, words) if j not in (first, second, relation)), None)
        for words in (_NAME, _NAMESPACE)
    )
    return _Columns(first, second, name, relation, namespace), order


def _first_row(table: Table) -> tuple[bool, bool]:
    """Whether the first row holds a relation, and whether it holds words that make it a heading.

    "is_a" is both a relation and a heading of parents. It is the latter in a table of two columns, or next to another
    word of a heading.
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
    """The column of relations: the one of this name, or one that holds nothing but known relations."""
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
        first, second, name, relation, namespace = (cell(row, j) for j in at)
        if first or second:
            edges.append((first, second, name, relation_name(relation or "is_a"), namespace, line))
    return edges


def _ontology(
    edges: Sequence[_Edge], source: str, remarks: tuple[str, ...], *, has_relations: bool
) -> Ontology:
    names, lines, namespaces = dict[str, str](), dict[str, int](), dict[str, str]()
    is_a, related = dict[str, dict[str, None]](), dict[str, dict[tuple[str, str], None]]()
    for parent, child, name, relation, namespace, line in edges:
        if not child:
            raise DataError(f"the row has the parent {parent!r:.80} but no child", source, line)
        for term in filter(None, (parent, child)):
            names.setdefault(term, "")
            lines.setdefault(term, line)
        names[child] = names[child] or name
        namespaces[child] = namespaces.get(child) or namespace
        if parent and relation == "is_a":
            is_a.setdefault(child, {})[parent] = None
        elif parent:
            related.setdefault(child, {})[relation, parent] = None
    for parent, child, *_ in edges:  # a root without a row of its own is in the namespace of its children
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
