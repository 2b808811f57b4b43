import io

import pytest

from hietan.datasets import read_labels
from hietan.exceptions import DataError, DataWarning

TABLE = """gene,organism,effect
daf-2,worm,anti
daf-16,worm,pro
age-1,worm,anti
age-1,worm,anti
sir-2,worm,pro
sir-2,worm,anti
sir-2,worm,pro
ras,yeast,pro
x,worm,fitness
y,worm,
,worm,pro
z,worm,pro
z,worm,fitness
"""
COLUMNS = {"id_column": "gene", "label_column": "effect"}
MAPPING = {"pro": "prolongs", "anti": "shortens"}


def test_mapping_filter_and_account():
    labels = read_labels(io.StringIO(TABLE), **COLUMNS, mapping=MAPPING, where={"organism": "worm"})
    assert dict(labels.by_id) == {"daf-2": "shortens", "daf-16": "prolongs", "age-1": "shortens"}
    assert labels.classes == ("prolongs", "shortens")
    assert labels.conflicting == ("sir-2", "z")
    assert labels.tally.as_dict() == {
        "read": 13,
        "used": 4,
        "dropped": {
            "not requested": 1,
            "no label": 1,
            "no id": 1,
            "conflicting labels": 5,
            "label not in the mapping": 1,
        },
        "changed": {"further row of an id": 1},
    }
    assert repr(labels) == "<Labels <open file>: 3 ids; prolongs 1, shortens 2>"


@pytest.mark.parametrize(
    ("policy", "sir2", "z"), [("drop", None, None), ("first", "pro", "pro"), ("majority", "pro", None)]
)
def test_policies_for_conflicts(policy, sir2, z):
    labels = read_labels(io.StringIO(TABLE), **COLUMNS, on_conflict=policy)
    assert (labels.by_id.get("sir-2"), labels.by_id.get("z")) == (sir2, z)


def test_conflict_can_be_an_error():
    with pytest.raises(DataError, match=r"line 7: an earlier row has a different label for 'sir-2'"):
        read_labels(io.StringIO(TABLE), **COLUMNS, on_conflict="raise")
    with pytest.raises(
        ValueError, match="on_conflict is 'ask'; expected one of drop, first, majority, raise"
    ):
        read_labels(io.StringIO(TABLE), **COLUMNS, on_conflict="ask")


def test_classes_without_a_mapping_are_in_alphabetical_order():
    labels = read_labels(io.StringIO("g;y\na;two\nb;one\n"))
    assert labels.classes == ("one", "two")
    assert dict(labels.by_id) == {"a": "two", "b": "one"}


def test_quotes_count_in_csv_but_not_in_tsv():
    csv = read_labels(
        io.StringIO('id,name,y\na,"one, ""two""\nthree",1\nb,plain,0\n'), id_column="id", label_column="y"
    )
    assert dict(csv.by_id) == {"a": "1", "b": "0"}
    tsv = read_labels(io.StringIO('id\tname\ty\na\t5" long\t1\nb\t"\t0\n'), id_column="id", label_column="y")
    assert dict(tsv.by_id) == {"a": "1", "b": "0"}


def test_rows_of_another_length_than_the_heading():
    with pytest.warns(DataWarning) as caught:
        labels = read_labels(io.StringIO("id\ty\na\t1\tmore\nb\nc\t0\n"))
    assert dict(labels.by_id) == {"a": "1", "c": "0"}
    messages = [str(warning.message) for warning in caught]
    assert (
        "1 rows (first: line 3) have fewer fields than the 2 that are needed and were skipped" in messages[0]
    )
    assert "1 rows (first: line 2) have more fields than the 2 column names" in messages[1]
    assert labels.tally.dropped == {"too few fields": 1}


@pytest.mark.parametrize("heading", ["gene_id\n", "id\n", "#comment\n", ""])
@pytest.mark.parametrize(
    "ids", [("daf-2", "age-1", "x"), ("Proband 1", "Proband 2"), ("E coli", "B subtilis")]
)
def test_one_id_per_line(heading, ids):
    labels = read_labels(io.StringIO(heading + "\n".join(ids) + "\n"))
    assert labels.by_id == dict.fromkeys(ids, "listed")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "labels.csv: the file is empty"),
        ("\n \n", {}, "labels.csv: the file is empty"),
        ("id,y\n", {}, "labels.csv: there are no rows"),
        (
            "My labels\nid,y\na,1\nb,2\n",
            {},
            "line 1: the lines after the first seem to separate their fields with ','",
        ),
        ("My labels\nid\ty\na\t1\nb\t2\n", {}, r"to separate their fields with '\\t'; remove any title line"),
        (
            "id|y\na|1\nb|2\n",
            {},
            r"seem to separate their fields with '\|'; .* separate fields with tabs",
        ),
        (
            "a pos\nb neg\nc pos\nd neg\ne pos\n",
            {},
            "seem to separate their fields with ' '; remove any title line",
        ),
        (
            TABLE,
            {},
            r"name the column of the ids \(id_column, --id-column\) and the labels \(label_column, "
            r"--label-column\). The columns are gene, organism, effect",
        ),
        (
            TABLE,
            {"label_column": "effect"},
            r"name the column of the ids \(id_column, --id-column\). The columns",
        ),
        (
            TABLE,
            {"id_column": "symbol", "label_column": "effect"},
            "no column 'symbol'; its columns are gene",
        ),
        ("a,a\n1,2\n", {"id_column": "a"}, "more than one column 'a'"),
        ('id,y\na,"1\nb,2\n', {}, "line 3: this line is not valid CSV"),
        ('id,y\na,"1"x\n', {}, "line 2: this line is not valid CSV"),
        (
            "id,y\na,1\n",
            {"mapping": {"2": "two"}},
            "no label is left of 1 rows: label not in the mapping .1.; the mapping contains ",
        ),
        (
            "id,y\na,1\n",
            {"where": {"y": "2"}},
            "no label is left of 1 rows: not requested .1.. Check the id and label columns",
        ),
    ],
)
def test_what_is_not_a_table_of_labels_is_refused(tmp_path, text, options, message):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_labels(path, **options)
