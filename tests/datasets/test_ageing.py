import io
import json
import shutil

import numpy as np
import pytest

from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes, read_ageing_genes, read_obo
from hietan.evaluation._study.fingerprint import dataset_fingerprint
from hietan.exceptions import DataWarning

OBO = """data-version: toy

[Term]
id: GO:0008150
name: biological_process

[Term]
id: GO:1
name: top
is_a: GO:0008150

[Term]
id: GO:2
name: middle
is_a: GO:1

[Term]
id: GO:3
name: bottom
alt_id: GO:30
is_a: GO:2
"""
TABLE = "is_a,11,12,13,14,\nGO:3,0,1,0,0,\nGO:0008150,1,1,1,1,\nGO:1,1,1,0,1,\nclass,1,0,0,0,\n"


@pytest.fixture(scope="module")
def ontology():
    return read_obo(io.StringIO(OBO))


def test_table_is_transposed_and_roots_go(ontology):
    data = read_ageing_genes(io.StringIO(TABLE), ontology, name="toy")
    assert data.feature_names == ("GO:3", "GO:1")
    assert data.term_names == ("bottom", "top")
    assert data.instance_names == ("11", "12", "13", "14")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1], [1, 1], [0, 0], [0, 1]])
    np.testing.assert_array_equal(data.y, [1, 0, 0, 0])
    assert data.provenance["dropped_roots"] == ["GO:0008150"]


def test_relation_through_a_term_that_is_no_column_is_kept(ontology):
    hierarchy = read_ageing_genes(io.StringIO(TABLE), ontology).hierarchy
    np.testing.assert_array_equal(hierarchy.ancestor_matrix.toarray(), [[0, 1], [0, 0]])


def test_coincidences_are_counted(ontology):
    provenance = read_ageing_genes(io.StringIO(TABLE), ontology).provenance
    assert provenance["equal_rows"]["rows"] == 2  # 14 equals 11 ...
    assert provenance["equal_rows"]["contradictions"] == 1  # ... but is of the other class
    assert provenance["repeated_columns"] == 0


def test_merged_and_unknown_terms(ontology):
    table = TABLE.replace("GO:3,", "GO:30,").replace("class", "GO:99,0,0,0,1,\nclass")
    data = read_ageing_genes(io.StringIO(table), ontology)
    assert data.feature_names == ("GO:3", "GO:1", "GO:99")
    assert data.term_names == ("bottom", "top", "GO:99")
    assert data.provenance["renamed_terms"] == {"GO:30": "GO:3"}
    assert data.provenance["unknown_terms"] == ["GO:99"]
    np.testing.assert_array_equal(data.hierarchy.ancestor_matrix.toarray(), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (TABLE, "", "genes.txt: the table has no gene ids"),
        (TABLE, "\n\n", "genes.txt: the table has no gene ids"),
        ("is_a,11,12,13,14,", "is_a,", "line 1: the table has no gene ids"),
        ("is_a", "isa", "line 1: expected a first row 'is_a,"),
        ("13,14,", "13,11,", "line 1: gene id '11' occurs twice"),
        ("GO:3,0,1,0,0,", "GO:3,0,1,0,", "line 2: expected 4 values, one per gene, found 3"),
        ("GO:3,0,1,0,0,", "GO:3,0,1,0,0,1,", "line 2: expected 4 values, one per gene, found 5"),
        ("GO:3,0,1,0,0,", "GO:3,0,1,2,0,", "line 2: value 3 is '2'; expected 0 or 1"),
        ("GO:3,0,1,0,0,", "GO:3,0,1,,0,", "line 2: value 3 is ''; expected 0 or 1"),
        ("GO:3,", ",", "line 2: the row has no term"),
        ("GO:1,", "GO:3,", "line 4: the table has a second row for GO:3"),
        ("class,1,0,0,0,", "class,1,0,0,3,", "line 5: value 4 is '3'; expected 0 or 1"),
        ("class,1,0,0,0,\n", "", "genes.txt: the row 'class' is missing; expected it as the last row"),
        (
            "class,1,0,0,0,",
            "class,1,0,0,0,\nGO:2,1,1,1,1,",
            "line 6: row 'GO:2' comes after the row 'class'",
        ),
        (
            "GO:3,0,1,0,0,\nGO:0008150,1,1,1,1,\nGO:1,1,1,0,1,",
            "GO:0008150,1,1,1,1,",
            "no terms except the roots",
        ),
        ("GO:0008150", "GO:30", "two rows resolve to the same term 'GO:3'"),
    ],
)
def test_malformed_tables_are_named(tmp_path, ontology, old, new, message):
    assert old in TABLE
    path = tmp_path / "genes.txt"
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(ValueError, match=message) as caught:
        read_ageing_genes(path, ontology)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("organism", ["human", "", None])
def test_unknown_organism(organism):
    with pytest.raises(ValueError, match=r"expected one of ce, worm, dm, fly"):
        fetch_ageing_genes(organism, "BP")


@pytest.mark.parametrize("namespaces", ["", "B", "BPX", "BPBP", "XX", (), ["BP", "BP"], ["biology"]])
def test_unknown_namespaces(namespaces):
    with pytest.raises(ValueError, match="expected BP, MF and CC, each at most once"):
        fetch_ageing_genes("worm", namespaces)


def test_all_spellings_reach_the_same_file(real_data):
    names = {
        fetch_ageing_genes(organism, namespaces).name
        for organism in ("mouse", "MM", "mm", "Mouse")
        for namespaces in ("MFCC", "ccmf", ("CC", "MF"), iter(["mf", "cc"]))
    }
    assert names == {"MM-MFCC"}


def test_data_home_overrides_the_variable(real_data, tmp_path, monkeypatch):
    shutil.copytree(f"{real_data}/ageing-2014/Fly", tmp_path / "ageing-2014/Fly")
    shutil.copy(f"{real_data}/ageing-2014/gene_ontology_ext_13062014.obo.zip", tmp_path / "ageing-2014")
    monkeypatch.setenv("HIETAN_DATA", "/nowhere")
    assert fetch_ageing_genes("fly", "CC", data_home=tmp_path).X.shape == (90, 75)


@pytest.mark.parametrize(
    ("organism", "namespaces", "shape"),
    [
        ("worm", "BP", (528, 830)),
        ("worm", "BPMFCC", (572, 1191)),
        ("mouse", "BPMFCC", (102, 1338)),
        ("yeast", "BPMFCC", (238, 961)),
    ],
)
def test_published_dimensions(real_data, organism, namespaces, shape):
    assert fetch_ageing_genes(organism, namespaces).X.shape == shape


@pytest.mark.parametrize(("organism", "namespaces"), AGEING_DATASETS)
def test_every_dataset_is_closed_and_told_apart(real_data, organism, namespaces):
    data = fetch_ageing_genes(organism, namespaces)
    assert data.name == f"{organism}-{namespaces}"
    assert data.hierarchy.is_closed(data.X)
    assert data.hierarchy.adjacency.nnz > 0
    share = data.provenance["repeated_columns"] / data.X.shape[1]
    assert 0.10 < share < 0.38
    assert len(data.provenance["dropped_roots"]) == len(namespaces) // 2
    assert data.provenance["renamed_terms"] == {}
    assert data.provenance["unknown_terms"] == data.provenance["obsolete_terms"] == []


def test_known_gene_and_provenance(real_data):
    data = fetch_ageing_genes("worm", "BP")
    daf2 = data.instance_names.index("175410")  # daf-2: its loss doubles the life of the worm
    assert data.target_names[data.y[daf2]] == "anti-longevity"
    ageing = data.feature_names.index("GO:0008340")
    assert data.term_names[ageing] == "determination of adult lifespan"
    assert data.X[daf2, ageing] == 1
    assert data.provenance["ontology_version"] == "releases/2014-06-13"
    with open(f"{real_data}/SHA256SUMS") as file:
        known = {line.split()[0] for line in file}
    assert set(data.provenance["files"].values()) <= known
    assert json.loads(json.dumps(data.provenance)) == data.provenance


def test_genes_have_symbols_where_the_export_is_there(real_data, tmp_path):
    worm = fetch_ageing_genes("worm", "BP")
    assert dict(zip(worm.instance_names, worm.symbols, strict=True))["175410"] == "daf-2"
    assert all(fetch_ageing_genes(organism, "CC").symbols for organism in ("DM", "MM", "SC"))
    shutil.copytree(f"{real_data}/ageing-2014/Worm", tmp_path / "ageing-2014/Worm")
    shutil.copy(f"{real_data}/ageing-2014/gene_ontology_ext_13062014.obo.zip", tmp_path / "ageing-2014")
    without = fetch_ageing_genes("worm", "BP", data_home=tmp_path)
    assert without.symbols == () and dataset_fingerprint(without) == dataset_fingerprint(worm)


def test_a_lost_parent_is_complained_about():
    damaged = read_obo(io.StringIO(OBO.replace("is_a: GO:1\n", "is_a: GO:77\n")))
    with pytest.warns(
        DataWarning, match=r"1 is_a relations have undefined parents \(first: GO:77, a parent of GO:2\)"
    ):
        data = read_ageing_genes(io.StringIO(TABLE), damaged)
    assert data.hierarchy.edges == ()
