"""`summary.json` is as its schema says."""

import json
from pathlib import Path

import pytest
from sklearn.model_selection import KFold

from hietan import HIPNB, TAN
from hietan.catalogue import load_datasets
from hietan.evaluation import run_study

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "summary.schema.json").read_text(encoding="utf-8"))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
TYPES["boolean"] = bool


def problems(value, schema, where="summary"):
    """What is wrong with a value, by the part of JSON Schema that the schema uses."""
    known = {"$schema", "title", "description", "type", "enum", "required", "properties", "items"}
    assert schema.keys() <= known | {"additionalProperties"}, where
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not one of {schema['enum']}"
    names = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", list(TYPES))
    if not any(
        isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool) for name in names
    ):
        yield f"{where}: {value!r:.40} is not of type {names}"
    elif isinstance(value, dict):
        yield from (f"{where}: no {name}" for name in schema.get("required", ()) if name not in value)
        for name, part in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            if inner is False:
                yield f"{where}: unknown entry {name}"
            else:
                yield from problems(part, inner, f"{where}.{name}")
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from problems(part, schema.get("items", {}), f"{where}[{i}]")


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run_study(
        load_datasets(["synthetic-0", "synthetic-1"]), {"TAN": TAN(), "HIP": HIPNB()}, cv=2, output=folder
    )
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_a_summary_is_as_the_schema_says(summary):
    assert list(problems(summary, SCHEMA)) == [] and summary["format"] == 1


def test_folds_of_a_splitter_are_in_words(summary, tmp_path):
    run_study(load_datasets(["synthetic-0"]), {"HIP": HIPNB()}, cv=KFold(2), output=tmp_path)
    own = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert own["study"]["cv"].startswith("KFold(") and summary["study"]["cv"] == 2
    assert list(problems(own, SCHEMA)) == []
    assert list(problems({**own, "study": {**own["study"], "cv": 2.5}}, SCHEMA))


def test_the_schema_notices_what_is_wrong(summary):
    for change in ({"jobs_failed": "none"}, {"extra": 1}, {"format": 9}, {"summary": [{"dataset": 1}]}):
        assert list(problems({**summary, **change}, SCHEMA))
