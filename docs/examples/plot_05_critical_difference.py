"""
Draw critical differences
=========================

A study compares methods on several datasets. The diagram shows average ranks, and a bar joins methods that Nemenyi's
test cannot distinguish. In this study, the bar joins HieLogistic and HieBAN, and Hie-TAN-Lite ranks below both methods.
Note that the test assumes independent datasets, but all seven datasets describe the same genes.
"""

import matplotlib.pyplot as plt

from hietan import HieBAN, HieLogistic, HieTANLite
from hietan.datasets import load_ageing_genes
from hietan.datasets.packaged._ageing import PACKAGED_NAMESPACES
from hietan.evaluation import make_rankings, run_study
from hietan.evaluation._outputs.figures import plot_critical_difference

datasets = [load_ageing_genes("fly", namespaces) for namespaces in PACKAGED_NAMESPACES]
methods = {
    "HieLogistic": HieLogistic(),
    "HieBAN": HieBAN(),
    "Hie-TAN-Lite (odds)": HieTANLite(),
}
results = run_study(datasets, methods, cv=3)
ranking = make_rankings(results.summary, metrics=["auc"])[0]

fig, ax = plt.subplots(figsize=(8, 2.6))
plot_critical_difference(ranking, ax)
fig.tight_layout()
