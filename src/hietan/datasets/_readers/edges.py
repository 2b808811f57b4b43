"""Tables of edges: a hierarchy as two columns, parent and child."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hietan.datasets._build_log import Tally
from hietan.datasets._readers.files import TextSource
from hietan.datasets._readers.ontology import Ontology, Term
from hietan.datasets._readers.tables import Table, find_names, is_position
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy

EDGE_ORDERS = ("parent-child", "child-parent")
"""The orders in which a table can have the ends of an edge."""

_PARENT = re.compile("parents?(_id|_term|_code)?|broader|superclass|is_a|above")
_CHILD = re.compile("child(ren)?(_id|_term|_code)?|narrower|subclass|below")
_BESIDE_A_PARENT = re.compile("(term|node|code|category|item|feature|concept)(_id)?|id")
_NAME = re.compile("(child_|term_)?name|label|title|description")
_RELATION = re.compile("relation(ship)?|predicate")
_IS_A = frozenset(("", "is_a", "isa", "is a", "subclass_of", "subClassOf"))

_Edge = tuple[str, str, str, str, int]  # the first and the second of two columns, name, relation, line


def read_edges(
    source: TextSource,
    *,
    columns: Sequence[str | int] | None = None,
    order: str | None = None,
    header: bool | None = None,
) -> Ontology:
    """Read a hierarchy from a table with a row per edge, comma-, semicolon- or tab-separated.

    A row with a child but no parent makes the child a root. If the table has a column called "name" or "description",
    it holds the readable name of the child; one called "relation" holds the kind of the edge, "is_a" if it is empty.

    Parameters
    ----------
    source : path or open file
        The table: plain, `.gz`, or a `.zip` that holds one file.
    columns : (str or int, str or int), optional
        The two columns of an edge, by name or by position, counted from 1. They are needed unless the table has just
        two columns, or names that say which they are, such as "parent" and "child".
    order : {"parent-child", "child-parent"}, optional
        Which of the two columns is the parent. If not given, the names of the columns say it or, failing that, the
        data: a hierarchy has fewer roots than leaves. In the latter case, `Ontology.remarks` says so.
    header : bool, optional
        Whether the first row holds the names of the columns. If not given, it does if one of them is a word such as
        "parent" or "child", or if neither of its two values occurs again.

    Returns
    -------
    Ontology

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
    has_words = bool(find_names(table.start[0], _PARENT) or find_names(table.start[0], _CHILD))
    by_name = columns is not None and any(not is_position(column) for column in columns)
    if header or (header is None and (by_name or has_words or table.has_marked_heading)):
        table.take_heading()
    first, second, named_order = _find_columns(table, columns)
    edges = _read(table, first, second)
    # An edge of which neither end occurs again would be a hierarchy of its own, so it is a heading.
    others = {name for edge in edges[1:] for name in edge[:2]}
    if header is None and table.heading is None and others and others.isdisjoint(edges[0][:2]):
        remarks.append(f"the first row ({edges[0][0]}, {edges[0][1]}) was read as names of columns")
        edges = edges[1:]
    if not edges:
        raise DataError("the table has no edges; expected a row (parent, child) for each", table.name)
    found = order or named_order
    if found is None:
        found = _order_from_roots(edges, table.name)
        what = "first" if found == "parent-child" else "second"
        remarks.append(f"the {what} column was taken as the parent, since there are fewer roots than leaves")
    if found == "child-parent":
        edges = [(parent, child, *rest) for child, parent, *rest in edges]  # type: ignore[misc]
    return _ontology(edges, table.name, tuple(f"{table.name}: {remark}" for remark in remarks))


def ontology_of(hierarchy: Hierarchy) -> Ontology:
    """An ontology with the features of a hierarchy as its terms."""
    terms = {name: Term(name, name, is_a=hierarchy.parents(name)) for name in hierarchy.features}
    return Ontology(terms, is_plain=True)


def _find_columns(table: Table, columns: Sequence[str | int] | None) -> tuple[int, int, str | None]:
    """The two columns of an edge, and their order if their names tell it."""
    heading = table.heading or []
    parents, children = find_names(heading, _PARENT), find_names(heading, _CHILD)
    if columns is not None:
        first, second = (table.column(column) for column in columns)
        if first == second:
            raise ValueError(f"edge_columns is {columns!r}; the two columns must differ")
        parents, children = ([j for j in at if j in (first, second)] for at in (parents, children))
    elif table.width == 2:
        first, second = 0, 1
    else:
        if len(parents) == 1 and not children:
            children = find_names(heading, _BESIDE_A_PARENT)[:1]
        if len(parents) != 1 or len(children) != 1:
            raise DataError(
                "say which two columns hold the edges (edge_columns, --edge-columns); the columns are "
                f"{table.shown_columns()}",
                table.name,
            )
        first, second = parents[0], children[0]
    if parents == [first] or children == [second]:
        return first, second, "parent-child"
    return first, second, "child-parent" if parents == [second] or children == [first] else None


def _read(table: Table, first: int, second: int) -> list[_Edge]:
    heading = table.heading or []
    name_at, relation_at = (
        next((j for j in find_names(heading, words) if j not in (first, second)), None)
        for words in (_NAME, _RELATION)
    )

    def cell(row: list[str], at: int | None) -> str:
        return row[at].strip() if at is not None and at < len(row) else ""

    edges = []
    for line, row in table.rows(max(first, second), Tally("edges")):
        ends = cell(row, first), cell(row, second)
        if any(ends):
            edges.append((*ends, cell(row, name_at), cell(row, relation_at), line))
    return edges


def _order_from_roots(edges: Sequence[_Edge], source: str) -> str:
    """The order in which there are fewer roots than leaves; failing that, fewer terms with several parents."""
    firsts, seconds = Counter(e[0] for e in edges if e[0]), Counter(e[1] for e in edges if e[1])
    roots, leaves = len(firsts.keys() - seconds.keys()), len(seconds.keys() - firsts.keys())
    if roots == leaves:  # then the column in which values repeat is the parent
        roots, leaves = len(firsts), len(seconds)
    if any(not e[0] for e in edges) != any(not e[1] for e in edges):  # roots without a parent
        roots, leaves = int(any(not e[1] for e in edges)), int(any(not e[0] for e in edges))
    if roots == leaves:
        raise DataError(
            "the table does not show which column is the parent; state the order (edge_order, --edge-order "
            f"{' or '.join(EDGE_ORDERS)})",
            source,
        )
    return "parent-child" if roots < leaves else "child-parent"


def _ontology(edges: Sequence[_Edge], source: str, remarks: tuple[str, ...]) -> Ontology:
    names, lines = dict[str, str](), dict[str, int]()
    is_a, related = dict[str, dict[str, None]](), dict[str, dict[tuple[str, str], None]]()
    for parent, child, name, relation, line in edges:
        if not child:
            raise DataError(f"the row has the parent {parent!r:.80} but no child", source, line)
        for term in filter(None, (parent, child)):
            names.setdefault(term, "")
            lines.setdefault(term, line)
        names[child] = names[child] or name
        if parent and relation in _IS_A:
            is_a.setdefault(child, {})[parent] = None
        elif parent:
            related.setdefault(child, {})[relation, parent] = None
    terms = {
        term: Term(
            term, name or term, is_a=tuple(is_a.get(term, ())), relationships=tuple(related.get(term, ()))
        )
        for term, name in names.items()
    }
    return Ontology(terms, "", source, lines, remarks, is_plain=True)
