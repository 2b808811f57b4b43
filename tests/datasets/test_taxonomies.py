"""Paths, codes and tables of ancestors as files: recognised, read whole, or refused with the line."""

import io
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy
from hietan.datasets import build_dataset, read_ontology
from hietan.exceptions import DataError, DataWarning

GOOGLE = """# Google_Product_Taxonomy_Version: 2021-09-21
1 - Animals & Pet Supplies
3237 - Animals & Pet Supplies > Live Animals
3 - Animals & Pet Supplies > Bird Supplies
412 - Food, Beverages & Tobacco
413 - Food, Beverages & Tobacco > Beverages
499 - Food, Beverages & Tobacco > Bird Supplies
"""
SHOPIFY = """# Shopify Product Taxonomy - Categories: 2024-07
gid://shopify/TaxonomyCategory/ap     : Animals & Pet Supplies
gid://shopify/TaxonomyCategory/ap-1   : Animals & Pet Supplies > Live Animals
gid://shopify/TaxonomyCategory/ap-2   : Animals & Pet Supplies > Bird Supplies
"""
MESH = (
    "Eye;A01.456.505.420\nHead;A01.456\nBody Regions;A01\nEye;A09.371\nFace;A01.456.505\n"
    "Eyebrows;A01.456.505.420.338\n"
)


def read(text, **options):
    return read_ontology(io.StringIO(text), **options)


# ------------------------------------------------------------------ paths


def test_products_have_paths_ids_and_last_names():
    ontology = read(GOOGLE)
    plain = "".join(line.partition(" - ")[2] + "\n" for line in GOOGLE.splitlines()[1:])
    assert ontology.hierarchy == read(plain).hierarchy == Hierarchy.from_paths(plain.splitlines())
    live = "Animals & Pet Supplies > Live Animals"
    assert [ontology.resolve(name) for name in ("3237", live, "Live Animals", live.replace(" > ", ">"))] == [
        live
    ] * 4
    assert ontology.resolve("Bird Supplies") is None  # two paths end with it
    assert ontology.resolve("3") != ontology.resolve("499")
    assert ontology.terms[live].name == "Live Animals" and ontology.lines[live] == 3
    shopify = read(SHOPIFY)
    assert shopify.resolve("gid://shopify/TaxonomyCategory/ap-1") == live


@pytest.mark.parametrize(
    "text",
    [
        "id,path\n1,a\n2,a > b\n3,a > c\n",
        "id;path\n1;a\n2;a > b\n3;a > c\n",
        '1;a\n2;"a > b"\n3;"a > c"\n',
        "id,path\n1,a\n# a remark, and more of it\n2,a > b\n3,a > c\n",
        "path\tid\na\t1\na > b\t2\na > c\t3\n",
    ],
)
def test_paths_in_a_table(text):
    ontology = read(text)
    assert ontology.hierarchy.edges == (("a", "a > b"), ("a", "a > c")) and ontology.resolve("2") == "a > b"


def test_paths_may_have_no_blanks_around_the_separator():
    edges = read("Animals>Pets>Dogs\nAnimals>Pets>Cats\nToys>Dogs\n").hierarchy.edges
    assert (
        ("Animals>Pets", "Animals>Pets>Dogs") in edges and ("Toys", "Toys>Dogs") in edges and len(edges) == 4
    )
    assert read("BRCA1,c.76A>T\nBRCA1,c.5C>G\nTP53,c.8G>A\n").hierarchy.parents("c.76A>T") == ("BRCA1",)
    with pytest.raises(DataError, match=r"If it contains paths, set separator \(--separator\)"):
        read("Animals/Dogs\nToys/Dogs\n")


def test_quotes_are_not_part_of_paths():
    plain = ["Food, Beverages", "Food, Beverages > Tea", "Toys", "Toys > Dolls", "Toys > Trains"]
    quoted = "".join(f'"{path}"\n' for path in plain)
    assert read(quoted).hierarchy == read("path\n" + quoted).hierarchy == Hierarchy.from_paths(plain)
    assert read("\n".join(plain) + "\n").hierarchy == Hierarchy.from_paths(plain)


def test_lineages_of_several_sequences_have_the_sequences_below_them():
    text = "#OTU ID\ttaxonomy\n11\tk__B; p__F; c__; o__\n12\tk__B; p__F; c__; o__\n13\tk__A; p__E\n"
    ontology = read(text)
    assert ontology.hierarchy.parents("12") == ("k__B;p__F",) and ontology.hierarchy.parents("13") == (
        "k__A;p__E",
    )
    assert ontology.resolve("k__B; p__F; c__; o__; f__") == "k__B;p__F"
    assert read("k__B|p__F\nk__B|p__G|c__H\n").hierarchy.features[-1] == "k__B|p__G|c__H"
    silva = read("Bacteria;Firmicutes\nBacteria;Chloroflexi\n", separator=";")
    assert silva.hierarchy.children("Bacteria") == ("Bacteria;Firmicutes", "Bacteria;Chloroflexi")


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        (
            "path,department\nAnimals > Cats,Animals\nAnimals > Dogs,Animals\nToys > Balls,Toys\n",
            {("Animals", "Animals > Cats"), ("Animals", "Animals > Dogs"), ("Toys", "Toys > Balls")},
        ),
        (
            "path,name\nDogs,x\nPets > Dogs,Dogs\nToys > Dogs,Dogs\n",
            {("Pets", "Pets > Dogs"), ("Toys", "Toys > Dogs")},
        ),
        (
            "id\tpath\nk__A\tk__A;p__B\nother\tk__A;p__B\n",
            {("k__A", "k__A;p__B"), ("k__A;p__B", "other")},
        ),
    ],
)
def test_a_label_that_is_a_node_moves_no_node(text, edges):
    assert set(read(text).hierarchy.edges) == edges


def test_a_lineage_in_a_list_of_terms_is_one_term():
    taxonomy = "k__B;p__F;c__X\nk__B;p__G;c__X\nk__A;p__E\n"
    pairs = "s1\tk__B; p__F; c__X\ns2\tk__A;p__E\n"
    data = build_dataset(io.StringIO(taxonomy), io.StringIO(pairs), min_support=1)
    assert data.instance_names == ("s1", "s2") and "k__B;p__F;c__X" in data.feature_names
    assert "dropped" in data.provenance["account"]["annotations"] and data.X.sum() == 5


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a > b\na >  > c\n", {}, "line 2: 'a >  > c' has an empty part"),
        ("a > b\n" + " > ".join("x" * 300) + "\n", {}, "line 2: the path 'x > x.*' has more than 255 levels"),
        ("id,path\n1,a > b\n2,\n3,a > c\n", {}, "line 3: the row has no path; fill it in"),
        (
            "a\nb\n",
            {"format": "paths"},
            "no paths were recognised; set separator \\(--separator\\) to the text between two names in a path",
        ),
    ],
)
def test_bad_paths(text, options, message):
    with pytest.raises(DataError, match=message):
        _ = read(text, **options).hierarchy


# ------------------------------------------------------------------ codes


def test_a_heading_at_several_tree_numbers_is_below_all_of_them():
    ontology = read(MESH)
    above = ontology.hierarchy.ancestors("Eye")
    assert above == {"A01", "A01.456", "A01.456.505", "A01.456.505.420", "A09", "A09.371"}
    assert "A09.371" not in ontology.hierarchy.ancestors(
        "A01.456.505.420.338"
    )  # eyebrows are not a sense organ
    assert ontology.resolve("Head") == "A01.456" and ontology.terms["A09.371"].name == "Eye"


@pytest.mark.parametrize(
    "text",
    [
        "code,description\nE08-E13,Diabetes\nE11,Type 2\nE11.9,Without complications\n012,Old\n",
        "E08-E13;Diabetes\nE11;Type 2\nE11.9;Without complications\n012;Old\n",
        "E08-E13\nE11\nE11.9\n012\n",
        "description\tICD10 code\nDiabetes\tE08-E13\nType 2\tE11\nWithout complications\tE11.9\nOld\t012\n",
    ],
)
def test_codes_are_recognised(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # 012 has no prefix
        ontology = read(text)
    assert ontology.hierarchy.edges == (("E08-E13", "E11"), ("E11", "E11.9")) and "012" in ontology.terms
    assert ontology.terms["E11.9"].name in ("Without complications", "E11.9")


@pytest.mark.parametrize("bad", ["E11.5,fifth again", "-,not known"])
def test_one_wrong_code_does_not_make_the_table_one_of_edges(bad):
    """The error names the line, and the rest of the table is read as codes."""
    rows = ["E11,Type 2", *(f"E11.{k},complication {k}" for k in range(9))]
    text = "code,name\n" + "\n".join(rows) + "\n"
    assert read(text).hierarchy.children("E11") == tuple(f"E11.{k}" for k in range(9))
    with pytest.raises(DataError, match=r"line 12: .*(E11\.5|'-')"):
        read(f"{text}{bad}\n")
    assert read(f"{text}E11.5,complication 5\n").hierarchy == read(text).hierarchy


@pytest.mark.parametrize("nothing", ["-", "", ".-", " "])
def test_a_text_without_letters_is_not_the_prefix_of_everything(nothing):
    with pytest.raises(ValueError, match="is not a code|is empty|name"):
        Hierarchy.from_prefixes(["E11", "E12", nothing])


def test_options_decide_how_codes_are_nested():
    text = "1,one\n1.1,x\n1.10,y\n"
    assert read(text, prefix_codes=True).hierarchy.parents("1.10") == ("1.1",)
    assert read(text, prefix_codes=True, separator=".").hierarchy.parents("1.10") == ("1",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "code,name\nE11,a\nE11.9,b\nE11.9,c\n",
            "line 4: the code E11.9 means 'c' in this line, but 'b' in line 3",
        ),
        ("code,name\nE08-E13,a\nE10-E15,b\nE11,c\nE11.9,d\n", "the ranges 'E08-E13' and 'E10-E15' overlap"),
        ("code,name\nE11,a\n,b\nE11.9,c\n", "line 3: the row has no code; fill it in, or remove the row"),
        ("code,name\nE11,a\nE11.9,b\n-,c\n", "line 4: '-' is not a code; expected letters or digits"),
        ("code,name\n" + "1" * 200 + ",a\n1,b\n", "line 2: '1+' is too long; a code has at most 100"),
    ],
)
def test_bad_codes(text, message):
    with pytest.raises(DataError, match=message):
        read(text, prefix_codes=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "code,name\nA00-A19,x\nA10-A29,y\nA01,z\nA11,w\n",
            "line 2: the ranges 'A00-A19' and 'A10-A29' overlap",
        ),
        (f"code,name\nE11,a\n1{'/0123456789' * 12},b\nE11.9,c\n", "line 3: '1/01.*' is too long"),
    ],
)
def test_errors_in_detected_codes_name_the_line(text, message, tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"codes.csv, {message}"):
        read_ontology(path)


def test_a_code_without_its_prefix_is_kept_and_named():
    with pytest.warns(
        DataWarning,
        match=r"line 4: B01AC06 has no parent code in the table, unlike other codes .* 1 such codes become",
    ):
        ontology = read("A,x\nA10,y\nA10BA02,z\nB01AC06,w\n")
    assert ontology.hierarchy.roots == ("A", "B01AC06")


@given(
    st.integers(2, 200),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from(["item{}", "{}", "C{:03}", "A{}.{}"]),
)
def test_a_table_of_edges_is_never_read_as_codes(n, n_groups, flipped, form):
    """Children may begin with each other's names; parents tell that the table holds edges."""
    rows = [(form.format(i, i), f"group {i % n_groups}") for i in range(1, n + 1)]
    rows += [(f"group {k}", "all") for k in range(n_groups)]
    text = "".join(f"{b},{a}\n" if flipped else f"{a},{b}\n" for a, b in rows)
    ontology = read(text, order="parent-child" if flipped else "child-parent", format=None)
    assert set(ontology.hierarchy.edges) == {(b, a) for a, b in rows}
    if n > 2 * n_groups:
        guessed = read(text)
        assert set(guessed.hierarchy.edges) == {(b, a) for a, b in rows}


# ------------------------------------------------------------------ tables of ancestors


def closure_table(edges, n, rng):
    """All pairs with their shortest distances, by breadth-first search, in any order."""
    rows = []
    for start in range(n):
        level, distance, seen = {start}, 0, set()
        while level - seen:
            rows += [(start, v, distance) for v in level - seen]
            seen |= level
            level, distance = {b for a, b in edges if a in level}, distance + 1
    rng.shuffle(rows)
    return "ancestor_concept_id\tdescendant_concept_id\tmin_levels_of_separation\n" + "".join(
        f"{a}\t{b}\t{d}\n" for a, b, d in rows
    )


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] < e[1]), min_size=1),
    st.randoms(),
)
def test_only_direct_pairs_are_edges(edges, rng):
    ontology = read(closure_table(edges, 10, rng))
    assert {(int(a), int(b)) for a, b in ontology.hierarchy.edges} == edges
    assert len(ontology.hierarchy) == 10
    assert (
        f"{len(edges)} of " in ontology.remarks[0] and "10 pairs of a term with itself" in ontology.remarks[0]
    )


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] < e[1]), min_size=1),
    st.randoms(),
)
def test_an_excerpt_keeps_all_relations(edges, rng):
    """The terms in between may be missing; the ancestors of the others stay the same."""
    whole = Hierarchy.from_edges(
        [(str(a), str(b)) for a, b in sorted(edges)], features=list(map(str, range(10)))
    )
    kept = set(rng.sample(range(10), 6))
    head, *lines = closure_table(edges, 10, rng).splitlines()
    lines = [line for line in lines if {int(x) for x in line.split()[:2]} <= kept]
    found = read("\n".join([head, *lines]) + "\n").hierarchy
    assert set(found.features) == set(map(str, kept))
    for term in found.features:
        assert found.ancestors(term) == whole.ancestors(term) & set(found.features)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["1 2 1", "2 1 1", "1 3 2"],
            "line 2: the pairs contradict each other, because the edges form a cycle; remove one of them: 1 -> 2 -> 1",
        ),
        (["1 2 1", "2 3 1", "3 1 2"], "the edges form a cycle; remove one of them: 1 -> 2 -> 3 -> 1"),
        (
            ["1 2 1", "1 2 2"],
            "line 3: the table of ancestors contradicts itself \\(an earlier row gives another distance\\)",
        ),
        (
            ["1 2 1", "1 1 1"],
            "line 3: the table of ancestors contradicts itself \\(the distance is 0 only between a term and itself\\)",
        ),
        (
            ["1 2 0"],
            "line 2: the table of ancestors contradicts itself \\(the distance is 0 only between a term and itself\\)",
        ),
        (
            ["1 2 1", "1 2 x"],
            "line 3: 1, 2, 'x': expected an ancestor, a descendant, and a distance of 0 or more",
        ),
        (["1 2 1.5"], "line 2: 1, 2, '1.5': expected an ancestor"),
    ],
)
def test_a_table_of_ancestors_that_contradicts_itself(rows, message):
    text = "ancestor,descendant,distance\n" + "".join(row.replace(" ", ",") + "\n" for row in rows)
    with pytest.raises(DataError, match=message):
        _ = read(text).hierarchy


def test_a_table_of_ancestors_needs_rows():
    with pytest.raises(DataError, match="the table has no edges; expected a row"):
        read("ancestor,descendant,distance\n")


def test_omop_needs_no_options():
    ancestors = closure_table({(0, 1), (1, 2), (0, 3)}, 4, random.Random(0))
    conditions = (
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,condition_type_concept_id,"
        "condition_source_concept_id,visit_occurrence_id\n1,012,2,2020-01-01,9,8,7\n2,12,3,2020-01-01,9,8,7\n"
        "3,12,1,2020-01-01,9,8,7\n"
    )
    cohort = "cohort_definition_id,subject_id,cohort_start_date\n1,012,2021-01-01\n2,12,2021-01-01\n"
    data = build_dataset(
        io.StringIO(ancestors), io.StringIO(conditions), io.StringIO(cohort), min_support=1, drop_roots=False
    )
    assert data.instance_names == ("012", "12")  # two persons
    rows = {
        n: {data.feature_names[j] for j in data.X[[i]].indices} for i, n in enumerate(data.instance_names)
    }
    assert rows == {"012": {"0", "1", "2"}, "12": {"0", "1", "3"}} and data.target_names == ("1", "2")
