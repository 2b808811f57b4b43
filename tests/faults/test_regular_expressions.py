"""No regular expression of the package takes more than linear time, whatever the text."""

import ast
import re
import time
from pathlib import Path

import pytest

from support.faults import Faults

SOURCE = Path(__file__).parents[2] / "src" / "hietan"
pytestmark = pytest.mark.source
LENGTH = 100_000
SECONDS = 1.0  # of CPU time; a quadratic search of such a text takes a minute
# Text that each expression almost matches, again and again. A new expression needs a line here.
ADVERSARIES = {
    r"(?<!\s)\s+(?:!(?:\s.*)?|\{[^{}]*\}\s*(?:!\s.*)?)$": (
        " ",
        " b!",
        " {",
        " {}",
        " {} ",
        " !x",
        "{} !x",
        "\t !",
    ),
    r"\\(.)": ("\\", "\\n", "\\\\"),
    r"[!{\s]": ("x", "!", "{ "),
    r"!\s*([\w-]+):\s+(\S.*)": ("!", "! ", "!a", "! a:", "!a: ", "!-"),
    r"[| ]": ("|", " x"),
    r"\.tmp-[0-9]+-(?P<host>[0-9a-f]{8})-[0-9]+": (
        ".tmp-",
        ".tmp-1",
        ".tmp-1-",
        ".tmp-1-00000000-",
        "1",
        "0-",
    ),
}


def expressions():
    """The literal patterns that the package gives to `re`."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                yield ast.literal_eval(node.args[0])


def test_each_takes_linear_time():
    faults = Faults("regular expressions")
    assert set(expressions()) == set(ADVERSARIES)
    for pattern, units in ADVERSARIES.items():
        for unit in units:
            for before, after in (("", ""), ("!a:", "\n"), ("a", "b!"), (unit[0], "x"), ("! ", "}")):
                text = before + unit * (LENGTH // len(unit)) + after
                start = time.process_time()
                for search in (re.match, re.search, re.split):
                    search(pattern, text)
                re.sub(pattern, "", text)
                seconds = time.process_time() - start
                faults.injected += 1
                faults.slowest = max(faults.slowest, seconds)
                if seconds > SECONDS:
                    faults.note("foreign", f"{pattern} on {unit!r}: {seconds:.1f} s")
    faults.finish()
