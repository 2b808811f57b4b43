"""Digests of hietan's results, which show that a change of the code changes no number.

python -m benchmarks.digests [write]

Each digest is a hash of numbers rounded to ten digits, by class name, so that it does not depend on the order of the
classes. Fits, probabilities and contributions of all classifiers, p-values, two studies on six packaged datasets, a
ranked table of the worm genome and a model of unlabelled rows (with HIETAN_DATA). `write` replaces
benchmarks/digests.json; otherwise the digests are compared with it, and the differences are printed.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import hietan
from hietan.catalogue import load_dataset
from hietan.catalogue._estimators import make_methods
from hietan.datasets import build_dataset
from hietan.evaluation import run_study
from hietan.models import rank_rows, read_names, train_model

PATH = Path(__file__).with_name("digests.json")
DATASETS = ("worm-BP", "worm-MF", "worm-CC", "fly-BP", "fly-MF", "fly-CC")
RANKED = ("worm-CC", "fly-BP")
CLASSIFIERS = {
    "HieLogistic": hietan.HieLogistic,
    "HieBAN": hietan.HieBAN,
    "HieTAN": hietan.HieTAN,
    "HieTANLite": hietan.HieTANLite,
    "HRETAN": hietan.HRETAN,
    "TAN": hietan.TAN,
    "HIPNB": hietan.HIPNB,
    "AODE": hietan.AODE,
    "HieAODE": hietan.HieAODE,
    "HieAODELite": hietan.HieAODELite,
    "LazySelection": hietan.LazySelection,
    "ProximalGraph": lambda **options: hietan.ProximalGraph(lam_relative=0.1, **options),
}
METRICS = ("auc", "gmean", "average_precision", "log_loss", "sensitivity", "specificity")


def digest(values: Any) -> str:
    """A hash of numbers, rounded to ten significant digits, and of texts."""
    rounded = [f"{value:.9e}" if isinstance(value, float) else str(value) for value in values]
    return blake2b(
        "\n".join(rounded).replace("-0.000000000e+00", "0.000000000e+00").encode(), digest_size=8
    ).hexdigest()


def fits() -> Iterator[tuple[str, str]]:
    """Probabilities and contributions of each classifier on the rows it was fitted to, for the class pro."""
    for name in DATASETS:
        data = load_dataset(name)
        pro = data.target_names.index("pro")
        for method, make in CLASSIFIERS.items():
            model = make(hierarchy=data.hierarchy)
            if "random_state" in model.get_params():
                model.set_params(random_state=0)
            model.fit(data.X, data.y)
            proba = model.predict_proba(data.X)[:, model.classes_.tolist().index(pro)]
            yield f"fit/{name}/{method}/probabilities", digest(proba.tolist())
            found = model.contributions(data.X, target=pro)
            yield f"fit/{name}/{method}/contributions", digest(np.asarray(found.sum(axis=0)).ravel().tolist())


def ranked_rows() -> Iterator[tuple[str, str]]:
    """Ranked tables of a quarter of the rows, for both classes."""
    for name in RANKED:
        data = load_dataset(name)
        n = 3 * len(data.y) // 4
        for method in ("HieLogistic", "HieBAN", "HieTAN", "ProximalGraph"):
            for way in ("cv", "split"):
                trained = train_model(CLASSIFIERS[method](), data.subset(rows=slice(n)), fdr=way)
                for positive in ("anti", "pro"):
                    ranked = rank_rows(trained, data, positive=positive)
                    yield f"ranked/{name}/{method}/{way}/{positive}", digest(table(ranked))


def table(ranked: Any) -> list[Any]:
    """What decides about each row: its name, log-odds, probability, p-value, lift and class."""
    columns = ("instance", "log_odds", "probability", "p_value", "lift", "predicted")
    return [getattr(row, column) for row in ranked.rows for column in columns]


def studies() -> Iterator[tuple[str, str]]:
    """All metrics of the methods of the paper, with its smoothing and with the default one."""
    datasets = [load_dataset(name) for name in DATASETS]
    for name in ("paper", "bayes"):
        results = run_study(datasets, make_methods([name]), cv=5, seeds=1)
        frame = results.to_frame().sort_values(["dataset", "method"])
        for metric in METRICS:
            yield f"study/{name}/{metric}", digest(frame[metric].astype(float).tolist())
        yield f"study/{name}/rows", digest(frame["dataset"].astype(str) + frame["method"].astype(str))


def genome() -> Iterator[tuple[str, str]]:
    """The worm genome ranked by a model of GenAge's genes, and by a model of positives and unlabelled genes."""
    folder = Path(os.environ["HIETAN_DATA"])
    files = (
        folder / "go-2019" / "GeneOntology_2019.01.29.obo.gz",
        folder / "go-2019" / "GO.goa_worm_2019.01.29.gz",
    )
    genage = folder / "genage-2025" / "genage_models_2025.csv"
    options: dict[str, Any] = {
        "namespaces": "BP",
        "id_column": "symbol",
        "label_column": "longevity influence",
        "where": {"organism": "Caenorhabditis elegans"},
    }
    worm = build_dataset(
        *files, genage, mapping={"Anti-Longevity": "anti", "Pro-Longevity": "pro"}, **options
    )
    ranked = rank_rows(
        train_model(hietan.HieLogistic(), worm),
        build_dataset(*files, like=worm, name="genome"),
        exclude=read_names(genage, "symbol"),
    )
    yield "genome/two classes", digest(table(ranked))
    ageing = dict.fromkeys(("Anti-Longevity", "Pro-Longevity", "Unannotated", "Unclear"), "ageing")
    everyone = build_dataset(*files, genage, mapping=ageing, others="other", **options)
    trained = train_model(hietan.HieLogistic(), everyone, unlabelled="other")
    yield "genome/unlabelled", digest(table(rank_rows(trained, everyone)))


def main() -> None:
    parts = [fits, ranked_rows, studies]
    if "HIETAN_DATA" in os.environ:
        parts.append(genome)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: value for part in parts for name, value in part()}
    if sys.argv[1:] == ["write"]:
        PATH.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} digests written")
        return
    expected = json.loads(PATH.read_text())
    different = [name for name, value in found.items() if expected.get(name) != value]
    print("\n".join(different))
    print(f"{len(different)} of {len(found)} digests differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
