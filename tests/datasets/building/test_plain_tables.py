"""Plain tables and further formats: the same dataset from every form of the same statements, and clear errors."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy
from hietan.datasets import Dataset, build_dataset, read_annotations, read_edges, read_labels, read_ontology
from hietan.exceptions import DataError, DataWarning
from support.gaf_lines import gaf_line

EDGES = [("drinks", "tea"), ("drinks", "coffee"), ("goods", "drinks"), ("goods", "food"), ("food", "bread")]
PAIRS = [("p1", "tea"), ("p1", "bread"), ("p2", "coffee"), ("p3", "food"), ("p4", "tea")]
LABELS = {"p1": "winter", "p2": "winter", "p3": "summer", "p4": "summer"}
OBO = "".join(
    f"[Term]\nid: {term}\n" + "".join(f"is_a: {p}\n" for p, c in EDGES if c == term) + "\n"
    for term in Hierarchy.from_edges(EDGES).features
)


def lines(rows, mark=","):
    return "".join(mark.join(row) + "\n" for row in rows)


def gpad_1(item, term, qualifier="part_of", evidence="ECO:0000315"):
    return "\t".join(["DB", item, qualifier, term, "PMID:1", evidence, "", "", "20200101", "WB", "", ""])


def gpad_2(item, term, negation="", evidence="ECO:0000315"):
    return "\t".join(
        [f"DB:{item}", negation, "RO:1", term, "PMID:1", evidence, "", "", "2020-01-01", "WB", "", ""]
    )


HPOA = "#description: made up\n#version: 1\n" + lines(
    [
        "database_id disease_name qualifier hpo_id reference evidence onset frequency sex modifier aspect by".split(),
        *([i, f"name of {i}", "", t, "PMID:1", "IMP", "", "", "", "", "P", "x"] for i, t in PAIRS),
    ],
    "\t",
)
LISTED = {i: [t for j, t in PAIRS if j == i] for i in dict.fromkeys(i for i, _ in PAIRS)}
STATEMENTS = {
    "pairs": lines(PAIRS),
    "pairs, with names": "item;term\n" + lines(PAIRS, ";"),
    "pairs, terms first": lines((t, i) for i, t in PAIRS),
    "pairs, unknown names": "sku\tkind\n" + lines(PAIRS, "\t"),
    "term lists": "".join(f"{i}\t{';'.join(terms)}\n" for i, terms in LISTED.items()),
    "term lists in CSV": "id,terms\n" + "".join(f"{i},{';'.join(terms)}\n" for i, terms in LISTED.items()),
    "term lists with bars": "".join(f"{i}\t{' | '.join(terms)}\n" for i, terms in LISTED.items()),
    "GAF": "!gaf-version: 2.2\n" + "".join(gaf_line(i, t, "", synonyms="") + "\n" for i, t in PAIRS),
    "GPAD 1.1": "!gpa-version: 1.1\n" + "".join(gpad_1(i, t) + "\n" for i, t in PAIRS),
    "GPAD 2.0": "!gpad-version: 2.0\n" + "".join(gpad_2(i, t) + "\n" for i, t in PAIRS),
    "gene2go": "#tax_id\tGeneID\tGO_ID\tEvidence\tQualifier\tGO_term\tPubMed\tCategory\n"
    + "".join(f"1\t{i}\t{t}\tIMP\t-\tx\t1\tProcess\n" for i, t in PAIRS),
    "hpoa": HPOA,
}
HIERARCHIES = {
    "parent, child": "parent,child\n" + lines(EDGES),
    "child, parent": "child\tparent\n" + lines(((c, p) for p, c in EDGES), "\t"),
    "no names": lines(EDGES),
    "no names, child first": lines((c, p) for p, c in EDGES),
    "unknown names": "category,group\n" + lines((c, p) for p, c in EDGES),
    "with a root and names": "id,name,parent\ngoods,All,\n" + lines((c, c, p) for p, c in EDGES),
    "OBO": OBO,
}


def same(one, other):
    """Whether two datasets hold the same rows, columns, relations and classes; the order of columns may differ."""
    assert sorted(one.feature_names) == sorted(other.feature_names)
    other = other.subset(features=list(one.feature_names))
    assert (one.X != other.X).nnz == 0 and one.hierarchy == other.hierarchy
    assert one.instance_names == other.instance_names
    assert (one.y == other.y).all() and one.target_names == other.target_names
    return True


@pytest.fixture(scope="module")
def expected():
    data = build_dataset(EDGES, PAIRS, LABELS, min_support=1)
    assert data.feature_names == ("drinks", "tea", "coffee", "food", "bread")  # all rows have the root
    return data


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_every_form_of_the_hierarchy_gives_the_same_dataset(hierarchy, expected, tmp_path):
    path = tmp_path / "hierarchy.gz"
    path.write_bytes(gzip.compress(HIERARCHIES[hierarchy].encode()))
    assert same(expected, build_dataset(path, PAIRS, LABELS, min_support=1))
    assert same(expected, build_dataset(io.StringIO(HIERARCHIES[hierarchy]), PAIRS, LABELS, min_support=1))


@pytest.mark.parametrize("form", STATEMENTS)
def test_every_form_of_the_annotations_gives_the_same_dataset(form, expected, tmp_path):
    path = tmp_path / "annotations.txt"
    path.write_text(STATEMENTS[form])
    data = build_dataset(EDGES, path, LABELS, min_support=1)
    assert same(expected, data)
    assert data.provenance["account"]["annotations"]["read"] == len(PAIRS)
    formats = {"GAF": "gaf", "GPAD 1.1": "gpad-1", "GPAD 2.0": "gpad-2"}
    found = formats.get(
        form, form.partition(",")[0].partition(" in")[0].partition(" with")[0].replace(" ", "-")
    )
    assert f"annotations.txt: read as {found}" in data.provenance["found out"][0]
    noun = {"hpoa": "disease", "gaf": "gene", "gene2go": "gene", "gpad-1": "gene", "gpad-2": "gene"}
    assert data.row_noun == noun.get(found, "row")


def test_plain_objects_give_the_same_dataset(expected):
    frame = pd.DataFrame(PAIRS, columns=["item", "term"])
    edges = pd.DataFrame(EDGES, columns=["parent", "child"])
    series = pd.Series(LABELS)
    for hierarchy in (Hierarchy.from_edges(EDGES), edges, edges[["child", "parent"]]):
        for pairs in (frame, LISTED, PAIRS):
            assert same(expected, Dataset.from_pairs(pairs, series, hierarchy))
    labels = series.rename_axis("item").reset_index(name="season")
    assert same(expected, build_dataset(edges, frame, labels, min_support=1))
    table = pd.crosstab(frame["item"], frame["term"])
    framed = Dataset.from_frame(table, series, edges).subset(features=list(expected.feature_names))
    assert same(expected, framed)
    assert same(
        expected,
        Dataset.from_frame(table.assign(y=series), "y", EDGES, min_support=0).subset(
            features=list(expected.feature_names)
        ),
    )


def test_gpad_says_not_and_has_evidence_codes():
    (found,) = read_annotations(io.StringIO("!gpa-version: 1.1\n" + gpad_1("P1", "GO:1", "NOT|part_of")))
    assert found.negated and found.evidence == "IMP" and found.object_id == "P1"
    (found,) = read_annotations(io.StringIO("!gpad-version: 2.0\n" + gpad_2("MGI:7", "GO:1", "NOT", "ECO:9")))
    assert found.negated and found.evidence == "ECO:9" and found.object_id == "MGI:7"


def test_hpoa_has_names_and_not():
    text = HPOA.replace("name of p2\t\t", "name of p2\tNOT\t")
    found = {each.object_id: each for each in read_annotations(io.StringIO(text))}
    assert found["p2"].negated and not found["p1"].negated and found["p1"].symbol == "name of p1"


def test_a_file_without_organisms_refuses_a_taxon(tmp_path):
    (tmp_path / "x.gpad").write_text(STATEMENTS["GPAD 2.0"])
    with pytest.raises(ValueError, match=r"x.gpad \(gpad-2\) does not name organisms; leave out taxon"):
        build_dataset(EDGES, tmp_path / "x.gpad", LABELS, taxon=6239)


def test_what_is_found_out_is_said(tmp_path):
    (tmp_path / "e.csv").write_text(HIERARCHIES["unknown names"])
    (tmp_path / "i.csv").write_text(STATEMENTS["pairs, terms first"])
    (tmp_path / "l.csv").write_text(lines(LABELS.items()))
    data = build_dataset(tmp_path / "e.csv", tmp_path / "i.csv", tmp_path / "l.csv", min_support=1)
    said = "; ".join(data.provenance["found out"])
    for part in (
        "i.csv: read as pairs",
        "e.csv: the first row (category, group) was read as names of columns",
        "e.csv: the second column was taken as the parent",
        "i.csv: the terms were found in the first column",
        "l.csv: the first row was read as data",
    ):
        assert part in said
    assert ("found out", data.provenance["found out"][0]) in data.summary().facts


def test_columns_are_stated_by_name_or_position(tmp_path):
    (tmp_path / "e.tsv").write_text("x\tup\tdown\n" + lines((("-", p, c) for p, c in EDGES), "\t"))
    (tmp_path / "i.csv").write_text(lines((t, "?", i) for i, t in PAIRS))
    (tmp_path / "l.csv").write_text("a,b,c\n" + lines((y, "?", i) for i, y in LABELS.items()))
    files = [tmp_path / name for name in ("e.tsv", "i.csv", "l.csv")]
    options = {"pair_columns": (3, "1"), "id_column": "c", "label_column": 1, "min_support": 1}
    by_name = build_dataset(*files, edge_columns=("up", "down"), **options)
    by_position = build_dataset(
        *files, edge_columns=(3, 2), edge_order="child-parent", **options | {"id_column": 3}
    )
    assert same(by_name, by_position) and by_name.X.shape == (4, 5)


def test_relations_of_a_table():
    ontology = read_edges(io.StringIO("term,parent,relation\na,b,\na,c,part_of\nb,c,is_a\n"))
    assert ontology.relations == ("is_a", "part_of")
    assert ontology.hierarchy.edges == (("b", "a"), ("c", "b"))
    assert ("c", "a") in ontology.hierarchy_of(["is_a", "part_of"]).edges


def test_labels_without_a_heading():
    labels = read_labels(io.StringIO("a,1\nb,0\nc,1\n"))
    assert dict(labels.by_id) == {"a": "1", "b": "0", "c": "1"} and labels.remarks
    assert dict(read_labels(io.StringIO("a,1\nb,0\n"), header=False).by_id) == {"a": "1", "b": "0"}
    assert dict(read_labels(io.StringIO("a,1\nb,0\n"), header=True).by_id) == {"b": "0"}
    assert dict(read_labels(io.StringIO("#note\n#id\tlabel\na\t1\n")).by_id) == {"a": "1"}


# ------------------------------------------------------------------ terms to leave out


def test_terms_are_left_out_with_all_below_them():
    with pytest.warns(DataWarning, match=r"50.0 % of the labelled rows \(2 of 4\) have no usable annotation"):
        data = build_dataset(EDGES, PAIRS, LABELS, min_support=1, drop_terms="drinks", drop_roots=False)
    # p2 and p4 have nothing else, and p1 has the root because of its bread alone.
    assert data.instance_names == ("p1", "p3") and data.feature_names == ("goods", "food", "bread")
    account = data.provenance["account"]
    assert account["annotations"]["dropped"]["left out on request (drop_terms)"] == 3
    assert account["terms"] == {"read": 6, "used": 3, "dropped": {"left out on request (drop_terms)": 3}}


@given(st.lists(st.sampled_from(PAIRS), min_size=1), st.sampled_from([c for _, c in EDGES]))
def test_leaving_a_term_out_is_the_same_as_annotations_that_were_never_made(pairs, term):
    below = {term} | Hierarchy.from_edges(EDGES).descendants(term)
    kept = [(item, each) for item, each in pairs if each not in below]
    if not kept:
        return
    dropped = build_dataset(EDGES, pairs, min_support=1, drop_terms=[term])
    never = build_dataset(EDGES, kept, min_support=1)
    assert sorted(zip(dropped.instance_names, dropped.X.toarray().tolist(), strict=True)) == sorted(
        zip(never.instance_names, never.X.toarray().tolist(), strict=True)
    )


# ------------------------------------------------------------------ a further table


AGES = pd.DataFrame(
    {"age": [20.0, 30, np.nan, 50], "colour": ["red", "blue", "red", None]}, index=["p1", "p2", "p3", "p4"]
)


def test_columns_come_along_as_ordinary_features(expected, tmp_path):
    AGES.to_csv(tmp_path / "ages.csv", index_label="id")
    for columns in (tmp_path / "ages.csv", AGES, AGES.to_dict("index")):
        data = build_dataset(EDGES, PAIRS, LABELS, columns=columns, bins=2, min_support=1)
        further = [name for name in data.feature_names if name not in expected.feature_names]
        assert further == ["age<30", "age>=30", "age=missing", "colour=blue", "colour=red", "colour=missing"]
        assert not any(data.hierarchy.ancestors(name) | data.hierarchy.descendants(name) for name in further)
        table = data.as_frame()[further].to_numpy().tolist()
        assert table == [[1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 1]]
        assert any("1 of 4 values of 'age' are missing" in said for said in data.provenance["found out"])
        assert data.provenance["account"]["table columns"]["changed"] == {
            "binned": 1,
            "one feature per value": 1,
        }
    # The same features of other rows, from their names alone.
    new = pd.DataFrame({"age": [1, 99], "colour": ["green", "blue"]}, index=["n1", "n2"])
    again = build_dataset(
        EDGES, [("n1", "tea"), ("n2", "food")], columns=new, features=data.feature_names
    ).as_frame()
    assert tuple(again.columns) == data.feature_names
    assert again[further].to_numpy().tolist() == [[1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]]
    assert again["drinks"].tolist() == [1, 0]


def test_bins_are_those_of_scikit_learn():
    from sklearn.preprocessing import KBinsDiscretizer

    rng = np.random.default_rng(0)
    ages = pd.DataFrame({"age": rng.integers(18, 90, 200)}, index=[f"r{i}" for i in range(200)])
    data = Dataset.from_frame(ages, ages["age"] > 50, bins=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bins = KBinsDiscretizer(4, encode="onehot-dense")
        if (
            "quantile_method" in bins.get_params()
        ):  # since scikit-learn 1.7; before, "linear" was the only one
            bins.set_params(quantile_method="linear")
        bins = bins.fit_transform(ages)
    assert (data.X.toarray() == bins).all() and data.feature_names[0].startswith("age<")


def read_all(read, source):
    found = read(source)
    return list(found.hierarchy.edges if hasattr(found, "hierarchy") else found)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_edges, "a,b,c\n1,2,3\n", "say which two columns hold the edges .* the columns are a, b, c"),
        (read_edges, "", "the file is empty"),
        (read_edges, "parent,child\n", "the table has no edges"),
        (read_edges, "parent,child\na,\n", "line 2: the row has the parent 'a' but no child"),
        (read_edges, 'parent,child\na,"b\n', "line 2: not valid CSV"),
        (read_annotations, "a,b,c\n", "say which columns hold the ids and the terms"),
        (
            read_annotations,
            "item,term\n",
            "the file holds no annotations; expected an id and a term in each row",
        ),
        (read_annotations, "item,term\na,\n", "line 2: none of 1 lines is an annotation"),
        (read_annotations, "!gpi-version: 1.2\n", "line 1: this is a GPI file"),
        (read_annotations, "!gpa-version: 9\n", "line 1: gpa-version is '9'; expected one of 1.0"),
        (read_ontology, "id: no\n", "no .Term. stanza found"),
    ],
)
def test_what_cannot_be_read_gets_one_clear_line(read, text, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_all(read, path)
    assert "table.csv" in str(caught.value)
