"""
Check the probabilities
=======================

Of the genes with a probability of 0.8, four in five should be pro-longevity. Like naive Bayes, HieBAN is overconfident:
it counts correlated terms as if each were independent evidence. With `calibrate=True`, a temperature chosen by exact
leave-one-out cross-validation corrects this overconfidence.
"""

import matplotlib.pyplot as plt

from hietan import HieBAN, HieLogistic
from hietan.datasets import load_ageing_genes
from hietan.scores import cross_validate, reliability_curve

data = load_ageing_genes("worm", "BP")
methods = {
    "HieBAN()": HieBAN(),
    "HieBAN(calibrate=True)": HieBAN(calibrate=True),
    "HieLogistic(class_weight=None)": HieLogistic(class_weight=None),
}

fig, ax = plt.subplots(figsize=(6, 6))
ax.plot([0, 1], [0, 1], color="#b8b8b8", lw=1, ls="--")
for name, method in methods.items():
    pooled = cross_validate(method, data, n_splits=5)
    curve = reliability_curve(pooled.truth, pooled.proba, n_bins=8)
    error = curve.expected_calibration_error
    ax.plot(curve.predicted, curve.observed, "o-", label=f"{name}: off by {error:.2f} on average")
ax.set(
    xlabel="predicted probability of pro-longevity",
    ylabel="share of pro-longevity genes",
    title="Worm genes, five folds",
)
ax.legend(frameon=False, loc="upper left")
fig.tight_layout()
