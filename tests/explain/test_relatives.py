"""Which relative removed each feature, found for all features of a row at once, as the rule says it one by one."""

import numpy as np
import pytest

from hietan.datasets import make_hierarchical_classification
from hietan.explain import RemovedFeature
from hietan.explain._score_parts import Relatives, RemovalKind
from hietan.hierarchy import Hierarchy

DATA = make_hierarchical_classification(60, 40, random_state=5)


def one_by_one(hierarchy, is_in_tree, values, entered):
    """Among the ancestors and then the descendants with the same value that are in the tree, the first to enter."""
    above, below = hierarchy.ancestor_matrix, hierarchy.descendant_matrix
    found = []
    for u in np.flatnonzero(~is_in_tree).tolist():
        ancestors = above.indices[above.indptr[u] : above.indptr[u + 1]]
        related = np.concatenate([ancestors, below.indices[below.indptr[u] : below.indptr[u + 1]]])
        kept = related[is_in_tree[related] & (values[related] == values[u])]
        by = int(kept[np.argmin(entered[kept])])
        kind = RemovalKind.SAME_AS_ANCESTOR if by in ancestors else RemovalKind.SAME_AS_DESCENDANT
        found.append(RemovedFeature(u, by, kind))
    return tuple(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_relative_to_enter_removes_a_feature(seed):
    rng, hierarchy = np.random.default_rng(seed), DATA.hierarchy
    relatives = Relatives(hierarchy)
    for _ in range(20):
        values = rng.integers(0, 2, len(hierarchy)).astype(np.uint8)
        entered = rng.integers(0, 6, len(hierarchy))  # with many ties
        is_in_tree = rng.random(len(hierarchy)) < 0.6
        # A feature is left out only if a relative with its value is in the tree.
        related = (hierarchy.ancestor_matrix + hierarchy.descendant_matrix).toarray() > 0
        same = values[:, None] == values[None, :]
        is_in_tree |= ~(related & same & is_in_tree[None, :]).any(axis=1)
        expected = one_by_one(hierarchy, is_in_tree, values, entered)
        assert relatives.first_to_enter(is_in_tree, values, entered) == expected


def test_nothing_is_removed_where_nothing_is_related():
    relatives = Relatives(Hierarchy.unrelated(["a", "b"]))
    in_tree, values = np.ones(2, dtype=bool), np.ones(2, dtype=np.uint8)
    assert relatives.first_to_enter(in_tree, values, np.zeros(2, dtype=np.int64)) == ()
