"""
Fit a model and rank genes
==========================

Which fly genes lengthen life? We fit a model to some genes and rank the other genes. The ranking is good if known
pro-longevity genes come first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from hietan import HieLogistic
from hietan.datasets import load_ageing_genes

data = load_ageing_genes("fly", "BP")
known, new = train_test_split(np.arange(len(data.y)), test_size=0.3, stratify=data.y, random_state=0)
model = HieLogistic(hierarchy=data.hierarchy).fit(data.X[known], data.y[known])

# %%
# The second class is pro-longevity. Genes with higher log-odds of this class rank higher.

log_odds = model.decision_function(data.X[new])
order = np.argsort(-log_odds)
for i in order[:5]:
    gene, label = data.instance_names[new[i]], data.target_names[data.y[new[i]]]
    print(f"{gene:10} {log_odds[i]:+.2f}  {label}")

# %%
# The figure shows all held-out genes, from the most to the least probable:

fig, ax = plt.subplots(figsize=(8, 3.2))
is_pro = data.y[new][order] == 1
places = np.arange(len(new))
ax.bar(places[is_pro], log_odds[order][is_pro], color="#1769b5", width=0.9, label="pro-longevity")
ax.bar(places[~is_pro], log_odds[order][~is_pro], color="#d9822b", width=0.9, label="anti-longevity")
ax.axhline(0, color="#222222", lw=0.8)
ax.set(xlabel="rank", ylabel="log-odds of pro-longevity", title="Fly genes that the model has not seen")
ax.legend(frameon=False)
fig.tight_layout()
