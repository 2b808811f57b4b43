"""docs/references.md says of every cited method where it is in hietan."""

import re
from pathlib import Path

import hietan
from support.families import CLASSIFIERS

PAGE = (Path(__file__).parents[2] / "docs" / "references.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Methods for hierarchical features")[2].partition("\n## ")[0]
NEW = {"HieBAN", "HieLogistic"}
OTHER = {"AODE"}  # a method without a hierarchy that the paper does not cite


def cells(table):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\|.*\|$", table, re.MULTILINE)[2:]
    ]


def test_every_classifier_has_a_reference():
    named = {
        name for row in cells(PAGE.partition("## Methods for")[0]) for name in re.findall(r"`(\w+)`", row[0])
    }
    assert {make.__name__ for make in CLASSIFIERS} <= named


def test_cited_methods_are_in_hietan_or_have_a_reason():
    found = set()
    for paper, method, where, note in cells(TABLE):
        assert paper and method and (note or where != "no"), f"no reason is given: {method}"
        found |= set(re.findall(r"`(\w+)`", where))
        assert all(hasattr(hietan, name) for name in re.findall(r"`(\w+)`", where + note)), method
    assert found == {make.__name__ for make in CLASSIFIERS} - NEW - OTHER | {"SHSEL"}


def test_the_methods_that_the_paper_cites_are_listed():
    """The methodological references of arXiv 2202.04105, by their first authors and years."""
    cited = (
        "Friedman.*1997",
        "Mairal, Jenatton.*2010",
        r"Jenatton, J\. Mairal.*2011",
        r"Jenatton, J\. Audibert.*2011",
        r"Mairal and B\. Yu.*2013",
        "Ristoski.*2014",
        "Wan, Freitas & de Magalhães 2015",
        r"Wan and A\. A\. Freitas \(2015",
        "Wan & Freitas 2016",
        "da Silva.*2018",
        "da Silva.*2020",
        "Wan & Freitas 2020",
    )
    papers = [row[0] for row in cells(TABLE)]
    assert [name for name in cited if not any(re.search(name, paper) for paper in papers)] == []
