"""The proximal operator of hierarchical max-norm groups: against projections, closed form and SPAMS."""

from itertools import chain, combinations
from random import Random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy, _kernel
from hietan.datasets import fetch_ageing_genes
from hietan.structure._penalty import graph_penalty, prox_graph
from support.strategies import SHAPES, all_above, random_parents
from support.twins.proximal import prox_by_projections

KINDS = ("normal", "heavy tails", "small integers", "mostly zero")


def random_hierarchy(random, shape, n):
    parents = random_parents(random, shape, n)
    places = list(range(n))
    random.shuffle(places)  # the order of columns says nothing about the order of terms
    edges = [(f"t{places[p]}", f"t{places[v]}") for v in range(n) for p in parents[v]]
    return Hierarchy.from_edges(edges, features=[f"t{k}" for k in range(n)])


def random_vector(random, n, kind):
    rng = np.random.default_rng(random.getrandbits(32))
    u = rng.normal(size=n)
    if kind == "heavy tails":
        u = u * np.exp(3 * rng.normal(size=n))
    elif kind == "small integers":
        u = rng.integers(-3, 4, n).astype(float)
    elif kind == "mostly zero":
        u *= rng.random(n) < 0.3
    return u


def groups_of(hierarchy):
    """Each feature with all below it, those of the deepest features first."""
    below = hierarchy.descendant_matrix
    return [[v, *below[[v]].indices.tolist()] for v in np.argsort(-hierarchy.depths, kind="stable")]


def penalty(w, hierarchy):
    return sum(np.abs(w[group]).max() for group in groups_of(hierarchy))


problems = st.builds(
    lambda seed, shape, n, kind, lam: (
        random_hierarchy(Random(seed), shape, n),
        random_vector(Random(seed + 1), n, kind),
        lam,
    ),
    st.integers(0, 2**32),
    st.sampled_from(SHAPES),
    st.integers(1, 10),
    st.sampled_from(KINDS),
    st.sampled_from([1e-3, 0.1, 0.3, 1.0, 2.0]),
)


@given(problems)
def test_small_dags_against_projections_until_convergence(problem):
    hierarchy, u, lam = problem
    expected = prox_by_projections(u, groups_of(hierarchy), lam, max_passes=3000)
    w = prox_graph(u, hierarchy, lam)
    np.testing.assert_allclose(w, expected, rtol=0, atol=1e-6 * max(1, np.abs(u).max()))
    assert 0.5 * ((u - w) ** 2).sum() + lam * penalty(w, hierarchy) <= (
        0.5 * ((u - expected) ** 2).sum() + lam * penalty(expected, hierarchy) + 1e-12 * (1 + u @ u)
    )


@given(st.integers(0, 2**32), st.integers(1, 80), st.sampled_from(KINDS), st.sampled_from([0.01, 0.2, 1.0]))
def test_trees_have_a_closed_form(seed, n, kind, lam):
    hierarchy = random_hierarchy(Random(seed), "tree", n)
    u = random_vector(Random(seed), n, kind)
    closed_form = prox_by_projections(u, groups_of(hierarchy), lam, max_passes=1)
    np.testing.assert_allclose(
        prox_graph(u, hierarchy, lam), closed_form, rtol=0, atol=1e-12 * (1 + np.abs(u).sum())
    )


@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.integers(1, 60), st.floats(0.001, 3), st.booleans())
def test_the_zeros_are_a_union_of_groups(seed, shape, n, lam, heavy):
    hierarchy = random_hierarchy(Random(seed), shape, n)
    u = random_vector(Random(seed), n, "heavy tails" if heavy else "normal")
    used = prox_graph(u, hierarchy, lam) != 0
    for parent, child in hierarchy.edges:
        assert used[hierarchy.index(parent)] or not used[hierarchy.index(child)]


@given(problems)
def test_the_dual_norm_is_the_densest_closed_set_and_the_first_lambda_of_zeros(problem):
    hierarchy, u, _ = problem
    n = len(hierarchy)
    above = all_above([set(map(hierarchy.index, hierarchy.parents(name))) for name in hierarchy.features])
    subsets = chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1))
    closed = (s for s in map(list, subsets) if all(above[v] <= set(s) for v in s))
    expected = max(np.abs(u[s]).mean() for s in closed)
    norm = graph_penalty(hierarchy).dual_norm(u)
    assert norm == pytest.approx(expected, rel=1e-12)
    assert not prox_graph(u, hierarchy, norm).any()
    assert not u.any() or prox_graph(u, hierarchy, norm * (1 - 1e-9)).any()


@given(problems, st.integers(-300, 300))
def test_scale_and_signs_pass_through(problem, exponent):
    hierarchy, u, lam = problem
    w = prox_graph(u, hierarchy, lam)
    scale = 2.0**exponent
    np.testing.assert_array_equal(prox_graph(scale * u, hierarchy, scale * lam), scale * w)
    np.testing.assert_array_equal(prox_graph(-u, hierarchy, lam), -w)
    assert (np.abs(w) <= np.abs(u)).all() and (w * u >= 0).all()


def test_no_penalty_and_a_large_one():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    u = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(prox_graph(u, hierarchy, 0), u)
    np.testing.assert_array_equal(prox_graph(u, hierarchy, 9.0), np.zeros(3))
    assert not np.signbit(prox_graph(u, hierarchy, 9.0)).any()
    assert prox_graph([], Hierarchy.unrelated([]), 1.0).shape == (0,)


def test_without_relations_it_is_soft_thresholding():
    u = np.random.default_rng(0).normal(size=200)
    w = prox_graph(u, Hierarchy.unrelated(map(str, range(200))), 0.4)
    np.testing.assert_allclose(w, np.sign(u) * np.maximum(np.abs(u) - 0.4, 0), rtol=0, atol=1e-14)


def test_a_descendant_on_several_paths_counts_once():
    """A diamond: d lies in all four groups, and twice below a by way of b and c."""
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    # Only d has a value: each of its 4 groups takes lam from it.
    np.testing.assert_allclose(prox_graph([0, 0, 0, 5.0], hierarchy, 1.0), [0, 0, 0, 1.0])


@pytest.fixture(scope="module")
def spams():
    return pytest.importorskip("spams", reason="SPAMS is not installed: pip install spams-bin")


@pytest.mark.parametrize("namespaces", ["CC", "BPMFCC"])
@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
@pytest.mark.parametrize("lam", [0.001, 0.03, 0.3, 1.0])
def test_against_spams_on_the_gene_ontology(spams, real_data, namespaces, kind, lam):
    hierarchy = fetch_ageing_genes("worm", namespaces).hierarchy
    d = len(hierarchy)
    graph = {
        "eta_g": np.ones(d),
        "groups": sp.csc_matrix(hierarchy.adjacency.T.astype(bool)),  # [child, parent]
        "groups_var": sp.csc_matrix(sp.eye(d, dtype=bool)),
    }
    u = random_vector(Random(7), d, kind)
    expected = spams.proximalGraph(
        np.asfortranarray(u[:, None]), graph, False, lambda1=lam, regul="graph", numThreads=1
    )
    np.testing.assert_allclose(prox_graph(u, hierarchy, lam), expected[:, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("u", "lam", "error", "message"),
    [
        ([1.0], 1.0, ValueError, r"one entry for each of the 2 features, got shape \(1,\)"),
        ([[1.0, 2.0]], 1.0, ValueError, r"got shape \(1, 2\)"),
        ([1.0, np.nan], 1.0, ValueError, "finite"),
        (["x", "y"], 1.0, ValueError, "could not convert string"),
        ([1.0, 2.0], -1.0, ValueError, "lam"),
    ],
)
def test_bad_input(u, lam, error, message):
    with pytest.raises(error, match=message):
        prox_graph(u, Hierarchy.from_edges([("a", "b")]), lam)


def test_not_a_hierarchy():
    with pytest.raises(TypeError, match=r"hietan\.Hierarchy, got list"):
        prox_graph([1.0, 2.0], [("a", "b")], 1.0)


def test_the_kernel_refuses_what_does_not_fit():
    def csr(indptr, indices):
        return np.array(indptr, np.int32), np.array(indices, np.int32)

    with pytest.raises(ValueError, match="cycle"):
        _kernel.GraphPenalty(*csr([0, 1, 2], [1, 0]))
    with pytest.raises(ValueError, match="column index is out of range"):
        _kernel.GraphPenalty(*csr([0, 1], [1]))
    with pytest.raises(ValueError, match="indptr"):
        _kernel.GraphPenalty(*csr([], []))
    two = _kernel.GraphPenalty(*csr([0, 1, 1], [1]))
    with pytest.raises(ValueError, match="entry per feature"):
        two.prox(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="finite"):
        two.dual_norm(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="lam"):
        two.prox(np.ones(2), -1.0)
