"""
Find terms that repeat the label
================================

A worm gene is annotated with "determination of adult lifespan" because someone measured the lifespan of its
mutants. The gene got its label from the same measurement. `closest_features` lists such terms, which can make a
model look better than it is. *Circular features* in the user guide explains what to do about circular terms.
"""

import matplotlib.pyplot as plt
import numpy as np

from hietan.datasets import closest_features, load_ageing_genes

data = load_ageing_genes("worm", "BP")
found, strong = closest_features(data, words=["ageing"])
print(f"{len(found)} terms are named like the label, {len(strong)} are unusually strong")
for feature in found:
    print(f"{feature.feature}  {feature.name[:45]:45}  {100 * feature.information:4.1f}%  {feature.word}")

# %%
# The figure shows how many genes of each class have each term:

fig, ax = plt.subplots(figsize=(9, 4.5))
shares = np.array([feature.class_rows for feature in found]) / np.bincount(data.y)
places = np.arange(len(found))
for column, (name, colour) in enumerate(zip(data.target_names, ("#d9822b", "#1769b5"), strict=True)):
    ax.barh(places + 0.2 - 0.4 * column, 100 * shares[:, column], height=0.38, color=colour, label=name)
ax.set_yticks(places, [feature.name[:50] for feature in found])
ax.invert_yaxis()
ax.set(xlabel="% of the genes in the class", title="Terms that are named like the label")
ax.legend(frameon=False)
fig.tight_layout()
