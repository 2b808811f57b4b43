"""docs/worked-examples.md and its drawings are made by the library alone, byte for byte."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np

from reproduction.paper import examples
from reproduction.paper.drawing import STYLES
from reproduction.paper.walk import Direction


def test_the_page_and_its_drawings_are_made_again_byte_for_byte():
    files = examples.files()
    assert len(files) == 1 + len(examples.EXAMPLES)
    for path, text in files.items():
        assert path.read_bytes() == text.encode(), path.name


def test_the_rows_rank_the_edges_as_the_figure_does():
    X, y = examples.table()
    assert examples.HIERARCHY.is_closed(X.to_numpy()) and set(np.unique(y)) == {0, 1}
    considered = examples.trace_of("figure 2").considered
    assert [edge.first + edge.second for edge in considered] == list(examples.BEST)
    information = [edge.information for edge in considered]
    assert all(a - b > 1e-3 for a, b in pairwise(information))


def test_the_drawings_show_every_edge_in_the_colour_of_its_direction():
    for name, example in examples.EXAMPLES.items():
        text = examples.draw(example.hierarchy, examples.trace_of(name), example.title)
        root = ElementTree.fromstring(text)
        lines = [node for node in root.iter() if node.tag.endswith("line")]
        directions = list(examples.trace_of(name).directions.values())
        for direction in Direction:
            colour = STYLES[direction][0]
            drawn = sum(line.get("stroke") == colour for line in lines)
            in_legend = direction in directions
            assert drawn == directions.count(direction) + in_legend, (name, direction)
        assert text.count("<title>") == 1 and all(
            f">{feature}</text>" in text for feature in example.features
        )
