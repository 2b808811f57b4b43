import gzip
import io
import zipfile

import pytest

from hietan.datasets import Term, read_obo

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
        "GO:2", "part of it", "gene_ontology", is_a=("GO:1",), alt_ids=("GO:20", "GO:21")
    )
    assert ontology.terms["GO:3"].name == "odd {name}, really !"
    assert ontology.terms["GO:3"].is_a == ("GO:1", "GO:2")
    assert [term.id for term in ontology.terms.values() if term.is_obsolete] == ["GO:4"]


def test_names_keep_what_only_looks_like_a_trailer():
    text = "[Term]\nid: X:1\nname: 5'-3' {ring} acting on poly!A tails\n"
    assert read_obo(io.StringIO(text)).terms["X:1"].name == "5'-3' {ring} acting on poly!A tails"


def test_resolve_follows_alternative_ids():
    ontology = read_obo(io.StringIO(TEXT))
    assert [ontology.resolve(i) for i in ("GO:2", "GO:21", "GO:99")] == ["GO:2", "GO:2", None]


def test_hierarchy_holds_every_term_and_undefined_parents():
    text = TEXT.replace("is_a: GO:2{", "is_a: GO:77{")
    hierarchy = read_obo(io.StringIO(text)).hierarchy
    assert hierarchy.features == ("GO:1", "GO:2", "GO:3", "GO:4", "GO:77")
    parents = hierarchy.adjacency.toarray()[:, hierarchy.index("GO:3")]
    assert [hierarchy.features[i] for i in parents.nonzero()[0]] == ["GO:1", "GO:77"]


def test_same_result_plain_packed_and_open(tmp_path):
    plain, gz, packed = tmp_path / "o.obo", tmp_path / "o.obo.gz", tmp_path / "o.obo.zip"
    plain.write_text(TEXT.replace("\n", "\r\n"), newline="")
    gz.write_bytes(gzip.compress(TEXT.encode()))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("o.obo", TEXT)
        archive.writestr("__MACOSX/._o.obo", "resource fork")
    expected = read_obo(io.StringIO(TEXT))
    assert read_obo(plain) == read_obo(str(gz)) == read_obo(packed) == expected
    with plain.open() as file:
        assert read_obo(file) == expected
        assert not file.closed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no .Term. stanza"),
        ("[Typedef]\nid: part_of\n", "no .Term. stanza"),
        ("[Term]\nid: A\n\n[Term]\nname: b\n", "o.obo, line 4: expected one id"),
        ("[Term]\nid: A\n\n[Term]\nid: A\n", "o.obo, line 4: second .Term. with id A"),
    ],
)
def test_malformed_files_are_named(tmp_path, text, message):
    path = tmp_path / "o.obo"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_obo(path)


def test_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.obo", TEXT)
        archive.writestr("b.obo", TEXT)
    with pytest.raises(ValueError, match=r"two\.zip: expected an archive of one file, found 2"):
        read_obo(tmp_path / "two.zip")


def test_binary_file_is_refused():
    with pytest.raises(TypeError, match="binary mode"):
        read_obo(io.BytesIO(TEXT.encode()))


def test_real_ontology(real_data):
    ontology = read_obo(f"{real_data}/ageing-2014/gene_ontology_ext_13062014.obo.zip")
    assert ontology.version == "releases/2014-06-13"
    assert len(ontology.terms) == 41209
    ageing = ontology.terms["GO:0007568"]
    assert (ageing.name, ageing.namespace) == ("aging", "biological_process")
    assert {p for term in ontology.terms.values() for p in term.is_a} <= set(ontology.terms)
    roots = [t.id for t in ontology.terms.values() if not t.is_a and not t.is_obsolete]
    assert sorted(roots) == ["GO:0003674", "GO:0005575", "GO:0008150"]
