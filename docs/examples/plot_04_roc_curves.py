"""
Draw ROC curves
===============

In a five-fold cross-validation, each gene is predicted by a model that has not seen the gene. `cross_validate`
passes the dataset's hierarchy to methods that need a hierarchy. With fewer than 200 genes, an AUC is uncertain by about
0.04, so crossing curves are not evidence of a difference.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay

from hietan import HieBAN, HieLogistic, HieTANLite
from hietan.datasets import load_ageing_genes
from hietan.scores import cross_validate

data = load_ageing_genes("fly", "BP")
methods = {
    "HieLogistic": HieLogistic(),
    "HieBAN": HieBAN(),
    "Hie-TAN-Lite (odds)": HieTANLite(),
    "logistic regression, balanced": LogisticRegression(C=0.1, class_weight="balanced", max_iter=1000),
}

fig, ax = plt.subplots(figsize=(6, 6))
for name, method in methods.items():
    pooled = cross_validate(method, data, n_splits=5)
    RocCurveDisplay.from_predictions(pooled.truth, pooled.log_odds, name=name, ax=ax)
ax.plot([0, 1], [0, 1], color="#b8b8b8", lw=1, ls="--")
ax.set_title("Fly genes, five folds")
fig.tight_layout()
