import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from hietan.datasets import Dataset
from hietan.exceptions import DataError
from hietan.hierarchy import Hierarchy


@pytest.fixture
def dataset():
    return Dataset(
        X=csr_array(np.array([[1, 1], [1, 0], [0, 0]], dtype=np.uint8)),
        y=np.array([1, 0, 0]),
        hierarchy=Hierarchy.from_edges([("a", "b")], features=["a", "b"]),
        feature_names=["a", "b"],
        term_names=["thing", "small thing"],
        instance_names=["g1", "g2", "g3"],
        target_names=["no", "yes"],
        provenance={"made": "by hand"},
        name="toy",
    )


def test_repr_tells_size_classes_density_and_hierarchy(dataset):
    assert repr(dataset) == (
        "<Dataset toy: 3 rows x 2 features; no 2, yes 1; 50.00% ones; "
        "Hierarchy(2 features, 1 edge, 1 root, depth 1)>"
    )


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        ("X", np.eye(3, 2, dtype=np.uint8), TypeError, "csr_array of uint8, got ndarray of uint8"),
        ("X", csr_array(np.eye(3, 2)), TypeError, "got csr_array of float64"),
        ("X", csr_array(2 * np.eye(3, 2, dtype=np.uint8)), ValueError, "only 0 and 1, but contains 2"),
        ("y", [0, 1, 0], TypeError, "integer ndarray, got list"),
        ("y", np.array([0.0, 1.0, 0.0]), TypeError, "got ndarray of float64"),
        ("y", np.array([0, 1]), ValueError, "y has 2 entries but X has 3 rows"),
        ("y", np.array([0, 1, 2]), ValueError, "target_names, from 0 to 1, but contains values from 0 to 2"),
        ("y", np.array([0, 1, -1]), ValueError, "contains values from -1 to 1"),
        ("feature_names", ("a", "b", "c"), ValueError, "feature_names has 3 entries but X has 2 columns"),
        ("feature_names", "ab", TypeError, "sequence of strings, got 'ab'"),
        ("feature_names", ("b", "a"), ValueError, "2 features must be the 2 feature_names in the same order"),
        ("term_names", ("thing",), ValueError, "term_names has 1 entries but X has 2 columns"),
        ("instance_names", ("g1", "g2"), ValueError, "instance_names has 2 entries but X has 3 rows"),
        (
            "instance_names",
            (1, 2, 3),
            TypeError,
            r"instance_names must be a sequence of strings, got \(1, 2, 3\)",
        ),
        ("target_names", ("yes",), ValueError, "positions in target_names, from 0 to 0"),
        ("target_names", (), ValueError, "y must be -1 for all rows if there are no target_names"),
        ("hierarchy", None, TypeError, "must be a Hierarchy, got NoneType"),
        (
            "hierarchy",
            Hierarchy.from_edges([("a", "c"), ("c", "b")]),
            ValueError,
            "3 features must be the 2 feature_names",
        ),
        ("provenance", {"n": np.int64(3)}, TypeError, "JSON"),
    ],
)
def test_wrong_parts_are_refused(dataset, field, value, error, message):
    with pytest.raises(error, match=message):
        replace(dataset, **{field: value})


def test_rows_without_labels(dataset):
    bare = replace(dataset, y=np.full(3, -1), target_names=(), positive="")
    assert not bare.is_labelled and dataset.is_labelled
    assert "no labels" in repr(bare)
    assert list(bare.as_frame().columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "features", "names", "columns"),
    [
        (None, None, ("g1", "g2", "g3"), ("a", "b")),
        ([2, 0], ["b"], ("g3", "g1"), ("b",)),
        (["g3", "g1"], slice(1, None), ("g3", "g1"), ("b",)),
        (np.array([True, False, True]), np.array([1, 0]), ("g1", "g3"), ("b", "a")),
        ([], None, (), ("a", "b")),
        ([-1], [True, False], ("g3",), ("a",)),
    ],
)
def test_subset(dataset, rows, features, names, columns):
    part = dataset.subset(rows, features)
    assert part.instance_names == names and part.feature_names == columns
    expected = dataset.as_frame().loc[list(names), list(columns)]
    np.testing.assert_array_equal(part.X.toarray(), expected.to_numpy())
    assert [part.target_names[c] for c in part.y] == dataset.as_frame().loc[list(names), "class"].tolist()
    assert part.provenance["subsets"] == [{"rows": [len(names), 3], "features": [len(columns), 2]}]


def test_subset_keeps_relations_through_what_it_drops():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    X = csr_array(np.eye(3, dtype=np.uint8))
    names = ("a", "b", "c")
    data = Dataset(X, np.zeros(3, dtype=int), hierarchy, names, names, names, ("only",))
    assert data.subset(features=["c", "a"], name="part").hierarchy.edges == (("a", "c"),)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rows": "g1"}, TypeError, "rows must be names, positions, a slice or a mask, got 'g1'"),
        ({"rows": 1}, TypeError, "rows must be names"),
        ({"rows": ["g9"]}, ValueError, "rows contains 'g9', which is not in this dataset"),
        ({"features": [2]}, ValueError, "positions below 2"),
        ({"features": [0.5]}, ValueError, "positions below 2"),
        ({"features": [True]}, ValueError, "or a mask of that length \\(boolean index did not match"),
        ({"features": ["a", "a"]}, ValueError, "a"),
    ],
)
def test_wrong_subsets_are_refused(dataset, arguments, error, message):
    with pytest.raises(error, match=message):
        dataset.subset(**arguments)


@pytest.mark.parametrize("sparse", [False, True])
def test_as_frame(dataset, sparse):
    frame = dataset.as_frame(sparse=sparse)
    assert frame.index.tolist() == ["g1", "g2", "g3"]
    assert frame["class"].tolist() == ["yes", "no", "no"]
    assert frame["class"].cat.categories.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(frame[["a", "b"]].to_numpy(), dataset.X.toarray())
    assert list(dataset.as_frame(target=None, sparse=sparse).columns) == ["a", "b"]
    with pytest.raises(ValueError, match="a feature is already called 'a'"):
        dataset.as_frame(target="a", sparse=sparse)


def test_html_is_escaped_and_tells_the_losses(dataset):
    account = {"annotations": {"read": 5, "used": 3, "dropped": {"NOT": 2}, "changed": {"twice": 1}}}
    html = replace(
        dataset, name="<b>", provenance={"account": account, "files": {"go.obo": "abc"}}
    )._repr_html_()
    assert "Dataset &lt;b&gt;" in html and "<b>:" not in html
    for word in ("dropped: NOT", "of which: twice", "go.obo", "small thing"):
        assert word in html
    assert "lost on the way" not in dataset._repr_html_()


@pytest.mark.parametrize(
    "where", ["feature_names", "term_names", "instance_names", "target_names", "symbols"]
)
def test_half_a_surrogate_pair_is_refused(dataset, where, tmp_path):
    """It is what an undecodable byte becomes in a file name, and no table could be written with it."""
    names = list(getattr(dataset, where) or dataset.instance_names)
    names[0] = "caf\udce9"
    with pytest.raises(
        ValueError, match=rf"{where} contains 'caf\\udce9', which contains half of a surrogate pair"
    ):
        replace(dataset, **{where: tuple(names)})


def test_half_a_surrogate_pair_is_refused_by_whatever_makes_a_dataset(dataset, tmp_path):
    pd = pytest.importorskip("pandas")
    for make in (
        lambda: replace(dataset, name="\udce9"),
        lambda: Dataset.from_pairs([("\udce9", "b")], None, [("a", "b"), ("a", "c")], drop_roots=False),
        lambda: Dataset.from_frame(
            pd.DataFrame({"b": [1, 0]}, index=pd.Index(["\udce9", "x"], dtype=object))
        ),
        lambda: Dataset.from_frame(pd.DataFrame({"b": [1, 0]}), ["\udce9", "x"]),
    ):
        with pytest.raises(ValueError, match="half of a surrogate pair"):
            make()
    dataset.save(tmp_path / "data")
    with zipfile.ZipFile(tmp_path / "data") as old, zipfile.ZipFile(tmp_path / "forged", "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "names.json":
                content = content.replace(json.dumps(dataset.instance_names[0]).encode(), rb'"\udce9"')
            new.writestr(member, content)
    with pytest.raises(DataError, match="half of a surrogate pair"):
        Dataset.load(tmp_path / "forged")
