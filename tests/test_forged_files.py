"""Whatever the bytes of a file are, loading it gives an error of ours, or a model or dataset that is sound."""

import io
import json
import tracemalloc
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pytest

import hietan
from hietan.datasets import Dataset
from hietan.exceptions import DataError, ModelFileError
from hietan.persistence import read_metadata
from hietan.persistence._files import CLASSIFIERS
from support.faults import Faults, forgery
from support.faults.archives import DATA, X, fitted, rewrite, rewrite_counts
from support.storages import kept

pytestmark = pytest.mark.slow

SECONDS = 10.0  # of CPU time to load one file; far more than any takes
BY_CHECKSUM = (forgery.flip_bits, forgery.cut)  # damage that the checksums of the archive detect


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The files of all classifiers, with dense and with sparse counts, and what they predict."""
    path = tmp_path_factory.mktemp("models") / "model"
    made = []
    for storage in ("dense", "sparse"):
        for name in CLASSIFIERS:
            with kept(storage):
                model = fitted(name)
            hietan.save(model, path, metadata={"note": [1, {"deep": "x"}]})
            made.append((path.read_bytes(), model.predict_proba(X)))
    return made


def loaded_or_refused(load, path, error):
    """What the file holds; None if it is refused with our own error, which names the file."""
    try:
        return load(path)
    except error as refused:
        message = str(refused)
    assert str(path) in message
    return None


@pytest.mark.parametrize("way", forgery.WAYS, ids=lambda way: way.__name__)
def test_a_forged_model_is_refused_or_answers(tmp_path, models, way):
    path, rng, faults = (
        tmp_path / "model",
        np.random.default_rng(11),
        Faults(f"forged models, {way.__name__}", seed=11),
    )
    for number in range(180):
        content, expected = models[number % len(models)]
        path.write_bytes(way(rng, content))
        faults.injected += 1
        with suppress(ModelFileError):
            read_metadata(path)
        with faults.timed(SECONDS):
            model = loaded_or_refused(hietan.load, path, ModelFileError)
        if model is None:
            faults.refused += 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the names of the columns may be forged
            found = model.predict_proba(X)
        assert np.isfinite(found).all() and found.shape == (40, len(model.classes_))
        if way in BY_CHECKSUM:
            np.testing.assert_array_equal(found, expected)
    faults.finish()


@pytest.mark.parametrize("way", forgery.WAYS, ids=lambda way: way.__name__)
def test_a_forged_dataset_is_refused_or_sound(tmp_path, way):
    path, rng, faults = (
        tmp_path / "data",
        np.random.default_rng(12),
        Faults(f"forged datasets, {way.__name__}", seed=12),
    )
    DATA.save(path)
    content = path.read_bytes()
    for _ in range(120):
        path.write_bytes(way(rng, content))
        faults.injected += 1
        with faults.timed(SECONDS):
            data = loaded_or_refused(Dataset.load, path, DataError)
        if data is None:
            faults.refused += 1
            continue
        assert data.X.sum() == data.X.nnz and set(data.X.toarray().ravel().tolist()) <= {0, 1}
        assert (
            data.X.shape == (len(data.instance_names), len(data.feature_names))
            and len(data.y) == data.X.shape[0]
        )
        assert data.hierarchy.features == data.feature_names
        data.summary()
        if way in BY_CHECKSUM:
            np.testing.assert_array_equal(data.X.toarray(), X)
            np.testing.assert_array_equal(data.y, DATA.y)
    faults.finish()


@pytest.mark.parametrize("name", ["AODE", "TAN"])
def test_counts_whose_sum_overflows_are_impossible(tmp_path, name):
    path = tmp_path / "m"
    hietan.save(fitted(name), path)
    many = 1_500_000_000  # twice as many are more than an int32 holds
    ones = np.repeat(np.array([[many], [0]], dtype=np.int32), 9, axis=1)
    rewrite_counts(path, class_count=np.array([many, 2]), ones=ones, pairs=np.zeros((2, 36), dtype=np.int32))
    with pytest.raises(ModelFileError, match="damaged"):
        hietan.load(path)


def test_a_pair_that_must_occur_may_not_be_zero(tmp_path):
    """Of 40 rows, two features that are 1 in 30 and in 20 of one class share some."""
    X = np.zeros((40, 3), dtype=int)
    X[:30, 0] = X[20:, 1] = X[::7, 2] = 1
    with kept("sparse"):
        model = hietan.TAN().fit(X, np.arange(40) // 39)
    path = tmp_path / "m"
    hietan.save(model, path)
    content = path.read_bytes()
    assert hietan.load(path).counts_.both(0, 1).sum() == 10
    about = json.loads(forgery.unpack(content)["about.json"])
    fields = about["fitted"]["counts_"]["fields"]["pairs"]["fields"]
    sparse = model.counts_.pairs
    for wrong in (sparse.values - np.eye(*sparse.values.shape, dtype=np.int32), sparse.values * 0):
        rewrite(path, **{fields["values"]["member"].partition(".")[0]: forgery.npy(wrong.astype(np.int32))})
        with pytest.raises(ModelFileError, match="damaged"):
            hietan.load(path)


@pytest.mark.parametrize("name", ["TAN", "HieTANLite"])
def test_a_small_file_asks_for_no_large_table(tmp_path, name):
    path = tmp_path / "m"
    model = fitted(name)
    hietan.save(model, path)
    many = np.array([2**31 - 3, 2], dtype=np.int64)  # a table of k log k for all of them would take 16 GB
    none = np.zeros((2, 9), dtype=np.int32), np.zeros((2, 36), dtype=np.int32)
    rewrite_counts(path, class_count=many, ones=none[0], pairs=none[1])
    loaded = hietan.load(path)
    assert loaded.class_count_.sum() == 2**31 - 1
    assert np.isfinite(loaded.predict_joint_log_proba(np.eye(9))).all()
    many[1] += 1
    rewrite_counts(path, class_count=many, ones=none[0], pairs=none[1])
    with pytest.raises(ModelFileError, match="damaged"):
        hietan.load(path)


def test_counts_of_open_features_fit_the_hierarchy(tmp_path):
    path, model = tmp_path / "m", fitted("HieBAN")
    hietan.save(model, path)
    content, counts = path.read_bytes(), model.counts_
    hierarchy = model.hierarchy_
    only = {
        name: hierarchy.parents(name)[0] for name in hierarchy.features if len(hierarchy.parents(name)) == 1
    }
    child, parent = next(
        (v, u) for v, u in only.items() if u in hierarchy.roots
    )  # the child counts the parent's ones
    for name, part, feature in (("ones", counts.ones, parent), ("open", counts.open, child)):
        for change in (-1, 1, 2**31 - 50):
            wrong = part.copy()
            wrong[:, hierarchy.index(feature)] += np.int32(change)
            path.write_bytes(content)
            rewrite_counts(path, **{name: wrong})
            with pytest.raises(ModelFileError, match="impossible counts"):
                hietan.load(path)
    path.write_bytes(content)
    rewrite_counts(path, class_count=counts.class_count + 1)
    with pytest.raises(ModelFileError, match="impossible counts"):
        hietan.load(path)


def peak_of(call, error):
    """The most memory that a refused call took, in bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(error):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def add_zeros(path, name, size):
    """Add a member of so many zero bytes, which takes a thousandth of them."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        for _ in range(size >> 20):
            member.write(bytes(1 << 20))


def test_members_that_are_not_named_are_not_unpacked(tmp_path):
    model, data = tmp_path / "m", tmp_path / "d"
    hietan.save(fitted("TAN"), model)
    DATA.save(data)
    for path, load in ((model, hietan.load), (data, Dataset.load)):
        add_zeros(path, "unused.npy", 100 << 20)
        tracemalloc.start()
        load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10 << 20


@pytest.mark.patient
def test_what_is_unpacked_is_in_proportion(tmp_path):
    """About 100 MB of spaces before a JSON text, and of zeros in an array that should have nine entries."""
    model, data = tmp_path / "m", tmp_path / "d"
    hietan.save(fitted("TAN"), model)
    DATA.save(data)
    zeros = forgery.npy(np.zeros(100 << 17, dtype=np.int64))
    for path, load, error in ((model, hietan.load, ModelFileError), (data, Dataset.load, DataError)):
        content = path.read_bytes()
        rewrite(path, about=b" " * (100 << 20) + forgery.unpack(content)["about.json"])
        assert peak_of(lambda load=load, path=path: load(path), error) < 10 << 20
        path.write_bytes(content)
        names = [name for name in forgery.unpack(content) if name.endswith(".npy")]
        for name in names:
            rewrite(path, **{name.partition(".")[0]: zeros})
            assert peak_of(lambda load=load, path=path: load(path), error) < 10 << 20
            path.write_bytes(content)


def test_one_array_named_again_and_again_counts_each_time(tmp_path, monkeypatch):
    path = tmp_path / "m"
    hietan.save(fitted("TAN"), path)
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    node = about["fitted"]["root_order_"]
    about["parameters"]["class_prior"] = {"kind": "list", "items": [node] * 1000}
    rewrite(path, about=json.dumps(about).encode())
    monkeypatch.setattr("hietan._io.archives.MAX_UNPACKED", 100_000)
    with pytest.raises(ModelFileError, match="would unpack to 200 bytes"):
        hietan.load(path)


def array_of(path, name):
    return np.load(io.BytesIO(forgery.unpack(path.read_bytes())[f"{name}.npy"]))


def repeat_a_column(a):
    return np.concatenate([a[:1], a[:1], a[2:]])


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("indices", repeat_a_column, "each column of a row once"),
        ("indices", lambda a: a + 2**32, "indices must be"),
        ("indices", lambda a: a - 9, "indices must be"),
        ("indices", lambda a: a[:-1], "should have .* entries"),
        ("indptr", lambda a: a + 2**32, "should contain 41 positions of at most 360"),
        ("indptr", lambda a: np.where(np.arange(41) == 3, 2**32, a), "non-decreasing"),
        ("indptr", lambda a: np.where(np.arange(41) % 2, -(2**63), a), "non-decreasing"),
        ("edges", lambda a: np.array([[-1], [0]]), "expected positions from 0 to 8"),
        ("edges", lambda a: a.ravel(), "should have two rows"),
        ("y", lambda a: a + 0.7, "y.npy should contain 64-bit integers, but contains float64"),
        ("y", lambda a: a[None], "one-dimensional"),
        ("y", lambda a: a + 2**32, "y must contain positions in target_names"),
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
        ("about", "shape", [40, 10], "expected \\[40, 9\\], the numbers of row and feature names"),
        ("about", "name", 3, "the dataset name is a int and the provenance a dict"),
        ("names", "feature_names", "abcdefghi", "should contain lists"),
        ("names", "instance_names", list(range(40)), "instance_names must be a sequence of strings"),
    ],
)
def test_forged_descriptions_of_a_dataset(tmp_path, member, key, value, message):
    path = tmp_path / "d"
    DATA.save(path)
    content = json.loads(forgery.unpack(path.read_bytes())[f"{member}.json"])
    rewrite(path, **{member: json.dumps({**content, key: value}).encode()})
    with pytest.raises(DataError, match=message):
        Dataset.load(path)
