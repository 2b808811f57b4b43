"""
Draw the tree of one gene
=========================

Hie-TAN-Lite learns a tree for each row, without redundant terms. A term is redundant if it has the same value as a
related term in the tree. The explanation names this related term for each redundant term.
"""

import matplotlib.pyplot as plt

from hietan import HieTANLite
from hietan.datasets import load_ageing_genes

data = load_ageing_genes("fly", "CC")
model = HieTANLite(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
explanation = model.explain(data.subset([2]))[0]
print(explanation.headline())
print(f"{len(explanation.contributions)} terms are in the tree, {len(explanation.removed)} were left out")

# %%
# Each point is a term. Larger points are terms with larger contributions, and the strongest terms are labelled.

fig, ax = plt.subplots(figsize=(10, 6))
explanation.plot_tree(ax, labels=8)
fig.tight_layout()
