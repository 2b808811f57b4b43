"""
Use your own taxonomy
=====================

You can build a dataset from a table of edges, a table of pairs and a series of labels. hietan adds the ancestors. For
example, tea is also a hot drink and a drink.
"""

import matplotlib.pyplot as plt
import pandas as pd

from hietan import HieBAN, Hierarchy
from hietan.datasets import Dataset

edges = pd.DataFrame(
    [
        ("drinks", "hot drinks"),
        ("drinks", "cold drinks"),
        ("hot drinks", "tea"),
        ("hot drinks", "cocoa"),
        ("cold drinks", "juice"),
        ("cold drinks", "lemonade"),
        ("sweets", "ice cream"),
        ("sweets", "gingerbread"),
    ],
    columns=["parent", "child"],
)
pairs = pd.DataFrame(
    [
        ("p1", "tea"),
        ("p2", "cocoa"),
        ("p3", "tea"),
        ("p3", "gingerbread"),
        ("p4", "juice"),
        ("p5", "lemonade"),
        ("p6", "juice"),
        ("p7", "gingerbread"),
        ("p8", "lemonade"),
        ("p8", "ice cream"),
    ],
    columns=["item", "category"],
)
winter, summer = ["p1", "p2", "p3", "p7"], ["p4", "p5", "p6", "p8"]
labels = pd.Series({item: "winter" if item in winter else "summer" for item in sorted(winter + summer)})

hierarchy = Hierarchy.from_edges(edges)
data = Dataset.from_pairs(pairs, labels, hierarchy, name="shop", row_noun="item")
model = HieBAN(hierarchy=data.hierarchy).fit(data.X, data.y)
print(model.explain(data.subset(["p3"]))[0])

# %%
# The figure shows each item with its categories and their ancestors:

frame = data.as_frame(target=None)
fig, ax = plt.subplots(figsize=(8, 4))
ax.imshow(frame.to_numpy(), cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
ax.set_xticks(range(frame.shape[1]), frame.columns, rotation=40, ha="right")
ax.set_yticks(range(len(frame)), [f"{item} ({labels[item]})" for item in frame.index])
own = set(pairs.itertuples(index=False, name=None))
for i, item in enumerate(frame.index):
    for j, category in enumerate(frame.columns):
        if (item, category) in own:
            ax.text(j, i, "given", ha="center", va="center", fontsize=8, color="white")
        elif frame.iloc[i, j]:
            ax.text(j, i, "added", ha="center", va="center", fontsize=8, color="#dde6f2")
ax.set_title("An item has its categories and all of their ancestors")
fig.tight_layout()
