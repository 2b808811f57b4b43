from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from hietan.datasets import Dataset
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


def test_names_become_tuples(dataset):
    assert dataset.feature_names == ("a", "b")
    assert dataset.target_names == ("no", "yes")


def test_repr_tells_size_classes_density_and_hierarchy(dataset):
    assert repr(dataset) == (
        "<Dataset toy: 3 rows x 2 features; no 2, yes 1; 50.00% ones; "
        "Hierarchy(2 features, 1 edge, 1 root, depth 1)>"
    )


def test_is_frozen(dataset):
    with pytest.raises(AttributeError):
        dataset.name = "other"


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        ("X", np.eye(3, 2, dtype=np.uint8), TypeError, "csr_array of uint8, got ndarray of uint8"),
        ("X", csr_array(np.eye(3, 2)), TypeError, "got csr_array of float64"),
        ("X", csr_array(2 * np.eye(3, 2, dtype=np.uint8)), ValueError, "0 and 1 only, found 2"),
        ("y", [0, 1, 0], TypeError, "integer ndarray, got list"),
        ("y", np.array([0.0, 1.0, 0.0]), TypeError, "got ndarray of float64"),
        ("y", np.array([0, 1]), ValueError, "y has 2 entries but X has 3 rows"),
        ("y", np.array([0, 1, 2]), ValueError, "2 target_names, found values from 0 to 2"),
        ("y", np.array([0, 1, -1]), ValueError, "found values from -1 to 1"),
        ("feature_names", ("a", "b", "c"), ValueError, "feature_names has 3 entries but X has 2 columns"),
        ("feature_names", "ab", TypeError, "sequence of str, got 'ab'"),
        ("feature_names", ("b", "a"), ValueError, "hierarchy names feature 0 'a' but feature_names has 'b'"),
        ("term_names", ("thing",), ValueError, "term_names has 1 entries but X has 2 columns"),
        ("instance_names", ("g1", "g2"), ValueError, "instance_names has 2 entries but X has 3 rows"),
        (
            "instance_names",
            (1, 2, 3),
            TypeError,
            r"instance_names must be a sequence of str, got \(1, 2, 3\)",
        ),
        ("target_names", ("yes",), ValueError, "index the 1 target_names"),
        ("hierarchy", None, TypeError, "must be a Hierarchy, got NoneType"),
        (
            "hierarchy",
            Hierarchy.from_edges([("a", "c"), ("c", "b")]),
            ValueError,
            "has 3 features but X has 2",
        ),
        ("provenance", {"n": np.int64(3)}, TypeError, "JSON"),
    ],
)
def test_wrong_parts_are_refused(dataset, field, value, error, message):
    with pytest.raises(error, match=message):
        replace(dataset, **{field: value})
