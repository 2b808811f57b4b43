"""What it costs to leave out circular features, into docs/data.md: python reproduction/circular_features.py.

Genes of the worm that prolong or shorten life (GenAge) are predicted from GO's biological processes, with and without
"determination of adult lifespan" (GO:0008340) and the terms below it. Needs the files of HIETAN_DATA; takes a minute.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

from sklearn.linear_model import LogisticRegression

from hietan import HIPNB, HieTANLite
from hietan._io.files import atomic_write
from hietan.datasets import build_dataset
from hietan.evaluation import run_study
from hietan.evaluation._outputs.text_table import TextTable
from hietan.exceptions import DataWarning

PAGE = Path(__file__).parent.parent / "docs" / "data.md"
MARKS = ("<!-- made by reproduction/circular_features.py -->\n", "<!-- end -->\n")
FILES = (
    "go-2019/GeneOntology_2019.01.29.obo.gz",
    "go-2019/GO.goa_worm_2019.01.29.gz",
    "genage-2025/genage_models_2025.csv",
)
CIRCULAR = "GO:0008340"
METHODS = {
    "HIP + NB (Laplace)": HIPNB(smoothing="laplace"),
    "Hie-TAN-Lite (Laplace)": HieTANLite(smoothing="laplace"),
    "logistic regression": LogisticRegression(C=0.1, max_iter=1000),
}
OPTIONS = {
    "namespaces": "BP",
    "id_column": "symbol",
    "label_column": "longevity influence",
    "mapping": {"Anti-Longevity": "anti", "Pro-Longevity": "pro"},
    "where": {"organism": "Caenorhabditis elegans"},
}


def make_datasets():
    """All terms; all terms of the genes that have others than the circular ones; and only the latter terms."""
    files = [Path(os.environ["HIETAN_DATA"]) / name for name in FILES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        everything = build_dataset(*files, **OPTIONS, name="all terms")
        without = build_dataset(*files, **OPTIONS, drop_terms=CIRCULAR, name=f"without {CIRCULAR}")
    same_genes = everything.subset(
        rows=list(without.instance_names), name="all terms, the genes of the next row"
    )
    return everything, same_genes, without


def measure(datasets):
    """The mean GMean and AUC of each method on each dataset, in 5 folds with 2 seeds."""
    results = run_study(datasets, METHODS, cv=5, seeds=2, usage=False)
    rows = []
    for data in datasets:
        cells = [data.name, f"{data.X.shape[0]:,}", f"{data.X.shape[1]:,}"]
        for method in METHODS:
            found = [row for row in results.summary if (row.dataset, row.method) == (data.name, method)]
            gmean, auc = (sum(row[name] for row in found) / len(found) for name in ("gmean", "auc"))
            cells.append(f"{gmean:.3f} / {auc:.3f}")
        rows.append(tuple(cells))
    return tuple(rows)


def main():
    """Measure, and write the table into the page."""
    heading = ("features", "genes", "terms", *METHODS)
    title = "GMean / AUC, means of 2 seeds of a 5-fold cross-validation"
    table = TextTable(title, heading, measure(make_datasets())).to_markdown()
    text = PAGE.read_text(encoding="utf-8")
    begin, end = map(re.escape, MARKS)
    text, found = re.subn(f"{begin}.*?{end}", lambda _: f"{MARKS[0]}{table}{MARKS[1]}", text, flags=re.DOTALL)
    assert found == 1, f"{PAGE} does not have the marks once"
    atomic_write(PAGE, text)


if __name__ == "__main__":
    main()
