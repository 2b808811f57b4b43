"""The tables and versions of docs/file-formats.md are those of the files that hietan writes."""

import re
from dataclasses import fields
from pathlib import Path

from hietan import HieBAN
from hietan.datasets import make_hierarchical_classification
from hietan.models import Candidate, train_model
from hietan.models.model import _content
from hietan.persistence._files import VERSION

PAGE = (Path(__file__).parents[2] / "docs" / "file-formats.md").read_text(encoding="utf-8")


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_version_of_model_files_is_stated():
    stated = re.search(
        r"names the format \(\"hietan model\"\) and its\s+version, (\d+)\.", section("Model files")
    )
    assert int(stated[1]) == VERSION


def test_every_column_of_the_ranked_table_is_described():
    first_cells = re.findall(r"^\| (`.*?) \|", section("Predictions and candidates"), re.MULTILINE)
    described = re.findall(r"`(\w+)`", " ".join(first_cells))
    assert sorted(described) == sorted(field.name for field in fields(Candidate))


def test_every_entry_of_a_model_file_is_described():
    data = make_hierarchical_classification(60, 20, random_state=0)
    content = _content(train_model(HieBAN(), data))
    entries = {*content, *(f"training.{name}" for name in content.pop("training"))} - {"training"}
    first_cells = re.findall(r"^\| (`.*?) \|", section("Model files"), re.MULTILINE)
    described = re.findall(r"`([\w.]+)`", " ".join(first_cells))
    assert sorted(described) == sorted(entries)
    (parts,) = re.findall(r"^\| `held_out` \| (.*?) \|$", section("Model files"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", parts)) == set(content["held_out"])
