"""Pipelines and wrappers around the classifiers as skops files: the same predictions, and the same checks."""

import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.persistence._files import CLASSIFIERS
from hietan.scores import gmean_scorer
from hietan.selection import MinSupport

skops = pytest.importorskip("skops.io")

DATA = make_hierarchical_classification(120, 20, random_state=0)
FRAME = DATA.as_frame(target=None)


def classifier(name):
    model = getattr(hietan, name)(hierarchy=DATA.hierarchy)
    wanted = {"random_state": 3, "lam": 0.02}
    return model.set_params(**{key: value for key, value in wanted.items() if key in model.get_params()})


WRAPPERS = {
    "itself": clone,
    "pipeline": lambda model: make_pipeline(
        hietan.SHSEL(hierarchy=DATA.hierarchy).set_output(transform="pandas"), model
    ),
    "calibrated": lambda model: CalibratedClassifierCV(model, cv=2),
    "isotonic": lambda model: CalibratedClassifierCV(model, method="isotonic", cv=2),
    "threshold": lambda model: TunedThresholdClassifierCV(model, cv=2),
    "gmean": lambda model: TunedThresholdClassifierCV(model, scoring=gmean_scorer, cv=2),
    "min support": lambda model: MinSupport(model, 2),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_survive(name, wrapper):
    model = WRAPPERS[wrapper](classifier(name)).fit(FRAME, DATA.y)
    again = skops.loads(skops.dumps(model), trusted=hietan.skops_types())
    for method in ("predict", "predict_proba"):
        np.testing.assert_array_equal(getattr(again, method)(FRAME), getattr(model, method)(FRAME))


def forged(tmp_path, model, edit):
    """Dump a model with another description, and load it."""
    path = tmp_path / "model.skops"
    skops.dump(model, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    edit(schema, members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, "schema.json": json.dumps(schema).encode()}.items():
            archive.writestr(name, content)
    return skops.load(path, trusted=hietan.skops_types())


def test_a_forged_cycle_is_refused(tmp_path):
    hierarchy = hietan.Hierarchy.from_edges([("a", "b"), ("b", "c")])

    def turn(schema, members):
        child = schema["content"]["content"]["child"]["file"]
        parent = schema["content"]["content"]["parent"]["file"]
        members[child], members[parent] = members[parent], members[child]
        members[child] = members[parent]

    with pytest.raises(ValueError, match="its own parent"):
        forged(tmp_path, hierarchy, turn)


def test_forged_counts_are_refused(tmp_path):
    model = classifier("HieTANLite").fit(DATA.X, DATA.y)

    def edit(schema, members):
        schema["content"]["content"]["n_features_in_"] = {
            **schema["content"]["content"]["n_features_in_"],
            "content": "7",
        }

    with pytest.raises(ValueError, match="n_features_in_ disagree"):
        forged(tmp_path, model, edit)
    model.counts_ = replace(model.counts_, pairs=np.full_like(model.counts_.pairs, -1))
    with pytest.raises(ValueError, match="pairs"):
        skops.loads(skops.dumps(model), trusted=hietan.skops_types())


def test_a_state_cannot_replace_the_checks():
    model = classifier("TAN").fit(DATA.X, DATA.y)
    for name in ("_check_fitted", "_check_parameters", "_stored"):
        with pytest.raises(ValueError, match=f"not part of the state of TAN: .'{name}'"):
            clone(model).__setstate__({**model.__getstate__(), name: bool})


def test_a_root_order_of_another_integer_type_is_restored():
    """Of 32 bits where NumPy draws it on Windows."""
    model = classifier("TAN").fit(DATA.X, DATA.y)
    model.root_order_ = model.root_order_.astype(np.int32)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))


def test_pickles_have_the_same_state():
    model = classifier("HieTANLite").fit(DATA.X, DATA.y)
    model.predict(DATA.X)
    assert "_structure" not in model.__getstate__()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))
    state = DATA.hierarchy.__getstate__()
    with pytest.raises(ValueError, match="cycle"):
        hietan.Hierarchy.__new__(hietan.Hierarchy).__setstate__(
            {**state, "parent": np.array([0, 1]), "child": np.array([1, 0])}
        )
