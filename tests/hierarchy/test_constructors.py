"""Every way to build a hierarchy, and what is refused."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan.exceptions import HierarchyWarning
from hietan.hierarchy import Hierarchy
from support.hierarchies import WORKED_EDGES, graphs


def test_all_constructors_agree(worked):
    order = worked.features
    graph = worked.to_networkx()
    assert list(graph.nodes) == list(order)
    assert set(graph.edges) == set(WORKED_EDGES)
    dense = worked.adjacency.toarray()
    for other in [
        Hierarchy.from_edges(reversed(WORKED_EDGES), order),
        Hierarchy.from_edges(WORKED_EDGES * 2),
        Hierarchy.from_edges(graph.edges, graph.nodes),
        Hierarchy.from_edges(np.array(WORKED_EDGES)),
        Hierarchy.from_edges(set(WORKED_EDGES), pd.Index(order)),
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
    assert Hierarchy.from_edges({("z", "y"), ("a", "y"), ("m", "y")}).features == ("a", "y", "m", "z")
    assert Hierarchy.from_adjacency(np.zeros((3, 3))).features == ("x0", "x1", "x2")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA, ""])
def test_a_missing_parent_makes_a_root(missing):
    edges = pd.DataFrame(
        {"parent": ["goods", missing, "drinks"], "child": ["drinks", "goods", "tea"]}, dtype=object
    )
    for frame in (edges, edges[["child", "parent"]], edges.convert_dtypes()):
        assert set(Hierarchy.from_edges(frame).edges) == {("goods", "drinks"), ("drinks", "tea")}
    with pytest.warns(HierarchyWarning, match="there are fewer roots than leaves"):
        found = Hierarchy.from_edges(edges[["child", "parent"]].set_axis(["x", "y"], axis=1))
    assert found.roots == ("goods",)


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
        (lambda: Hierarchy.from_edges({"A": ["B"]}), TypeError, "edges is a dict; pass pairs instead"),
        (lambda: Hierarchy.from_edges([("A", 7)]), TypeError, r"must be a string, got 7 \(int\)"),
        (lambda: Hierarchy.from_edges([("A", None)], ["A"]), TypeError, "must be a string, got None"),
        (lambda: Hierarchy.from_edges([("A", "")]), ValueError, "is empty"),
        (
            lambda: Hierarchy.from_edges([("A", "Z")], ["A", "B"]),
            ValueError,
            "'Z'; expected only features .*'A', 'B'",
        ),
        (lambda: Hierarchy.from_edges([], "AB"), TypeError, "features must be a list .* the str 'AB'"),
        (lambda: Hierarchy.from_edges([], {"A"}), TypeError, r"must have an order, got the set \{'A'\}"),
        (lambda: Hierarchy.from_edges([], ["A", "B", "A"]), ValueError, "repeats 'A'"),
        (lambda: Hierarchy.unrelated(["A", "B", "A", "B"]), ValueError, "repeats 'A', 'B'"),
        (lambda: Hierarchy.unrelated([3]), TypeError, "got 3"),
        (lambda: Hierarchy.unrelated(None), TypeError, "the NoneType None"),
        (lambda: Hierarchy.from_edges([("A", "A")]), ValueError, "'A' is its own parent"),
        (
            lambda: Hierarchy.from_edges([("A", "B"), ("B", "A"), ("D", "D"), ("C", "C")]),
            ValueError,
            "'D' is its own parent",
        ),
        (lambda: Hierarchy.from_networkx(nx.Graph([("A", "B")])), ValueError, "directed"),
        (lambda: Hierarchy.from_networkx(nx.DiGraph([(1, 2)])), TypeError, "got 1 .*relabel_nodes"),
        (lambda: Hierarchy.from_networkx([("A", "B")]), TypeError, "networkx.DiGraph, got a list"),
        (lambda: Hierarchy.from_adjacency(np.zeros((2, 3))), ValueError, r"square .* \(2, 3\)"),
        (lambda: Hierarchy.from_adjacency(np.zeros(4)), ValueError, r"square .* \(4,\)"),
        (lambda: Hierarchy.from_adjacency(NAN), ValueError, r"A must be finite"),
        (lambda: Hierarchy.from_adjacency(sp.csr_array(NAN)), ValueError, r"A must be finite"),
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
    with pytest.raises(ValueError, match=r"cycle; remove one of them: A -> B -> C -> A$"):
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
    with pytest.raises(ValueError, match="cycle; remove one of them: ") as caught:
        Hierarchy.from_edges(edges, names)
    path = str(caught.value).partition("them: ")[2].split(" -> ")
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
    with pytest.raises(ValueError, match="is not a feature of this hierarchy") as caught:
        getattr(worked, method)(name)
    assert repr(name) in str(caught.value)
