"""Pairs of objects and terms, kept as numbers: the same as sets of names, however often they are put in order."""

import numpy as np
import pytest

from hietan.datasets.building import genes as module
from hietan.datasets.building.genes import Genes
from hietan.datasets.readers.annotation_formats import Annotation


@pytest.mark.parametrize("few", [1, 7, 1 << 22])
def test_pairs_are_those_of_sets(few, monkeypatch):
    monkeypatch.setattr(module, "_FEW_PAIRS", few)
    rng = np.random.default_rng(0)
    genes, expected, lines = (
        Genes(),
        {f"g{i}": set() for i in range(9)},
        dict.fromkeys(map("g{}".format, range(9)), 0),
    )
    for i in range(9):
        genes.number_of(Annotation(f"g{i}", "t0"))
    for i, t in zip(rng.integers(0, 8, 300), rng.integers(0, 12, 300), strict=True):
        genes.add_term(genes.number_of(Annotation(f"g{i}", f"t{t}")), f"t{t}")
        expected[f"g{i}"].add(f"t{t}")
        lines[f"g{i}"] += 1
    assert genes.lines.tolist() == list(lines.values())
    assert genes.n_different(["g1", "g8", "g3"]) == len(expected["g1"]) + len(expected["g3"])
    assert genes.has_terms(["g8", "g0"]) and not genes.has_terms(["g8"])
    column_of = {f"t{t}": (5 * t) % 12 for t in range(12)}
    for rows in ([("g2",), ("g8",), ("g0",)], [("g2", "g0"), ("g8",), (), ("g5", "g5", "g6")]):
        found = genes.annotated(rows, column_of, 13)
        assert found.has_sorted_indices and found.dtype == np.uint8 and found.indices.dtype == np.int32
        wanted = np.zeros((len(rows), 13), dtype=np.uint8)
        for r, objects in enumerate(rows):
            for name in objects:
                wanted[r, [column_of[term] for term in expected[name]]] = 1
        np.testing.assert_array_equal(found.toarray(), wanted)
