"""GTD, SHSEL and TSEL against twins that enumerate branches and paths, and as steps of scikit-learn's pipelines."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import hietan
from hietan import GTD, SHSEL, TAN, TSEL, Hierarchy, HieTAN, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.selection import MinSupport, SelectedColumns
from hietan.structure._counts import count_ones
from hietan.structure._relevance import gain_ratio, information_gain, lift
from hietan.structure._rows import BinaryRows
from support import twins
from support.comparison import counts_of, frame, ontology, own_hierarchy
from support.strategies import problems

EAGER = [GTD, SHSEL, TSEL]
every_selection = pytest.mark.parametrize("make", EAGER, ids=lambda make: make.__name__)
DATA = make_hierarchical_classification(80, 40, density=0.3, random_state=4)
FRAME = pd.DataFrame(DATA.X.toarray(), columns=DATA.feature_names)


def twin_of(make, problem, threshold):
    counts, hierarchy = counts_of(problem), own_hierarchy(problem)
    place = {name: v for v, name in enumerate(problem.names)}
    children = [{place[child] for child in hierarchy.children(name)} for name in problem.names]
    if make is GTD:
        return twins.gtd_selected(counts, children, problem.ancestors)
    if make is SHSEL:
        return twins.shsel_selected(counts, children, threshold)
    return twins.tsel_selected(counts, children, problem.ancestors)


@pytest.mark.filterwarnings("ignore::hietan.HierarchyWarning")
@given(
    problem=problems(min_features=1),
    threshold=st.sampled_from([0.99, 0.9, 0.5, 2.0]),
    make=st.sampled_from(EAGER),
)
def test_small_problems_agree_with_the_twins(problem, threshold, make):
    if len(np.unique(problem.y)) == problem.n_classes:  # a class without rows is not seen by a transformer
        options = {"threshold": threshold} if make is SHSEL else {}
        selector = make(hierarchy=ontology(problem), **options).fit(
            frame(problem, problem.X_train), problem.y
        )
        expected = [problem.names[v] for v in sorted(twin_of(make, problem, threshold))]
        assert selector.get_feature_names_out().tolist() == expected


@given(problem=problems(min_features=1))
def test_scores_are_those_of_the_twins(problem):
    counts = counts_of(problem)
    ours = count_ones(BinaryRows.from_matrix(problem.X_train), problem.y, problem.n_classes)
    every = range(problem.n_features)
    np.testing.assert_array_equal(information_gain(ours), [twins.mi(v, counts) for v in every])
    np.testing.assert_allclose(gain_ratio(ours), [twins.gain_ratio(v, counts) for v in every], atol=1e-12)
    np.testing.assert_array_equal(lift(ours), [float(twins.lift(v, counts)) for v in every])


@every_selection
def test_whole_weights_are_copies_and_others_are_ratios(make):
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e")])
    X = hierarchy.close((rng.random((40, 5)) < 0.4).astype(np.uint8))
    y, w = np.arange(40) % 3, rng.integers(0, 4, 40)
    copies = make(hierarchy=hierarchy).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    for held in (X, sp.csr_array(X)):
        weighed = make(hierarchy=hierarchy).fit(held, y, sample_weight=w)
        np.testing.assert_array_equal(weighed.scores_, copies.scores_)
        np.testing.assert_array_equal(weighed.support_, copies.support_)
    quarters = make(hierarchy=hierarchy).fit(X, y, sample_weight=w / 4)
    np.testing.assert_allclose(quarters.scores_, copies.scores_, rtol=1e-9, atol=1e-12)
    X[[3, 20]], w = [0, 1, 0, 0, 0], np.where(np.arange(40) < 9, 0, 2)
    with pytest.warns(hietan.HierarchyWarning, match="in row 20,"):
        make(hierarchy=hierarchy).fit(X, y, sample_weight=w)
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        make(hierarchy=hierarchy).fit(X, y, sample_weight=np.zeros(40))


def test_a_dense_dag_has_too_many_paths_to_walk():
    """40 layers of 3 features, each above all of the next: 3^40 paths."""
    layers = [[f"{depth}-{k}" for k in range(3)] for depth in range(40)]
    edges = [(p, c) for over, under in itertools.pairwise(layers) for p in over for c in under]
    names = [name for layer in layers for name in layer]
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 120)), columns=names)
    y = np.arange(60) % 2
    with pytest.warns(hietan.HierarchyWarning):
        kept = SHSEL(hierarchy=Hierarchy.from_edges(edges), threshold=2).fit(X, y).get_support()
    assert 0 < kept.sum() < 120


def test_a_chain_as_deep_as_there_are_features():
    chain = Hierarchy.from_edges([(f"t{k}", f"t{k + 1}") for k in range(1500)])
    X = (np.arange(1501) < np.arange(0, 1500, 50)[:, None]).astype(np.int8)
    for make in EAGER:
        assert make(hierarchy=chain).fit(X, np.arange(30) % 2).get_support().any()


@every_selection
def test_names_go_in_and_come_out(make):
    selector = make(hierarchy=DATA.hierarchy).fit(FRAME, DATA.y)
    kept = selector.get_support()
    names = [name for name, stays in zip(DATA.feature_names, kept, strict=True) if stays]
    assert 0 < kept.sum() < len(kept) and selector.get_feature_names_out().tolist() == names
    assert selector.transform(FRAME).columns.tolist() == names  # without being asked to
    polars = pl.DataFrame(FRAME.to_numpy(), schema=list(FRAME.columns))
    assert clone(selector).fit(polars, DATA.y).transform(polars).columns == names
    # Columns without names are those of the hierarchy.
    plain = make(hierarchy=DATA.hierarchy).fit(DATA.X.toarray(), DATA.y)
    assert plain.get_feature_names_out().tolist() == names
    assert plain.set_output(transform="pandas").transform(DATA.X.toarray()).columns.tolist() == names
    unknown = make().fit(DATA.X, DATA.y)
    assert unknown.get_feature_names_out().tolist() == [f"x{j}" for j in np.flatnonzero(unknown.support_)]


@every_selection
def test_sparse_goes_in_and_comes_out(make):
    selector = make(hierarchy=DATA.hierarchy).fit(DATA.X, DATA.y)
    dense = make(hierarchy=DATA.hierarchy).fit(DATA.X.toarray(), DATA.y)
    np.testing.assert_array_equal(selector.support_, dense.support_)
    np.testing.assert_array_equal(selector.scores_, dense.scores_)
    out = selector.transform(sp.csc_array(DATA.X))
    assert sp.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.transform(DATA.X.toarray()))
    np.testing.assert_array_equal(
        selector.inverse_transform(out).toarray(), np.where(dense.support_, DATA.X.toarray(), 0)
    )


@every_selection
def test_the_next_step_matches_its_hierarchy_by_name(make):
    pipe = make_pipeline(make(hierarchy=DATA.hierarchy), HieTANLite(hierarchy=DATA.hierarchy, random_state=0))
    named = pipe.fit(FRAME, DATA.y)
    assert named[-1].hierarchy_ == DATA.hierarchy.restrict(named[0].get_feature_names_out())
    # Without names: the step sets the output, or the classifier is told what was chosen.
    framed = clone(pipe)
    framed[0].set_output(transform="pandas")
    expected = named.predict_log_proba(FRAME)
    np.testing.assert_array_equal(
        framed.fit(DATA.X.toarray(), DATA.y).predict_log_proba(DATA.X.toarray()), expected
    )
    told = SelectedColumns(pipe[-1], pipe[0]).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(told.predict_log_proba(DATA.X), expected)
    assert told.trees(DATA.X[:2])[0].feature_names == DATA.feature_names
    with pytest.raises(ValueError, match=r"hierarchy has 40 features.*set_output\(transform='pandas'\)"):
        clone(pipe).fit(DATA.X, DATA.y)


def test_selected_columns_take_any_selector():
    best = SelectedColumns(HieTAN(hierarchy=DATA.hierarchy, random_state=0), SelectKBest(chi2, k=7))
    assert best.fit(DATA.X, DATA.y).support_.sum() == 7
    both = MinSupport(SelectedColumns(HieTAN(hierarchy=DATA.hierarchy), GTD(hierarchy=DATA.hierarchy)), 5)
    assert both.fit(DATA.X, DATA.y).trees(DATA.X[:1])[0].feature_names == DATA.feature_names
    with pytest.raises(TypeError, match="selector must be a scikit-learn selector"):
        SelectedColumns(TAN(), TAN()).fit(DATA.X, DATA.y)
    with pytest.raises(ValueError, match="chose none of the 40 features"):
        SelectedColumns(TAN(), SelectKBest(chi2, k=0)).fit(DATA.X, DATA.y)


def test_what_is_refused():
    with pytest.raises(ValueError, match="threshold must be a number"):
        SHSEL(threshold="high").fit(FRAME, DATA.y)
    with pytest.raises(ValueError, match="only one class"):
        GTD().fit(FRAME, np.zeros(80))
    with pytest.raises(TypeError, match=r"hietan\.Hierarchy"):
        TSEL(hierarchy="go.obo").fit(FRAME, DATA.y)
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="GTD needs rows in memory"):
        GTD().fit(da.from_array(DATA.X.toarray()), DATA.y)


@pytest.mark.slow
@parametrize_with_checks(
    [*(make() for make in EAGER), SelectedColumns(LogisticRegression(), GTD())],
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
