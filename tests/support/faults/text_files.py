"""Small files of every kind that readers know, whole and in good order, to be damaged; and counts of what is in them.

The counts are taken in the plainest way, by splitting lines, and not by the readers.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile

from support.gaf_lines import gaf_line

TERMS = 14


def _stanza(k):
    lines = [
        "[Term]",
        f"id: GO:{k}",
        f"name: term {k} \\{{odd\\}} é ! comment",
        "namespace: biological_process",
    ]
    lines += [f"is_a: GO:{k // 2} ! above"] if k > 1 else []
    lines += [f'relationship: part_of GO:{k // 3} {{source="x"}}'] if k > 5 else []
    lines += [f"alt_id: GO:{100 + k}"] if k % 3 == 0 else []
    return "\n".join([*lines, 'def: "is_a: GO:1 in a text" [x:y]', ""])


OBO = "\n".join(
    [
        "format-version: 1.2",
        "data-version: releases/2020-01-01",
        "",
        *(_stanza(k) for k in range(1, TERMS + 1)),
        "[Term]\nid: GO:50\nname: retired\nnamespace: biological_process\nis_obsolete: true\nreplaced_by: GO:7\n",
        "[Typedef]\nid: part_of\nname: part of\n",
    ]
)
_PURL = "http://purl.obolibrary.org/obo/GO_"
OBO_GRAPH = (
    '{"graphs": [{"id": "http://x.org/toy.owl", "meta": {"version": "http://x.org/2020/toy.owl"},\n "nodes": [\n'
    + ",\n".join(f'  {{"id": "{_PURL}{k}", "lbl": "term {k}", "type": "CLASS"}}' for k in range(1, TERMS + 1))
    + '],\n "edges": [\n'
    + ",\n".join(
        f'  {{"sub": "{_PURL}{k}", "pred": "is_a", "obj": "{_PURL}{k // 2}"}}' for k in range(2, TERMS + 1)
    )
    + "]}]}\n"
)
OWL = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
    ' xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">\n'
    ' <owl:Ontology rdf:about="http://purl.obolibrary.org/obo/toy.owl"/>\n'
    + "".join(
        f' <owl:Class rdf:about="{_PURL}{k}"><rdfs:label>term {k}</rdfs:label>\n'
        + (f'  <rdfs:subClassOf rdf:resource="{_PURL}{k // 2}"/>\n' if k > 1 else "")
        + " </owl:Class>\n"
        for k in range(1, TERMS + 1)
    )
    + "</rdf:RDF>\n"
)
_PAIRS = [(f"P{g}", f"GO:{t}") for g in range(12) for t in (8 + g % 7, 4 + g % 5, 3)]
GAF = "\n".join(
    [
        "!gaf-version: 2.2",
        "!date-generated: 2020-01-01",
        *(
            gaf_line(g, t, f"gene-{g}", "NOT|x" if g == "P3" else "", synonyms=f"{g}.1|né{g}")
            for g, t in _PAIRS
        ),
        "",
    ]
)
GENE2GO = "\n".join(
    [
        "#tax_id\tGeneID\tGO_ID\tEvidence\tQualifier\tGO_term\tPubMed\tCategory",
        *(f"6239\t{g[1:]}\t{t}\tIMP\t-\tsome term\t1|2\tProcess" for g, t in _PAIRS),
        "",
    ]
)
CSV = (
    "gene,effect\n" + "".join(f'P{g},"{("anti", "pro")[g % 2]}"\n' for g in range(12)) + "P1,pro\n\nP5,anti\n"
)
TSV = "id\tname\teffect\n" + "".join(f"{g}\tgene-P{g}\t{('anti', 'pro')[g % 2]}\n" for g in range(12))
AGEING = (
    "is_a," + ",".join(str(1000 + g) for g in range(12)) + ",\n"
    "GO:0008150," + "1," * 12 + "\n"
    + "".join(f"GO:{t}," + "".join(f"{int((g * t) % 3 == 0)}," for g in range(12)) + "\n" for t in range(2, TERMS))
    + "class," + "0,1," * 6 + "\n"
)  # fmt: skip


def lines_of(content: bytes) -> list[str]:
    """The lines of a file that may be packed, decoded in the plainest way."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    elif content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            (name,) = [name for name in archive.namelist() if name == "data.txt"]
            content = archive.read(name)
    marked = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    text = content.decode("utf-16") if marked else content.decode("utf-8", "surrogateescape")
    text = text.removeprefix("\ufeff").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def obo_counts(content: bytes) -> tuple[int, int]:
    """The number of terms in an OBO file, and of their is_a."""
    kind, terms, parents = "", 0, 0
    for line in lines_of(content):
        if line.startswith("["):
            kind = line.partition("!")[0].strip()
            terms += kind == "[Term]"
        parents += kind == "[Term]" and line.startswith("is_a:")
    return terms, parents


def annotation_count(content: bytes, format: str) -> int:
    """The number of lines that should contain an annotation."""
    marks = "!#" if format == "gene2go" else "!"
    return sum(bool(line.strip()) and line[0] not in marks for line in lines_of(content))


def table_count(content: bytes) -> int | None:
    """The number of rows below the heading of a table; None if fields are quoted, and may go over several lines."""
    lines = [line for line in lines_of(content) if line.strip()]
    return None if any('"' in line for line in lines) and "\t" not in lines[0] else len(lines) - 1
