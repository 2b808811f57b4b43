"""
Explain a prediction
====================

`explain` returns one explanation per row. An explanation's contributions add up to the model's own log-odds, so a
waterfall from the base value to the log-odds is complete.
"""

import matplotlib.pyplot as plt

from hietan import HieLogistic
from hietan.datasets import load_ageing_genes

data = load_ageing_genes("worm", "BP")
model = HieLogistic(hierarchy=data.hierarchy).fit(data.X, data.y)
row = data.instance_names.index("daf-16")
explanation = model.explain(data.subset([row]))[0]
print(explanation.text(limit=6))

# %%
# A waterfall shows the same explanation:

fig, ax = plt.subplots(figsize=(9, 5))
explanation.plot_contributions(ax, limit=10)
fig.tight_layout()
