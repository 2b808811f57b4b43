"""The hierarchy over the columns of a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan.hierarchy import Hierarchy
from support.hierarchies import graphs


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


def test_errors_of_alignment(worked):
    message = "hierarchy has 6 features but X has 5 columns. Use the dataset's hierarchy.*pass a data frame"
    with pytest.raises(ValueError, match=message):
        worked.align(None, 5)
    with pytest.raises(ValueError, match=r"'p', 'q', 'r' and 1 more.* features .'F', 'B', 'C' and 3 more"):
        worked.align(list("pqrs"), 4)
    with pytest.raises(ValueError, match="repeats 'D'"):
        worked.align(["D", "D"], 2)
    with pytest.raises(ValueError, match="2 feature names for 3 columns"):
        worked.align(["D", "F"], 3)
    with pytest.raises(ValueError, match="restriction names 'p'; expected only features"):
        worked.restrict(["D", "p"])
    with pytest.raises(TypeError, match="sorted"):
        worked.restrict(worked.ancestors("D"))
