"""Draw the pictures of the documentation (`make pictures`), and make the report's pictures smaller.

python docs/images/make.py open       the hierarchy with open features, in docs/methods.md
python docs/images/make.py ranked     held-out worm genes, ranked, and the reasons for the first one
python docs/images/make.py tree       the learned tree of a yeast gene
python docs/images/make.py shrink     fewer colours in the pictures of the report, which pictures.js has taken
"""

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image
from sklearn.model_selection import train_test_split

from hietan import HieLogistic, HieTANLite
from hietan.datasets import fetch_ageing_genes, load_ageing_genes
from hietan.models import explain_rows_by_name, rank_rows, train_model

HERE = Path(__file__).parent
GENE = 20
COLOURS = 256


# Features of the drawing: position, whether it is present, and its parents.
OPEN = {
    "E": ((0, 2), True, ""),
    "F": ((2, 2), True, ""),
    "A": ((0, 1), False, "E"),
    "C": ((1, 1), True, "EF"),
    "B": ((2, 1), False, "F"),
    "D": ((0.5, 0), False, "AC"),
    "G": ((1.5, 0), False, "C"),
    "H": ((2.3, 0), False, "B"),
}


def draw_open() -> None:
    """Draw a row: present features are filled, open features have a thick border."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(-0.4, 2.7), ylim=(-0.4, 2.4), aspect="equal")
    axes.set_axis_off()
    for name, ((x, y), is_present, parents) in OPEN.items():
        for parent in parents:
            axes.plot([x, OPEN[parent][0][0]], [y, OPEN[parent][0][1]], color="#888888", zorder=1)
        is_open = all(OPEN[parent][1] for parent in parents)
        colours = {
            "facecolor": "#9ecae1" if is_present else "white",
            "edgecolor": "#111111" if is_open else "#999999",
        }
        style = {"linewidth": 3 if is_open else 1, "linestyle": "-" if is_open else ":"}
        axes.add_patch(Circle((x, y), 0.22, zorder=2, **colours, **style))
        axes.text(x, y, f"{name} = {int(is_present)}", ha="center", va="center", fontsize=8, zorder=3)
    mpl.rcParams["svg.hashsalt"] = "open"
    figure.savefig(HERE / "open-features.svg", metadata={"Date": None})


def draw_ranked() -> None:
    """Draw the first of 100 held-out worm genes, and the branches behind the first one, as in docs/ten-minutes.md."""
    worm = load_ageing_genes("worm", "BP")
    known, _ = train_test_split(range(len(worm.y)), test_size=100, stratify=worm.y, random_state=0)
    trained = train_model(HieLogistic(), worm.subset(known, name="worm-known"))
    first = rank_rows(trained, worm).new_rows[:8]
    (explained,) = explain_rows_by_name(trained, worm, [first[0].instance])
    *branches, rest = explained.explanation.by_branch(limit=5)
    figure = Figure(figsize=(6, 5.6), layout="constrained")
    above, below = figure.subplots(2, height_ratios=(8, 7))
    above.barh([row.instance for row in first], [row.probability for row in first], color="#4292c6")
    above.set(xlim=(0, 1), title="Held-out worm genes: P(pro-longevity)")
    names = [branch.label.partition(" (")[0] for branch in branches] + ["everything else", "base value"]
    amounts = [*(branch.amount for branch in (*branches, rest)), explained.explanation.base]
    below.barh(names, amounts, color=["#4292c6" if amount > 0 else "#ef6548" for amount in amounts])
    below.set(title=f"Why {first[0].instance}? Contributions to its log-odds")
    below.axvline(0, color="black", linewidth=0.8)
    for axes, values in ((above, [row.probability for row in first]), (below, amounts)):
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=11)
        axes.title.set_fontsize(12)
        form = "{:.2f}" if axes is above else "{:+.2f}"
        for place, value in enumerate(values):
            axes.text(max(value, 0), place, " " + form.format(value), va="center", fontsize=10)
    figure.savefig(HERE / "ranked.png", dpi=150, metadata={"Software": None})


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
    {"open": draw_open, "ranked": draw_ranked, "tree": draw_tree, "shrink": shrink}[sys.argv[1]]()
