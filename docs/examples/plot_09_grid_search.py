"""
Search parameters with scikit-learn
===================================

The classifiers are scikit-learn estimators, so searches, pipelines and learning curves work as usual. This example
chooses the kind and strength of Hie-TAN's smoothing by GMean.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV

from hietan import HieTAN
from hietan.datasets import load_ageing_genes
from hietan.scores import gmean_scorer

data = load_ageing_genes("fly", "BP")
alphas = [0.05, 0.1, 0.25, 0.5, 1, 2]
search = GridSearchCV(
    HieTAN(hierarchy=data.hierarchy, random_state=0),
    {"smoothing": ["laplace", "odds", "pooled"], "alpha": alphas},
    scoring=gmean_scorer,
    cv=5,
).fit(data.X, data.y)
print(search.best_params_)

# %%
# In closed rows, Laplace smoothing is biased against the smaller class, and stronger smoothing increases the bias. Odds
# and pooled smoothing do not have this bias.

fig, ax = plt.subplots(figsize=(7, 4))
scores = search.cv_results_["mean_test_score"].reshape(len(alphas), 3)
for column, name in enumerate(["laplace", "odds", "pooled"]):
    ax.plot(alphas, scores[:, column], "o-", label=name)
ax.set(xscale="log", xlabel="alpha", ylabel="GMean, mean of five folds", title="Hie-TAN on fly genes")
ax.legend(title="smoothing", frameon=False)
fig.tight_layout()
