"""Whether two versions of hietan give the same results, to the last bit.

Run `record` once in the environment of each version, then `compare` what they wrote:

    HIETAN_DATA=... python reproduction/same_results.py record FILE
    python reproduction/same_results.py compare OLD NEW

It records a SHA-256 for the content of each dataset, for the trees, joint log-probabilities and explanations of every
classifier, on the 28 ageing-gene datasets and on synthetic ones, for datasets built from files, and for all tables of
results of a study with the paper's six methods. Only public names are used, those that both versions have.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import hietan
from hietan.datasets import AGEING_DATASETS, fetch_ageing_genes, make_hierarchical_classification

NAMES = ("TAN", "HieTAN", "HieTANLite", "HRETAN", "AODE", "HieAODE", "HieAODELite", "HIPNB")
SMOOTHINGS = ("laplace", "pooled")
N_SYNTHETIC = 200
# What a study found, without what describes the run or is made for people to look at.
RESULTS = ("summary", "predictions", "folds", "feature_usage", "bootstrap", "ranks", "tests", "failures")
STUDIES = {
    "paper": "--data ageing-2014 --methods paper --seeds 1",
    "synthetic": "--data synthetic --methods all --folds 3 --seeds 2 --alpha 1 --alpha 0.5 --smoothing pooled",
    "tuned": "--data synthetic-0 --methods tan --folds 3 --tune-alpha --tune-threshold",
}
SPECIES = {"worm": "Caenorhabditis elegans", "fly": "Drosophila melanogaster"}

Found = Iterator[tuple[str, str]]


def digest(*values: Any) -> str:
    """The SHA-256 of some arrays and texts."""
    found = hashlib.sha256()
    for value in values:
        found.update(value.encode() if isinstance(value, str) else np.ascontiguousarray(value).tobytes())
    return found.hexdigest()


def classifiers() -> Iterator[tuple[str, Any]]:
    """Every classifier in every setting, by name."""
    for name in NAMES:
        for smoothing in SMOOTHINGS:
            yield f"{name} {smoothing}", getattr(hietan, name)(smoothing=smoothing, alpha=0.7)
    yield "ProximalGraph", hietan.ProximalGraph(lam=0.002)


def answers(data: Any, folds: int, name: str) -> Found:
    """What every classifier says about the test rows of the first folds of a dataset."""
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(data.X, data.y))[:folds]
    for fold, (train, test) in enumerate(splits):
        for setting, model in classifiers():
            seed = {"random_state": 0} if "random_state" in model.get_params() else {}
            model.set_params(hierarchy=data.hierarchy, **seed).fit(data.X[train], data.y[train])
            rows, key = data.X[test], f"{name} fold {fold} {setting}"
            yield f"{key} probabilities", digest(model.predict_log_proba(rows), model.predict(rows))
            if hasattr(model, "predict_joint_log_proba"):
                yield f"{key} joint", digest(model.predict_joint_log_proba(rows))
            if hasattr(model, "trees"):
                yield f"{key} trees", digest(*(tree.parent for tree in model.trees(rows)))
            explained = [explanation.to_dict() for explanation in model.explain(rows[:2])]
            yield f"{key} explanations", digest(json.dumps(explained, sort_keys=True))


def tables(data: Any) -> str:
    """The content of a dataset."""
    edges = repr(data.hierarchy.edges)
    return digest(data.X.indptr.astype(int), data.X.indices.astype(int), data.y.astype(int), edges)


def of_datasets() -> Found:
    """The published datasets, and synthetic ones of many shapes."""
    for organism, subset in AGEING_DATASETS:
        data = fetch_ageing_genes(organism, subset)
        yield f"{data.name} content", tables(data)
        yield from answers(data, 10 if subset == "CC" else 1, data.name)
    for seed in range(N_SYNTHETIC):
        data = make_hierarchical_classification(60 + seed, 5 + seed % 90, random_state=seed)
        yield f"synthetic {seed} content", tables(data)
        yield from answers(data, 1, f"synthetic {seed}")


def command(*words: str | Path) -> None:
    """Run the command `hietan` of this environment."""
    program = Path(sys.executable).with_name("hietan")
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)


def of_studies(folder: Path) -> Found:
    """The tables of results and the journals of some studies."""
    for name, options in STUDIES.items():
        output = folder / name
        command("study", *options.split(), "--no-figures", "-q", "-o", output)
        paths = [output / f"{table}.csv" for table in RESULTS]
        for path in [*paths, *sorted(output.glob("jobs/**/*.jsonl")), *sorted(output.glob("details/*.json"))]:
            yield f"study {name} {path.relative_to(output)}", digest(path.read_bytes().decode())


def of_builds(folder: Path, data: Path) -> Found:
    """Datasets built from an ontology, annotations and labels."""
    ontology = data / "go-2019/GeneOntology_2019.01.29.obo.gz"
    labels = data / "genage-2025/genage_models_2025.csv"
    for animal, species in SPECIES.items():
        annotations = data / f"go-2019/GO.goa_{animal}_2019.01.29.gz"
        files = ["--ontology", ontology, "--annotations", annotations, "--labels", labels]
        output = folder / f"{animal}.hietan"
        columns = ["--id-column", "symbol", "--label-column", "longevity influence"]
        classes = ["--map", "Anti-Longevity=anti", "--map", "Pro-Longevity=pro"]
        command("build", *files, *columns, *classes, "--where", f"organism={species}", "-o", output)
        yield f"build {animal}", digest(output.read_bytes().hex())


def record(output: Path) -> None:
    """Write the digests of everything."""
    warnings.simplefilter("ignore")
    found = dict(of_datasets())
    with tempfile.TemporaryDirectory() as folder:
        found |= dict(of_studies(Path(folder)))
        found |= dict(of_builds(Path(folder), Path(os.environ["HIETAN_DATA"])))
    output.write_text(json.dumps(found, indent=0))
    print(f"{output}: {len(found):,} results")


def compare(old: Path, new: Path) -> int:
    """Print how many results are the same, and name those that are not."""
    before, after = (json.loads(path.read_text()) for path in (old, new))
    different = [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]
    print(f"{len(before):,} results before, {len(after):,} after, {len(different):,} different")
    print("\n".join(different[:50]))
    return bool(different)


if __name__ == "__main__":
    what, *paths = sys.argv[1:] or ["help"]
    if what == "record" and len(paths) == 1:
        record(Path(paths[0]))
    elif what == "compare" and len(paths) == 2:
        sys.exit(compare(*map(Path, paths)))
    else:
        sys.exit(__doc__)
