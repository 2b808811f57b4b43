"""
Thin out an enrichment list
===========================

An enrichment result lists a term together with its ancestors, which hold the same genes and more.
`HierarchyFilter` leaves the most relevant term of each lineage. Here, the list is made from worm genes: which
terms are more frequent among pro-longevity genes than chance allows?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from hietan import HierarchyFilter
from hietan.datasets import load_ageing_genes

data = load_ageing_genes("worm", "BP")
pro = data.X[data.y == 1].sum(axis=0, dtype=int)
total = data.X.sum(axis=0, dtype=int)
p = hypergeom.sf(pro - 1, len(data.y), total, np.sum(data.y == 1))
result = pd.DataFrame({"ID": data.feature_names, "Term": data.term_names, "p": p})
result = result.sort_values("p").head(20)

relevant = HierarchyFilter(data.hierarchy, keep="relevant")
kept = relevant.filter(result, terms="ID", scores="p")
print(f"{len(kept)} of {len(result)} terms are left")

# %%
# Terms in grey are ancestors or descendants of a kept term with a smaller p-value.

fig, ax = plt.subplots(figsize=(9, 6))
colours = np.where(result["ID"].isin(kept["ID"]), "#1769b5", "#c9ced6")
ax.barh([name[:60] for name in result["Term"]], -np.log10(result["p"]), color=colours)
ax.invert_yaxis()
ax.set(xlabel="-log10 p", title="Kept (blue) and dropped (grey)")
fig.tight_layout()
