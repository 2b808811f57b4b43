"""Ontologies in every format: the right reader is found, or asked for."""

import gzip
import io
import os
import time

import pytest

from hietan.datasets import read_obo, read_ontology
from hietan.exceptions import DataError, DataWarning
from support.file_server import serving

TEXT = """data-version: toy

[Term]
id: GO:1
name: whole

[Term]
id: GO:2
name: part
is_a: GO:1
"""
OBO_GRAPH = """{"graphs": [{"id": "http://x.org/toy.owl",
 "meta": {"version": "http://x.org/toy/2020-01-01/toy.owl"},
 "nodes": [
  {"id": "http://purl.obolibrary.org/obo/GO_1", "lbl": "whole", "type": "CLASS"},
  {"id": "http://purl.obolibrary.org/obo/GO_2", "lbl": "part", "type": "CLASS"}],
 "edges": [{"sub": "http://purl.obolibrary.org/obo/GO_2", "pred": "is_a",
            "obj": "http://purl.obolibrary.org/obo/GO_1"}]}]}"""
OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
 <owl:Ontology rdf:about="http://purl.obolibrary.org/obo/toy.owl"/>
 <owl:Class rdf:about="http://purl.obolibrary.org/obo/GO_1"><rdfs:label>whole</rdfs:label></owl:Class>
 <owl:Class rdf:about="http://purl.obolibrary.org/obo/GO_2"><rdfs:label>part</rdfs:label>
  <rdfs:subClassOf rdf:resource="http://purl.obolibrary.org/obo/GO_1"/></owl:Class>
</rdf:RDF>"""


@pytest.mark.parametrize(("text", "name"), [(OBO_GRAPH, "toy.json"), (OWL, "toy.owl"), (OWL, "toy.gz")])
def test_obo_graph_and_owl_through_pronto(tmp_path, text, name):
    pytest.importorskip("pronto")
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    ontology = read_ontology(path)
    assert {term.name for term in ontology.terms.values()} == {"whole", "part"}
    assert ontology.hierarchy.edges == (("GO:1", "GO:2"),)


@pytest.mark.parametrize(("text", "format"), [(OBO_GRAPH, "obo-graph"), (OWL, "owl"), (TEXT, "obo")])
def test_an_open_file_of_any_format_is_read_if_the_format_is_named(text, format):
    if format != "obo":
        pytest.importorskip("pronto")
    ontology = read_ontology(io.BytesIO(text.encode()), format=format)
    assert [term.name for term in ontology.terms.values()] == ["whole", "part"]
    assert ontology.hierarchy.edges == (("GO:1", "GO:2"),)


def test_a_named_format_is_not_second_guessed(tmp_path):
    path = tmp_path / "toy.json"
    path.write_text(OBO_GRAPH + "\n")
    with pytest.raises(DataError, match=r"the file has no \[Term\] stanza"):
        read_ontology(path, format="obo")


def test_an_unknown_format_is_refused():
    with pytest.raises(
        ValueError, match="format is 'csv'; expected one of obo-graph, owl, edges, paths, codes, obo, or None"
    ):
        read_ontology(io.StringIO(TEXT), format="csv")


def test_read_ontology_takes_obo_as_well(tmp_path):
    path = tmp_path / "o.obo"
    path.write_text("\n" + TEXT)
    assert read_ontology(path) == read_ontology(io.StringIO(TEXT)) == read_obo(path)


@pytest.mark.parametrize("text", ["{", "<rdf", '{"graphs": []}', "{}"])
def test_pronto_stumbles_with_our_error(tmp_path, text):
    pytest.importorskip("pronto")
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"bad.json"):
        read_ontology(path)


def test_imports_are_named_and_not_followed(tmp_path):
    """A file may name any address, or any file of this machine."""
    pytest.importorskip("pronto")
    (tmp_path / "served.owl").write_text(OWL)
    with serving(tmp_path) as server:
        for where in (f"{server.address}/well/served.owl", str(tmp_path / "served.owl")):
            imports = f'toy.owl"><owl:imports rdf:resource="{where}"/></owl:Ontology>'
            path = tmp_path / "importing.owl"
            path.write_text(OWL.replace('toy.owl"/>', imports).replace("GO_", "HP_"))
            with pytest.warns(DataWarning, match=rf"1 imports are not followed \(first: {where}\)"):
                ontology = read_ontology(path)
            assert list(ontology.terms) == ["HP:1", "HP:2"]
        assert server.requests == []


@pytest.mark.parametrize("bad", ["[" * 100_000, '{"a":' * 100_000, "&a [1]", "*a", "!!binary x"])
def test_what_is_not_json_never_reaches_pronto(tmp_path, bad):
    """It would read it as YAML: nested brackets took it quadratic time, and YAML has references."""
    pytest.importorskip("pronto")
    path = tmp_path / "bad.json"
    path.write_text(OBO_GRAPH.replace('"whole"', bad))
    start = time.process_time()
    with pytest.raises(
        DataError, match=r"bad.json: the file is not valid JSON .*; expected an ontology in OBO-Graph"
    ):
        read_ontology(path)
    assert time.process_time() - start < 2


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="pipes have no paths here")
@pytest.mark.parametrize(
    ("format", "text"),
    [("obo", "[Term]\nid: A\n\n[Term]\nid: B\nis_a: A\n"), ("edges", "parent,child\nA,B\n")],
)
def test_a_pipe_is_read_once_and_whole(format, text):
    for stated in (format, None):
        end, start = os.pipe()
        with open(end, "rb"), open(start, "w") as file:
            file.write(text)
            file.close()
            if stated:
                assert read_ontology(f"/dev/fd/{end}", format=stated).hierarchy.edges == (("A", "B"),)
            else:
                with pytest.raises(
                    DataError, match="the format of a pipe cannot be detected; save it as a file"
                ):
                    read_ontology(f"/dev/fd/{end}")
