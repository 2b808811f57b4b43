"""A sparse X whose indices lead outside of its arrays is refused by every classifier, before SciPy follows them."""

import numpy as np
import pytest
import scipy.sparse as sp

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.persistence._files import CLASSIFIERS

DATA = make_hierarchical_classification(40, 12, density=0.3, random_state=0)


def indices(place, value):
    def damage(X):
        X.indices = X.indices.astype(np.int64)
        X.indices[place] = value

    return damage


def ends(place, value):
    def damage(X):
        X.indptr[place] = value

    return damage


def shortened(name):
    def damage(X):
        setattr(X, name, getattr(X, name)[:-3])

    return damage


DAMAGE = {
    "an index below 0": indices(3, -1),
    "an index far below 0": indices(3, -(10**6)),
    "an index one too large": indices(3, 12),
    "an index of another matrix": indices(3, 10**5),
    "the largest index of 32 bits": indices(3, 2**31 - 1),
    "an index beyond 32 bits": indices(3, 2**40),
    "a row that ends too late": ends(-1, 10**6),
    "a row that ends in the next but one": ends(5, 10**6),
    "a row that ends before it begins": ends(5, 0),
    "rows that begin late": ends(0, 2),
    "fewer rows": shortened("indptr"),
    "fewer indices": shortened("indices"),
    "fewer values": shortened("data"),
}


def damaged(kind, format="csr", canonical=None):
    X = DATA.X.copy().asformat(format)
    DAMAGE[kind](X)
    if canonical is not None:
        X.has_canonical_format = canonical
    return X


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_damaged_indices_are_refused(name, kind):
    model = getattr(hietan, name)(
        hierarchy=DATA.hierarchy, **({"lam": 0.1} if name == "ProximalGraph" else {})
    )
    for canonical in (True, False):
        with pytest.raises(ValueError, match=r"the indices of the sparse X are invalid \("):
            model.fit(damaged(kind, canonical=canonical), DATA.y)
    model.fit(DATA.X, DATA.y)
    for canonical in (True, False):
        for use in (model.predict, model.explain, model.contributions):
            with pytest.raises(ValueError, match="the indices of the sparse X are invalid"):
                use(damaged(kind, canonical=canonical))


def test_other_formats_are_checked_as_well():
    model = hietan.HieBAN(hierarchy=DATA.hierarchy).fit(DATA.X, DATA.y)
    by_column = damaged("the largest index of 32 bits", "csc")
    pairs = sp.coo_array(DATA.X, copy=True)
    pairs.coords[1][0] = 12
    for X in (by_column, pairs):
        with pytest.raises(ValueError, match="the indices of the sparse X are invalid"):
            model.predict(X)
    expected = model.predict_proba(DATA.X)
    for kind in ("csc", "coo", "bsr", "lil", "dok", "dia"):
        np.testing.assert_array_equal(model.predict_proba(DATA.X.asformat(kind)), expected)


def with_spare_entries(X):
    """Arrays that are longer than the rows need."""
    return np.append(X.data, [1, 1]), np.append(X.indices, [99, 99]).astype(np.int32), X.indptr.copy()


def with_duplicates(X):
    """Every entry twice, one of them 0."""
    halves = np.arange(2 * X.nnz) % 2
    return np.repeat(X.data, 2) * halves, np.repeat(X.indices, 2), 2 * X.indptr


@pytest.mark.parametrize("change", [with_spare_entries, with_duplicates])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_untidy_matrices_are_read_and_left_as_they_are(name, container, change):
    untidy, arrays = container(DATA.X.shape), change(container(DATA.X, dtype=np.float64))
    for part, array in zip(("data", "indices", "indptr"), arrays, strict=True):
        array.flags.writeable = False
        setattr(untidy, part, array)
    kind = getattr(hietan, name)
    options = {"lam": 0.1} if name == "ProximalGraph" else {}
    options |= {"random_state": 0} if "random_state" in kind().get_params() else {}
    expected = kind(hierarchy=DATA.hierarchy, **options).fit(DATA.X, DATA.y)
    model = kind(hierarchy=DATA.hierarchy, **options).fit(untidy, DATA.y)
    np.testing.assert_array_equal(model.predict_proba(untidy), expected.predict_proba(DATA.X))
    adds = [one.toarray() for one in (model.contributions(untidy), expected.contributions(DATA.X))]
    np.testing.assert_array_equal(*adds)
    assert [one.to_dict() for one in model.explain(untidy)] == [
        one.to_dict() for one in expected.explain(DATA.X)
    ]
    assert untidy.data is arrays[0] and untidy.indices is arrays[1] and untidy.indptr is arrays[2]


def test_blocks_that_are_stored_twice_are_added():
    """As SciPy adds them; half of each here, so that the sum is the same matrix."""
    blocks = sp.bsr_array(DATA.X.astype(float), blocksize=(2, 2))
    twice = (np.repeat(blocks.data / 2, 2, axis=0), np.repeat(blocks.indices, 2), blocks.indptr * 2)
    model = hietan.HieBAN(hierarchy=DATA.hierarchy)
    expected = model.fit(DATA.X, DATA.y).predict_proba(DATA.X)
    found = model.fit(sp.bsr_array(twice, shape=blocks.shape), DATA.y).predict_proba(DATA.X)
    assert np.array_equal(found, expected)
