"""A saved dataset comes back as it was, from the same bytes each time; damage is never silent."""

import json
import time
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hietan.datasets import Dataset, make_hierarchical_classification
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(30, 20, random_state=0)


def same(a, b):
    np.testing.assert_array_equal(a.X.toarray(), b.X.toarray())
    np.testing.assert_array_equal(a.y, b.y)
    rest = [f.name for f in fields(Dataset) if f.name not in ("X", "y")]
    assert [getattr(a, name) for name in rest] == [getattr(b, name) for name in rest]
    assert a.X.dtype == b.X.dtype


def test_round_trip(tmp_path, data):
    data.save(tmp_path / "d.hietan")
    same(Dataset.load(str(tmp_path / "d.hietan")), data)
    assert [path.name for path in tmp_path.iterdir()] == ["d.hietan"]


def test_symbols_travel_and_may_be_absent(tmp_path, data):
    named = replace(data, symbols=tuple("" if i == 3 else f"sym-{i}" for i in range(30)))
    named.save(tmp_path / "named.hietan")
    same(Dataset.load(tmp_path / "named.hietan"), named)
    assert named.subset(rows=[4, 3]).symbols == ("sym-4", "")
    data.save(tmp_path / "plain.hietan")
    with zipfile.ZipFile(tmp_path / "plain.hietan") as archive:
        assert "symbols" not in json.loads(archive.read("names.json"))
    with pytest.raises(ValueError, match="symbols has 29 entries but X has 30 rows"):
        replace(data, symbols=("",) * 29)


def test_same_content_same_bytes(tmp_path, data, monkeypatch):
    data.save(tmp_path / "a")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    shuffled = data.X.copy()
    for i in range(shuffled.shape[0]):
        row = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
        shuffled.indices[row] = shuffled.indices[row][::-1]
    replace(data, X=csr_array((shuffled.data, shuffled.indices, shuffled.indptr), shape=shuffled.shape)).save(
        tmp_path / "b"
    )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_nothing_in_it_can_run(tmp_path, data):
    data.save(tmp_path / "d.hietan")
    with zipfile.ZipFile(tmp_path / "d.hietan") as archive:
        assert {name.rpartition(".")[2] for name in archive.namelist()} == {"npy", "json"}
        about = json.loads(archive.read("about.json"))
    assert (about["format"], about["version"]) == ("hietan dataset", 1)


@given(names=st.lists(st.text(min_size=1), min_size=2, max_size=4, unique=True), n=st.integers(0, 3))
def test_odd_names_and_empty_tables(tmp_path_factory, names, n):
    d = len(names)
    made = Dataset(
        X=csr_array(np.ones((n, d), dtype=np.uint8)),
        y=np.full(n, -1),
        hierarchy=Hierarchy.from_edges([(names[0], names[1])], features=names),
        feature_names=tuple(names),
        term_names=tuple(reversed(names)),
        instance_names=tuple(map(str, range(n))),
        target_names=(),
        provenance={"odd": names, "nested": {"none": None, "float": 0.1}},
        name=names[0],
    )
    path = tmp_path_factory.mktemp("odd") / "d"
    made.save(path)
    same(Dataset.load(path), made)


def rewritten(source, target, **members):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = members.get(name.partition(".")[0], old.read(name))
            if content is not None:
                new.writestr(name, content)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"about": b'{"format": "hietan dataset", "version": 2}'},
            "uses format version 2, but this version of hietan reads format version 1",
        ),
        ({"about": b'{"format": "other"}'}, "not a hietan dataset"),
        ({"about": b"[]"}, "not a hietan dataset"),
        ({"about": b"{"}, "not a hietan dataset, or it is damaged"),
        ({"about": None}, "damaged .*about.json"),
        ({"indices": None}, "damaged .*indices.npy"),
        ({"indices": b"\x93NUMPY"}, "damaged"),
        ({"names": b"{}"}, "damaged"),
        ({"names": b'{"feature_names": []}'}, "damaged"),
        ({"provenance": b"[1]x"}, "damaged"),
    ],
)
def test_damaged_members_are_named(tmp_path, data, members, message):
    data.save(tmp_path / "good")
    rewritten(tmp_path / "good", tmp_path / "bad.hietan", **members)
    with pytest.raises(DataError, match=f"bad.hietan: .*{message}"):
        Dataset.load(tmp_path / "bad.hietan")


def test_other_files_are_refused(tmp_path):
    for content in (b"", b"not a zip file", b"PK\x05\x06" + bytes(18)):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(DataError, match="not a hietan dataset, or it is damaged"):
            Dataset.load(tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        Dataset.load(tmp_path / "missing")
