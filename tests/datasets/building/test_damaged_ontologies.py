"""Building a dataset from an ontology that lacks terms, or is very deep."""

import io
import time
from itertools import pairwise

import numpy as np
import pytest

from hietan.datasets import Annotation, build_dataset, read_obo
from hietan.exceptions import DataWarning


def chain(n):
    return "".join(f"[Term]\nid: T:{i}\n" + (f"is_a: T:{i - 1}\n" if i else "") for i in range(n))


def test_a_lost_parent_is_counted_and_complained_about():
    whole, labels = chain(10), {f"g{i}": "ab"[i % 2] for i in range(10)}
    annotations = [Annotation(f"g{i}", f"T:{i}") for i in range(10)]
    complete = build_dataset(read_obo(io.StringIO(whole)), annotations, labels, min_support=1)
    assert "relations between terms" not in complete.provenance["account"]
    damaged = read_obo(io.StringIO(whole.replace("is_a: T:4\n", "is_a: T:77\n")))
    with pytest.warns(
        DataWarning, match="1 of 9 relations between terms name a parent that the ontology does"
    ):
        data = build_dataset(damaged, annotations, labels, min_support=1)
    assert data.X.nnz < complete.X.nnz
    account = data.provenance["account"]
    assert account.pop("relations between terms") == {
        "read": 9,
        "used": 8,
        "dropped": {"parent not defined by the ontology": 1},
    }
    assert list(account) == list(complete.provenance["account"])


def test_only_relations_that_are_followed_are_counted():
    obo = read_obo(io.StringIO(chain(5) + "relationship: part_of T:99\n"))
    annotations = [("a", "T:4"), ("b", "T:3")]
    assert (
        "relations between terms" not in build_dataset(obo, annotations, min_support=1).provenance["account"]
    )
    with pytest.warns(DataWarning, match="1 of 5 relations between terms"):
        build_dataset(obo, annotations, min_support=1, relations=["is_a", "part_of"])


@pytest.mark.patient
@pytest.mark.slow
def test_a_chain_of_sixty_thousand_terms():
    """The list of its ancestor pairs would take 7 GB."""
    n = 60_000
    start = time.process_time()
    annotations = [("low", f"T:{n - 1}"), ("middle", f"T:{n // 2}"), ("high", "T:2"), ("low", "T:7")]
    data = build_dataset(io.StringIO(chain(n)), annotations, min_support=1)
    assert np.diff(data.X.indptr).tolist() == [n - 1, n // 2, 2]
    assert data.hierarchy.edges[-1] == (f"T:{n - 2}", f"T:{n - 1}")
    every_third = data.feature_names[::3]
    few = build_dataset(io.StringIO(chain(n)), annotations, features=every_third)
    assert few.hierarchy.edges == tuple(pairwise(every_third))
    assert time.process_time() - start < 60
