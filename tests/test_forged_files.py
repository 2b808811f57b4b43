"""Whatever the bytes of a file are, loading it gives an error of ours, or a model or dataset that is sound."""

import json
import tracemalloc
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan.datasets import DataError, Dataset
from hietan.persistence import CLASSIFIERS, ModelFileError, read_metadata
from hietan.structure import PairCounts, SparsePairs
from support import wrapped
from support.faults import Faults, forgery, number_of
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


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory):
    """The files of our models within all kinds of wrappers, their rows and what they predict."""
    path = tmp_path_factory.mktemp("wrappers") / "model"
    made = []
    for name in wrapped.NAMES:
        model, rows = wrapped.fitted(name, wrapped.frame if wrapped.is_fresh(name) else wrapped.dense)
        hietan.save(model, path, metadata={"note": 1})
        made.append((path.read_bytes(), rows, model.predict(rows), model.predict_proba(rows)))
    return made


@pytest.mark.parametrize("way", forgery.WAYS, ids=lambda way: way.__name__)
def test_a_forged_wrapper_is_refused_or_answers(tmp_path, wrappers, way):
    """HIETAN_FORGERIES is the number of times that each wrapper is forged in each way."""
    path, rng = tmp_path / "model", np.random.default_rng(13)
    faults = Faults(f"forged wrappers, {way.__name__}", seed=13)
    for content, rows, labels, expected in wrappers * number_of("FORGERIES", 3):
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
            try:
                found = model.predict_proba(rows)
            except ValueError as error:
                # Names of columns that were forged alike in all parts are those of other rows.
                assert "feature names" in str(error)  # noqa: PT017
                continue
        assert np.isfinite(found).all() and found.shape == (len(rows), len(model.classes_))
        assert (found >= 0).all() and np.allclose(found.sum(axis=1), 1)
        if way in BY_CHECKSUM:
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(model.predict(rows), labels)
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


@pytest.mark.parametrize("name", ["AODE", "HieAODE", "TAN", "HieTANLite"])
def test_counts_whose_sum_overflows_are_impossible(tmp_path, name):
    path = tmp_path / "m"
    hietan.save(fitted(name), path)
    many = 1_500_000_000  # twice as many are more than an int32 holds
    ones = np.repeat(np.array([[many], [0]], dtype=np.int32), 9, axis=1)
    rewrite_counts(path, class_count=np.array([many, 2]), ones=ones, pairs=np.zeros((2, 36), dtype=np.int32))
    with pytest.raises(ModelFileError, match="impossible counts of pairs"):
        hietan.load(path)


def test_a_pair_that_must_occur_may_not_be_left_out(tmp_path):
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
        with pytest.raises(ModelFileError, match="impossible counts of pairs"):
            hietan.load(path)
    path.write_bytes(content)
    new = {
        "indptr": np.maximum(sparse.indptr - 1, 0),
        "indices": sparse.indices[1:],
        "values": sparse.values[1:],
    }
    rewrite(path, **{fields[k]["member"].partition(".")[0]: forgery.npy(v) for k, v in new.items()})
    with pytest.raises(ModelFileError, match="impossible counts of pairs"):
        hietan.load(path)


@given(seed=st.integers(0, 2**32))
def test_the_checks_of_sparse_and_of_dense_counts_agree(tmp_path_factory, seed):
    """Small counts, of which some are possible: both forms are accepted, or neither."""
    rng = np.random.default_rng(seed)
    X = (rng.random((6, 3)) < rng.random()).astype(int)
    path = tmp_path_factory.mktemp("agree") / "m"
    shift = rng.integers(-1, 2, 3) * (rng.random(3) < 0.4)
    found = []
    for storage in ("dense", "sparse"):
        with kept(storage):
            model = hietan.AODE().fit(np.vstack([X, X * 0]), np.arange(12) // 6)
        counts = model.counts_
        if storage == "dense":
            counts.pairs[0] += shift.astype(np.int32)
            present = counts.pairs.any(axis=0)
        else:
            place = np.flatnonzero(present)
            dense = found[0][1].pairs
            rows = np.array([0, 0, 1])[place]
            indptr = np.searchsorted(rows, np.arange(4)).astype(np.int64)
            pairs = SparsePairs(indptr, np.array([1, 2, 2], dtype=np.int32)[place], dense[:, place].T.copy())
            model.counts_ = PairCounts(counts.class_count, counts.ones, pairs)
        hietan.save(model, path)
        try:
            hietan.load(path)
            accepted = True
        except ModelFileError:
            accepted = False
        found.append((accepted, model.counts_))
    assert found[0][0] == found[1][0]


@pytest.mark.parametrize("name", ["TAN", "HieTAN", "HRETAN", "HieTANLite"])
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
    with pytest.raises(ModelFileError, match="there are more rows than the counts can hold"):
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
    with pytest.raises(ModelFileError, match=r"would unpack to 200 bytes; .* 100,000 for all that is read"):
        hietan.load(path)


@pytest.mark.patient
def test_many_members_share_what_they_may_unpack_to(tmp_path):
    """Two hundred arrays of zeros, of 8 MB each, in a file of 2 MB."""
    path = tmp_path / "m"
    hietan.save(wrapped.fitted("tuned threshold")[0], path)
    members = forgery.unpack(path.read_bytes())
    about = json.loads(members["about.json"])
    zeros = {f"zeros{i}.npy": forgery.npy(np.zeros(1 << 20)) for i in range(200)}
    items = [{"kind": "array", "member": name} for name in zeros]
    about["estimators"][-1]["parameters"]["thresholds"] = {"kind": "list", "items": items}
    path.write_bytes(forgery.pack({**members, **zeros, "about.json": json.dumps(about).encode()}))
    assert path.stat().st_size < 4 << 20
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=r"would unpack to 8,388,736 bytes; the limit is"):
        hietan.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 << 20
