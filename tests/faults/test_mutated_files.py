"""Whatever is wrong with an ontology, annotations or labels: they are read, and every loss counted, or refused."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from hietan.datasets import (
    build_dataset,
    read_ageing_genes,
    read_annotations,
    read_labels,
    read_obo,
    read_ontology,
)
from hietan.exceptions import DataWarning, HietanError
from support.faults import SEED, Faults, number_of, text_files
from support.faults.mutations import mutate

MUTATIONS = number_of("MUTATIONS", 450)
SECONDS = 10.0  # of CPU time; far more than any case takes


class Inputs:
    """Whole files of every kind, in a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.obo, self.gaf, self.labels = (directory / name for name in ("go.obo", "a.gaf", "labels.csv"))
        for path, text in (
            (self.obo, text_files.OBO),
            (self.gaf, text_files.GAF),
            (self.labels, text_files.CSV),
        ):
            path.write_text(text)
        self.ontology = read_obo(self.obo)

    def build(self, ontology=None, annotations=None, labels=None, **options):
        return build_dataset(
            ontology or self.obo, annotations or self.gaf, labels or self.labels, min_support=1, **options
        )


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def check_dataset(data):
    """The account adds up, and the table is what it says."""
    account = data.provenance["account"]
    for what, parts in account.items():
        check(parts["read"] == parts["used"] + sum(parts["dropped"].values()), f"{what} do not add up")
        check(parts["used"] >= 0 and all(n > 0 for n in parts["dropped"].values()), f"{what} below 0")
    check(account["labelled genes"]["used"] == data.X.shape[0] == len(data.y), "rows")
    check(account["terms"]["used"] == data.X.shape[1] == len(data.feature_names), "columns")
    check(set(data.X.data.tolist()) <= {1} and data.hierarchy.is_closed(data.X), "the table is not closed")
    check(np.isin(data.y, range(len(data.target_names))).all(), "classes")
    return account


def mutated_obo(inputs, path, content):
    ontology = read_obo(path)
    terms, parents = text_files.obo_counts(content)
    check(len(ontology.terms) == terms, f"{len(ontology.terms)} terms of {terms}")
    check(sum(len(term.is_a) for term in ontology.terms.values()) == parents, "is_a")
    account = check_dataset(inputs.build(ontology=path))
    undefined = len(ontology.undefined_parents())
    lost = account.get("relations between terms", {"dropped": {}})["dropped"]
    check(sum(lost.values()) == undefined, "undefined parents")


def mutated_other_ontology(inputs, path, content):
    check_dataset(inputs.build(ontology=read_ontology(path)))


def mutated_annotations(inputs, path, content):
    reader = read_annotations(path)
    found = sum(1 for _ in reader)
    expected = text_files.annotation_count(content, reader.format)
    if reader._layout is not None and reader._layout.table.heading:
        expected -= 1  # what a cut left of the heading is one without "#"
    check(reader.n_read == found + reader.malformed == expected, f"{reader} of {expected} lines")
    labels = {str(g): str(g % 2) for g in range(12)} | {f"P{g}": str(g % 2) for g in range(12)}
    account = check_dataset(inputs.build(annotations=path, labels=labels))
    check(account["annotations"]["read"] == expected, "annotations read")


def mutated_labels(inputs, path, content):
    three = b"\t" in content
    columns = {"id_column": "name", "label_column": "effect"} if three else {}
    labels = read_labels(path, on_conflict="majority", **columns)
    tally = labels.tally
    check(tally.read == tally.used + tally.dropped.total(), "label rows")
    check(tally.used == len(labels) + tally.changed["further row of an id"], "label rows used")
    expected = text_files.table_count(content)
    if expected is not None and any("the first row is data" in remark for remark in labels.remarks):
        expected += 1  # the heading was cut off
    check(expected in (None, tally.read), f"{tally.read} label rows of {expected}")
    account = check_dataset(inputs.build(labels=path, on_conflict="majority", **columns))
    check(account["label rows"]["read"] == tally.read, "label rows read")


def mutated_ageing_genes(inputs, path, content):
    data = read_ageing_genes(path, inputs.ontology)
    lines = [line for line in text_files.lines_of(content) if line.strip().removesuffix(",")]
    kept = len(lines) - 2 - len(data.provenance["dropped_roots"])
    check(data.X.shape == (len(data.y), kept) and set(data.X.data.tolist()) <= {1}, "table")
    check(data.hierarchy.features == data.feature_names, "features")


KINDS = {
    "obo": (text_files.OBO, mutated_obo, 4),
    "obo-graph": (text_files.OBO_GRAPH, mutated_other_ontology, 1),
    "owl": (text_files.OWL, mutated_other_ontology, 1),
    "gaf": (text_files.GAF, mutated_annotations, 4),
    "gene2go": (text_files.GENE2GO, mutated_annotations, 3),
    "csv": (text_files.CSV, mutated_labels, 3),
    "tsv": (text_files.TSV, mutated_labels, 2),
    "ageing": (text_files.AGEING, mutated_ageing_genes, 2),
}
SHARES = sum(share for _, _, share in KINDS.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_file_is_read_with_an_account_or_refused(tmp_path, kind):
    text, attempt, share = KINDS[kind]
    faults, inputs = Faults(f"mutated {kind} files"), Inputs(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        attempt(inputs, _written(tmp_path / "whole", text.encode()), text.encode())
    for number in range(-(-MUTATIONS * share // SHARES)):
        content, how = mutate(np.random.default_rng([SEED, share, number]), text.encode())
        path = _written(tmp_path / "mutated", content)
        faults.injected += 1
        with warnings.catch_warnings(record=True) as caught, faults.timed(SECONDS):
            warnings.simplefilter("always")
            try:
                attempt(inputs, path, content)
            except HietanError:
                faults.refused += 1
            except AssertionError as error:
                faults.note("lost", f"{kind} {number} {how}: {error}")
            except Exception as error:
                faults.note("foreign", f"{kind} {number} {how}: {type(error).__name__}: {error}")
        for warning in caught:
            if not issubclass(warning.category, DataWarning):
                faults.note(
                    "foreign", f"{kind} {number} {how}: {warning.category.__name__}: {warning.message}"
                )
    assert faults.refused < faults.injected
    faults.finish()


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
