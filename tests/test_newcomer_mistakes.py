"""Mistakes of a newcomer: each gets an error or a warning that says what is wrong and what to do."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from hietan import TAN, Hierarchy, HierarchyEncoder, HierarchyWarning, HieTANLite
from hietan.datasets import Dataset, build_dataset
from hietan.exceptions import DataError, DataWarning

EDGES = [("drinks", "tea"), ("drinks", "coffee"), ("food", "bread"), ("food", "cake")]
GOODS = Hierarchy.from_edges(EDGES)
LEAVES = pd.DataFrame(
    {"tea": [1, 0, 0, 1], "coffee": [0, 1, 0, 0], "bread": [0, 0, 1, 0], "cake": [0, 0, 1, 1]},
    index=["p1", "p2", "p3", "p4"],
)
SEASON = pd.Series(["winter", "winter", "summer", "summer"], index=LEAVES.index, name="season")
PAIRS = [("p1", "tea"), ("p2", "coffee"), ("p3", "bread"), ("p4", "cake")]
DATA = Dataset.from_pairs(PAIRS, SEASON, GOODS)
TABLES = {
    "edges.csv": "parent,child\ndrinks,tea\ndrinks,coffee\nfood,bread\nfood,cake\n",
    "items.csv": "item,term\np1,tea\np2,coffee\np3,bread\np4,cake\n",
    "labels.csv": "id,label\np1,winter\np2,winter\np3,summer\np4,summer\n",
}


def fit(model=None, X=LEAVES, y=SEASON):
    return (model or TAN()).fit(X, y)


def build(folder, **changed):
    """Build from the three tables, of which some have another content."""
    for name, text in {**TABLES, **{f"{key}.csv": text for key, text in changed.items()}}.items():
        (folder / name).write_text(text)
    return build_dataset(*(folder / name for name in TABLES), min_support=1)


def upside_down():
    """A frame of edges with the child first, under names that do not say so."""
    return pd.DataFrame([(child, parent) for parent, child in EDGES], columns=["category", "belongs to"])


# What is done, the error or warning, and the essential words of its message.
IN_PYTHON = {
    "the hierarchy without its name": (
        lambda _: HieTANLite(GOODS),
        TypeError,
        "takes 1 positional argument but 2 were given",
    ),
    "a dataset instead of X and y": (
        lambda _: HieTANLite().fit(DATA),
        TypeError,
        r"fit needs rows and classes, got a Dataset; use HieTANLite\(hierarchy=data.hierarchy\).fit\(data.X, data.y\)",
    ),
    "children before parents in a frame": (
        lambda _: Hierarchy.from_edges(upside_down()),
        HierarchyWarning,
        r"column 'belongs to' is used as the parent .* fewer roots than leaves .*; to choose them "
        r"yourself, name the columns",
    ),
    "lists of terms that are read as pairs": (
        lambda folder: build(
            folder, items="item,term,price\np1,tea,1\np2,coffee,2\np3,bread,2\np4,cake,3\np4,tea;cake,3\n"
        ),
        DataWarning,
        r"\(1 of 5\) name a term that is unknown or obsolete, such as 'tea;cake'; if a field lists .*term-lists",
    ),
    "a graph of networkx as the hierarchy": (
        lambda _: fit(HieTANLite(hierarchy=GOODS.to_networkx())),
        TypeError,
        "got DiGraph; build one with Hierarchy.from_networkx",
    ),
    "y forgotten": (lambda _: fit(y=None), ValueError, "requires y to be passed"),
    "no hierarchy": (
        lambda _: fit(HieTANLite()),
        HierarchyWarning,
        r"HieTANLite has no hierarchy and is therefore a plain TAN; pass a hierarchy, as in "
        r"HieTANLite\(hierarchy=...\)",
    ),
    "leaf columns only": (
        lambda _: fit(HieTANLite(hierarchy=GOODS)),
        HierarchyWarning,
        r"4 columns have ancestors that are in the hierarchy but not in X \(.*'drinks' is a parent of 'tea'\).*"
        r"Dataset.from_frame or HierarchyEncoder to add the ancestors",
    ),
    "a number that is a constant once binarised": (
        lambda _: fit(X=LEAVES.assign(age=[30, 45, 50, 62])),
        DataWarning,
        r"1 of 5 columns vary, but binarize=0.0 makes them constant .first: column 'age', which "
        r"ranges from "
        r"30 to 62.*Choose a threshold that splits them, or bin them",
    ),
    "1 and 2 for no and yes": (
        lambda _: fit(X=LEAVES + 1),
        DataWarning,
        r"4 of 4 columns vary, but binarize=0.0 makes them constant.*If 2 means yes and 1 "
        r"means no, pass X == 2",
    ),
    "counts": (
        lambda _: fit(X=LEAVES * 3),
        DataWarning,
        r"4 of 4 columns contain counts \(first: column 'tea', which ranges from 0 to 3\).*"
        r"If this is intended, pass X > 0",
    ),
    "the classes left in the frame": (
        lambda _: fit(X=LEAVES.assign(season=SEASON == "winter"), y=SEASON == "winter"),
        ValueError,
        r"column 'season' of X is y itself, .*X.drop\(columns='season'\)",
    ),
    "a text of terms instead of a list": (
        lambda _: HierarchyEncoder(GOODS).fit(["tea;bread", "coffee"]),
        TypeError,
        "expected a list of terms in row 0, got 'tea;bread'; split it",
    ),
    "a term that is misspelt": (
        lambda _: HierarchyEncoder(GOODS).fit([["tea"], ["coffe"]]),
        ValueError,
        "1 term is not in the hierarchy: 'coffe'; the hierarchy contains 'drinks', 'tea'.*handle_unknown='ignore'",
    ),
    "pairs taken for lists": (
        lambda _: HierarchyEncoder(GOODS).fit(PAIRS),
        ValueError,
        r"4 terms are not in the hierarchy: 'p1'.*If X contains pairs \(item, term\), use input='pairs'",
    ),
    "an encoder without names": (
        lambda _: make_pipeline(HierarchyEncoder(GOODS), HieTANLite(hierarchy=GOODS)).fit(
            [["tea"], ["coffee"]] * 2, [0, 1, 0, 1]
        ),
        ValueError,
        r"hierarchy has 6 features but X has 3 columns.*In a pipeline, call set_output\(transform='pandas'\)",
    ),
    "yes and no in a frame": (
        lambda _: Dataset.from_frame(LEAVES.assign(tea=["yes", "no", "no", "yes"]), SEASON, GOODS),
        ValueError,
        r"column 'tea' contains 'yes'; expected 0 and 1, truth values, or counts.*frame\['tea'\] == 'yes'",
    ),
    "a missing value in a frame": (
        lambda _: Dataset.from_frame(LEAVES.assign(tea=[1, np.nan, 0, 1]), SEASON, GOODS),
        ValueError,
        r"column 'tea' has no value in row 1; fill it in",
    ),
    "the name of a column that is not there": (
        lambda _: Dataset.from_frame(LEAVES, "season", GOODS),
        ValueError,
        "the frame has no class column 'season'; its columns are 'tea', 'coffee'",
    ),
    "labels of other rows": (
        lambda _: Dataset.from_frame(LEAVES, SEASON.rename(str.upper), GOODS),
        ValueError,
        r"y and the frame have different indexes; pass y.loc\[frame.index\] or y.to_numpy\(\)",
    ),
    "a frame of three columns as edges": (
        lambda _: Hierarchy.from_edges(pd.DataFrame([["a", "b", "is_a"]], columns=["x", "y", "z"])),
        ValueError,
        r"edges is a data frame with the columns 'x', 'y', 'z'; expected two columns \(parent, child\)",
    ),
    "edges that do not show their order": (
        lambda folder: build(
            folder, edges="drinks,tea\nfood,bread\n", items="p1,tea\n", labels="p1,x\np2,x\n"
        ),
        DataError,
        r"edges.csv: the table does not show which column is the parent; name the columns parent and child",
    ),
    "a circle of edges": (
        lambda folder: build(folder, edges="parent,child\ntea,drinks\ndrinks,tea\n"),
        DataError,
        r"edges.csv, line 2: the edges form a cycle; remove one of them: tea -> drinks -> tea",
    ),
    "a table of many columns": (
        lambda folder: build(folder, items="a,b,c\np1,tea,1\n"),
        DataError,
        r"items.csv: the columns of ids and terms are unclear; .*pair_columns \(--pair-columns\)\. .* are a, b",
    ),
    "terms of another hierarchy": (
        lambda folder: build(folder, items="item,term\np1,TEA\np2,COFFEE\n"),
        DataError,
        r"no row is left, because .* term unknown to the ontology \(2\), such as 'TEA', 'COFFEE'; the "
        r"ontology has 'tea' for 'TEA', so ignore case and punctuation \(ignore_punctuation, --ignore-punctuation\)",
    ),
    "terms of yet another hierarchy": (
        lambda folder: build(folder, items="item,term\np1,cat\np2,dog\n"),
        DataError,
        r"no row is left, because .*, such as 'cat', 'dog'; the ontology has 'drinks'",
    ),
    "labels that name no row, with a class for the others": (
        lambda folder: build(folder, labels="id,label\nq7,x\nq8,x\n", others="y"),
        DataError,
        r"no row is left: none of the 2 labelled ids \('q7', 'q8'\) is the name of a row in the annotations \('p1', ",
    ),
    "a term to drop that is not there": (
        lambda _: Dataset.from_pairs(PAIRS, SEASON, GOODS, drop_terms=["beer"]),
        DataWarning,
        r"drop_terms \(--drop-term\) names 'beer', which the ontology does not have, so no term is left out for it",
    ),
}


@pytest.mark.parametrize("mistake", IN_PYTHON)
def test_mistakes_in_python(mistake, tmp_path):
    make, kind, message = IN_PYTHON[mistake]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", kind if issubclass(kind, Warning) else FutureWarning)
        with pytest.raises(kind) as caught:
            make(tmp_path)
    assert re.search(message, str(caught.value), re.DOTALL), caught.value


def test_what_is_right_does_not_warn(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = build(tmp_path)
        HieTANLite(hierarchy=data.hierarchy).fit(data.X, data.y)
        framed = Dataset.from_frame(LEAVES, SEASON, GOODS).as_frame(target=None)
        HieTANLite(hierarchy=GOODS).fit(framed, SEASON)
        TAN().fit(LEAVES, SEASON)
        TAN().fit(LEAVES.assign(score=[0.1, -2.0, 0.3, -1.5]), SEASON)
        HieTANLite(hierarchy=Hierarchy.unrelated(LEAVES.columns)).fit(LEAVES, SEASON)
        rooted = Hierarchy.from_edges([*EDGES, ("goods", "drinks"), ("goods", "food")])
        HieTANLite(hierarchy=rooted).fit(framed, SEASON)  # the root, which all rows would have, is not missed
