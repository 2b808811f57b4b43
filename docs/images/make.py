"""The two pictures of the README: a learned tree, and (by picture.js) the report of a study. Run by `make pictures`."""

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from hietan import HieTANLite
from hietan.datasets import fetch_ageing_genes

HERE = Path(__file__).parent
GENE = 20


def main() -> None:
    data = fetch_ageing_genes("yeast", "CC")
    model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    (explanation,) = model.explain(data.X[[GENE]], term_names=data.term_names)
    classes = data.target_names
    named = replace(explanation, row=data.instance_names[GENE], classes=classes, target=classes[1])
    figure = Figure(figsize=(9, 5), layout="constrained")
    named.plot_tree(figure.subplots())
    figure.savefig(HERE / "tree.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
