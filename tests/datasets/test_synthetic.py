import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from hietan.datasets import make_hierarchical_classification as make


def _density(data):
    return data.X.nnz / np.prod(data.X.shape)


def _n_parents(data):
    return data.hierarchy.adjacency.astype(int).sum(axis=0)


def test_same_seed_same_data_other_seed_other_data():
    a, b, other = make(random_state=3), make(random_state=3), make(random_state=4)
    assert a.hierarchy == b.hierarchy
    assert (a.X != b.X).nnz == 0
    np.testing.assert_array_equal(a.y, b.y)
    assert a.provenance == b.provenance
    assert a.hierarchy != other.hierarchy


def test_random_state_may_be_a_generator_and_moves_on():
    rng = np.random.RandomState(3)
    first, second = make(random_state=rng), make(random_state=rng)
    assert first.hierarchy == make(random_state=3).hierarchy != second.hierarchy
    assert first.provenance["options"]["random_state"] is None


@pytest.mark.parametrize("density", [0.01, 0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(200, 300), (50, 1000), (1000, 20)])
def test_rows_are_closed_and_as_dense_as_asked(shape, density):
    data = make(*shape, density=density, random_state=0)
    assert data.X.shape == shape
    assert data.hierarchy.is_closed(data.X)
    assert _density(data) == pytest.approx(density, rel=0.05)
    assert data.X.has_canonical_format


@pytest.mark.parametrize("multi_parent", [0.0, 0.3, 0.6, 1.0])
def test_share_of_terms_with_several_parents(multi_parent):
    n_parents = _n_parents(make(50, 600, multi_parent=multi_parent, random_state=1))
    assert np.mean(n_parents[n_parents > 0] > 1) == pytest.approx(multi_parent, abs=0.02)


def test_hierarchy_and_columns_resemble_go():
    data = make(500, 1000, multi_parent=0.5, density=0.05, random_state=0)
    assert 3 < data.hierarchy.depths.mean() < 5
    assert 8 <= data.hierarchy.depths.max() <= 16
    assert 0.2 < len(data.hierarchy.leaves) / 1000 < 0.5
    assert 5 <= len(data.hierarchy.roots) <= 45
    columns = {column.tobytes() for column in np.ascontiguousarray(data.X.toarray().T)}
    assert 0.11 <= 1 - len(columns) / 1000 <= 0.37
    ones = data.X.sum(axis=1, dtype=int)
    assert 0.35 < ones.std() / ones.mean() < 0.9
    assert ones.min() > 0
    assert data.X.sum(axis=0, dtype=int).min() > 0


@pytest.mark.parametrize(
    ("imbalance", "n_classes", "counts"),
    [
        (0.5, 2, [100, 100]),
        (0.9, 2, [180, 20]),
        (0.1, 3, [20, 90, 90]),
        (0.999, 4, [197, 1, 1, 1]),
        (0.001, 2, [1, 199]),
    ],
)
def test_class_sizes(imbalance, n_classes, counts):
    data = make(n_classes=n_classes, imbalance=imbalance, noise=0.2, random_state=0)
    assert np.bincount(data.y).tolist() == counts


@pytest.mark.slow
def test_classes_are_learnable_but_not_trivial():
    scores = []
    for seed in range(3):
        data = make(400, random_state=seed)
        model = LogisticRegression(class_weight="balanced", max_iter=500)
        proba = cross_val_predict(model, data.X.astype(float), data.y, cv=5, method="predict_proba")
        scores.append(roc_auc_score(data.y, proba[:, 1]))
    assert 0.75 < np.mean(scores) < 0.92


def test_informative_terms_prefer_their_class():
    data = make(5000, n_classes=3, imbalance=1 / 3, n_informative=12, random_state=0)
    columns = [data.feature_names.index(name) for name in data.provenance["informative"]]
    shares = np.array([data.X[data.y == c][:, columns].mean(axis=0) for c in range(3)])
    assert len(set(columns)) == 12
    np.testing.assert_array_equal(shares.argmax(axis=0), data.provenance["informative_class"])


def test_noise_takes_the_signal_away():
    def contrast(noise):
        data = make(4000, n_informative=2, noise=noise, random_state=0)
        column = data.feature_names.index(data.provenance["informative"][0])
        return data.X[data.y == 0][:, [column]].mean() - data.X[data.y == 1][:, [column]].mean()

    assert contrast(0.0) > 1.5 * contrast(0.25) > 0
    assert abs(contrast(0.5)) < 0.1 * contrast(0.0)
    assert contrast(1.0) < 0


@pytest.mark.parametrize("n_samples", [1, 2, 5])
@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_tiny_requests(n_samples, n_features, n_classes):
    data = make(n_samples, n_features, n_classes=n_classes, density=0.5, multi_parent=1.0, random_state=0)
    assert data.X.shape == (n_samples, n_features)
    assert data.hierarchy.is_closed(data.X)
    assert len(data.provenance["informative"]) == n_features
    assert len(data.target_names) == n_classes


def test_provenance_repeats_the_request():
    data = make(30, 40, density=np.float64(0.1), random_state=np.int64(7))
    options = json.loads(json.dumps(data.provenance))["options"]
    assert (options["n_samples"], options["density"], options["random_state"]) == (30, 0.1, 7)
    assert options["n_informative"] == 20
    again = make(**options)
    assert (again.X != data.X).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples is 0; expected a whole number from 1"),
        ({"n_features": 3.0}, ValueError, "n_features is 3.0; expected a whole number"),
        ({"n_classes": 1}, ValueError, "n_classes is 1; expected a whole number from 2"),
        ({"density": 0}, ValueError, "density is 0; expected a number strictly between 0 and 1"),
        ({"density": "high"}, ValueError, "density is 'high'; expected a number from 0 to 1"),
        ({"noise": -0.1}, ValueError, "noise is -0.1; expected a number from 0 to 1"),
        ({"random_state": "seed"}, ValueError, "seed"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)
