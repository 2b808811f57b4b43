"""What explanations are made of: the same bits as the predictions, without scoring or learning anything twice."""

import numpy as np
import pytest
from scipy.special import logsumexp

import hietan
from hietan import _kernel
from hietan.classifiers import _shared_relations
from hietan.datasets import make_hierarchical_classification
from hietan.explain import RemovalKind, sum_factors

NAMES = ["TAN", "HieTAN", "HieTANLite", "HRETAN", "AODE", "HieAODE", "HieAODELite", "HIPNB", "HieBAN"]


def fitted(name, **options):
    data = make_hierarchical_classification(70, 40, density=0.2, random_state=1, **options)
    return getattr(hietan, name)(hierarchy=data.hierarchy, alpha=0.3).fit(data.X, data.y), data.X


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_have_the_bits_of_the_predictions(name, n_classes):
    model, X = fitted(name, n_classes=n_classes)
    joint = model.predict_joint_log_proba(X)
    rest = [c for c in range(n_classes) if c != 1]
    expected = [float(row[1] - logsumexp(row[rest])) for row in joint]
    assert [explanation.log_odds for explanation in model.explain(X, target=1)] == expected


def test_factors_are_added_one_after_the_other():
    """In pairs, as `sum` adds many numbers, the result would be rounded differently."""
    rng = np.random.default_rng(0)
    base, factors = rng.normal(size=(3, 2)), rng.normal(size=(3, 1000, 2))
    expected = base.copy()
    for v in range(1000):
        expected += factors[:, v]
    assert (sum_factors(base, factors) == expected).all()


@pytest.mark.parametrize("name", ["HieTANLite", "HRETAN"])
def test_an_explained_tree_is_learned_once(name, monkeypatch):
    model, X = fitted(name)
    calls = []

    def learn(*args, **options):
        calls.append(options["n_rows"])
        return lazy_trees(*args, **options)

    lazy_trees = _kernel.lazy_trees
    monkeypatch.setattr(_kernel, "lazy_trees", learn)
    monkeypatch.delattr(_kernel, "lazy_joint_log")
    assert len(model.explain(X)) == 70
    assert sum(calls) == 70


@pytest.mark.parametrize("name", ["AODE", "HIPNB"])
def test_relations_are_made_once_for_all_rows(name, monkeypatch):
    made = []
    relations = _shared_relations.kernel_relations
    monkeypatch.setattr(_shared_relations, "kernel_relations", lambda h: made.append(h) or relations(h))
    model, X = fitted(name)
    for rows in (X, X[:5]):
        model.predict(rows)
        model.explain(rows)
    model.set_params(n_jobs=2).predict(X)
    assert len(made) == 1


def test_reasons_are_words_with_a_name():
    assert {kind.reason("{x}") for kind in RemovalKind} == {
        "same value as its ancestor {x}",
        "same value as its descendant {x}",
        "implied by its ancestor {x}, which is 0",
        "implied by its descendant {x}, which is 1",
        "not more relevant than its ancestor {x}",
        "not more relevant than its descendant {x}",
        "not among the most relevant features, the last of which is {x}",
    }
