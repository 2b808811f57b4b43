"""Bad input gets a clear error that shows the offending value, or a sensible result; odd data are common."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hietan import (
    AODE,
    HieAODE,
    HieAODELite,
    Hierarchy,
    HierarchyWarning,
    HieTAN,
)
from hietan._runtime import spelling
from hietan.classifiers import HieBAN
from hietan.classifiers._solvers.leave_one_out import ALPHA_GRID
from hietan.selection import MinSupport
from support.families import BAYES, CLASSIFIERS, TREES, name_of

X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
Y = np.array([0, 1, 0, 1, 0, 1])
NAMED = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture(params=BAYES, ids=name_of)
def make(request):
    return request.param


def test_hierarchy_over_other_names_or_of_another_size(make):
    other = Hierarchy.from_edges([("p", "q")])
    with pytest.raises(ValueError, match=r"none of the columns.*'a'.*'p'"):
        make(hierarchy=other).fit(NAMED, Y)
    with pytest.raises(ValueError, match="hierarchy has 2 features but X has 3 columns"):
        make(hierarchy=other).fit(X, Y)
    with pytest.raises(TypeError, match=r"hietan\.Hierarchy or None, got list"):
        make(hierarchy=[("a", "b")]).fit(NAMED, Y)


def test_partial_fit_wants_the_classes_and_no_others(make):
    with pytest.raises(ValueError, match="first call to partial_fit needs classes"):
        make().partial_fit(X, Y)
    with pytest.raises(
        ValueError, match=r"y contains the labels \[7\], which are not among the classes \[0, 1\]"
    ):
        make().partial_fit(X, np.where(Y, 7, 0), classes=[0, 1])
    clf = make().partial_fit(X, Y, classes=[0, 1])
    before = clf.predict_joint_log_proba(X)
    with pytest.raises(
        ValueError, match=r"y contains the labels \[2\], which are not among the classes \[0, 1\]"
    ):
        clf.partial_fit(X, Y + 1)
    with pytest.raises(
        ValueError,
        match=r"classes is \[0, 1, 2\], but the first call had \[0, 1\]; pass the same classes again",
    ):
        clf.partial_fit(X, Y, classes=[0, 1, 2])
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), before)  # a refused call leaves no trace


def test_a_refused_first_partial_fit_leaves_no_trace(make):
    clf = make(binarize=None)
    with pytest.raises(ValueError, match="X contains 2"):
        clf.partial_fit(X + 1, Y, classes=[0, 1])
    clf.partial_fit(X[:, :2], Y, classes=[0, 1, 2])
    assert clf.predict(X[:, :2]).shape == (6,)


def test_data_that_contradict_the_hierarchy(make):
    """A warning that names the place; edges the wrong way round are found so."""
    right, wrong = Hierarchy.from_edges([("a", "b")]), Hierarchy.from_edges([("b", "a")])
    closed = pd.DataFrame({"b": [1, 0, 0, 1] * 20, "a": [1, 1, 0, 1] * 20})
    y = [0, 1] * 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(hierarchy=right).fit(closed, y)
        make(hierarchy=right).partial_fit(closed, y, classes=[0, 1])
    for table in (closed, closed.astype(pd.SparseDtype(int, 0))):
        with pytest.warns(HierarchyWarning, match="in row 1, 'a' is 1 but its parent 'b' is 0"):
            make(hierarchy=wrong).fit(table, y)
    later = pd.concat([closed] * 60 + [pd.DataFrame({"b": [1], "a": [0]})], ignore_index=True)
    with pytest.warns(HierarchyWarning, match="in row 4800, 'b' is 1 but its parent 'a' is 0"):
        make(hierarchy=right).partial_fit(later, [*(y * 60), 1], classes=[0, 1])


def test_one_class_only(make):
    with pytest.raises(ValueError, match=r"at least two classes, but .* only one class, 'yes'; add rows"):
        make().fit(X, ["yes"] * 6)
    with pytest.raises(ValueError, match=r"at least two classes, but there is only one class, 0; add rows"):
        make().partial_fit(X, Y * 0, classes=[0])


def test_a_class_without_training_rows_is_improbable_but_possible(make):
    clf = make().partial_fit(X, Y, classes=[0, 1, 2])
    proba = clf.predict_proba(X)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert clf.class_count_.tolist() == [3, 3, 0]


def test_one_feature(make):
    clf = make(smoothing="laplace").fit(X[:, :1], Y)
    if make in TREES:
        assert clf.trees(X[:2, :1])[1].parent.tolist() == [-1]
    if make in (AODE, HieAODE, HieAODELite):  # P(c, x) = (count + 1) / (n + 4)
        expected = np.log([[3 / 10, 2 / 10], [2 / 10, 3 / 10]])
        np.testing.assert_allclose(clf.predict_joint_log_proba([[1], [0]]), expected, rtol=1e-12)
        return
    # ln P(c) + ln P(x | c), with (count + 1) / (n_c + 2): class 0 has two ones, class 1 one, of three each.
    expected = np.log([[1 / 2 * 3 / 5, 1 / 2 * 2 / 5], [1 / 2 * 2 / 5, 1 / 2 * 3 / 5]])
    np.testing.assert_allclose(clf.predict_joint_log_proba([[1], [0]]), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0, -1, np.inf, 1e308, np.nan, "1", True])
def test_alpha_must_be_a_positive_number(make, alpha):
    with pytest.raises(ValueError, match="alpha must be a number above 0 "):
        make(alpha=alpha).fit(X, Y)


def test_only_hie_ban_chooses_alpha_itself(make):
    if make is HieBAN:
        assert make(alpha=None).fit(X, Y).alpha_ in ALPHA_GRID
        return
    with pytest.raises(ValueError, match="alpha must be a number above 0 .*got None"):
        make(alpha=None).fit(X, Y)


def test_other_parameters(make):
    with pytest.raises(ValueError, match="smoothing must be one of laplace, pooled, odds; got 'lidstone'"):
        make(smoothing="lidstone").fit(X, Y)
    with pytest.raises(ValueError, match="binarize must be a number"):
        make(binarize="yes").fit(X, Y)
    for prior in ([0.5], [0.5, 0.6], [1.0, 0.0], [[0.5, 0.5]], ["x", "y"], [np.nan, 0.5]):
        with pytest.raises(ValueError, match="class_prior must contain a probability"):
            make(class_prior=prior).fit(X, Y)
    for n_jobs in (0, "two", 1.5):
        with pytest.raises(ValueError, match="n_jobs must be"):
            make(n_jobs=n_jobs).fit(X, Y)
    if make in TREES:
        with pytest.raises(ValueError, match="seed"):
            make(random_state="seed").fit(X, Y)
    for m in (-1, 0.5, None, True, 10**30):
        if "min_frequency" in make().get_params():
            with pytest.raises(ValueError, match="min_frequency must be an integer of 0 or more "):
                make(min_frequency=m).fit(X, Y)
    with pytest.raises(ValueError, match="Unknown label type"):
        make().fit(X, Y + 0.5)


def test_parameters_set_after_the_fit_are_checked_too(make):
    clf = make().fit(X, Y)
    before = clf.predict_joint_log_proba(X)
    for wrong in ({"alpha": 0}, {"smoothing": "none"}, {"class_prior": [1, 2, 3]}, {"binarize": "x"}):
        right = {name: clf.get_params()[name] for name in wrong}
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
            clf.set_params(**wrong).predict(X)
        clf.set_params(**right)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), before)


def test_column_names_that_name_nothing(make):
    """Without a hierarchy, nothing depends on the names."""
    clf = make().fit(NAMED.set_axis(["", "a", "b"], axis=1), Y)
    assert clf.hierarchy_.features == ("x0", "x1", "x2")


def test_binarize_none_means_zero_and_one(make):
    for container in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"needs X to contain only 0 and 1, but X contains 3"):
            make(binarize=None).fit(container(3 * X), Y)
        clf = make(binarize=None).fit(container(X), Y)
        with pytest.raises(ValueError, match=r"needs X to contain only 0 and 1, but X contains 0\.5"):
            clf.predict(container(X / 2))


def test_a_negative_threshold_would_make_a_sparse_matrix_dense(make):
    with pytest.raises(ValueError, match=r"binarize=-1\.0 would turn the zeros of a sparse X"):
        make(binarize=-1.0).fit(sp.csr_array(X), Y)


@pytest.mark.parametrize("smoothing", ["laplace", "pooled", "odds"])
def test_a_term_constant_in_training_and_different_in_the_test_row(make, smoothing):
    """Everyday data: a rare term is 0 in every training row of a fold, and 1 in a test row."""
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c")])
    training = NAMED.assign(c=0, a=1)
    clf = make(hierarchy=hierarchy, smoothing=smoothing).fit(training, Y)
    row = pd.DataFrame({"a": [0], "b": [1], "c": [1]})
    proba = clf.predict_proba(row)
    assert np.isfinite(clf.predict_joint_log_proba(row)).all()
    assert (proba > 0).all() and proba.sum() == pytest.approx(1)
    if make in TREES:
        assert clf.trees(row)[0].features[-1] == "c"  # it is in the tree: nothing related to it has its value


SPELT = Hierarchy.from_edges(
    [("GO:0000001", "GO:0000002"), ("GO:0000001", "GO:0000003"), ("animal", "mammal")]
)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, lambda **kw: MinSupport(HieTAN(**kw))])
def test_columns_that_look_misspelt_are_named(kind):
    frame = NAMED.set_axis(["GO_0000001", "GO:0000002", "anmial"], axis=1)
    message = (
        r"resemble its features: 'GO_0000001' for 'GO:0000001', 'anmial' for 'animal'\. Under these names, they "
        r"are not related to any feature; rename them to match the hierarchy"
    )
    with pytest.warns(HierarchyWarning, match=message) as caught:
        kind(hierarchy=SPELT).fit(frame, Y)
    assert [str(w.filename) for w in caught] == [__file__]


@pytest.mark.parametrize(
    "columns",
    [
        ["GO:0000001", "GO:0000002", "age"],
        ["GO:0000001", "GO:0000004", "GO:0000005"],  # other terms, one digit away: of a later release, say
        ["GO:0000001", "GO:0000002", "go 0000002"],  # what it looks like is there itself
        ["GO:0000001", "animal", "mammal"],
        ["GO:0000001", "animal", "..."],
    ],
)
def test_other_columns_that_the_hierarchy_does_not_know_are_accepted(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HieTAN(hierarchy=SPELT).fit(NAMED.set_axis(columns, axis=1) * 0, Y)


def test_parts_of_the_data_repeat_no_warning():
    frame = NAMED.set_axis(["GO_0000001", "GO:0000002", "x"], axis=1)
    clf = HieTAN(hierarchy=SPELT)
    with pytest.warns(HierarchyWarning, match="resemble its features"):
        clf.partial_fit(frame, Y, classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.partial_fit(frame, Y)


@pytest.mark.parametrize("written", ["anial", "animaal", "anemal", "aniaml", "Animal "])
def test_a_single_typo_is_found(written):
    assert spelling.lookalikes([written], ["animal", "unrelated"]) == {written: "animal"}


@pytest.mark.parametrize("dtype", ["category", object, "string"])
@pytest.mark.parametrize("name", CLASSIFIERS, ids=name_of)
def test_a_column_of_text_is_named(name, dtype):
    frame = NAMED.assign(longevity=pd.Series(["anti", "pro"] * 3, dtype=dtype))
    message = (
        r"column 'longevity' of X contains text, such as 'anti'.*; "
        r"drop the column with X.drop\(columns='longevity'\)"
    )
    with pytest.raises(ValueError, match=message):
        name().fit(frame, Y)


@pytest.mark.parametrize("name", CLASSIFIERS, ids=name_of)
def test_a_missing_value_is_not_absence(name):
    frame = NAMED.astype(float)
    model = name(hierarchy=Hierarchy.unrelated(["a", "b", "c"])).fit(frame, Y)
    frame.loc[2, "b"] = np.nan
    for use in (lambda: model.predict(frame), lambda: name().fit(frame, Y)):
        with pytest.raises(
            ValueError, match=r"X contains NaN in column 'b'\. An absent feature is 0.*--columns"
        ):
            use()
    with pytest.raises(ValueError, match=r"X contains NaN\. An absent feature is 0"):
        name().fit(frame.to_numpy(), Y)


def test_columns_of_one_name_are_named():
    frame = pd.DataFrame([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="several columns of X have the name 'a'; rename or drop them"):
        HieBAN().fit(frame, [0, 1, 0, 1])
