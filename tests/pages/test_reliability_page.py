"""The table of docs/reliability.md comes from reliability.csv, and the tests that it names exist."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("reliability", ROOT / "reproduction" / "reliability.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_the_counts(script):
    shown = PAGE.partition("<!-- faults -->\n")[2].partition("<!-- end of faults -->")[0]
    assert shown == script.table(script.read())


def test_every_promise_on_the_page_was_put_to_the_test_and_kept(script):
    rows, promised = script.read(), [(promise.text, promise.test) for promise in script.PROMISES]
    assert rows and all((row["promise"], row["test"]) in promised for row in rows)
    for row in rows:
        assert int(row["faults"]) > 0 and row["lost"] == row["changed"] == row["foreign"] == "0"


def test_the_tests_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 15
    for path, function in named:
        assert f"def {function}" in (ROOT / path).read_text(encoding="utf-8")
