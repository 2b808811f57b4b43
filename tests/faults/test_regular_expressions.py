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
    r"\b\d{4}-\d{2}-\d{2}\b": ("2", "2019-", "2019-01", "2019-01-0"),
    r"\\(.)": ("\\", "\\n", "\\\\"),
    r"[!{\s]": ("x", "!", "{ "),
    r"!\s*([\w-]+):\s+(\S.*)": ("!", "! ", "!a", "! a:", "!a: ", "!-"),
    r"[| ]": ("|", " x"),
    r"[;|,]": (";", "x|", ", "),
    r"[\t,;]": ("\t", "x,", ";"),
    r"_": ("_", "x"),
    r"[\t,;]|[=-]>|^>|>$|>>": ("a>", "-", "=", "a"),
    r"[^0-9a-z]+": (" ", "a ", "_-"),
    r"[^\W\d_]+": ("a", "abc ", "abcd1"),
    r"[\w-]{1,80}: |\[": ("a", "a:", "-", "["),
    r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?": ("1", "1.", ".", "+", "1e", "1e+"),
    r"=\[([^,]{1,40}), ([^,]{1,40})\)": ("=", "=[", "=[a, ", "[", "=[a, b"),
    "(item|row|gene|object|sample|patient|person|instance|disease|database|product|entity|subject)(_id)?|id|sku": (
        "item_",
        "row",
        "i",
        "s",
    ),
    "(term|code|go|hpo|feature|annotation|concept|icd|icd10|tag|node)s?(_ids?)?|categor(y|ies)|go_terms"
    "|(condition|drug|procedure|measurement|observation|device)_concept_id": (
        "go_",
        "icd1",
        "categor",
        "terms_id",
    ),
    "symbol|name|(item|gene|disease)_(name|symbol)": ("item_", "gene_nam", "symbo"),
    "qualifier": ("qualifie",),
    "evidence(_code)?": ("evidence_", "evidenc"),
    r"parents?(_id|_term|_code|_\w{1,60}_id)?|broader|superclass|is_a|above|ancestor(_\w{0,60}id)?": (
        "parent",
        "parents_",
        "_id",
        "is_",
        "ancestor_",
    ),
    r"child(ren)?(_id|_term|_code|_\w{1,60}_id)?|narrower|subclass|below|descendant(_\w{0,60}id)?": (
        "child",
        "childre",
        "children_",
        "_id",
        "descendant_",
    ),
    "namespace|aspect": ("namespac", "aspect"),
    "aspect|namespace|reference|date|taxon": ("aspec", "dat", "reference"),
    r"0(\.0{0,6})? ?(%|/ ?\d{1,9})|HP:0040285": ("0", "0.", "0 ", "0/", "0/1", "HP:"),
    "(term|node|code|category|item|feature|concept)(_id)?|id": ("term_", "categor", "i"),
    "(child_|term_)?name|label|title|description": ("child_", "term_nam", "labe"),
    "relation(ship)?|predicate": ("relation", "relationshi", "predicat"),
    "(min_)?(distance|levels_of_separation)": ("min_", "distanc", "levels_of_"),
    "label|class|target|outcome|cohort_definition_id": ("labe", "cohort_"),
    r"(?:[a-z]{1,2}|D_\d{1,2})__": ("a", "a_", "D_1", "aa_"),
    r"([A-Z]?\d[0-9A-Z]{1,2})-([A-Z]?\d[0-9A-Z]{1,2})": ("A", "E11", "E11-", "1-"),
    r"(?:^|[\t,\"])(?:d|k|sk|D_0)__[^;|\t,]{0,200}([;|])": ("k__", "\tk__", ",d__a", "sk_"),
    r"(?:[A-Z]|[A-Z]?\d[0-9A-Z]{0,11}(?:[./-][0-9A-Z]{1,12}){0,20})(?:\.-)?": (
        "A",
        "1",
        "1.",
        "1-A",
        "E11.9-",
    ),
    r"(\d{1,18}|\w{1,20}://\S{1,200})\s{1,60}[-:] (.*)": ("1", "a", "a://", "1 ", "1 -", " "),
    r"(\w{1,60}_)?(path|taxon|taxonomy|lineage|codes?|tree_numbers?|categor(y|ies)|icd\w{0,4}|atc|naics|phecode)": (
        "a",
        "_",
        "a_",
        "pat",
        "icd",
    ),
    r"(\w{1,60}_)?(id|name|title|description|descriptor|heading|phenotype|label)": ("a", "_", "a_", "nam"),
}


def expressions():
    """The literal patterns that the package gives to `re`."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                yield ast.literal_eval(node.args[0])


def test_each_has_an_adversary():
    assert set(expressions()) == set(ADVERSARIES)


@pytest.mark.patient
def test_each_takes_linear_time():
    faults = Faults("regular expressions")
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
