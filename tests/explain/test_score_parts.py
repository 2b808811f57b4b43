"""What explanations are made of: the same bits as the predictions, without scoring or learning anything twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import clone

import hietan
from hietan import Hierarchy, LazySelection, _kernel
from hietan.datasets import make_hierarchical_classification
from hietan.explain._assemble import contribution_matrix
from hietan.explain._score_parts import RemovalKind, sum_factors
from hietan.structure._openings import Openings
from hietan.structure._rows import BinaryRows, unpack
from support import twins

NAMES = ["TAN", "HieTAN", "HieTANLite", "HRETAN", "AODE", "HieAODE", "HieAODELite", "HIPNB", "HieBAN"]


def fitted(name, **options):
    data = make_hierarchical_classification(70, 40, density=0.2, random_state=1, **options)
    return getattr(hietan, name)(hierarchy=data.hierarchy, alpha=0.3).fit(data.X, data.y), data.X


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_have_the_bits_of_the_predictions(name, n_classes):
    model, X = fitted(name, n_classes=n_classes)
    joint = model.predict_joint_log_proba(X)
    rest = [c for c in range(n_classes) if c != 1]
    expected = [float(row[1] - logsumexp(row[rest])) for row in joint]
    assert [explanation.log_odds for explanation in model.explain(X, target=1)] == expected


def test_factors_are_added_one_after_the_other():
    """In pairs, as `sum` adds many numbers, the result would be rounded differently."""
    rng = np.random.default_rng(0)
    base, factors = rng.normal(size=(3, 2)), rng.normal(size=(3, 1000, 2))
    expected = base.copy()
    for v in range(1000):
        expected += factors[:, v]
    assert (sum_factors(base, factors) == expected).all()


@pytest.mark.parametrize("name", ["HieTANLite", "HRETAN"])
def test_an_explained_tree_is_learned_once(name, monkeypatch):
    model, X = fitted(name)
    calls = []

    def learn(*args, **options):
        calls.append(options["n_rows"])
        return lazy_trees(*args, **options)

    lazy_trees = _kernel.lazy_trees
    monkeypatch.setattr(_kernel, "lazy_trees", learn)
    monkeypatch.delattr(_kernel, "lazy_joint_log")
    assert len(model.explain(X)) == 70
    assert sum(calls) == 70


def test_reasons_are_words_with_a_name():
    assert {kind.reason("{x}") for kind in RemovalKind} == {
        "same value as its ancestor {x}",
        "same value as its descendant {x}",
        "implied by its ancestor {x}, which is 0",
        "implied by its descendant {x}, which is 1",
        "not among the most relevant features, the last of which is {x}",
        "not more relevant than its ancestor {x}",
        "not more relevant than its descendant {x}",
    }


@given(st.integers(0, 2**32 - 1), st.integers(1, 130))
def test_open_features_are_those_of_every_cell(seed, n):
    rng = np.random.default_rng(seed)
    names = [f"f{v}" for v in range(8)]
    edges = [(names[u], names[v]) for v in range(8) for u in range(v) if rng.random() < 0.3]
    hierarchy = Hierarchy.from_edges(edges, features=names)
    values = (rng.random((n, 8)) < 0.6).astype(np.uint8)  # not closed upwards
    parents = twins.direct_parents(names, edges)
    is_open = np.array([[twins.is_open(v, row, parents) for v in range(8)] for row in values.tolist()])
    words = Openings(hierarchy).open_words(BinaryRows.from_matrix(values).words(np.arange(n)))
    assert unpack(words, n).tolist() == is_open.astype(int).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_listed_terms_are_those_of_the_kept_cells(seed, n, density):
    """The bits beyond the last row are set, and must not be read; entries for which there is no room are left out."""
    rng = np.random.default_rng(seed)
    bits = [(rng.random((-(-n // 64) * 64, 5)) < share).astype(np.uint8) for share in (density, 0.5, 0.5)]
    for part in bits:
        part[n:] = 1
    words = [BinaryRows.from_matrix(part).words(np.arange(len(part))) for part in bits]
    kept, states, table = bits[0][:n] == 1, (2 * bits[1] + bits[2])[:n], rng.normal(size=(4, 5))
    counts = _kernel.count_kept(words[0], n)
    assert counts.tolist() == kept.sum(axis=1).tolist()
    starts = np.concatenate([[0], counts.cumsum()])
    columns, values = np.full(starts[-1] + 1, -1, dtype=np.int32), np.full(starts[-1] + 1, np.inf)
    _kernel.list_terms(*words, table, starts, columns, values)
    expected = np.nonzero(kept)[1]
    assert columns.tolist() == [*expected, -1]
    assert values.tolist() == [*table[states[kept], expected], np.inf]
    _kernel.list_terms(*words, table, np.zeros_like(starts), columns[:0], values[:0])
    for wrong in (starts + 2, starts[::-1] - 1, starts[:0]):
        with pytest.raises(ValueError, match="starts must be ascending places in columns and values"):
            _kernel.list_terms(*words, table, np.ascontiguousarray(wrong), columns, values)


MODELS = [
    hietan.TAN(random_state=0),
    hietan.HieTAN(random_state=0),
    hietan.HIPNB(),
    LazySelection(selection="hnb", n_features=7),
    hietan.HieBAN(),
    hietan.HieLogistic(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_contributions_that_are_looked_up_are_those_of_the_parts(model, monkeypatch):
    """Bit for bit, whatever the batches and threads; some rows contradict the hierarchy."""
    monkeypatch.setattr("hietan.explain._assemble._PACKED_BATCH", 64)
    data = make_hierarchical_classification(200, 40, random_state=5)
    fitted = clone(model).set_params(hierarchy=data.hierarchy, n_jobs=2).fit(data.X, data.y)
    rows = data.X.toarray()
    rows[150:] = np.random.default_rng(0).integers(0, 2, (50, 40))
    for target in (None, 0):
        found, read = fitted.contributions(rows, target=target), fitted._read(rows)
        expected = contribution_matrix(
            lambda start, stop, read=read: fitted._score_parts(read.between(start, stop)),
            200,
            n_features=40,
            classes=[0, 1],
            target=target,
        )
        for name in ("data", "indices", "indptr"):
            mine, other = getattr(found, name), getattr(expected, name)
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
