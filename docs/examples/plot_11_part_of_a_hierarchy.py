"""
Draw a part of a hierarchy
==========================

`Hierarchy.plot` collects some terms with everything above them. A notebook shows the result as it is;
`to_svg` is for web pages. Its terms and edges can be drawn by anything else. To export a hierarchy to Graphviz or
Cytoscape, use `Hierarchy.to_networkx`, whose graphs networkx writes in both formats.
"""

import matplotlib.pyplot as plt

from hietan.datasets import load_ageing_genes

data = load_ageing_genes("fly", "CC")
names = dict(zip(data.feature_names, data.term_names, strict=True))
chosen = [term for term, name in names.items() if name in ("mitochondrial inner membrane", "lysosome")]
drawing = data.hierarchy.plot(chosen, names=names)
print(f"{len(drawing.terms)} terms, {len(drawing.edges)} edges")

# %%
# A term on each line; the chosen ones are blue.

place = {term: (level, -i) for i, (term, level) in enumerate(drawing.terms)}
fig, ax = plt.subplots(figsize=(9, 0.34 * len(place) + 0.5))
for parent, child in drawing.edges:
    ax.annotate(
        "",
        place[child],
        place[parent],
        arrowprops={
            "arrowstyle": "-",
            "color": "#9aa5b1",
            "connectionstyle": "angle,angleA=-90,angleB=180,rad=6",
        },
    )
for term, (x, y) in place.items():
    is_chosen = term in drawing.chosen
    ax.plot(x, y, "o", mec="#1769b5", mfc="#1769b5" if is_chosen else "white")
    ax.text(
        x + 0.15, y, drawing.label(term), va="center", weight="bold" if is_chosen else "normal", fontsize=9
    )
ax.set_xlim(-0.3, max(x for x, _ in place.values()) + 5)
ax.axis("off")
fig.tight_layout()
