"""The tables and versions of docs/file-formats.md are those of the files that hietan writes."""

import re
from dataclasses import fields
from pathlib import Path

from hietan.candidates import Candidate
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
