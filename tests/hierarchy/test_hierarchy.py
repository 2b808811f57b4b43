"""The hierarchy means what plain sets say it means; see `Twin`."""

from __future__ import annotations

import copy
import pickle
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan._runtime.optional import import_optional
from hietan.hierarchy import Hierarchy

EDGES = [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")]


@pytest.fixture
def worked() -> Hierarchy:
    return Hierarchy.from_edges(EDGES)


class Twin:
    """The same notions over plain sets, straight from their definitions."""

    def __init__(self, names, edges):
        self.names = names
        self.parents = {name: {p for p, c in edges if c == name} for name in names}

    def ancestors(self, name):
        found = set(self.parents[name])
        while more := {above for v in found for above in self.parents[v]} - found:
            found |= more
        return found

    def descendants(self, name):
        return {v for v in self.names if name in self.ancestors(v)}

    def depth(self, name):
        return max((1 + self.depth(p) for p in self.parents[name]), default=0)

    def close(self, row):
        ones = {v for v in self.names if row[self.names.index(v)]}
        ones = ones.union(*(self.ancestors(v) for v in ones))
        return [int(v in ones) for v in self.names]


@st.composite
def graphs(draw):
    """Names in an order that says nothing about the graph, and the edges of a DAG over them."""
    d = draw(st.integers(0, 9))
    names = draw(st.permutations([f"n{i}" for i in range(d)]))
    pairs = [(f"n{i}", f"n{j}") for i in range(d) for j in range(i + 1, d)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=16)) if pairs else []
    return names, edges


@st.composite
def tables(draw):
    names, edges = draw(graphs())
    n = draw(st.integers(0, 4))
    bits = draw(st.lists(st.integers(0, 1), min_size=n * len(names), max_size=n * len(names)))
    return names, edges, np.array(bits, dtype=np.int64).reshape(n, len(names))


def names_in_row(matrix, hierarchy, name):
    return {hierarchy.features[j] for j in matrix[[hierarchy.index(name)]].indices}


# ------------------------------------------------------------------------------------------ relations


@given(graphs())
def test_relations_are_those_of_the_sets(graph):
    names, edges = graph
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    assert hierarchy.features == tuple(names)
    assert set(hierarchy.edges) == set(edges)
    assert len(hierarchy.edges) == len(set(edges))
    for name in names:
        assert set(hierarchy.parents(name)) == twin.parents[name]
        assert set(hierarchy.children(name)) == {c for p, c in edges if p == name}
        assert hierarchy.ancestors(name) == twin.ancestors(name)
        assert hierarchy.descendants(name) == twin.descendants(name)
        assert names_in_row(hierarchy.ancestor_matrix, hierarchy, name) == twin.ancestors(name)
        assert names_in_row(hierarchy.descendant_matrix, hierarchy, name) == twin.descendants(name)
        assert hierarchy.depths[hierarchy.index(name)] == twin.depth(name)
        for other in names:
            assert hierarchy.related(name, other) == (other in twin.ancestors(name) | twin.descendants(name))
    assert set(hierarchy.roots) == {v for v in names if not twin.ancestors(v)}
    assert set(hierarchy.leaves) == {v for v in names if not twin.descendants(v)}


@given(graphs(), st.data())
def test_restriction_keeps_exactly_the_relations_of_what_it_keeps(graph, data):
    names, edges = graph
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    kept = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    restricted = hierarchy.restrict(kept)
    assert restricted.features == tuple(kept)
    for name in kept:
        assert restricted.ancestors(name) == twin.ancestors(name) & set(kept)
    for parent, child in restricted.edges:  # some path meets no third kept feature
        assert parent in Twin(names, [(p, c) for p, c in edges if p == parent or p not in kept]).ancestors(
            child
        )


def test_worked_example(worked):
    assert worked.features == ("F", "B", "C", "E", "A", "D")
    assert worked.ancestors("D") == {"A", "C", "E", "F"}
    assert worked.descendants("E") == {"C", "A", "D"}
    assert worked.related("F", "D")
    assert worked.related("D", "F")
    assert not worked.related("C", "A")
    assert not worked.related("D", "D")
    assert worked.depths.tolist() == [0, 1, 1, 0, 1, 2]
    assert (worked.roots, worked.leaves) == (("F", "E"), ("B", "D"))
    assert repr(worked) == "Hierarchy(6 features, 6 edges, 2 roots, depth 2)"
    assert (len(worked), "D" in worked, "G" in worked, 3 in worked) == (6, True, False, False)


def test_long_chains_need_no_recursion():
    names = [f"n{i}" for i in range(2000)]
    chain = Hierarchy.from_edges(pairwise(names))
    assert len(chain.ancestors(names[-1])) == 1999
    assert chain.ancestor_matrix.nnz == 2000 * 1999 // 2
    assert chain.restrict([names[-1], names[0]]).edges == ((names[0], names[-1]),)


def test_many_parents_do_not_overflow_small_integers():
    """300 paths from one root: a count of them in 8 bits would come out wrong, 256 of them as none."""
    for n in (256, 300):
        middle = [f"m{i}" for i in range(n)]
        hierarchy = Hierarchy.from_edges([("top", m) for m in middle] + [(m, "end") for m in middle])
        assert hierarchy.ancestors("end") == {"top", *middle}
        assert hierarchy.ancestor_matrix[[hierarchy.index("end")]].data.tolist() == [1] * (n + 1)
        x = np.zeros((1, n + 2), dtype=np.int8)
        x[0, hierarchy.index("end")] = 1
        assert hierarchy.close(x).all()
        x[0, [hierarchy.index(m) for m in middle]] = 1
        assert hierarchy.violations(x)[0] == (0, "top", "m0")


@pytest.mark.parametrize("which", ["adjacency", "ancestor_matrix", "descendant_matrix"])
def test_matrices_are_canonical_and_read_only(worked, which):
    matrix = getattr(worked, which)
    assert isinstance(matrix, sp.csr_array)
    assert (matrix.dtype, matrix.shape, matrix.indices.dtype) == (np.uint8, (6, 6), np.int32)
    fresh = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
    assert fresh.has_canonical_format
    for array in (matrix.data, matrix.indices, matrix.indptr, worked.depths):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    matrix.data = np.zeros_like(matrix.data)  # spoils what was handed out, not what the hierarchy keeps
    assert getattr(worked, which).data.all()


def test_closure_is_computed_once(worked):
    assert np.shares_memory(worked.ancestor_matrix.indices, worked.ancestor_matrix.indices)


# ------------------------------------------------------------------------------------------ building


def test_all_constructors_agree(worked):
    order = worked.features
    graph = worked.to_networkx()
    assert list(graph.nodes) == list(order)
    assert set(graph.edges) == set(EDGES)
    parents = {name: list(worked.parents(name)) for name in order}
    dense = worked.adjacency.toarray()
    for other in [
        Hierarchy.from_edges(reversed(EDGES), order),
        Hierarchy.from_edges(EDGES * 2),
        Hierarchy.from_edges(graph.edges, graph.nodes),
        Hierarchy.from_edges(np.array(EDGES)),
        Hierarchy.from_edges(set(EDGES), pd.Index(order)),
        Hierarchy.from_parents(parents, order),
        Hierarchy.from_parents({v: set(p) for v, p in parents.items()}, order),
        Hierarchy.from_networkx(graph),
        Hierarchy.from_networkx(graph.reverse(), child_to_parent=True),
        Hierarchy.from_networkx(nx.MultiDiGraph(graph)),
        Hierarchy.from_adjacency(dense, order),
        Hierarchy.from_adjacency(dense.astype(bool).tolist(), order),
        Hierarchy.from_adjacency(sp.coo_array(-0.5 * dense), order),
        Hierarchy.from_adjacency(sp.csc_matrix(dense), order),
    ]:
        assert other == worked
        assert hash(other) == hash(worked)
        assert other.edges == worked.edges


def test_order_is_that_of_first_appearance():
    assert Hierarchy.from_edges([("b", "a"), ("c", "a")]).features == ("b", "a", "c")
    assert Hierarchy.from_parents({"a": ["b"], "d": [], "b": ["c"]}).features == ("a", "b", "d", "c")
    assert Hierarchy.from_edges({("z", "y"), ("a", "y"), ("m", "y")}).features == ("a", "y", "m", "z")
    assert Hierarchy.from_parents({"y": {"z", "a", "m"}}).features == ("y", "a", "m", "z")
    assert Hierarchy.from_adjacency(np.zeros((3, 3))).features == ("x0", "x1", "x2")


def test_numpy_strings_become_plain_ones():
    hierarchy = Hierarchy.from_edges(np.array([["a", "b"]]), np.array(["a", "b"]))
    assert [type(name) for name in hierarchy.features] == [str, str]


def test_no_features_at_all():
    empty = Hierarchy.unrelated([])
    assert repr(empty) == "Hierarchy(0 features, 0 edges, 0 roots, depth 0)"
    assert (empty.ancestor_matrix.shape, empty.edges, empty.restrict([])) == ((0, 0), (), empty)
    assert empty.align(["a"], 1) == Hierarchy.unrelated(["a"])
    assert empty.is_closed(np.empty((3, 0)))
    assert Hierarchy.from_edges([]) == Hierarchy.from_adjacency(np.empty((0, 0))) == empty
    assert "Hierarchy" in empty._repr_html_()


NAN = np.array([[0, np.nan], [0, 0]])


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Hierarchy(), TypeError, "use Hierarchy.from_edges"),
        (lambda: Hierarchy.from_edges("AB"), TypeError, "edges must be a list .* the str 'AB'"),
        (lambda: Hierarchy.from_edges(["AB"]), ValueError, r"pair \(parent, child\), got 'AB'"),
        (lambda: Hierarchy.from_edges([("A", "B", "C")]), ValueError, r"got \('A', 'B', 'C'\)"),
        (lambda: Hierarchy.from_edges([7]), ValueError, "pair .* got 7"),
        (lambda: Hierarchy.from_edges({"A": ["B"]}), TypeError, "from_parents"),
        (lambda: Hierarchy.from_edges([("A", 7)]), TypeError, r"must be a string, got 7 \(int\)"),
        (lambda: Hierarchy.from_edges([("A", None)], ["A"]), TypeError, "must be a string, got None"),
        (lambda: Hierarchy.from_edges([("A", "")]), ValueError, "must not be empty"),
        (lambda: Hierarchy.from_edges([("A", "Z")], ["A", "B"]), ValueError, "'Z', not among .*'A', 'B'"),
        (lambda: Hierarchy.from_edges([], "AB"), TypeError, "features must be a list .* the str 'AB'"),
        (lambda: Hierarchy.from_edges([], {"A"}), TypeError, r"must have an order, got the set \{'A'\}"),
        (lambda: Hierarchy.from_edges([], ["A", "B", "A"]), ValueError, "repeats 'A'"),
        (lambda: Hierarchy.unrelated(["A", "B", "A", "B"]), ValueError, "repeats 'A', 'B'"),
        (lambda: Hierarchy.unrelated([3]), TypeError, "got 3"),
        (lambda: Hierarchy.unrelated(None), TypeError, "the NoneType None"),
        (lambda: Hierarchy.from_edges([("A", "A")]), ValueError, "'A' is its own parent"),
        (lambda: Hierarchy.from_parents([("A", "B")]), TypeError, "must map .* the list"),
        (lambda: Hierarchy.from_parents({"A": "BC"}), TypeError, "parents of 'A' .* the str 'BC'"),
        (lambda: Hierarchy.from_parents({"A": None}), TypeError, "parents of 'A' .* None"),
        (lambda: Hierarchy.from_parents({"A": [1]}), TypeError, "got 1"),
        (lambda: Hierarchy.from_parents({"A": []}, ["B"]), ValueError, "'A', not among the features"),
        (lambda: Hierarchy.from_networkx(nx.Graph([("A", "B")])), ValueError, "directed"),
        (lambda: Hierarchy.from_networkx(nx.DiGraph([(1, 2)])), TypeError, "got 1 .*relabel_nodes"),
        (lambda: Hierarchy.from_networkx([("A", "B")]), TypeError, "networkx.DiGraph, got a list"),
        (lambda: Hierarchy.from_adjacency(np.zeros((2, 3))), ValueError, r"square .* \(2, 3\)"),
        (lambda: Hierarchy.from_adjacency(np.zeros(4)), ValueError, r"square .* \(4,\)"),
        (lambda: Hierarchy.from_adjacency(NAN), ValueError, r"A\[0, 1\] is nan"),
        (lambda: Hierarchy.from_adjacency(sp.csr_array(NAN)), ValueError, r"A\[0, 1\] is nan"),
        (lambda: Hierarchy.from_adjacency([["a"]]), TypeError, "numbers, got dtype"),
        (lambda: Hierarchy.from_adjacency(np.eye(2)), ValueError, "'x0' is its own parent"),
        (lambda: Hierarchy.from_adjacency(np.zeros((2, 2)), ["A"]), ValueError, "2 columns .* 1 names"),
        (lambda: Hierarchy.from_adjacency(pd.DataFrame(NAN)), TypeError, "data frame"),
    ],
)
def test_errors_of_building_show_the_culprit(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_a_cycle_is_shown_as_a_path():
    edges = [("root", "A"), ("A", "B"), ("B", "C"), ("C", "A"), ("C", "below")]
    with pytest.raises(ValueError, match=r"cycle: A -> B -> C -> A$"):
        Hierarchy.from_edges(edges)


@given(graphs(), st.data())
def test_any_cycle_shown_is_one(graph, data):
    names, edges = graph
    turned = data.draw(st.lists(st.sampled_from(edges))) if edges else []
    edges = set(edges) | {(child, parent) for parent, child in turned}
    try:
        nx.find_cycle(nx.DiGraph(list(edges)))
    except nx.NetworkXNoCycle:
        Hierarchy.from_edges(edges, names)
        return
    with pytest.raises(ValueError, match="cycle: ") as caught:
        Hierarchy.from_edges(edges, names)
    path = str(caught.value).partition("cycle: ")[2].split(" -> ")
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1
    assert set(pairwise(path)) <= edges


def test_a_long_cycle_is_abridged():
    names = [f"n{i}" for i in range(100)]
    with pytest.raises(ValueError, match=r"n0 -> n1 .* -> \(92 more\) -> n98 -> n99 -> n0$"):
        Hierarchy.from_edges(zip(names, [*names[1:], "n0"], strict=True))


@pytest.mark.parametrize("method", ["index", "parents", "children", "ancestors", "descendants"])
@pytest.mark.parametrize("name", ["nowhere", 3, ["A"]])
def test_lookup_of_an_unknown_name(worked, method, name):
    with pytest.raises(ValueError, match="is not a feature of Hierarchy") as caught:
        getattr(worked, method)(name)
    assert repr(name) in str(caught.value)


# ------------------------------------------------------------------------------------------ alignment


def test_aligned_to_names_keeps_relations_through_missing_terms(worked):
    aligned = worked.align(["D", "new", "F"], 3)
    assert aligned.features == ("D", "new", "F")
    assert aligned.edges == (("F", "D"),)
    assert worked.align(np.array(["D", "F"], dtype=object), 2).edges == (("F", "D"),)


@given(graphs(), st.data())
def test_alignment_is_restriction_plus_isolated_features(graph, data):
    names, edges = graph
    hierarchy = Hierarchy.from_edges(edges, names)
    columns = data.draw(st.lists(st.sampled_from([*names, "new1", "new2"]), unique=True))
    known = [c for c in columns if c in names]
    if columns and names and not known:
        with pytest.raises(ValueError, match="none of the columns"):
            hierarchy.align(columns, len(columns))
        return
    aligned = hierarchy.align(columns, len(columns))
    assert aligned.features == tuple(columns)
    assert aligned.restrict(known) == hierarchy.restrict(known)
    assert not any(aligned.parents(c) + aligned.children(c) for c in columns if c not in names)


def test_alignment_to_its_own_features_is_itself(worked):
    assert worked.align(None, 6) is worked
    assert worked.align(list(worked.features), 6) is worked
    assert worked.restrict(worked.features) is worked


def test_errors_of_alignment(worked):
    with pytest.raises(ValueError, match="hierarchy has 6 features but X has 5 columns; pass a data frame"):
        worked.align(None, 5)
    with pytest.raises(ValueError, match=r"are 'p', 'q', 'r' and 1 more; .* are 'F', 'B', 'C' and 3 more"):
        worked.align(list("pqrs"), 4)
    with pytest.raises(ValueError, match="repeats 'D'"):
        worked.align(["D", "D"], 2)
    with pytest.raises(ValueError, match="2 feature names for 3 columns"):
        worked.align(["D", "F"], 3)
    with pytest.raises(ValueError, match="restriction names 'p', not among"):
        worked.restrict(["D", "p"])
    with pytest.raises(TypeError, match="sorted"):
        worked.restrict(worked.ancestors("D"))


# ------------------------------------------------------------------------------------------ data


@given(tables())
def test_close_gives_the_smallest_closed_superset(table):
    names, edges, X = table
    twin, hierarchy = Twin(names, edges), Hierarchy.from_edges(edges, names)
    before = X.copy()
    closed = hierarchy.close(X)
    assert closed.tolist() == [twin.close(row) for row in X.tolist()]
    assert np.array_equal(X, before)
    assert hierarchy.is_closed(closed)
    assert np.array_equal(hierarchy.close(closed), closed)
    assert hierarchy.is_closed(X) == np.array_equal(closed, X) == (not hierarchy.violations(X))
    assert set(hierarchy.violations(X, limit=1000)) == {
        (i, p, c)
        for i, row in enumerate(X.tolist())
        for p, c in edges
        if row[names.index(c)] > row[names.index(p)]
    }


def test_violations_come_row_by_row_and_stop_at_the_limit(worked):
    X = np.zeros((4, 6), dtype=int)
    X[1:, worked.index("D")] = 1
    assert worked.violations(X, limit=3) == ((1, "C", "D"), (1, "A", "D"), (2, "C", "D"))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize(
    "wrap", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_matrix]
)
def test_arrays_come_back_in_kind(worked, dtype, wrap):
    X = np.zeros((3, 6), dtype=dtype)
    X[1, worked.index("D")] = 1
    X[2, worked.index("B")] = 1
    given_table = wrap(X)
    closed = worked.close(given_table)
    assert type(closed) is type(given_table)
    assert closed.dtype == dtype
    values = closed.toarray() if sp.issparse(closed) else closed
    assert values.astype(int).tolist() == [[0] * 6, [1, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]]
    assert not worked.is_closed(given_table)
    assert worked.is_closed(closed)
    before = given_table.toarray() if sp.issparse(given_table) else given_table
    assert np.array_equal(before, X)


def test_sparse_tables_with_explicit_zeros_and_no_room_to_be_dense(worked):
    X = sp.csr_array((np.array([0, 1]), np.array([5, 1]), np.array([0, 2])), shape=(1, 6))
    assert worked.close(X).toarray().tolist() == [[1, 1, 0, 0, 0, 0]]
    assert X.nnz == 2
    d, n = 100_000, 200_000
    wide = Hierarchy.from_adjacency(sp.coo_array(([1], ([0], [d - 1])), shape=(d, d)))
    huge = sp.csr_array(([1.0], ([n - 1], [d - 1])), shape=(n, d))
    assert wide.violations(huge) == ((n - 1, "x0", f"x{d - 1}"),)
    assert wide.close(huge).nnz == 2


def test_pandas_columns_are_matched_by_name(worked):
    frame = pd.DataFrame(
        {"note": ["p", "q"], "D": [0, 1], "other": [7, 8], "F": [False, False], "E": [0.0, 0.0]},
        index=pd.Index(["g1", "g2"], name="gene"),
    ).rename_axis(columns="term")
    before = frame.copy()
    closed = worked.close(frame)
    expected = frame.assign(F=[False, True], E=[0.0, 1.0])
    pd.testing.assert_frame_equal(closed, expected)
    pd.testing.assert_frame_equal(frame, before)
    assert not worked.is_closed(frame)
    assert worked.is_closed(closed)
    assert worked.violations(frame) == ((1, "F", "D"), (1, "E", "D"))


def test_pandas_columns_without_names_are_the_features(worked):
    frame = pd.DataFrame(np.eye(6, dtype=int))
    closed = worked.close(frame)
    assert np.array_equal(closed.to_numpy(), worked.close(np.eye(6, dtype=int)))
    assert list(closed.columns) == list(range(6))
    with pytest.raises(ValueError, match="6 features but X has 5 columns"):
        worked.is_closed(frame[[0, 1, 2, 3, 4]])


def test_polars_columns_are_matched_by_name(worked):
    frame = pl.DataFrame({"note": ["p", "q"], "D": [0, 1], "F": [False, False], "E": [0.0, 0.0]})
    closed = worked.close(frame)
    assert closed.equals(pl.DataFrame({"note": ["p", "q"], "D": [0, 1], "F": [False, True], "E": [0.0, 1.0]}))
    assert closed.schema == frame.schema
    assert worked.violations(frame) == ((1, "F", "D"), (1, "E", "D"))


def test_repeated_columns_pass_only_where_unknown(worked):
    frame = pd.DataFrame([[1, 5, 6, 0]], columns=["D", "p", "p", "F"])
    pd.testing.assert_frame_equal(
        worked.close(frame), pd.DataFrame([[1, 5, 6, 1]], columns=["D", "p", "p", "F"])
    )
    with pytest.raises(ValueError, match="repeats 'D'"):
        worked.close(pd.DataFrame([[1, 1]], columns=["D", "D"]))


@pytest.mark.parametrize(
    ("value", "shown"), [(2, "2"), (-1, "-1"), (0.5, "0.5"), (np.nan, "nan"), ("1", "'1'"), (None, "None")]
)
def test_values_other_than_0_and_1_are_refused_and_shown(worked, value, shown):
    column = worked.index("A")
    X = np.zeros((3, 6), dtype=object if value is None or isinstance(value, str) else type(value))
    X[2, column] = value
    tables = [X, pd.DataFrame(X, columns=list(worked.features))]
    if X.dtype != object:
        tables.append(sp.csr_array(X))
    for table in tables:
        where = "'A'" if hasattr(table, "columns") else column
        for method in (worked.close, worked.is_closed, worked.violations):
            with pytest.raises(ValueError, match=f"only 0 and 1, but row 2, column {where} holds {shown}$"):
                method(table)


def test_tables_that_do_not_fit(worked):
    with pytest.raises(ValueError, match="hierarchy has 6 features but X has 5 columns; "):
        worked.close(np.zeros((2, 5)))
    with pytest.raises(ValueError, match=r"rows and columns, got shape \(6,\)"):
        worked.is_closed(np.zeros(6))
    with pytest.raises(ValueError, match=r"none of the columns .* 'p'; .* 'F', 'B', 'C' and 3 more"):
        worked.is_closed(pd.DataFrame({"p": [1]}))


# ------------------------------------------------------------------------------------------ a value


def test_copies_are_itself(worked):
    assert copy.copy(worked) is worked
    assert copy.deepcopy(worked) is worked
    assert copy.deepcopy({"hierarchy": [worked]})["hierarchy"][0] is worked


def test_nothing_can_be_changed(worked):
    for name in ("features", "edges", "roots", "_parents", "anything"):
        with pytest.raises(AttributeError, match=f"immutable: cannot set '{name}'"):
            setattr(worked, name, ())
    with pytest.raises(AttributeError, match="immutable: cannot delete '_features'"):
        del worked._features


@given(graphs())
def test_pickle_round_trip(graph):
    names, edges = graph
    hierarchy = Hierarchy.from_edges(edges, names)
    again = pickle.loads(pickle.dumps(hierarchy))
    assert again == hierarchy
    assert hash(again) == hash(hierarchy)
    assert again.edges == hierarchy.edges
    assert np.array_equal(again.ancestor_matrix.toarray(), hierarchy.ancestor_matrix.toarray())


def test_pickle_leaves_the_closure_out():
    names = [f"n{i:04}" for i in range(1000)]
    chain = Hierarchy.from_edges(pairwise(names))
    before = len(pickle.dumps(chain))
    assert chain.ancestor_matrix.nnz == chain.descendant_matrix.nnz == 499_500
    assert chain.edges
    assert len(pickle.dumps(chain)) == before < 20_000


def test_equality_is_by_features_and_edges(worked):
    assert worked != Hierarchy.from_edges(EDGES, sorted(worked.features))
    assert worked != Hierarchy.from_edges(EDGES[1:], worked.features)
    assert worked != "worked"
    assert len({worked, Hierarchy.from_edges(EDGES), Hierarchy.from_edges(EDGES[1:])}) == 2


# ------------------------------------------------------------------------------------------ optional libraries


def test_a_missing_library_names_the_extra(worked, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r'to_networkx needs networkx.*pip install "hietan\[frames\]"'):
        worked.to_networkx()


def test_a_library_broken_inside_speaks_for_itself(monkeypatch, tmp_path):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        import_optional("half_there", extra="frames", purpose="a test")


# ------------------------------------------------------------------------------------------ showing


def test_html_shows_counts_and_escapes_names():
    nasty = "<script>alert('x')</script> & co"
    html = Hierarchy.from_edges([(nasty, "child")])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; co" in html
    assert "<b>2</b>" in html
    assert html.count("<div") == html.count("</div>")
    assert html.count("<span") == html.count("</span>")


def test_html_of_a_large_hierarchy_stays_small():
    names = [f"n{i}" for i in range(3000)]
    edges = [(names[i // 10], names[i]) for i in range(1, 3000)]
    html = Hierarchy.from_edges(edges)._repr_html_()
    assert len(html) < 6000
    assert "3,000" in html
    assert "<code>n0</code>" in html
    assert "and 6 more" in html  # the root has 9 children, of which 3 are shown
