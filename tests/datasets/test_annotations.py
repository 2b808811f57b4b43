import io
import warnings

import pytest

from hietan.datasets import Annotation, read_annotations, read_gaf, read_gene2go
from hietan.exceptions import DataError, DataWarning
from support.gaf_lines import gaf_line

GENE2GO = (
    "#tax_id\tGeneID\tGO_ID\tEvidence\tQualifier\tGO_term\tPubMed\tCategory\n"
    "6239\t175410\tGO:1\tIMP\tinvolved_in\tageing\t1|2\tProcess\n"
    "6239\t175410\tGO:2\tIEA\tNOT located_in\tcell\t-\tComponent\n"
    "7227\t42\tGO:3\tND\t-\tfunction\t-\tFunction\n"
)


def test_fields_of_a_gaf_line():
    text = f"!gaf-version: 2.1\n!\n! date-generated: 2019-01-14 \n!see ftp://x.org\n{gaf_line(qualifier='NOT')}\n"
    reader = read_gaf(io.StringIO(text))
    assert reader.header == {"gaf-version": "2.1", "date-generated": "2019-01-14"}
    (only,) = reader
    assert only == Annotation("P1", "GO:1", "daf-2", "NOT", "IMP", "P", "taxon:6239", "a|b", 5)
    assert only.synonyms == ("a", "b")
    assert only.negated
    assert (reader.n_read, reader.malformed) == (1, 0)


@pytest.mark.parametrize(
    ("qualifier", "negated", "parts"),
    [
        ("", False, ()),
        ("involved_in", False, ("involved_in",)),
        ("NOT|involved_in", True, ("NOT", "involved_in")),
        ("colocalizes_with|NOT", True, ("colocalizes_with", "NOT")),
        ("NOT located_in", True, ("NOT", "located_in")),
        ("NOTABLE", False, ("NOTABLE",)),
    ],
)
def test_qualifiers_of_2_1_and_2_2(qualifier, negated, parts):
    annotation = Annotation("P1", "GO:1", qualifier=qualifier)
    assert (annotation.negated, annotation.qualifiers) == (negated, parts)


def test_gene2go():
    first, second, third = read_gene2go(io.StringIO(GENE2GO))
    assert first == Annotation("175410", "GO:1", "", "involved_in", "IMP", "P", "taxon:6239", "", 2)
    assert (first.negated, second.negated, third.negated) == (False, True, False)
    assert [a.aspect for a in (first, second, third)] == ["P", "C", "F"]
    assert third.qualifiers == ()


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (GENE2GO, "gene2go"),
        (GENE2GO.partition("\n")[2], "gene2go"),
        (gaf_line(), "gaf"),
        (f"!gaf-version: 2.2\n{gaf_line()}", "gaf"),
    ],
)
def test_format_is_recognized(text, format):
    reader = read_annotations(io.StringIO(text))
    assert reader.format == format
    assert len(list(reader)) >= 1


def test_short_lines_are_skipped_and_counted(tmp_path):
    path = tmp_path / "wb.gaf"
    lines = [
        "!gaf-version: 2.2",
        gaf_line(),
        "UniProtKB\tP2\tx",
        "",
        "! remark",
        gaf_line(term=""),
        gaf_line("P3"),
    ]
    path.write_text("\n".join(lines))
    reader = read_gaf(path)
    with pytest.warns(
        DataWarning,
        match=r"wb.gaf: skipped 2 of 4 lines \(first: line 3\); expected 15 columns separated by tabs",
    ):
        assert [annotation.object_id for annotation in reader] == ["P1", "P3"]
    assert (reader.n_read, reader.malformed, reader.first_malformed) == (4, 2, 3)


@pytest.mark.parametrize(
    "text", [f"{gaf_line()}\n!{gaf_line('P2')}\n", GENE2GO + "!" + GENE2GO.splitlines()[1]]
)
def test_an_annotation_that_is_commented_out_is_a_comment(text):
    reader = read_annotations(io.StringIO(text))
    assert {annotation.object_id for annotation in reader} <= {"P1", "175410", "42"}
    assert (reader.n_read, reader.malformed) == (1 if reader.format == "gaf" else 3, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "wb.gaf: the file is empty; expected annotations"),
        ("!gaf-version: 2.2\n", "wb.gaf: the file contains no annotations"),
        ("a\tb\tc\n\nd\n", "wb.gaf, line 1: none of 2 lines is an annotation"),
        ("!gaf-version: 3.0\n", "line 1: gaf-version is '3.0'; expected one of 1.0, 2.0, 2.1, 2.2"),
        ("!\n!gpa-version: 2.0\n", "line 2: this is a GPAD file .gpa-version 2.0.; expected GAF"),
    ],
)
def test_what_is_not_a_gaf_is_refused(tmp_path, text, message):
    path = tmp_path / "wb.gaf"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_gaf(path))


@pytest.mark.parametrize("by_blocks", [False, True])
def test_short_rows_of_a_table_are_named_by_their_line_and_reported_once(tmp_path, by_blocks):
    def read(text):
        path = tmp_path / "pairs.csv"
        path.write_text(text, encoding="utf-8")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reader = read_annotations(path)
            try:
                list(reader.blocks() if by_blocks else reader)
                error = ""
            except DataError as raised:
                error = str(raised)
        return reader, [str(each.message) for each in caught], error

    reader, messages, _ = read("gene,term\na,GO:1\nb\n")
    assert (reader.malformed, reader.first_malformed) == (1, 3)
    assert len(messages) == 1 and "1 rows (first: line 3) have fewer fields" in messages[0]
    reader, messages, _ = read("gene,term\na,GO:1\n,GO:1\nb\n")
    assert (reader.malformed, reader.first_malformed) == (2, 3)
    assert any("skipped 2 of 3 lines (first: line 3)" in message for message in messages)
    reader, messages, error = read("gene,term\nb\nc\n")
    assert reader.first_malformed == 2 and "pairs.csv, line 2: none of 2 lines is an annotation" in error
    assert "None" not in "".join([*messages, error])
