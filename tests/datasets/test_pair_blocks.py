"""Tables of pairs are read many rows at once: the dataset is the same as that of reading them one by one."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hietan import Hierarchy
from hietan.datasets import build_dataset, read_annotations
from hietan.datasets._building.genes import AnnotatedPairs
from hietan.datasets._readers import tables
from hietan.datasets._readers.annotations import AnnotationReader
from hietan.exceptions import DataError
from hietan.hierarchy import _graph

OBO = """format-version: 1.2

[Term]
id: T:1

[Term]
id: T:2
alt_id: T:20
is_a: T:1

[Term]
id: T:3
is_a: T:2

[Term]
id: T:4
is_a: T:1

[Term]
id: T:5
is_obsolete: true
replaced_by: T:4
"""
NAMES = st.sampled_from(["a", "b", " c", "d e", ""])
TERMS = st.sampled_from(["T:1", "T:2", "T:20", "T:3 ", "T:4", "T:5", "T:9", ""])
ODD = st.sampled_from(
    ["", "   ", "! a comment", "alone", "a{0}T:2{0}more", '"a"{0}"T:3"', '"a\nb"{0}T:4', 'x"y{0}T:1']
)
LINES = st.lists(st.one_of(st.builds("{}{{0}}{}".format, NAMES, TERMS), ODD), max_size=12)


def built(folder, text, **options):
    """What is built from a table, with the warnings, or the message of the error."""
    path = folder / "pairs"
    path.write_text(text)
    (folder / "go.obo").write_text(OBO)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = build_dataset(folder / "go.obo", path, min_support=1, **options)
        except DataError as error:
            return str(error)
    return (
        data.X.toarray().tolist(),
        data.feature_names,
        data.instance_names,
        repr(data.provenance),  # the order of the reasons included
        [str(each.message) for each in caught],
    )


@given(
    LINES,
    st.sampled_from(["\t", ",", ";"]),
    st.sampled_from([None, "pairs", "term-lists"]),
    st.booleans(),
    st.sampled_from([(), "T:2"]),
)
def test_blocks_give_what_single_rows_give(tmp_path_factory, lines, mark, format, follow, drop):
    text = "\n".join(["item,term".replace(",", mark), "a,T:3".replace(",", mark), *lines]).replace(
        "{0}", mark
    )
    options = {"format": format, "follow_replaced": follow, "drop_terms": drop}
    folder = tmp_path_factory.mktemp("blocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_BLOCK", 3)
        in_blocks = built(folder, text, **options)
        patch.setattr(AnnotationReader, "holds_only_pairs", False)
        assert built(folder, text, **options) == in_blocks


@pytest.mark.parametrize("taken", [0, 1, 101])
def test_what_was_read_before_is_not_read_again(taken):
    text = "item\tterm\n" + "".join(f"r{i}\tT{i % 3}\n" for i in range(400))
    reader = read_annotations(io.StringIO(text))
    for _ in range(taken):
        next(reader)
    data = build_dataset([("T", f"T{k}") for k in range(3)], reader, min_support=1)
    assert data.instance_names == tuple(f"r{i}" for i in range(taken, 400))
    with pytest.raises(DataError, match="no row is left"):
        build_dataset([("T", "T0")], reader, min_support=1)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd")), max_size=60), st.integers(1, 8))
def test_pairs_in_blocks_are_those_added_one_by_one(pairs, size):
    single, many = AnnotatedPairs(), AnnotatedPairs()
    single._limit = many._limit = 4  # so that repetitions are dropped on the way
    for number, term in pairs:
        single.add(number, term)
    for start in range(0, len(pairs), size):
        numbers, terms = zip(*pairs[start : start + size], strict=True)
        many.add_many(np.array(numbers), np.array([many.number_of(term) for term in terms]))
    column_of = {term: j for j, term in enumerate("abcd")}
    expected = np.zeros((6, 4), dtype=int)
    for number, term in pairs:
        expected[number, column_of[term]] = 1
    for each in (single, many):
        assert each.matrix(6, column_of, 4).toarray().tolist() == expected.tolist()
        assert each.counts(6).tolist() == expected.sum(axis=1).tolist()


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_closing_in_groups_of_rows_changes_nothing(seed, at_once):
    rng = np.random.default_rng(seed)
    edges = [(i, j) for j in range(8) for i in range(j) if rng.random() < 0.3]
    hierarchy = Hierarchy.from_edges([(str(i), str(j)) for i, j in edges], features=list(map(str, range(8))))
    X = csr_array((rng.random((rng.integers(0, 9), 8)) < 0.2).astype(np.uint8))
    before = X.copy()
    whole = hierarchy.close(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_graph, "_ONES_AT_ONCE", at_once)
        in_groups = hierarchy.close(X)
    assert in_groups.dtype == whole.dtype == np.uint8
    assert in_groups.toarray().tolist() == whole.toarray().tolist() == hierarchy.close(X.toarray()).tolist()
    assert (X != before).nnz == 0
