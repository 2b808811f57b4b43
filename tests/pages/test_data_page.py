"""The examples of docs/data.md give what the page says."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


@pytest.mark.filterwarnings("ignore:2 of 4 label rows have an id with a different label")
def test_examples_of_the_page():
    pytest.importorskip("pandas")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert failed == 0 and tried > 5
