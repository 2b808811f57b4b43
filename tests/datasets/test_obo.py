import io

import pytest

from hietan.datasets import Term, read_obo
from hietan.exceptions import DataError, DataWarning

TEXT = """format-version: 1.2
data-version: releases/2014-06-13
default-namespace: gene_ontology

[Term]
id: GO:1
name: whole
namespace: biological_process

! a comment on its own line: skipped
[Term]
id: GO:2
name: part of it
alt_id: GO:20
alt_id: GO:21 {why="merged"}
def: "is_a: GO:9 in a definition is text" [x:y]
is_a: GO:1 ! whole
relationship: part_of GO:1 ! whole

[Term]
id: GO:3
name: odd \\{name\\}\\, really \\! {source="x"} ! and more
is_a: GO:1 {is_inferred="true"} ! whole
is_a: GO:2{gci="yes"}

[Term]
id: GO:4
name: obsolete thing
is_obsolete: true

[Typedef]
id: part_of
name: part of
is_a: GO:1
"""


def test_terms_and_header():
    ontology = read_obo(io.StringIO(TEXT))
    assert ontology.version == "releases/2014-06-13"
    assert list(ontology.terms) == ["GO:1", "GO:2", "GO:3", "GO:4"]
    assert ontology.terms["GO:1"] == Term("GO:1", "whole", "biological_process")
    assert ontology.terms["GO:2"] == Term(
        "GO:2",
        "part of it",
        "gene_ontology",
        is_a=("GO:1",),
        alt_ids=("GO:20", "GO:21"),
        relationships=(("part_of", "GO:1"),),
    )
    assert ontology.terms["GO:3"].name == "odd {name}, really !"
    assert ontology.terms["GO:3"].is_a == ("GO:1", "GO:2")
    assert [term.id for term in ontology.terms.values() if term.is_obsolete] == ["GO:4"]


def test_hierarchy_holds_every_term_and_undefined_parents():
    text = TEXT.replace("is_a: GO:2{", "is_a: GO:77{")
    hierarchy = read_obo(io.StringIO(text)).hierarchy
    assert hierarchy.features == ("GO:1", "GO:2", "GO:3", "GO:4", "GO:77")
    parents = hierarchy.adjacency.toarray()[:, hierarchy.index("GO:3")]
    assert [hierarchy.features[i] for i in parents.nonzero()[0]] == ["GO:1", "GO:77"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no .Term. stanza"),
        ("[Typedef]\nid: part_of\n", "no .Term. stanza"),
        ("[Term]\nid: A\n\n[Term]\nname: b\n", "o.obo, line 4: expected one id"),
        ("[Term]\nid: A\n\n[Term]\nid: A\n", "o.obo, line 4: an earlier .Term. has the same id, A"),
        ("[Term]\nid: A\nid: B\n", "o.obo, line 1: expected one id"),
        ("[Term]\nid: ! nothing\n", "o.obo, line 2: the id after 'id:' is missing"),
        ("[Term]\nid: A\nis_a: {x}\n", "o.obo, line 3: the id after 'is_a:' is missing"),
        (
            "[Term]\nid: A\nrelationship: part_of ! x\n",
            "o.obo, line 3: expected 'relationship: <relation> <term>'",
        ),
    ],
)
def test_malformed_files_are_named(tmp_path, text, message):
    path = tmp_path / "o.obo"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_obo(path)


def test_real_ontology(real_data):
    ontology = read_obo(f"{real_data}/ageing-2014/gene_ontology_ext_13062014.obo.zip")
    assert ontology.version == "releases/2014-06-13"
    assert len(ontology.terms) == 41209
    ageing = ontology.terms["GO:0007568"]
    assert (ageing.name, ageing.namespace) == ("aging", "biological_process")
    assert {p for term in ontology.terms.values() for p in term.is_a} <= set(ontology.terms)
    roots = [t.id for t in ontology.terms.values() if not t.is_a and not t.is_obsolete]
    assert sorted(roots) == ["GO:0003674", "GO:0005575", "GO:0008150"]


RETIRED = """[Term]
id: GO:1
name: living
namespace: biological_process

[Term]
id: GO:2
name: retired
is_obsolete: true
replaced_by: GO:3

[Term]
id: GO:3
alt_id: GO:30
is_obsolete: true
replaced_by: GO:1

[Term]
id: GO:4
is_obsolete: true
consider: GO:1
consider: GO:2

[Term]
id: GO:5
is_obsolete: true
replaced_by: GO:6

[Term]
id: GO:6
is_obsolete: true
replaced_by: GO:5

[Term]
id: GO:7
is_obsolete: true
replaced_by: GO:99
"""


def test_retired_terms_lead_to_their_successors():
    ontology = read_obo(io.StringIO(RETIRED))
    assert ontology.terms["GO:2"].replaced_by == ("GO:3",)
    assert ontology.terms["GO:4"].consider == ("GO:1", "GO:2")
    found = {term: ontology.successor(term) for term in [*ontology.terms, "GO:30", "GO:99"]}
    assert found == {
        "GO:1": "GO:1",
        "GO:2": "GO:1",
        "GO:3": "GO:1",
        "GO:30": "GO:1",
        **dict.fromkeys(["GO:4", "GO:5", "GO:6", "GO:7", "GO:99"]),
    }


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a  ! b", "a"),
        ("a !", "a"),
        ("a !b", "a !b"),
        ("a! b", "a! b"),
        ("a  {x}", "a"),
        ("a {x}  ! b", "a"),
        ("a {x} !b", "a {x} !b"),
        ("a {x} b", "a {x} b"),
        ("a {x} {y}", "a {x}"),
        ("a {x{y}", "a {x{y}"),
        ("a   b \t ! c ! d", "a   b"),
    ],
)
def test_trailing_modifiers_and_comments_are_no_part_of_a_name(value, name):
    assert read_obo(io.StringIO(f"[Term]\nid: A\nname: {value}\n")).terms["A"].name == name


def test_a_file_that_ends_within_a_line_is_noticed(tmp_path):
    cut = tmp_path / "cut.obo"
    cut.write_text(TEXT[: TEXT.index("really")])
    with pytest.warns(DataWarning, match=r"cut\.obo: the last line, 22, has no line break.*may be truncated"):
        assert list(read_obo(cut).terms) == ["GO:1", "GO:2", "GO:3"]


def test_parents_that_are_not_defined_are_known():
    ontology = read_obo(io.StringIO("[Term]\nid: A\nis_a: B\nrelationship: part_of C\n[Term]\nid: B\n"))
    assert ontology.undefined_parents() == []
    assert ontology.undefined_parents(["is_a", "part_of"]) == [("C", "A")]
    assert read_obo(io.StringIO(TEXT)).undefined_parents() == []


def test_hierarchy_of_several_relations():
    text = "".join(f"[Term]\nid: {i}\n" for i in "ABC") + "is_a: B\nrelationship: part_of A\n"
    ontology = read_obo(io.StringIO(text))
    assert ontology.relations == ("is_a", "part_of")
    assert ontology.hierarchy.edges == (("B", "C"),)
    assert ontology.hierarchy_of(["is_a", "part_of"]).edges == (("A", "C"), ("B", "C"))
    assert ontology.hierarchy_of("part_of").edges == (("A", "C"),)
    with pytest.raises(ValueError, match="no relation 'regulates'; its relations are is_a, part_of"):
        ontology.hierarchy_of(["regulates"])


def test_a_cycle_is_named_with_file_and_line(tmp_path):
    """The first term has an id that is a part of the message's words."""
    path = tmp_path / "round.obo"
    path.write_text(
        "[Term]\nid: e\n\n[Term]\nid: X:2\nis_a: X:3\n\n[Term]\nid: X:3\nrelationship: has_part X:2\n"
    )
    ontology = read_obo(path)
    assert len(ontology.hierarchy) == 3
    message = (
        "round.obo, line 4: the edges form a cycle; remove one of them: X:2 -> X:3 -> X:2; "
        "the relations are is_a, has_part, so omit one of them"
    )
    with pytest.raises(DataError, match=message):
        ontology.hierarchy_of(["is_a", "has_part"])
