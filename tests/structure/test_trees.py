"""Trees from a given ranking: the paper's worked examples, the kernel's own checks, and the tree as a result."""

import networkx as nx
import numpy as np
import pytest

from hietan import Hierarchy, Tree, _kernel
from hietan.structure._edges import EdgeRanking

NAMES = list("ABCDEF")
EDGES = [("F", "B"), ("F", "C"), ("E", "C"), ("E", "A"), ("C", "D"), ("A", "D")]
BEST = ["FC", "EA", "CA", "CD", "BD", "FB", "BE"]
ROOT_ORDER = np.arange(6)


def relations(edges=EDGES):
    return EdgeRanking(None, Hierarchy.from_edges(edges, features=NAMES)).relations


@pytest.fixture
def keys():
    """Keys that put the pairs of the paper's figures first, in their order."""
    table = np.zeros((6, 6), np.int64)
    for rank, pair in enumerate(BEST):
        table[tuple(sorted(map(NAMES.index, pair)))] = 1000 - rank
    return table[np.triu_indices(6, 1)]


def named(parent):
    return set(Tree(np.asarray(parent), tuple(NAMES)).edges)


def pack(row):
    return np.array([row], dtype=np.uint64)


def test_figure_2_hie_tan(keys):
    parent = _kernel.hierarchical_tree(keys, relations(), ROOT_ORDER)
    assert Tree(parent, tuple(NAMES)).edges == (("F", "C"), ("C", "D"), ("D", "B"), ("B", "E"), ("E", "A"))


def test_figure_3_hie_tan_lite(keys):
    ranking = _kernel.Ranking(keys, relations())
    (parent,) = _kernel.lazy_trees(ranking, pack([0, 0, 1, 0, 1, 1]), 1, ROOT_ORDER, 0, True)
    assert Tree(parent, tuple(NAMES)).edges == (("F", "B"), ("B", "E"), ("E", "A"))
    assert parent[2] == parent[3] == -2


def test_without_a_hierarchy_the_root_order_directs_everything(keys):
    """TAN, Hie-TAN and both lazy methods are then the same maximum spanning tree."""
    expected = _kernel.spanning_tree(keys, 6, 4)
    order = np.array([4, 0, 1, 2, 3, 5])
    ranking = _kernel.Ranking(keys, relations([]))
    assert _kernel.hierarchical_tree(keys, relations([]), order).tolist() == expected.tolist()
    for directed in (True, False):
        (lazy,) = _kernel.lazy_trees(ranking, pack([0, 0, 1, 0, 1, 1]), 1, order, 0, directed)
        assert lazy.tolist() == expected.tolist()
    assert named(expected) == {("E", "A"), ("A", "C"), ("C", "F"), ("C", "D"), ("D", "B")}


def test_a_chain_of_equal_values_leaves_the_lone_feature(keys):
    chain = [(NAMES[k], NAMES[k + 1]) for k in range(5)]
    ranking = _kernel.Ranking(keys, relations(chain))
    for directed in (True, False):
        (parent,) = _kernel.lazy_trees(ranking, pack([1] * 6), 1, ROOT_ORDER, 3, directed)
        assert parent.tolist() == [-2, -2, -2, -1, -2, -2]


@pytest.mark.parametrize("wide_labels", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_many_rows_and_both_kinds_of_labels(directed, wide_labels):
    """Beyond 65,535 features, components need wider labels; here they are forced. Rows fill two batches."""
    d = 300
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 10**12, d * (d - 1) // 2)
    ranking = _kernel.Ranking(keys, EdgeRanking(None, Hierarchy.unrelated(map(str, range(d)))).relations)
    order = np.roll(np.arange(d), -7)
    words = rng.integers(0, 2**63, (2, d)).astype(np.uint64)
    parents = _kernel.lazy_trees(ranking, words, 100, order, 0, directed, wide_labels=wide_labels)
    assert parents.shape == (100, d)
    assert (parents == _kernel.spanning_tree(keys, d, 7)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k, r: _kernel.Ranking(k[:-1], r), "keys do not match"),
        (lambda k, r: _kernel.spanning_tree(k, 6, 6), "root is out of range"),
        (lambda k, r: _kernel.hierarchical_tree(k, r, np.arange(5)), "entry per feature"),
        (lambda k, r: _kernel.hierarchical_tree(k, r, np.full(6, 9)), "out of range"),
        (lambda k, r: _kernel.hierarchical_tree(k, r, np.zeros(6, dtype=np.int64)), "names a feature twice"),
        (
            lambda k, r: _kernel.lazy_trees(_kernel.Ranking(k, r), pack([0] * 5), 1, ROOT_ORDER, 0, True),
            "features",
        ),
        (
            lambda k, r: _kernel.lazy_trees(_kernel.Ranking(k, r), pack([0] * 6), 65, ROOT_ORDER, 0, True),
            "rows",
        ),
        (
            lambda k, r: _kernel.lazy_trees(_kernel.Ranking(k, r), pack([0] * 6), 1, ROOT_ORDER, 6, True),
            "lone",
        ),
        (lambda k, r: _kernel.pack_dense(np.zeros((2, 3), np.uint8), np.array([2])), "row index"),
        (
            lambda k, r: _kernel.pack_sparse(np.array([0, 1]), np.array([3]), 3, np.array([0])),
            "increase and be below the number of features",
        ),
        (
            lambda k, r: _kernel.pack_sparse(np.array([0, 2]), np.array([1, 1]), 3, np.array([0])),
            "must increase",
        ),
        (lambda k, r: _kernel.pack_sparse(np.array([0, 9]), np.array([1, 2]), 3, np.array([0])), "indptr"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(keys, call, message):
    with pytest.raises(ValueError, match=message):
        call(keys, relations())


class TestTree:
    tree = Tree(np.array([4, 5, -2, -2, 1, -1], np.int32), tuple(NAMES))

    def test_reads_from_the_root_down(self):
        assert self.tree.root == "F"
        assert self.tree.features == ("A", "B", "E", "F")
        assert self.tree.edges == (("F", "B"), ("B", "E"), ("E", "A"))
        assert len(self.tree) == 4

    def test_networkx(self):
        graph = self.tree.to_networkx()
        assert nx.is_arborescence(graph)
        assert set(graph.edges) == set(self.tree.edges)
        lone = Tree(np.array([-2, -1], np.int32), ("p", "q")).to_networkx()
        assert list(lone.nodes) == ["q"]

    def test_text(self):
        fork = Tree(np.array([-1, 0, 1, 0], np.int32), ("top", "left", "leaf", "right"))
        assert str(fork) == "top\n├── left\n│   └── leaf\n└── right"

    @pytest.mark.parametrize(
        ("parent", "message"),
        [
            ([1, 0], "a single -1"),
            ([-1, -1], "a single -1"),
            ([5, -1], "feature positions"),
            ([-3, -1], "feature positions"),
            ([-1, 0, 1], r"shape \(3,\), but there are 2"),
        ],
    )
    def test_what_is_no_tree(self, parent, message):
        with pytest.raises(ValueError, match=message):
            Tree(np.array(parent), ("p", "q"))

    def test_a_cycle_beside_the_root(self):
        with pytest.raises(ValueError, match="some features cannot be reached from the root"):
            Tree(np.array([-1, 2, 1]), ("p", "q", "r")).edges  # noqa: B018

    def test_is_a_value(self):
        same = Tree(self.tree.parent.copy(), self.tree.feature_names)
        assert same == self.tree and hash(same) == hash(self.tree)
        assert self.tree != Tree(np.array([-1, 0, -2, -2, 1, 4], np.int32), tuple(NAMES))
        with pytest.raises(ValueError, match="read-only"):
            self.tree.parent[0] = 1
        mine = np.array([-1, 0])
        Tree(mine, ("p", "q"))
        mine[1] = -2  # the caller's array stays the caller's


@pytest.mark.parametrize("block", [1, 3, 0])
def test_large_ties_end(block):
    """Two halves tie at one key and share nothing with each other: hundreds of parts of one tie are read."""
    d = 200
    table = np.zeros((d, d), dtype=np.int64)
    table[: d // 2, : d // 2] = table[d // 2 :, d // 2 :] = 5
    keys = table[np.triu_indices(d, 1)]
    unrelated = EdgeRanking(None, Hierarchy.unrelated(map(str, range(d)))).relations
    expected = _kernel.spanning_tree(keys, d, 0)
    assert _kernel.hierarchical_tree(keys, unrelated, np.arange(d), block).tolist() == expected.tolist()
    ranking = _kernel.Ranking(keys, unrelated, block)
    order = np.lexsort((*reversed(np.triu_indices(d, 1)), -keys))
    assert ranking.edges(keys.size).tolist() == np.stack(np.triu_indices(d, 1), axis=1)[order].tolist()


def test_a_tree_may_have_no_features():
    tree = Tree(np.array([-2, -2]), ("A", "B"))
    assert (len(tree), tree.features, tree.edges, str(tree)) == (0, (), (), "")
    assert repr(tree) == "Tree(0 of 2 features, no root)"
    assert not tree.to_networkx()
    assert tree.over(["B", "C", "A"]).parent.tolist() == [-2, -2, -2]
    with pytest.raises(ValueError, match="no root"):
        _ = tree.root
