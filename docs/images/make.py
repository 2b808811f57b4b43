"""The pictures of the docs. Run by `make pictures`: a learned tree, and the pictures of the report made smaller.

python docs/images/make.py tree       the learned tree of a yeast gene
python docs/images/make.py shrink     fewer colours in the pictures of the report, which pictures.js has taken
"""

import sys
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from hietan import HieTANLite
from hietan.datasets import fetch_ageing_genes

HERE = Path(__file__).parent
GENE = 20
COLOURS = 256


def draw_tree() -> None:
    """The learned tree of one gene."""
    data = fetch_ageing_genes("yeast", "CC")
    model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    (explanation,) = model.explain(data.X[[GENE]], term_names=data.term_names)
    classes = data.target_names
    named = replace(explanation, row=data.instance_names[GENE], classes=classes, target=classes[1])
    figure = Figure(figsize=(9, 5), layout="constrained")
    named.plot_tree(figure.subplots())
    figure.savefig(HERE / "tree.png", dpi=110, metadata={"Software": None})


def shrink() -> None:
    """Write the pictures of the report with a palette of their commonest colours: half the bytes."""
    for path in sorted(HERE.glob("report*.png")):
        with Image.open(path) as taken:
            picture = taken.convert("RGB")
        found = picture.getcolors(picture.width * picture.height) or []
        commonest = [colour for _, colour in sorted(found, reverse=True)[:COLOURS]]
        palette = Image.new("P", (1, 1))
        palette.putpalette([channel for colour in commonest for channel in colour])
        picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    {"tree": draw_tree, "shrink": shrink}[sys.argv[1]]()
