"""What the publications and the source files say about the 28 ageing-gene datasets holds for ours."""

import pytest

from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes, read_labels
from hietan.exceptions import DataWarning

# (rows, features without the roots of GO, pro-longevity, anti-longevity)
SIZES = {
    "CE-BP": (528, 830, 209, 319),
    "CE-MF": (279, 218, 121, 158),
    "CE-CC": (254, 143, 98, 156),
    "CE-BPMF": (553, 1048, 213, 340),
    "CE-BPCC": (557, 973, 213, 344),
    "CE-MFCC": (432, 361, 170, 262),
    "CE-BPMFCC": (572, 1191, 215, 357),
    "DM-BP": (127, 698, 91, 36),
    "DM-MF": (102, 130, 68, 34),
    "DM-CC": (90, 75, 62, 28),
    "DM-BPMF": (130, 828, 92, 38),
    "DM-BPCC": (128, 773, 91, 37),
    "DM-MFCC": (123, 205, 85, 38),
    "DM-BPMFCC": (130, 903, 92, 38),
    "MM-BP": (102, 1039, 68, 34),
    "MM-MF": (98, 182, 65, 33),
    "MM-CC": (100, 117, 66, 34),
    "MM-BPMF": (102, 1221, 68, 34),
    "MM-BPCC": (102, 1156, 68, 34),
    "MM-MFCC": (102, 299, 68, 34),
    "MM-BPMFCC": (102, 1338, 68, 34),
    "SC-BP": (215, 679, 30, 185),
    "SC-MF": (157, 175, 26, 131),
    "SC-CC": (147, 107, 24, 123),
    "SC-BPMF": (222, 854, 30, 192),
    "SC-BPCC": (234, 786, 30, 204),
    "SC-MFCC": (226, 282, 29, 197),
    "SC-BPMFCC": (238, 961, 30, 208),
}
EDGES = {"CE-BP": 1437, "CE-BPMFCC": 1913, "MM-BPMFCC": 2201, "SC-BPMFCC": 1600, "DM-CC": 101}
MAPPING = {"anti": "anti-longevity", "pro": "pro-longevity"}


@pytest.mark.parametrize(("organism", "namespaces"), AGEING_DATASETS)
def test_rows_features_and_classes(real_data, organism, namespaces):
    data = fetch_ageing_genes(organism, namespaces)
    anti, pro = (data.y == 0).sum(), (data.y == 1).sum()
    assert data.target_names == ("anti-longevity", "pro-longevity")
    assert (*data.X.shape, pro, anti) == SIZES[data.name]


@pytest.mark.parametrize("name", EDGES)
def test_direct_edges_among_the_features(real_data, name):
    data = fetch_ageing_genes(*name.split("-"))
    assert data.hierarchy.adjacency.nnz == EDGES[name]


@pytest.mark.parametrize("organism", ["CE", "DM", "MM", "SC"])
def test_labels_follow_from_the_genage_export(real_data, organism):
    table = f"{real_data}/ageing-2014/Genage-4ModelOrganisms.zip/genage_models_export_{organism}_13062014.tsv"
    with pytest.warns(DataWarning, match="have more fields than the 16 column names"):
        labels = read_labels(
            table, id_column="Entrez Gene ID", label_column="Longevity Influence", mapping=MAPPING
        )
    for code, namespaces in AGEING_DATASETS:
        if code == organism:
            data = fetch_ageing_genes(code, namespaces)
            ours = [data.target_names[c] for c in data.y]
            assert [labels.by_id[gene] for gene in data.instance_names] == ours
