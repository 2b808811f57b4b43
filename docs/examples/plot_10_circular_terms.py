"""
Find terms that are the label in other words
============================================

A worm gene is annotated with "determination of adult lifespan" because someone measured the lifespan of its
mutants, which is also how it came to be labelled. `closest_features` lists such terms before they flatter a
model. What to do about them is in the guide, under *Circular features*.
"""

import matplotlib.pyplot as plt
import numpy as np

from hietan.datasets import closest_features, load_ageing_genes

data = load_ageing_genes("worm", "BP")
found = closest_features(data)
for feature in found:
    mark = f"named like the label: {feature.word}" if feature.word else ""
    print(f"{feature.feature}  {feature.name[:45]:45}  {100 * feature.information:4.1f} %  {mark}")

# %%
# How many genes of each class have the term:

fig, ax = plt.subplots(figsize=(9, 4.5))
shares = np.array([feature.class_rows for feature in found]) / np.bincount(data.y)
places = np.arange(len(found))
for column, (name, colour) in enumerate(zip(data.target_names, ("#d9822b", "#1769b5"), strict=True)):
    ax.barh(places + 0.2 - 0.4 * column, 100 * shares[:, column], height=0.38, color=colour, label=name)
ax.set_yticks(places, [f"{'* ' if feature.word else ''}{feature.name[:50]}" for feature in found])
ax.invert_yaxis()
ax.set(xlabel="% of the genes of the class", title="Terms close to the label; * is named like it")
ax.legend(frameon=False)
fig.tight_layout()
