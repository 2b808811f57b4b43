"""A hierarchy is a value: it is compared, copied, pickled and shown, and never changed."""

import copy
import pickle
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from hietan.hierarchy import Hierarchy
from support.hierarchies import WORKED_EDGES, graphs


def test_copies_are_itself(worked):
    assert copy.copy(worked) == worked
    assert copy.deepcopy(worked) is worked
    assert copy.deepcopy({"hierarchy": [worked]})["hierarchy"][0] is worked


def test_nothing_can_be_changed(worked):
    for name in ("features", "edges", "roots", "_parents", "anything"):
        with pytest.raises(AttributeError, match=f"immutable, so '{name}' cannot be set"):
            setattr(worked, name, ())


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
    assert worked != Hierarchy.from_edges(WORKED_EDGES, sorted(worked.features))
    assert worked != Hierarchy.from_edges(WORKED_EDGES[1:], worked.features)
    assert worked != "worked"
    assert len({worked, Hierarchy.from_edges(WORKED_EDGES), Hierarchy.from_edges(WORKED_EDGES[1:])}) == 2


def test_a_missing_library_names_the_extra(worked, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r'to_networkx needs networkx.*pip install "hietan\[frames\]"'):
        worked.to_networkx()


def test_html_shows_counts_and_escapes_names():
    nasty = "<script>alert('x')</script> & co"
    html = Hierarchy.from_edges([(nasty, "child")])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; co" in html
    assert "<b>2</b>" in html
    assert html.count("<div") == html.count("</div>")
    assert html.count("<span") == html.count("</span>")
