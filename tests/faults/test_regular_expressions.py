"""No regular expression of the package takes more than linear time, whatever the text."""

import ast
import re
import time
from pathlib import Path

import pytest

from support.faults import Faults

SOURCE = Path(__file__).parents[2] / "src" / "hietan"
pytestmark = pytest.mark.source
LENGTH = 40_000
SECONDS = 1.0  # of CPU time; a quadratic search of such a text takes ten times as long
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
    r"[;|,]": (";", "x|", ", "),
    r"[\t,;]": ("\t", "x,", ";"),
    r"_": ("_", "x"),
    r"[^0-9a-z]+": (" ", "a ", "_-"),
    r"[^\W\d_]+": ("a", "abc ", "abcd1"),
    r"[\w-]{1,80}: |\[": ("a", "a:", "-", "["),
    r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?": ("1", "1.", ".", "+", "1e", "1e+"),
    r"=\[([^,]{1,40}), ([^,]{1,40})\)": ("=", "=[", "=[a, ", "[", "=[a, b"),
    "(item|row|gene|object|sample|patient|instance|disease|database|product|entity|subject)(_id)?|id|sku": (
        "item_",
        "row",
        "i",
        "s",
    ),
    "(term|code|go|hpo|feature|annotation|concept|icd|icd10|tag|node)s?(_ids?)?|categor(y|ies)|go_terms": (
        "go_",
        "icd1",
        "categor",
        "terms_id",
    ),
    "symbol|name|(item|gene|disease)_(name|symbol)": ("item_", "gene_nam", "symbo"),
    "qualifier": ("qualifie",),
    "evidence(_code)?": ("evidence_", "evidenc"),
    r"parents?(_id|_term|_code|_\w+_id)?|broader|superclass|is_a|above": ("parent", "parents_", "_id", "is_"),
    r"child(ren)?(_id|_term|_code|_\w+_id)?|narrower|subclass|below": (
        "child",
        "childre",
        "children_",
        "_id",
    ),
    "namespace|aspect": ("namespac", "aspect"),
    "aspect|namespace|reference|date|taxon": ("aspec", "dat", "reference"),
    r"0(\.0{0,6})? ?(%|/ ?\d{1,9})|HP:0040285": ("0", "0.", "0 ", "0/", "0/1", "HP:"),
    "(term|node|code|category|item|feature|concept)(_id)?|id": ("term_", "categor", "i"),
    "(child_|term_)?name|label|title|description": ("child_", "term_nam", "labe"),
    "relation(ship)?|predicate": ("relation", "relationshi", "predicat"),
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
                nothing = ""
                if isinstance(pattern, bytes):
                    text, nothing = text.encode("latin-1"), b""
                start = time.process_time()
                for search in (re.match, re.search, re.split):
                    search(pattern, text)
                re.sub(pattern, nothing, text)
                seconds = time.process_time() - start
                faults.injected += 1
                faults.slowest = max(faults.slowest, seconds)
                if seconds > SECONDS:
                    faults.note("foreign", f"{pattern} on {unit!r}: {seconds:.1f} s")
    faults.finish()
