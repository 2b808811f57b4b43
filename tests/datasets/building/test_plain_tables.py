"""Plain tables and further formats: the same dataset from every form of the same statements, and clear errors."""

import gzip
import io
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy, HierarchyEncoder
from hietan.datasets import Dataset, build_dataset, read_annotations, read_edges, read_labels, read_ontology
from hietan.exceptions import DataError, DataWarning, HierarchyWarning
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
    assert data.provenance["detected"][0] == f"annotations.txt is in the format {found}"
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
    with pytest.raises(ValueError, match=r"x.gpad \(gpad-2\) does not name organisms; omit taxon"):
        build_dataset(EDGES, tmp_path / "x.gpad", LABELS, taxon=6239)


def test_what_is_found_out_is_said(tmp_path):
    (tmp_path / "e.csv").write_text(HIERARCHIES["unknown names"])
    (tmp_path / "i.csv").write_text(STATEMENTS["pairs, terms first"])
    (tmp_path / "l.csv").write_text(lines(LABELS.items()))
    data = build_dataset(tmp_path / "e.csv", tmp_path / "i.csv", tmp_path / "l.csv", min_support=1)
    said = "; ".join(data.provenance["detected"])
    for part in (
        "i.csv is in the format pairs",
        "e.csv: the first row (category, group) is a header",
        "e.csv: the second column contains the parents",
        "i.csv: the terms are in the first column",
        "l.csv: the first row is data",
    ):
        assert part in said
    assert ("detected", data.provenance["detected"][0]) in data.summary().facts


def test_columns_are_stated_by_name_or_position(tmp_path):
    (tmp_path / "e.tsv").write_text("x\tup\tdown\n" + lines((("-", p, c) for p, c in EDGES), "\t"))
    (tmp_path / "i.csv").write_text(lines((t, "?", i) for i, t in PAIRS))
    (tmp_path / "l.csv").write_text("a,b,c\n" + lines((y, "?", i) for i, y in LABELS.items()))
    files = [tmp_path / name for name in ("e.tsv", "i.csv", "l.csv")]
    options = {"pair_columns": (3, "1"), "id_column": "c", "label_column": 1, "min_support": 1}
    by_name = build_dataset(*files, edge_columns=("up", "down"), **options)
    with pytest.warns(
        DataWarning, match=r"e.tsv: not used: column 1 \(x, -\); if a column contains relations"
    ):
        by_position = build_dataset(
            *files, edge_columns=(3, 2), edge_order="child-parent", **options | {"id_column": 3}
        )
    assert same(by_name, by_position) and by_name.X.shape == (4, 5)


def test_relations_of_a_table():
    ontology = read_edges(io.StringIO("term,parent,relation\na,b,\na,c,part_of\nb,c,is_a\n"))
    assert ontology.relations == ("is_a", "part_of")
    assert ontology.hierarchy.edges == (("b", "a"), ("c", "b"))
    assert ("c", "a") in ontology.hierarchy_of(["is_a", "part_of"]).edges


RELATED = "tea\tdrinks\tisa\ncoffee\tdrinks\tis a\ndrinks\tgoods\tisa\ntea\tmeal\tpart of\nmeal\tgoods\tisa\n"


@pytest.mark.parametrize("columns", [None, (1, 2), (1, 2, 3), ("1", "2", "3")])
def test_a_column_of_relations_is_known_by_its_values(columns):
    options = {"edge_columns": columns, "min_support": 1, "drop_roots": False}
    pairs = [("p1", "tea"), ("p2", "coffee")]
    with pytest.warns(DataWarning, match="1 of 5 edges have a relation other than is_a and are ignored"):
        data = build_dataset(io.StringIO(RELATED), pairs, {"p1": "a", "p2": "b"}, **options)
    assert set(data.feature_names) == {"tea", "coffee", "drinks", "goods"}
    assert any(
        "column 3 contains relations: is_a 4, part_of 1; only requested relations count" in remark
        for remark in data.provenance["detected"]
    )
    assert data.provenance["options"]["relations"] == ["is_a"]
    both = build_dataset(io.StringIO(RELATED), pairs, None, relations=["isa", "part of"], **options)
    assert "meal" in both.feature_names and both.provenance["options"]["relations"] == ["is_a", "part_of"]


@pytest.mark.parametrize("relation", ["is_a", "is a", "Is-A", "part_of"])
@pytest.mark.parametrize("columns", [None, (1, 2, 3)])
def test_a_first_edge_with_a_relation_is_not_a_heading(relation, columns):
    edges = [("t1", "t0", relation), ("t2", "t0", "is_a"), ("t3", "t1", "is_a"), ("t4", "t1", "is_a")]
    ontology = read_edges(io.StringIO(lines(edges)), columns=columns)
    assert set(ontology.edges(["is_a", "part_of"])) == {(p, c) for c, p, _ in edges}
    alone = [("a", "b", relation), ("c", "d", "is_a"), ("c", "e", "is_a")]
    ontology = read_edges(io.StringIO(lines(alone)), columns=columns, order="parent-child")
    assert set(ontology.edges(["is_a", "part_of"])) == {(p, c) for p, c, _ in alone}


@pytest.mark.parametrize("heading", ["term,is_a", "go,is_a", "id,name,is_a", "child,parent,is_a"])
def test_is_a_may_head_a_column(heading):
    fields = heading.split(",")
    value = {"name": "some name"} if "parent" not in fields else {"is_a": "is_a"}
    rows = [
        [value.get(f, p if f in ("parent", "is_a") else c) for f in fields] for c, p in ("ba", "ca", "db")
    ]
    found = read_edges(io.StringIO(lines([fields, *rows])))
    assert set(found.hierarchy.edges) == {("a", "b"), ("a", "c"), ("b", "d")}
    assert not any("was read as names" in remark for remark in found.remarks)


def test_edges_without_relations_are_not_called_is_a():
    data = build_dataset(
        io.StringIO("parent,child,since\n" + lines((*edge, "1999") for edge in EDGES)), PAIRS
    )
    assert data.provenance["options"]["relations"] == ["all edges"]
    assert data.provenance["detected"][-1].endswith("not used: since (1999)")
    with pytest.raises(
        ValueError, match="no relation 'part_of'; its edges have no relations; call their column relation"
    ):
        build_dataset(EDGES, PAIRS, relations="part of")


def test_a_table_of_edges_may_have_namespaces():
    table = "parent,child,namespace\nBP0,b1,BP\nMF0,m1,MF\nb1,b2,BP\nCC0,c1,CC\n"
    pairs = [("p1", "b2"), ("p1", "m1"), ("p2", "c1"), ("p2", "b1")]
    options = {"min_support": 1, "drop_roots": False}
    data = build_dataset(io.StringIO(table), pairs, namespaces="BP,CC", **options)
    assert sorted(data.feature_names) == ["BP0", "CC0", "b1", "b2", "c1"]
    with pytest.raises(
        ValueError, match="has no namespaces; an edge table can list them in a column called namespace"
    ):
        build_dataset(EDGES, PAIRS, namespaces="BP")


def test_frames_and_files_agree_on_the_parent():
    frame = pd.DataFrame([(c, p) for p, c in EDGES], columns=["category_id", "parent_category_id"])
    assert set(Hierarchy.from_edges(frame).edges) == set(EDGES)
    unnamed = frame.set_axis(["category", "group"], axis=1)
    with pytest.warns(HierarchyWarning, match="'group' is used as the parent"):
        assert set(Hierarchy.from_edges(unnamed).edges) == set(EDGES)
    assert set(read_edges(io.StringIO(unnamed.to_csv(index=False))).hierarchy.edges) == set(EDGES)
    with pytest.warns(
        HierarchyWarning, match="the column 'relation' is not used, so all rows count as edges"
    ):
        Hierarchy.from_edges(pd.DataFrame([("a", "b", "part_of")], columns=["parent", "child", "relation"]))
    for tie in ([("a", "b")], [("a", "b"), ("b", "c")]):
        with pytest.warns(HierarchyWarning, match="'from' is used .* data do not show the order") as said:
            assert list(Hierarchy.from_edges(pd.DataFrame(tie, columns=["from", "to"])).edges) == tie
        assert said[0].filename == __file__


def test_labels_without_a_heading():
    labels = read_labels(io.StringIO("a,1\nb,0\nc,1\n"))
    assert dict(labels.by_id) == {"a": "1", "b": "0", "c": "1"} and labels.remarks
    assert dict(read_labels(io.StringIO("a,1\nb,0\n"), header=False).by_id) == {"a": "1", "b": "0"}
    assert dict(read_labels(io.StringIO("a,1\nb,0\n"), header=True).by_id) == {"b": "0"}
    assert dict(read_labels(io.StringIO("#note\n#id\tlabel\na\t1\n")).by_id) == {"a": "1"}


# ------------------------------------------------------------------ terms to leave out


def test_terms_are_left_out_with_all_below_them():
    with pytest.warns(DataWarning, match=r"50.0% of the labelled rows \(2 of 4\) have no usable annotation"):
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # rows may be left without annotations
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
        assert any("1 of 4 values of 'age' are missing" in said for said in data.provenance["detected"])
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
        (
            read_edges,
            "a,b,c\n1,2,3\n",
            "name them parent and child in the first row, .* The columns are a, b, c",
        ),
        (read_edges, "", "the file is empty"),
        (read_edges, "parent,child\n", "the table has no edges"),
        (
            read_edges,
            "from,to\n",
            r"the table has no edges after the row \(from, to\); if this is an edge",
        ),
        (read_annotations, "\n", "the file is empty; expected annotations"),
        (
            read_edges,
            "parent,child\na,\n",
            "line 2: the row has the parent 'a' but no child; fill in the child, or remove the row",
        ),
        (read_edges, 'parent,child\na,"b\n', "line 2: this line is not valid CSV"),
        (read_annotations, "a,b,c\n", "the columns of ids and terms are unclear"),
        (
            read_annotations,
            "item,term\n",
            "the file contains no annotations; expected an id and a term in each row",
        ),
        (read_annotations, "item,term\na,\n", "line 2: none of 1 lines is an annotation"),
        (read_annotations, "!gpi-version: 1.2\n", "line 1: this is a GPI file"),
        (read_annotations, "!gpa-version: 9\n", "line 1: gpa-version is '9'; expected one of 1.0"),
        (read_ontology, "id: no\n", "the file has no .Term. stanza"),
    ],
)
def test_what_cannot_be_read_gets_one_clear_line(read, text, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_all(read, path)
    assert "table.csv" in str(caught.value)


# ---------------------------------------------------------------------------------------- labels, losses and messages


@pytest.mark.parametrize("missing", ["NA", "NaN", "nan", "null", "n/a", ""])
def test_missing_labels_are_counted_and_never_classes(missing):
    table = io.StringIO(f"item,season\np1,winter\np2,{missing}\np3,summer\np4,{missing}\n")
    with pytest.warns(DataWarning, match="2 of 4 label rows have no label; they are left out"):
        data = build_dataset(EDGES, PAIRS, table, min_support=1)
    assert data.target_names == ("summer", "winter") and data.instance_names == ("p1", "p3")
    assert data.provenance["account"]["label rows"]["dropped"] == {"no label": 2}


def test_genes_may_be_called_nan_and_na():
    """Both are genes of the fly; what is missing is a matter of labels, which an option or the mapping may widen."""
    pairs = [("nan", "tea"), ("na", "coffee"), ("null", "bread")]
    labels = "gene,effect\nnan,anti\nna,pro\nnull,unclear\n"
    options = {"min_support": 1}
    with pytest.warns(DataWarning, match="1 of 3 label rows have no label"):
        data = build_dataset(EDGES, pairs, io.StringIO(labels), missing_labels="unclear", **options)
    assert data.instance_names == ("nan", "na")
    numbers = {"nan": float("nan"), "na": "NA", "null": "x"}
    with pytest.warns(DataWarning, match="1 of 3 label rows have no label"):
        kept = build_dataset(EDGES, pairs, numbers, missing_labels=(), **options)
    assert kept.target_names == ("NA", "x")
    with pytest.warns(DataWarning, match="1 of 3 label rows have no label"):
        mapped = build_dataset(EDGES, pairs, numbers, mapping={"NA": "none", "x": "x"}, **options)
    assert mapped.target_names == ("none", "x")
    frame = pd.DataFrame({"tea": [0, 1], "y": ["NA", "x"]}, index=["na", "nan"])
    with pytest.raises(ValueError, match="1 rows have no label"):
        Dataset.from_frame(frame, "y", EDGES)


@pytest.mark.parametrize("name", ["None", "none", "?", "missing"])
def test_words_that_could_be_classes_are_labels(name):
    labels = {"p1": name, "p2": "x", "p3": name, "p4": "x"}
    table = io.StringIO("item,y\n" + lines(labels.items()))
    for given_labels in (table, labels, pd.Series(labels)):
        data = build_dataset(EDGES, PAIRS, given_labels, min_support=1, missing_labels=None)
        assert set(data.target_names) == {name, "x"} and len(data.y) == 4
    frame = pd.DataFrame({"tea": [0, 1], "y": [name, "x"]})
    assert set(Dataset.from_frame(frame, "y", EDGES).target_names) == {name, "x"}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA, " NA"])
def test_missing_objects_are_never_classes(missing):
    labels = {"p1": "a", "p2": missing, "p3": "b", "p4": "b"}
    with pytest.warns(DataWarning, match="1 of 4 label rows have no label"):
        data = build_dataset(EDGES, PAIRS, labels, min_support=1)
    assert data.target_names == ("b", "a")  # the rarer class is last
    frame = pd.DataFrame({"tea": [0, 1, 1, 0]}, index=list(labels))
    y = pd.Series(labels, dtype=object)
    advice = "or rename ' NA' if" if isinstance(missing, str) else r"with frame\[pandas.notna\(y\)\] and y\["
    with pytest.raises(
        ValueError, match=rf"1 rows have no label \(first: 'p2'\); drop them before you continue, .*{advice}"
    ):
        Dataset.from_frame(frame, y, EDGES)
    if not isinstance(missing, str):
        Dataset.from_frame(frame[pd.notna(y)], y[pd.notna(y)], EDGES)
        with pytest.raises(ValueError, match=r"with dropna\(subset=\['y'\]\)"):
            Dataset.from_frame(frame.assign(y=y), "y", EDGES)
        Dataset.from_frame(frame.assign(y=y).dropna(subset=["y"]), "y", EDGES)


@pytest.mark.parametrize("missing", ["none", "None", "MISSING", "Na", "Nan", "?", None, pd.NaT])
def test_one_missing_value_leaves_a_column_of_numbers_binned(missing):
    prices = pd.DataFrame({"price": [*range(19), missing]}, dtype=object)
    found = Dataset.from_frame(prices).feature_names
    assert len(found) == 5 and found[-1] == "price=missing"


def test_a_comma_at_the_end_of_a_list_does_not_matter():
    pairs = [("p1", "tea"), ("p2", "coffee")]
    data = build_dataset(io.StringIO(RELATED), pairs, relations="is_a, part_of,", min_support=1)
    assert data.provenance["options"]["relations"] == ["is_a", "part_of"]
    with pytest.raises(ValueError, match="no relation ''"):
        build_dataset(io.StringIO(RELATED), pairs, relations=",")


def test_zero_of_seven_means_absent():
    """A frequency of 0 and HPO's term Excluded say that a phenotype was looked for in vain."""
    for frequency, absent in {
        "0/7": 1,
        "0%": 1,
        "HP:0040285": 1,
        "0.0 %": 1,
        "10/70": 0,
        "0.5%": 0,
        "": 0,
    }.items():
        text = HPOA.replace("p2\t\tcoffee\tPMID:1\tIMP\t\t\t", f"p2\t\tcoffee\tPMID:1\tIMP\t\t{frequency}\t")
        said = pytest.warns(DataWarning, match="have no usable annotation") if absent else nullcontext()
        with said:
            data = build_dataset(EDGES, io.StringIO(text), min_support=1)
        assert (
            data.provenance["account"]["annotations"]["dropped"].get("NOT: states the opposite", 0) == absent
        )
        assert ("p2" in data.instance_names) is not bool(absent)


def test_a_wrong_order_of_edges_is_an_error():
    with pytest.raises(
        DataError, match="no edge relates two features, .*'bread', 'coffee', 'tea'.* are roots"
    ):
        build_dataset(
            io.StringIO(lines((c, p) for p, c in EDGES)),
            [("p1", "tea"), ("p2", "coffee"), ("p3", "bread")],
            edge_order="parent-child",
            min_support=1,
        )


def test_messages_show_both_sides():
    with pytest.raises(DataError) as caught:
        build_dataset(EDGES, PAIRS, {"GHR": "a", "GHRH": "b"})
    assert "none of the 2 labelled ids ('GHR', 'GHRH') is the name of a row in the annotations ('p1'" in str(
        caught.value
    )
    with pytest.raises(DataError, match=r"there are no rows.*Check the id and label columns"):
        build_dataset(EDGES, PAIRS, io.StringIO("id,label\n"))
    with pytest.warns(DataWarning, match="all 4 rows have the label 'w'; a classifier needs two classes"):
        build_dataset(EDGES, PAIRS, dict.fromkeys(LABELS, "w"), min_support=1)
    with pytest.warns(DataWarning, match="there are 4 different labels for 4 rows, such as '0.1'"):
        build_dataset(EDGES, PAIRS, {item: f"0.{item[1]}" for item in LABELS}, min_support=1)
    with pytest.warns(
        DataWarning, match="2 of 5 label rows have an id with a different label in another row"
    ):
        build_dataset(EDGES, PAIRS, io.StringIO("id,y\np1,a\np1,b\np2,a\np3,b\np4,a\n"), min_support=1)


def test_terms_are_found_next_to_a_column_of_unknown_name():
    table = "entrez\tterm\tevidence\taspect\n" + lines(((i, t, "IDA", "P") for i, t in PAIRS), "\t")
    data = build_dataset(EDGES, io.StringIO(table), LABELS, min_support=1, evidence="IDA")
    assert data.instance_names == tuple(LABELS)
    assert any("the column entrez contains the ids" in r for r in data.provenance["detected"])
    facts = dict(data.summary().facts)
    assert facts["options: evidence"] == "IDA" and facts["options: relations"] == "all edges"
    assert "None" not in facts.values() and "options: bins" not in facts


# ---------------------------------------------------------------------------------------- one dataset like another


def test_a_dataset_is_built_like_another():
    options = {
        "relations": ["is_a", "part_of"],
        "drop_terms": ["coffee"],
        "min_support": 1,
        "drop_roots": False,
    }
    lost = r"% of the rows \(1 of \d\) have no usable annotation"
    known = [("p1", "tea"), ("p2", "coffee")]
    with pytest.warns(DataWarning, match=lost):
        first = build_dataset(io.StringIO(RELATED), known, None, name="first", **options)
    pairs = [("n1", "tea"), ("n2", "coffee"), ("n3", "meal")]
    with pytest.warns(DataWarning, match=lost):
        like = build_dataset(io.StringIO(RELATED), pairs, like=first)
    assert like.feature_names == first.feature_names and like.instance_names == ("n1", "n3")
    for option in ("relations", "drop_terms"):
        assert like.provenance["options"][option] == first.provenance["options"][option]
    said = "built differently from first: relations is_a instead of is_a, part_of"
    for how, ending in (
        ({"like": first, "relations": "is_a"}, ""),
        ({"features": first}, "; dropped terms none instead"),
    ):
        with pytest.warns(DataWarning) as caught:
            build_dataset(io.StringIO(RELATED), pairs, **how)
        assert any(str(one.message).startswith(said + ending) for one in caught)
    with pytest.raises(ValueError, match="does not record how it was built"):
        build_dataset(io.StringIO(RELATED), pairs, like=Dataset.from_frame(pd.DataFrame({"a": [0, 1]})))


def test_features_of_a_further_table_need_the_table(tmp_path):
    table = {"p1": {"colour": "red"}, "p2": {"colour": "blue"}, "p3": {"colour": "red"}}
    first = build_dataset(EDGES, PAIRS, columns=pd.DataFrame(table).T, min_support=1, name="first")
    assert "colour=red" in first.feature_names
    for how in ({"like": first}, {"features": first}):
        with pytest.raises(
            DataError,
            match=r"first has features from an extra table; pass a table with the same columns "
            r"for these rows \(columns, --columns\)",
        ):
            build_dataset(EDGES, PAIRS, **how)
    assert build_dataset(EDGES, PAIRS, like=first, columns=pd.DataFrame(table).T).X.sum() == first.X.sum()
    terms = [name for name in first.feature_names if "=" not in name]
    assert build_dataset(EDGES, PAIRS, like=first, features=terms).feature_names == tuple(terms)


def test_the_positive_class_is_taken_over_only_if_it_is_a_class():
    labels = {"p1": "a", "p2": "b", "p3": "b"}
    first = build_dataset(EDGES, PAIRS, labels, min_support=1, positive="b")
    assert build_dataset(EDGES, PAIRS, labels, like=first).positive == "b"
    others = {"p1": "yes", "p2": "no", "p3": "no"}
    assert build_dataset(EDGES, PAIRS, others, like=first).positive == "yes"  # the rarer class


def test_terms_called_like_headings_are_terms_above_relations():
    table = "item,thing,is_a\nt2,thing,is_a\nt3,item,part_of\nt4,item,is_a\n"
    assert ("thing", "item") in read_edges(io.StringIO(table)).hierarchy.edges


def test_labels_that_differ_only_in_case_are_pointed_out():
    pairs = [(f"p{i}", PAIRS[i % len(PAIRS)][1]) for i in range(12)]
    labels = {f"p{i}": ["Sold", "sold", "returned"][i % 3] for i in range(12)}
    with pytest.warns(DataWarning, match="the labels 'Sold', 'sold' differ only in case"):
        build_dataset(EDGES, pairs, labels, min_support=1)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA])
def test_missing_objects_are_never_terms(missing, expected):
    lists = {item: [missing, *terms] for item, terms in LISTED.items()} | {"p9": [missing]}
    pairs = [*PAIRS, ("p1", missing), ("p9", missing)]
    frame = pd.DataFrame(pairs, columns=["item", "term"])
    for form in (lists, pairs, frame, frame.astype(object), frame.convert_dtypes()):
        assert same(expected, build_dataset(EDGES, form, LABELS, min_support=1))
    table = pd.DataFrame(
        {"terms": [*lists.values(), missing], "season": [*LABELS.values(), "summer", "winter"]}
    )
    data = Dataset.from_frame(table, "season", EDGES, min_support=1)
    assert data.X.toarray().sum(axis=1)[-2:].tolist() == [0, 0] and "None" not in data.feature_names
    with pytest.raises(ValueError, match="column 'tea' has no value in row 1"):
        HierarchyEncoder(Hierarchy.from_edges(EDGES)).fit(pd.DataFrame({"tea": [1, missing]}, dtype=object))


def test_frames_with_a_column_of_lists_give_the_same_dataset(expected):
    lists = pd.DataFrame({"item": list(LISTED), "terms": list(LISTED.values())})
    assert same(expected, Dataset.from_pairs(lists, LABELS, EDGES))
    frame = lists.set_index("item").assign(season=pd.Series(LABELS))
    features = list(expected.feature_names)
    assert same(expected, Dataset.from_frame(frame, "season", EDGES).subset(features=features))
    mixed = frame.assign(tea=[int("tea" in terms) for terms in frame["terms"]], price=[1.0, 2.0, 1.0, 2.0])
    data = Dataset.from_frame(mixed, "season", EDGES)
    assert same(expected, data.subset(features=features)) and "price=1" in data.feature_names
    with pytest.warns(
        DataWarning,
        match=r"'terms' contains terms that are not in the hierarchy \('oil'\); they are left out",
    ):
        Dataset.from_frame(frame.assign(terms=[["tea"], ["oil"], [], None]), "season", EDGES)
    with pytest.raises(ValueError, match="the column 'terms' contains lists of terms; pass the hierarchy"):
        Dataset.from_frame(frame, "season")
    with pytest.raises(TypeError, match="got a list of lists"):
        Dataset.from_pairs(lists.assign(terms=[[["tea"]], [], [], []]), LABELS, EDGES)
