"""Files with one part that is missing, of another kind or at odds with the others: the error names the part."""

import io
import json

import numpy as np
import pytest

import hietan
from hietan.datasets import DataError, Dataset
from hietan.persistence import CLASSIFIERS, ModelFileError
from support.faults import forgery
from support.faults.archives import DATA, fitted, rewrite, rewrite_counts

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "other"), [("HieBAN", "HIPNB"), ("HIPNB", "HieBAN"), ("TAN", "HieBAN"), ("HieLogistic", "HIPNB")]
)
def test_counts_of_another_kind_of_classifier_are_refused(tmp_path, name, other):
    model, counts = fitted(name), fitted(other).counts_
    model.counts_ = counts
    hietan.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match=rf"{name} needs \w+Counts, got {type(counts).__name__}"):
        hietan.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("TAN", lambda f: f.pop("root_order_"), "'root_order_' of TAN is missing"),
        ("ProximalGraph", lambda f: f.pop("coef_"), "'coef_' of ProximalGraph is missing"),
        ("ProximalGraph", lambda f: f.update(counts_=1), "'counts_' is not a fitted attribute of ProximalGraph"),
        ("ProximalGraph", lambda f: f.update(lam_="x"), "lam_ is not a number"),
        ("ProximalGraph", lambda f: f.update(gap_=f["coef_"]), "gap_ has the wrong shape"),
        ("ProximalGraph", lambda f: f.update(n_iter_=f["gap_"]), "n_iter_ has the wrong shape"),
        ("ProximalGraph", lambda f: f.update(path_=1), "path_ is not a path"),
        ("AODE", lambda f: f.update(counts_=1), "counts_ are not counts"),
        ("HieBAN", lambda f: f.update(counts_=1), "counts_ are not counts"),
        ("HieBAN", lambda f: f.pop("alpha_"), "'alpha_' of HieBAN is missing"),
        ("HieBAN", lambda f: f.update(alpha_="x"), "alpha_ is not a number above 0"),
        ("HieBAN", lambda f: f.update(alpha_=-1.0), "alpha_ is not a number above 0"),
        ("HieBAN", lambda f: f.update(alpha_=1e308), "alpha_ is not a number above 0"),
        ("HieBAN", lambda f: f.update(temperature_=0.0), "temperature_ is not a number from"),
        ("HieLogistic", lambda f: f.update(counts_=1), "counts_ are not counts"),
        ("HieLogistic", lambda f: f.pop("scale_"), "'scale_' of HieLogistic is missing"),
        ("HieLogistic", lambda f: f.update(lam_=1.0), "'lam_' is not a fitted attribute of HieLogistic"),
        ("HieLogistic", lambda f: f.update(n_iter_=0.5), "n_iter_ or gap_ is not a number"),
        ("HieLogistic", lambda f: f.update(gap_=None), "n_iter_ or gap_ is not a number"),
        ("HieLogistic", lambda f: f.update(coef_=f["intercept_"]), "the weights have the wrong shape"),
        ("HieLogistic", lambda f: f.update(intercept_=f["coef_"]), "the weights have the wrong shape"),
        ("AODE", lambda f: f.update(class_count_=f["counts_"]["fields"]["ones"]), "class_count_ and counts_ disagree"),
        ("AODE", lambda f: f.update(hierarchy_=None), "hierarchy_ is not a hierarchy"),
        ("AODE", lambda f: f.update(n_features_in_=True), "n_features_in_ is not a number"),
        ("AODE", lambda f: f.update(feature_names_in_={"kind": "strings", "items": [*"abcdefghi"]}), "names.*disagree"),
    ],
)  # fmt: skip
def test_every_fitted_attribute_is_there_and_of_its_kind(tmp_path, name, edit, message):
    path = tmp_path / "m"
    hietan.save(fitted(name), path)
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    edit(about["fitted"])
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError, match=message):
        hietan.load(path)


@pytest.mark.parametrize("attribute", ["scale_", "ridge_", "temperature_", "alpha_"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), 1e308, "x", True, 1])
def test_scales_are_numbers_above_zero(tmp_path, attribute, value):
    path = tmp_path / "m"
    hietan.save(fitted("HieLogistic"), path)
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    about["fitted"][attribute] = value
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError, match=f"{attribute} is not a number above 0"):
        hietan.load(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("attribute", ["coef_", "intercept_"])
def test_weights_are_finite(tmp_path, attribute, value):
    model = fitted("HieLogistic")
    getattr(model, attribute).flat[0] = value
    hietan.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match="a weight is not finite"):
        hietan.load(tmp_path / "m")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CLASSIFIERS
        if name not in ("HIPNB", "HieBAN", "HieLogistic", "LazySelection", "ProximalGraph")
    ],
)
def test_counts_without_pairs_are_refused_where_they_are_needed(tmp_path, name):
    hietan.save(fitted(name), tmp_path / "m")
    rewrite_counts(tmp_path / "m", pairs=np.zeros((2, 0), dtype=np.int32))
    with pytest.raises(ModelFileError, match="needs the counts of pairs, which are missing"):
        hietan.load(tmp_path / "m")


@pytest.mark.parametrize(
    "prior", [{"kind": "dict", "items": []}, "x", {"kind": "list", "items": [0.5]}, [], 10**400]
)
def test_a_class_prior_of_the_wrong_kind(tmp_path, prior):
    path = tmp_path / "m"
    hietan.save(fitted("TAN"), path)
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    about["parameters"]["class_prior"] = prior
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError):
        hietan.load(path)


def array_of(path, name):
    return np.load(io.BytesIO(forgery.unpack(path.read_bytes())[f"{name}.npy"]))


def repeat_a_column(a):
    return np.concatenate([a[:1], a[:1], a[2:]])


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("indices", repeat_a_column, "repeats a column"),
        ("indices", lambda a: a + 2**32, "not among the 9 columns"),
        ("indices", lambda a: a - 9, "not among the 9 columns"),
        ("indices", lambda a: a[:-1], "should have .* entries"),
        ("indptr", lambda a: a + 2**32, "does not say where each of 40 rows begins"),
        ("indptr", lambda a: np.where(np.arange(41) == 3, 2**32, a), "more than 9 ones"),
        ("indptr", lambda a: np.where(np.arange(41) % 2, -(2**63), a), "does not say where"),
        ("edges", lambda a: np.array([[-1], [0]]), "not among the 9 features"),
        ("edges", lambda a: a.ravel(), "should have two rows"),
        ("y", lambda a: a + 0.7, "y.npy should hold integers of 64 bits, and holds float64"),
        ("y", lambda a: a[None], "one-dimensional"),
        ("y", lambda a: a + 2**32, "y must index"),
    ],
)
def test_forged_arrays_of_a_dataset(tmp_path, name, edit, message):
    path = tmp_path / "d"
    DATA.save(path)
    rewrite(path, **{name: forgery.npy(edit(array_of(path, name)))})
    with pytest.raises(DataError, match=message):
        Dataset.load(path)


@pytest.mark.parametrize(
    ("member", "key", "value", "message"),
    [
        ("about", "shape", [40, 10], "does not fit 40 names of rows and 9 of features"),
        ("about", "name", 3, "the name of the dataset"),
        ("names", "feature_names", "abcdefghi", "should hold lists"),
        ("names", "instance_names", list(range(40)), "instance_names must be a sequence of str"),
    ],
)
def test_forged_descriptions_of_a_dataset(tmp_path, member, key, value, message):
    path = tmp_path / "d"
    DATA.save(path)
    content = json.loads(forgery.unpack(path.read_bytes())[f"{member}.json"])
    rewrite(path, **{member: json.dumps({**content, key: value}).encode()})
    with pytest.raises(DataError, match=message):
        Dataset.load(path)
