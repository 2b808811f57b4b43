"""Provenances with entries of another shape: one line that says what is wrong, in the library and in commands."""

import json

import pytest

import hietan
from hietan.catalogue import make_estimator
from hietan.datasets import Dataset, build_dataset
from hietan.exceptions import DataError, ModelFileError
from hietan.models import Model, train_model
from support.faults import forgery
from support.faults.archives import rewrite

FORGED = {
    "options": [5, [], "x", {"namespaces": 5}, {"drop_terms": 5}, {"relations": {}}, {"taxon": [1]}],
    "aliases": [5, {"a": 5}, {"a": [5]}, {"a": "bc"}],
    "account": [
        5,
        {"labels": 5},
        {"labels": {}},
        {"labels": {"read": 1, "used": "x"}},
        {"labels": {"read": 1, "used": 1, "dropped": 5}},
        {"labels": {"read": 1, "used": 1, "changed": {"a": "b"}}},
    ],
    "detected": [5, "x", [5], {}],
    "files": [5, "x"],
    "versions": [[], True],
    "labels": [5],
}
CASES = [(part, value) for part, values in FORGED.items() for value in values]
OF_MODELS = [(part, value) for part, value in CASES if part in ("options", "files", "versions", "aliases")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    rows = {f"r{i}": [["a1"], ["b1"]][i % 2] for i in range(20)}
    labels = {name: "yn"[i % 2] for i, name in enumerate(rows)}
    data = build_dataset([("top", "a"), ("top", "b"), ("a", "a1"), ("b", "b1")], rows, labels)
    data.save(folder / "data")
    train_model(make_estimator("hie-ban"), data).save(folder / "model")
    return folder


@pytest.mark.parametrize(("part", "value"), CASES, ids=map(str, CASES))
def test_a_dataset_is_refused(folder, tmp_path, run, part, value):
    path = tmp_path / "data"
    path.write_bytes((folder / "data").read_bytes())
    provenance = json.loads(forgery.unpack(path.read_bytes())["provenance.json"])
    rewrite(path, provenance=json.dumps(provenance | {part: value}).encode())
    with pytest.raises(DataError, match=str(path)):
        Dataset.load(path)
    result = run("info", path)
    said = " ".join(result.output.split())
    assert result.exit_code == 2 and ("the provenance" in said or "the alias" in said)


@pytest.mark.parametrize(("part", "value"), OF_MODELS, ids=map(str, OF_MODELS))
def test_a_model_is_refused(folder, tmp_path, run, part, value):
    path = tmp_path / "model"
    path.write_bytes((folder / "model").read_bytes())
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    about["metadata"]["provenance"][part] = value
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError, match=str(path)):
        Model.load(path)
    assert run("predict", path, "-").exit_code == 2


@pytest.mark.parametrize("positive", [5, ["y"], "z"])
def test_the_positive_class_is_one_of_the_classes(folder, tmp_path, positive):
    path = tmp_path / "model"
    path.write_bytes((folder / "model").read_bytes())
    about = json.loads(forgery.unpack(path.read_bytes())["about.json"])
    about["metadata"]["positive"] = positive
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError, match="does not describe its model correctly .*positive is"):
        Model.load(path)


def test_a_file_with_a_classifier_alone_says_what_it_is(folder, tmp_path, run):
    hietan.save(Model.load(folder / "model").classifier, tmp_path / "classifier")
    result = run("predict", tmp_path / "classifier", "-")
    assert result.exit_code == 2 and "contains only a classifier" in " ".join(result.output.split())
    assert "_MISSING_TYPE" not in result.output
