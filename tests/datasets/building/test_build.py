"""Building a dataset: small cases by hand, then random ones against plain sets."""

import io
import json
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan.datasets import Annotation, Labels, build_dataset, read_gaf, read_labels, read_obo
from hietan.exceptions import DataError, DataWarning
from support.gaf_lines import gaf_line

OBO = """data-version: toy

[Term]
id: GO:0008150
name: biological_process
namespace: biological_process

[Term]
id: GO:1
name: top
namespace: biological_process
is_a: GO:0008150

[Term]
id: GO:2
name: middle
namespace: biological_process
is_a: GO:1

[Term]
id: GO:3
name: bottom
namespace: biological_process
alt_id: GO:30
is_a: GO:2

[Term]
id: GO:4
name: side
namespace: biological_process
relationship: part_of GO:2
is_a: GO:0008150

[Term]
id: GO:5
name: gone
namespace: biological_process
is_obsolete: true
replaced_by: GO:3

[Term]
id: GO:6
name: gone for good
namespace: biological_process
is_obsolete: true
consider: GO:3

[Term]
id: GO:0003674
name: molecular_function
namespace: molecular_function

[Term]
id: GO:7
name: binding
namespace: molecular_function
is_a: GO:0003674
"""
LABELS = {"a": "yes", "b": "no", "c": "yes"}


@pytest.fixture(scope="module")
def go():
    return read_obo(io.StringIO(OBO))


def table(data):
    names = np.array(data.feature_names)
    rows = zip(data.instance_names, data.X.toarray(), strict=True)
    return {name: set(names[row.astype(bool)]) for name, row in rows}


def account(data, what):
    parts = data.provenance["account"][what]
    assert parts["read"] == parts["used"] + sum(parts["dropped"].values())
    return parts


def statements(*pairs, **options):
    return [Annotation(gene, term, **options) for gene, term in pairs]


def test_annotations_spread_upwards(go):
    given = statements(("a", "GO:3"), ("b", "GO:1"), ("c", "GO:4"))
    data = build_dataset(go, given, LABELS, min_support=1)
    assert table(data) == {"a": {"GO:1", "GO:2", "GO:3"}, "b": {"GO:1"}, "c": {"GO:4"}}
    assert data.hierarchy.edges == (("GO:1", "GO:2"), ("GO:2", "GO:3"))
    assert data.term_names == ("top", "middle", "bottom", "side")
    assert data.target_names == ("yes", "no") and data.y.tolist() == [0, 1, 0]  # the rarer class is last
    assert data.hierarchy.is_closed(data.X)


def test_relations_through_dropped_terms_are_kept(go):
    given = statements(("a", "GO:3"), ("b", "GO:3"), ("c", "GO:1"))
    data = build_dataset(go, given, LABELS, features=["GO:3", "GO:1"])
    assert data.hierarchy.edges == (("GO:1", "GO:3"),)


@pytest.mark.filterwarnings("ignore::hietan.exceptions.DataWarning")
def test_other_relations_are_followed_if_asked_for(go):
    data = build_dataset(go, statements(("a", "GO:4")), LABELS, min_support=1, relations=["is_a", "part_of"])
    assert table(data) == {"a": {"GO:1", "GO:2", "GO:4"}}
    assert ("GO:2", "GO:4") in data.hierarchy.edges


def test_every_lost_annotation_is_counted_for_the_first_reason(go):
    given = [
        *statements(
            ("a", "GO:3"), ("a", "GO:30"), ("b", "GO:5"), ("b", "GO:6"), ("c", "GO:99"), ("c", "GO:7")
        ),
        *statements(("c", "GO:1"), ("b", "GO:1"), ("stranger", "GO:2")),
        Annotation("a", "GO:99", qualifier="NOT|involved_in", evidence="ND"),
        Annotation("a", "GO:1", evidence="ND"),
        Annotation("a", "GO:1", taxon="taxon:7", qualifier="NOT"),
    ]
    kept = [a._replace(evidence=a.evidence or "IMP", taxon=a.taxon or "taxon:6239|taxon:1") for a in given]
    with pytest.warns(
        DataWarning,
        match=r"25.0% of the annotations \(3 of 12\) name a term that is unknown or obsolete, such as 'GO:\d+', 'GO",
    ):
        data = build_dataset(
            go, kept, LABELS, namespaces="BP", evidence="imp, IDA", taxon=6239, min_support=1
        )
    assert account(data, "annotations") == {
        "read": 12,
        "used": 4,
        "dropped": {
            "obsolete term": 2,
            "term unknown to the ontology": 1,
            "other namespace": 1,
            "NOT: states the opposite": 1,
            "other evidence": 1,
            "other taxon": 1,
            "of something that is not a row": 1,
        },
        "changed": {"mapped from an alternative id": 1, "repeats another annotation": 1},
    }
    assert table(data) == {"a": {"GO:1", "GO:2", "GO:3"}, "b": {"GO:1"}, "c": {"GO:1"}}
    assert json.loads(json.dumps(data.provenance)) == data.provenance


def test_replacements_are_followed_if_asked_for(go):
    given = statements(("a", "GO:5"), ("b", "GO:1"), ("c", "GO:1"))
    data = build_dataset(go, given, LABELS, min_support=1, follow_replaced=True)
    assert table(data)["a"] == {"GO:1", "GO:2", "GO:3"}
    assert account(data, "annotations")["changed"] == {"mapped to a replacement": 1}


def test_terms_are_dropped_and_counted(go):
    given = statements(("a", "GO:3"), ("b", "GO:2"), ("c", "GO:2"), ("c", "GO:4"))
    data = build_dataset(go, given, LABELS, min_support=2)
    assert data.feature_names == ("GO:1", "GO:2")
    assert account(data, "terms") == {"read": 5, "used": 2, "dropped": {"fewer than 2 rows": 2, "root": 1}}
    data = build_dataset(go, given, LABELS, min_support=1, drop_roots=False, drop_constant=True)
    assert data.feature_names == ("GO:3", "GO:4")
    assert account(data, "terms")["dropped"] == {"the same in all rows": 3}


def test_identical_rows_of_one_class_once(go):
    given = statements(("a", "GO:3"), ("b", "GO:3"), ("c", "GO:3"), ("d", "GO:1"), ("d", "GO:7"))
    labels = LABELS | {"d": "yes"}
    data = build_dataset(go, given, labels, min_support=1, deduplicate=True)
    assert data.instance_names == ("a", "b", "d")  # c is as a, and of its class; b is of the other class
    assert account(data, "labelled rows")["dropped"] == {"identical row of the same class": 1}
    assert data.provenance["equal_rows"]["contradictions"] == 1


def test_unlabelled_rows_are_counted_apart_from_labelled_ids(go):
    """Otherwise, the share of lost labels would seem small."""
    given = statements(*((f"g{i}", "GO:3" if i % 2 else "GO:4") for i in range(40)))
    labels = {f"lost{i}": "yes" for i in range(9)} | {"g1": "yes"}
    with pytest.warns(
        DataWarning, match=r"90\.0% of the labelled rows \(9 of 10\) have no usable annotation"
    ):
        data = build_dataset(go, given, labels, others="rest", min_support=1, deduplicate=True)
    assert data.instance_names == ("g1", "g0", "g3")
    assert account(data, "labelled rows")["used"] == 1 and account(data, "labelled rows")["read"] == 10
    unlabelled = {"read": 39, "used": 2, "dropped": {"identical row of the same class": 37}}
    assert account(data, "unlabelled rows") == unlabelled


def test_rows_that_differ_in_a_root_alone_both_stay(go):
    given = statements(("a", "GO:1"), ("c", "GO:1"), ("c", "GO:0003674"), ("b", "GO:2"))
    data = build_dataset(go, given, LABELS, min_support=1, deduplicate=True)
    assert data.instance_names == ("a", "b", "c")
    assert data.provenance["equal_rows"]["pairs"] == 1


def test_ids_symbols_and_synonyms(go):
    given = [
        Annotation("P1", "GO:1", "daf-2", synonym_field="daf|P2"),
        Annotation("P2", "GO:2", "age-1", synonym_field="daf-23|shared"),
        Annotation("P3", "GO:3", "sod-1", synonym_field="shared|age-1"),
        Annotation("P4", "GO:3", "sod-1", synonym_field="shared"),
        Annotation("P4", "GO:4", "sod-1"),
        Annotation("P5", "GO:3", "mute", qualifier="NOT"),
    ]
    labels = dict.fromkeys(["P2", "age-1", "daf", "sod-1", "shared", "nobody", "mute", "daf-23"], "yes")
    labels["daf"] = "no"
    with pytest.warns(DataWarning, match=r"37.5% of the labelled rows \(3 of 8\) have no usable annotation"):
        data = build_dataset(go, given, labels, min_support=1)
    assert table(data) == {
        "P2": {"GO:1", "GO:2"},  # an id before a synonym
        "daf": {"GO:1"},
        "sod-1": {"GO:1", "GO:2", "GO:3", "GO:4"},  # both proteins of the gene
    }
    assert account(data, "labelled rows")["dropped"] == {
        "synonym of several rows": 1,
        "no row of this name is annotated": 1,
        "no usable annotation": 1,
        "same row under an earlier id": 2,
    }
    with pytest.warns(DataWarning):
        by_symbol = build_dataset(go, given, labels, min_support=1, match="symbol")
    assert by_symbol.instance_names == ("age-1", "sod-1")


@pytest.mark.parametrize(("policy", "rows"), [("drop", ("b",)), ("first", ("a", "b")), ("majority", ("b",))])
def test_one_gene_under_two_ids_with_different_labels(go, policy, rows):
    given = [Annotation("P1", "GO:1", "a", synonym_field="c"), Annotation("P2", "GO:1", "b")]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "all 1 rows have the label", DataWarning)
        data = build_dataset(go, given, {**LABELS, "c": "no"}, min_support=1, on_conflict=policy)
    assert data.instance_names == rows
    with pytest.raises(DataError, match=r"ids of the same row have different labels \(a \(yes\), c \(no\)\)"):
        build_dataset(go, given, {**LABELS, "c": "no"}, min_support=1, on_conflict="raise")


def test_all_genes_in_the_columns_of_a_model(go):
    given = [
        Annotation("P1", "GO:3", "a"),
        Annotation("P2", "GO:7", "b"),
        Annotation("P3", "GO:1", "c", "NOT"),
    ]
    columns = ("GO:30", "GO:old", "GO:1", "GO:4", "GO:3")
    with pytest.warns(DataWarning) as caught:
        data = build_dataset(go, given, features=columns)
    assert [str(one.message) for one in caught] == [
        "33.3% of the rows (1 of 3) have no usable annotation",
        "20.0% of the requested features (1 of 5) are unknown to the ontology",
    ]
    assert data.feature_names == columns and data.hierarchy.features == columns
    assert data.instance_names == ("P1", "P2")
    assert data.X.toarray().tolist() == [[1, 0, 1, 0, 1], [0, 0, 0, 0, 0]]
    assert not data.is_labelled and data.y.tolist() == [-1, -1]
    assert data.provenance["missing_features"] == ["GO:old"]
    assert data.provenance["empty_rows"] == 1
    assert account(data, "requested features") == {
        "read": 5,
        "used": 4,
        "dropped": {"unknown to the ontology: 0 in every row": 1},
        "changed": {"known under another id": 1, "no row has it": 1},
    }
    assert account(data, "rows") == {"read": 3, "used": 2, "dropped": {"no usable annotation": 1}}
    with pytest.warns(DataWarning):
        named = build_dataset(go, given, features=columns, match=["symbol"])
    assert named.instance_names == ("a", "b")


def test_files_versions_and_options_are_on_record(tmp_path):
    (tmp_path / "go.obo").write_text(OBO)
    lines = [
        "!gaf-version: 2.2",
        gaf_line("P1", "GO:3", "a"),
        "short\tline",
        gaf_line("P2", "GO:1", "b", synonyms=""),
    ]
    (tmp_path / "wb.gaf").write_text("\n".join(lines).replace("a|b", ""))
    (tmp_path / "labels.csv").write_text("gene,effect,organism\na,+,worm\nb,-,worm\nb,-,fly\n")
    with pytest.warns(DataWarning, match="skipped 1 of 3 lines"):
        data = build_dataset(
            *(tmp_path / name for name in ("go.obo", "wb.gaf", "labels.csv")),
            id_column="gene",
            label_column="effect",
            mapping={"-": "short", "+": "long"},
            where={"organism": "worm"},
            min_support=1,
            name="toy",
        )
    assert set(data.provenance["files"]) == {"go.obo", "wb.gaf", "labels.csv"}
    assert all(len(digest) == 64 for digest in data.provenance["files"].values())
    assert data.provenance["versions"] | {"hietan": ""} == {
        "hietan": "",
        "ontology": "toy",
        "annotations, gaf-version": "2.2",
    }
    assert data.provenance["options"]["mapping"] == {"-": "short", "+": "long"}
    assert data.target_names == ("short", "long") and data.y.tolist() == [1, 0]
    assert account(data, "annotations")["dropped"] == {"too few columns": 1}
    assert account(data, "label rows")["dropped"] == {"not requested": 1}
    assert (data.name, data.X.shape) == ("toy", (2, 3))


def test_everything_may_be_read_before(tmp_path):
    (tmp_path / "go.obo").write_text(OBO)
    (tmp_path / "wb.gaf").write_text(gaf_line("a", "GO:1") + "\n" + gaf_line("b", "GO:2"))
    (tmp_path / "y.csv").write_text("id,y\na,1\nb,0\n")
    paths = [tmp_path / name for name in ("go.obo", "wb.gaf", "y.csv")]
    labels = read_labels(paths[2])
    assert isinstance(labels, Labels)
    parts = [read_obo(paths[0]), read_gaf(paths[1]), labels]
    assert "AnnotationReader" in repr(parts[1])
    data = build_dataset(*parts, min_support=1)
    assert data.y.tolist() == [1, 0]
    assert data.provenance == build_dataset(*paths, min_support=1).provenance
    with (tmp_path / "wb.gaf").open() as file:
        assert build_dataset(paths[0], file, labels, min_support=1).provenance == data.provenance


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"namespaces": "XX"},
            ValueError,
            "namespaces is 'XX'; the ontology's namespaces are 'biological_process'",
        ),
        ({"namespaces": "CC"}, ValueError, "namespaces is 'CC'; the ontology's namespaces are"),
        (
            {"relations": ["regulates"]},
            ValueError,
            "no relation 'regulates'; its relations are is_a, part_of",
        ),
        ({"min_support": 0}, ValueError, "min_support is 0; expected an integer of at least 1"),
        ({"on_conflict": "x"}, ValueError, "on_conflict is 'x'"),
        (
            {"match": ["name"]},
            ValueError,
            r"match is \['name'\]; expected one or more of id, symbol, synonym",
        ),
        ({"features": "GO:1"}, ValueError, "features must be a list of at least one term id, got 'GO:1'"),
        ({"features": ["GO:1", "GO:1"]}, ValueError, "features must name each term once, but repeats 'GO:1'"),
        (
            {"evidence": ["IDA"]},
            DataError,
            r"no row is left, because none of 1 annotations can be used: other evidence \(1\)$",
        ),
        ({"min_support": 9}, DataError, r"no feature is left of 2 terms: fewer than 9 rows \(2\)"),
        (
            {"labels": 3},
            TypeError,
            "labels must be a path, an open file, a dict .* or a pandas series or data frame; got int",
        ),
        (
            {"annotations": 3},
            TypeError,
            "annotations must be a path, an open file, pairs .id, term.,.* got 3",
        ),
    ],
)
def test_wrong_options_are_refused(go, options, error, message):
    given = options.pop("annotations", statements(("a", "GO:1")))
    with pytest.raises(error, match=message):
        build_dataset(go, given, options.pop("labels", LABELS), **options)


# ------------------------------------------------------------------------- against plain sets


@st.composite
def worlds(draw):
    n = draw(st.integers(2, 9))
    parents = {t: draw(st.sets(st.integers(0, t - 1), max_size=3)) if t else set() for t in range(n)}
    obsolete = draw(st.sets(st.integers(0, n - 1), max_size=2))
    parents = {t: set() if t in obsolete else above - obsolete for t, above in parents.items()}
    genes = [f"g{i}" for i in range(6)]
    pairs = draw(st.lists(st.tuples(st.sampled_from(genes), st.integers(0, n), st.booleans()), max_size=25))
    labels = draw(st.dictionaries(st.sampled_from(genes), st.sampled_from(["x", "y"]), min_size=1))
    return parents, obsolete, pairs, labels, draw(st.integers(1, 3)), draw(st.booleans())


@given(world=worlds())
def test_same_as_with_plain_sets(world):
    parents, obsolete, pairs, labels, min_support, drop_roots = world
    text = "".join(
        f"[Term]\nid: T{t}\n"
        + "".join(f"is_a: T{p}\n" for p in above)
        + "is_obsolete: true\n" * (t in obsolete)
        for t, above in parents.items()
    )
    given = [Annotation(g, f"T{t}", qualifier="NOT" * negated) for g, t, negated in pairs]

    def closure(t):
        return {t}.union(*(closure(p) for p in parents[t]))

    has = {}
    for g, t, negated in pairs:
        if not negated and t in parents and t not in obsolete:
            has.setdefault(g, set()).update(closure(t))
    rows = {g: has[g] for g in labels if g in has}
    support = Counter(t for terms in rows.values() for t in terms)
    above_any = set().union(*parents.values())
    kept = [t for t in parents if support[t] >= min_support]
    kept = [t for t in kept if not (drop_roots and not parents[t] and t in above_any)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            data = build_dataset(
                io.StringIO(text), given, labels, min_support=min_support, drop_roots=drop_roots
            )
        except DataError:
            assert not rows or not kept
            return
    assert data.feature_names == tuple(f"T{t}" for t in kept)
    assert data.instance_names == tuple(rows)
    assert table(data) == {g: {f"T{t}" for t in terms if t in kept} for g, terms in rows.items()}
    for t in kept:
        assert data.hierarchy.ancestors(f"T{t}") == {f"T{u}" for u in closure(t) - {t} if u in kept}
    told = account(data, "annotations")
    assert told["read"] == len(pairs)
    assert told["used"] == sum(
        not n and t in parents and t not in obsolete and g in rows for g, t, n in pairs
    )
    assert account(data, "labelled rows")["used"] == len(rows)
    assert account(data, "terms")["read"] == len(support)


def test_symbols_of_the_annotations_go_with_the_rows():
    lines = [
        gaf_line("P1", "GO:3", "daf-2"),
        gaf_line("P2", "GO:2", ""),
        gaf_line("P3", "GO:2", "age-1"),
        gaf_line("P4", "GO:1", "age-1"),
    ]
    gaf = "\n".join(["!gaf-version: 2.1", *lines])
    by_id = build_dataset(io.StringIO(OBO), io.StringIO(gaf), min_support=1)
    assert dict(zip(by_id.instance_names, by_id.symbols, strict=True)) == {
        "P1": "daf-2",
        "P2": "",
        "P3": "age-1",
        "P4": "age-1",
    }
    by_symbol = build_dataset(io.StringIO(OBO), io.StringIO(gaf), min_support=1, match=["symbol"])
    assert by_symbol.instance_names == ("daf-2", "age-1") and by_symbol.symbols == ()
    labelled = build_dataset(io.StringIO(OBO), io.StringIO(gaf), {"P3": "no", "P1": "yes"}, min_support=1)
    assert (labelled.instance_names, labelled.symbols) == (("P3", "P1"), ("age-1", "daf-2"))
