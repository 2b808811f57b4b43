"""`hietan fit --no-row-names`, what `hietan info` says about a file, and `--match none`."""

import json
from dataclasses import replace

import numpy as np
import pytest

from hietan.datasets import make_hierarchical_classification
from hietan.models import Model
from hietan.models.names import HashedNames


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("private")
    data = make_hierarchical_classification(300, 60, density=0.3, random_state=1)
    names = tuple(f"patient-{i}" for i in range(300))
    data = replace(data, row_noun="patient", instance_names=names)
    known = data.subset(rows=slice(200))
    data.save(folder / "all.hietan")
    known.save(folder / "known.hietan")
    others = np.tile(np.arange(200, 300), 2)
    replace(known, X=data.X[others], y=data.y[others]).save(folder / "again.hietan")
    for name, words in {"named": (), "private": ("--no-row-names",), "bare": ("--no-validate",)}.items():
        result = run("fit", folder / "known.hietan", *words, "-o", folder / name)
        assert result.exit_code == 0, result.output
    return folder


def words(result):
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_info_says_what_the_file_tells_about_rows(run, folder):
    assert (
        "For each of 200 training patients, the file contains the name, the class, a hash of the features and their "
        "number. It also contains 200 held-out scores. To leave out the names, use hietan fit --no-row-names."
    ) in words(run("info", folder / "named"))
    private = words(run("info", folder / "private"))
    assert "patient-1" not in private
    assert (
        "For each of 200 training patients, the file contains the class, a hash of the features and their number. It "
        "also contains hashes of the names in another order and 200 held-out scores."
    ) in private
    stored = json.loads(run("info", folder / "private", "--json").output)["stored"]
    assert stored == {
        "row_names": 0,
        "hashed_names": True,
        "labels": 200,
        "feature_hashes": 200,
        "held_out_scores": 200,
    }
    assert json.loads(run("info", folder / "bare", "--json").output)["stored"]["held_out_scores"] == 0


def test_rows_are_recognised_without_names(run, folder, tmp_path):
    out = tmp_path / "ranked.csv"
    said = words(run("predict", folder / "private", folder / "all.hietan", "-o", out))
    assert "100 candidates of 300 patients; 200 training patients are listed last" in said
    assert isinstance(Model.load(folder / "private").training.names, HashedNames)


@pytest.mark.parametrize("model", ["named", "private"])
def test_ids_that_are_used_again(run, folder, tmp_path, model):
    call = ("predict", folder / model, folder / "again.hietan", "-o", tmp_path / "ranked.csv")
    said = words(run(*call))
    assert "warning: 200 of 200 patients of synthetic have the id of a training patient, but" in said
    assert "have other terms" in said and "--match none" in said
    said = words(run(*call, "--match", "none"))
    assert "200 candidates of 200 patients" in said and "warning" not in said
    assert words(run("evaluate", folder / model, folder / "again.hietan", "--match", "none"))
    refused = run("evaluate", folder / model, folder / "again.hietan")
    assert refused.exit_code == 2 and "--match none" in " ".join(refused.output.split())


def test_unlabelled_rows_need_names(run, folder):
    call = ("fit", folder / "known.hietan", "--unlabelled", "class0", "--no-row-names", "-o", folder / "none")
    result = run(*call)
    assert result.exit_code == 2 and "--no-row-names does not apply to unlabelled rows" in result.output
