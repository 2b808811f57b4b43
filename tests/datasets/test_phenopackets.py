"""Phenopackets as annotations: what is excluded does not count, contradictions are named, damage has a place."""

import json

import pytest

from hietan.datasets import build_dataset, read_annotations
from hietan.exceptions import DataError, DataWarning

EDGES = [("HP:1", "HP:2"), ("HP:2", "HP:3"), ("HP:1", "HP:4")]


def packet(name, observed=(), excluded=(), subject=None):
    features = [{"type": {"id": term, "label": "x"}} for term in observed]
    features += [{"type": {"id": term}, "excluded": True} for term in excluded]
    return {"id": name, "subject": {"id": subject or name}, "phenotypicFeatures": features, "metaData": {}}


def write(folder, *packets):
    folder.mkdir(exist_ok=True)
    for each in packets:
        (folder / f"{each['id']}.json").write_text(json.dumps(each, indent=1))
    return folder


def test_a_folder_is_a_dataset(tmp_path):
    folder = write(
        tmp_path / "packets",
        packet("b", ["HP:4"], ["HP:2"]),
        packet("a", ["HP:3"], subject="Proband 1"),
        packet("c"),
    )
    write(folder / "more", packet("d", ["HP:2", "HP:4"]))
    with pytest.warns(
        DataWarning, match="1 of 4 phenopackets have no phenotypic features and add no annotations: 'c'"
    ):
        data = build_dataset(
            EDGES, folder, {"Proband 1": "x", "b": "y", "d": "x"}, min_support=1, drop_roots=False
        )
    rows = {
        n: {data.feature_names[j] for j in data.X[[i]].indices} for i, n in enumerate(data.instance_names)
    }
    assert rows == {
        "Proband 1": {"HP:1", "HP:2", "HP:3"},
        "b": {"HP:1", "HP:4"},
        "d": {"HP:1", "HP:2", "HP:4"},
    }
    assert data.row_noun == "patient" and data.provenance["account"]["annotations"] == {
        "read": 5,
        "used": 4,
        "dropped": {"NOT: states the opposite": 1},
    }
    files = ["packets/a.json", "packets/b.json", "packets/c.json", "packets/more/d.json"]
    assert sorted(data.provenance["files"]) == files


def test_an_excluded_phenotype_above_an_observed_one_is_reported(tmp_path):
    folder = write(tmp_path / "p", packet("a", ["HP:3"], ["HP:2"]), packet("b", ["HP:4"], ["HP:3"]))
    message = r"1 of 2 excluded terms contradict an observed term and are ignored \(first: a excludes HP:2,"
    with pytest.warns(DataWarning, match=message):
        data = build_dataset(EDGES, folder, min_support=1)
    assert "HP:3" in data.feature_names


def test_single_files_cohorts_and_version_1(tmp_path):
    old = packet("a", ["HP:3"])
    old["phenotypicFeatures"].append({"type": {"id": "HP:4"}, "negated": True})
    for name, content in (
        ("one.json", old),
        ("cohort.json", {"id": "all", "members": [old, packet("b", ["HP:2"])]}),
    ):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-16")
        found = [(each.object_id, each.term, each.negated) for each in read_annotations(tmp_path / name)]
        assert found[:2] == [("a", "HP:3", False), ("a", "HP:4", True)] and len(found) == (
            3 if "c" in name else 2
        )


def test_a_family_is_its_proband_and_relatives(tmp_path):
    family = {"id": "f", "proband": packet("a", ["HP:3"]), "pedigree": {}}
    found = []
    for relatives in ({}, {"relatives": [packet("mother", ["HP:4"])]}):
        (tmp_path / "family.json").write_text(json.dumps(family | relatives))
        found.append([(each.object_id, each.term) for each in read_annotations(tmp_path / "family.json")])
    assert found == [[("a", "HP:3")], [("a", "HP:3"), ("mother", "HP:4")]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{\n"id": "a",\n"phenotypicFeatures": [{]\n}',
            "bad.json, line 3: the phenopacket is not valid JSON \\(Expecting",
        ),
        ('{"id": "a", "phenotypicFeatures": [\n', "bad.json, line 1: the phenopacket is not valid JSON"),
        (
            '{"id": "a", "id": "b"}',
            "bad.json: the phenopacket is not valid JSON \\(the key 'id' occurs twice in an object",
        ),
        ('{"id": 12}', "expected an object with 'id', of type str; got {'id': 12}"),
        ('{"id": null}', "expected an object with 'id', of type str"),
        ('{"id": "a", "phenotypicFeatures": null}', "with 'phenotypicFeatures', of type list"),
        ('{"id": "a", "phenotypicFeatures": [["HP:1"]]}', r"with 'type', of type dict; got \['HP:1'\]"),
        ('{"id": "a", "phenotypicFeatures": [{"type": {"id": 3}}]}', "with 'id', of type str; got {'id': 3}"),
        (
            '{"id": "a", "phenotypicFeatures": [{"type": {"id": "x"}, "excluded": "no"}]}',
            "'excluded', of type bool",
        ),
        ("[" * 100_000, "the phenopacket is not valid JSON"),
        ('["a"]', "expected an object with 'id'"),
    ],
)
def test_damaged_packets(text, message, tmp_path):
    folder = write(tmp_path / "p", packet("fine", ["HP:3"]))
    (folder / "bad.json").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        build_dataset(EDGES, folder)
    assert str(folder / "bad.json") in str(caught.value)


def test_repeated_ids_and_empty_folders(tmp_path):
    folder = write(tmp_path / "p", packet("a", ["HP:3"]))
    write(folder / "q", packet("a", ["HP:4"]))
    with pytest.raises(
        DataError, match=r"q/a.json: the id 'a' is already used by a phenopacket in .*p/a.json"
    ):
        build_dataset(EDGES, folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DataError,
        match="empty: the folder contains no .json files; expected one phenopacket in each .json file",
    ):
        build_dataset(EDGES, tmp_path / "empty")
