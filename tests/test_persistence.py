"""Models as files: the same predictions, no pickle, and no trust in what a file says."""

import io
import itertools
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import ModelFileError
from hietan.hierarchy import Hierarchy
from hietan.persistence import _files, read_metadata
from hietan.persistence._files import CLASSIFIERS
from support.storages import kept

DATA = make_hierarchical_classification(80, 25, n_classes=2, random_state=0)
NAMES = list(CLASSIFIERS)


def make(name, **options):
    model = getattr(hietan, name)(hierarchy=DATA.hierarchy)
    known = model.get_params()
    wanted = {"random_state": 3, "smoothing": "pooled", "alpha": 0.5, "lam": 0.02, **options}
    return model.set_params(**{key: value for key, value in wanted.items() if key in known})


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, **changed):
    """The same archive with other members, named without their endings."""
    parts = {**members(path), **{name.replace("__", "."): content for name, content in changed.items()}}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.hietan"
    hietan.save(make("HieTANLite").fit(DATA.X, DATA.y), path, metadata={"note": "ä"})
    return path


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name, tmp_path):
    model = make(name).fit(DATA.X, DATA.y)
    path = tmp_path / "model.hietan"
    hietan.save(model, path)
    again = hietan.load(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict_log_proba(DATA.X), model.predict_log_proba(DATA.X))
    assert again.hierarchy_ == model.hierarchy_ == DATA.hierarchy
    assert again.hierarchy is again.hierarchy_  # one hierarchy, stored once
    assert again.get_params() == model.get_params()
    if hasattr(model, "trees"):
        assert again.trees(DATA.X[:5]) == model.trees(DATA.X[:5])
    bytes_before = path.read_bytes()
    hietan.save(again, path)
    assert path.read_bytes() == bytes_before


def with_names(path, names):
    """Give the features of a model other names."""
    content = json.loads(members(path)["hierarchy0.json"])
    text = json.dumps({**content, "features": names})
    rewrite(path, **{"hierarchy0__json": text.encode()})


@pytest.mark.parametrize("last", ["z", "é", 'x"]', "\\", "a\n", " ", "\ud800"])
def test_names_of_all_kinds_are_read(saved, last):
    names = [*(f"n{j:02}" for j in range(24)), last]
    with_names(saved, names)
    hierarchy = hietan.load(saved).hierarchy_
    assert len(hierarchy) == 25 and hierarchy.index(last) == 24
    assert hierarchy == Hierarchy.from_adjacency(DATA.hierarchy.adjacency, names)
    assert hash(hierarchy) == hash(pickle.loads(pickle.dumps(hierarchy)))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("n03", "must name each feature once, but repeats 'n03'"),
        ("", "is empty"),
        (3, "must be a string"),
    ],
)
def test_names_that_are_not_those_of_a_hierarchy_are_refused(saved, last, message):
    with_names(saved, [*(f"n{j:02}" for j in range(24)), last])
    with pytest.raises(ModelFileError, match=message):
        hietan.load(saved)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[-1], [0]], "positions from -1 to -1; expected positions from 0 to 24"),
        ([[0], [25]], "positions from 25 to 25; expected positions from 0 to 24"),
        ([[0, 1], [1, 0]], "cycle"),
        ([[3], [3]], "its own parent"),
        ([[0.0], [1.0]], "must be one-dimensional arrays of integer positions"),
        ([[[0]], [[1]]], "must be one-dimensional arrays of integer positions"),
        ([[0], [1], [2]], "too many values"),
    ],
)
def test_edges_that_are_not_those_of_a_hierarchy_are_refused(saved, edges, message):
    member = json.loads(members(saved)["hierarchy0.json"])["edges"]
    content = io.BytesIO()
    np.save(content, np.array(edges))
    rewrite(saved, **{member.replace(".", "__"): content.getvalue()})
    with pytest.raises(ModelFileError, match=message):
        hietan.load(saved)


def test_edges_in_any_order_and_repeated_are_the_same_hierarchy(saved):
    member = json.loads(members(saved)["hierarchy0.json"])["edges"]
    edges = np.load(io.BytesIO(members(saved)[member]))
    content = io.BytesIO()
    np.save(content, np.hstack([edges[:, ::-1], edges]).astype(np.uint16))
    rewrite(saved, **{member.replace(".", "__"): content.getvalue()})
    assert hietan.load(saved).hierarchy_ == DATA.hierarchy


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_with_names_of_columns_and_of_classes(name, tmp_path):
    X = pd.DataFrame(DATA.X.toarray(), columns=DATA.feature_names)
    model = make(name).fit(X, np.array(["no", "yes"])[DATA.y])
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(X.rename(columns={DATA.feature_names[0]: "other"}))


def test_a_loaded_model_learns_on(saved):
    again = hietan.load(saved)
    again.partial_fit(DATA.X[:10], DATA.y[:10])
    assert again.counts_.n_rows == 90


def test_the_path_of_a_tuned_model(tmp_path):
    model = make("ProximalGraph", lam=None).fit(DATA.X, DATA.y)
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    assert again.lam_ == model.lam_
    np.testing.assert_array_equal(again.path_.log_loss, model.path_.log_loss)


def test_metadata(saved):
    assert read_metadata(saved) == {"note": "ä"}


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(
        TypeError,
        match=r"got Pipeline\. For other estimators, use skops:\n.*dump.*\n.*trusted=hietan\.skops_types",
    ):
        hietan.save(make_pipeline(make("TAN")).fit(DATA.X, DATA.y), tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        hietan.save(make("TAN"), tmp_path / "m")
    model = make("TAN", random_state=np.random.RandomState(0)).fit(DATA.X, DATA.y)
    with pytest.raises(TypeError, match="if it is a random_state, use an int"):
        hietan.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a file was run')",))


def test_foreign_files(tmp_path, saved):
    path = tmp_path / "foreign"
    for content in (b"", b"hello", pickle.dumps(Bomb()), saved.read_bytes()[:-40]):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is not a hietan model"):
            hietan.load(path)
    rewrite(saved, about__json=b'{"format": "something"}')
    with pytest.raises(ModelFileError, match="expected a hietan model"):
        hietan.load(saved)
    with pytest.raises(FileNotFoundError):
        hietan.load(tmp_path / "absent")


def test_a_pickle_among_the_arrays_is_not_run(saved):
    data = io.BytesIO()
    np.save(data, np.array([Bomb()], dtype=object), allow_pickle=True)
    names = [name for name in members(saved) if name.endswith(".npy")]
    for name in names:
        rewrite(saved, **{name.replace(".", "__"): data.getvalue()})
        with pytest.raises(ModelFileError, match="is not a hietan model, or it is damaged"):
            hietan.load(saved)


def forge(path, edit):
    about = json.loads(members(path)["about.json"])
    edit(about)
    rewrite(path, about__json=json.dumps(about).encode())


def forge_array(path, find, edit):
    """Change an array that the description of the model refers to."""
    about = json.loads(members(path)["about.json"])
    member = find(about["fitted"])["member"]
    array = np.load(io.BytesIO(members(path)[member]))
    data = io.BytesIO()
    np.save(data, edit(array))
    rewrite(path, **{member.replace(".", "__"): data.getvalue()})


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda a: a.update(version=99),
            "this file uses format version 99.*, but this version of hietan reads format version 4",
        ),
        (lambda a: (a.update(version=1), a["fitted"].pop("classes_")), "fit and save the model again"),
        (lambda a: a.update({"class": "BernoulliNB"}), "unknown classifier 'BernoulliNB'"),
        (lambda a: a.update({"class": "Hierarchy"}), "unknown classifier 'Hierarchy'"),
        (lambda a: a["parameters"].update(alpha=-1), "alpha must be a number above 0"),
        (lambda a: a["parameters"].update(beta=1), "unexpected keyword argument 'beta'"),
        (lambda a: a["fitted"].pop("classes_"), "attribute of HieTANLite is missing: .'classes_'"),
        (lambda a: a["fitted"].update(n_features_in_=7), "the hierarchy and n_features_in_ disagree"),
        (lambda a: a["fitted"].update(predict=1), "not a fitted attribute of HieTANLite: .'predict'"),
        (lambda a: a["fitted"].update(root_order_={"kind": "eval"}), "unknown kind of value, 'eval'"),
    ],
)
def test_forged_descriptions(saved, edit, message):
    forge(saved, edit)
    with pytest.raises(ModelFileError, match=message):
        hietan.load(saved)


def counts(name):
    return lambda fitted: fitted["counts_"]["fields"][name]


def pairs(name):
    """An array of the sparse pair counts, or for `values` also that of all pairs."""

    def find(fitted):
        node = counts("pairs")(fitted)
        return node if "member" in node else node["fields"][name]

    return find


def swapped(array):
    array[[0, 1]] = array[[1, 0]]
    return array


@pytest.mark.parametrize(
    ("find", "edit", "message"),
    [
        (lambda f: f["root_order_"], lambda a: a + 1, "root_order_ is not a permutation"),
        (
            lambda f: f["classes_"],
            lambda a: a[:1],
            "the classes are not a sorted array of two or more labels",
        ),
        (
            lambda f: f["classes_"],
            lambda a: a[::-1].copy(),
            "the classes are not a sorted array of two or more labels",
        ),
        (
            lambda f: f["classes_"],
            lambda a: a * 0,
            "the classes are not a sorted array of two or more labels",
        ),
        (counts("ones"), lambda a: a + 1000, "damaged"),
        (counts("ones"), lambda a: a[:, :-1], "damaged"),
        (pairs("values"), lambda a: a - 5, "damaged"),
        (pairs("values"), lambda a: a + 10**6, "damaged"),
        (pairs("values"), lambda a: a[:, :1], "damaged"),
        (pairs("values"), lambda a: a.astype(float), "damaged"),
        (pairs("indptr"), lambda a: a[::-1].copy(), "damaged"),
        (pairs("indices"), lambda a: a + 10**6, "damaged"),
        (pairs("indices"), swapped, "damaged"),
    ],
)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_forged_numbers_are_refused(tmp_path, storage, find, edit, message):
    path = tmp_path / "model.hietan"
    with kept(storage):
        hietan.save(make("HieTANLite").fit(DATA.X, DATA.y), path)
    forge_array(path, find, edit)
    with pytest.raises(ModelFileError, match=message):
        hietan.load(path)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("TAN", lambda f: f.pop("root_order_"), "TAN is missing: .'root_order_'"),
        ("ProximalGraph", lambda f: f.update(root_order_=1), "not a fitted attribute of ProximalGraph: .'root_order_'"),
        ("ProximalGraph", lambda f: f.update(lam_="x"), "lam_ is not a number"),
        ("AODE", lambda f: f.update(counts_=1), "counts_ are not counts"),
        ("AODE", lambda f: f.update(weight_unit_=0.3), "not a power of two"),
        ("HieBAN", lambda f: f.update(alpha_=-1.0), "alpha_ is not a number above 0"),
        ("HieBAN", lambda f: f.update(temperature_=0.0), "temperature_ is not a number above 0"),
        ("HieBAN", lambda f: f.update(class_weight_=2.0), "class_weight_ does not contain"),
        ("HieLogistic", lambda f: f.update(scale_=float("nan")), "scale_ is not a number above 0"),
        ("HieLogistic", lambda f: f.update(correction_coef_=f["correction_intercept_"]), "coef_ does not contain fin"),
        ("HieLogistic", lambda f: f.update(class_weight_=2.0), "class_weight_ does not contain"),
        ("HieLogistic", lambda f: f.update(n_iter_=-1), "n_iter_ is not a number of steps"),
        ("HieLogistic", lambda f: f.update(gap_=float("nan")), "gap_ is not a number of at least 0"),
        ("HieLogistic", lambda f: f.update(temperature_=0.0), "temperature_ is not a number above 0"),
        ("ProximalGraph", lambda f: f.update(n_iter_=f["coef_"]), "n_iter_ does not contain a number for each"),
        ("ProximalGraph", lambda f: f.update(gap_=None), "gap_ does not contain a number for each"),
        ("ProximalGraph", lambda f: f.update(path_={"kind": "list", "items": []}), "path_ is not the path that led to"),
        ("ProximalGraph", lambda f: f.update(counts_=1), "counts_ are not counts"),
        ("AODE", lambda f: f.update(class_count_=f["counts_"]["fields"]["ones"]), "class_count_ and counts_ disagree"),
        ("AODE", lambda f: f.update(feature_names_in_={"kind": "strings", "items": [*"abcdefghi"]}), "names.*disagree"),
    ],
)  # fmt: skip
def test_every_fitted_attribute_is_there_and_of_its_kind(tmp_path, name, edit, message):
    path = tmp_path / "m"
    hietan.save(make(name).fit(DATA.X, DATA.y), path)
    forge(path, lambda about: edit(about["fitted"]))
    with pytest.raises(ModelFileError, match=message):
        hietan.load(path)


@pytest.mark.parametrize(("name", "other"), [("HieBAN", "HIPNB"), ("TAN", "HieBAN"), ("TAN", "HIPNB")])
def test_counts_of_another_kind_of_classifier_are_refused(tmp_path, name, other):
    model = make(name).fit(DATA.X, DATA.y)
    model.counts_ = make(other).fit(DATA.X, DATA.y).counts_
    hietan.save(model, tmp_path / "m")
    with pytest.raises(
        ModelFileError,
        match=r"counts_ are not pair counts|counts_ are not counts of|the pair counts are missing",
    ):
        hietan.load(tmp_path / "m")


def test_a_forged_cycle(saved):
    content = json.loads(members(saved)["hierarchy0.json"])
    data = io.BytesIO()
    np.save(data, np.array([[0, 1], [1, 0]]))
    rewrite(saved, **{content["edges"].replace(".", "__"): data.getvalue()})
    with pytest.raises(ModelFileError, match="the edges form a cycle"):
        hietan.load(saved)


def chain_model(name, n_features, path):
    """Write a model over a chain of features, of which each has all those before it as ancestors."""
    names = [f"t{j}" for j in range(n_features)]
    hierarchy = Hierarchy.from_edges(list(itertools.pairwise(names)), names)
    rows = np.zeros((4, n_features), dtype=np.uint8)
    rows[1:3, :2] = 1
    model = getattr(hietan, name)(hierarchy=hierarchy).fit(rows, [0, 1, 0, 1])
    hietan.save(model, path, compressed=True)


def test_a_small_file_cannot_ask_for_many_ancestors(tmp_path, monkeypatch):
    path = tmp_path / "m"
    assert _files._PAIRS == 4_194_304  # as SECURITY.md states; here, a sixteenth
    monkeypatch.setattr(_files, "_PAIRS", 1 << 18)
    with pytest.raises(ValueError, match=r"more than 2\d{2},\d{3} .* pairs.* store the model with skops"):
        chain_model("HIPNB", 800, path)
    assert not list(tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(_files, "_PAIRS", 1 << 30)
        chain_model("HIPNB", 800, path)
    assert path.stat().st_size < 8_000
    with pytest.raises(ModelFileError, match=r"has more than 2\d{2},\d{3} \(feature, ancestor\) pairs"):
        hietan.load(path)
    for name, n_features in (("HieBAN", 800), ("HIPNB", 500)):
        chain_model(name, n_features, path)
        assert hietan.load(path).predict(np.zeros((1, n_features))).shape == (1,)


def test_a_tail_below_a_chain_is_counted_before_it_is_built():
    """Features that all lie below the same chain: each list is short enough, but not all together."""
    names = [f"t{j}" for j in range(30_000)]
    edges = [*itertools.pairwise(names[:1000]), *((names[999], name) for name in names[1000:])]
    hierarchy = Hierarchy.from_edges(edges)
    tracemalloc.start()
    with pytest.raises(ValueError, match="more than 4,000,000 .feature, ancestor. pairs"):
        hierarchy.limit_ancestors(4_000_000)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_file_does_not_say_how_many_threads_to_use(tmp_path, name):
    model = make(name, n_jobs=2).fit(DATA.X, DATA.y)
    hietan.save(model, tmp_path / "m")
    again = hietan.load(tmp_path / "m")
    assert again.n_jobs is None
    np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))


def test_a_model_that_was_cut_off_is_still_called_a_model(saved, tmp_path):
    from hietan.persistence import is_model

    for path, is_one in ((saved, True), (tmp_path / "data", False)):
        if not is_one:
            DATA.save(path)
        path.write_bytes(path.read_bytes()[:-200])
        assert is_model(path) == is_one
