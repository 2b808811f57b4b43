"""What was tried to improve on HieLogistic, chosen on three organisms and reported on the fourth.

Members are averaged from kept scores, each over the standard deviation of its out-of-sample scores of the training
rows; variants of HieLogistic (`trials`) are fitted here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hietan.datasets import AGEING_DATASETS
from hietan.evaluation import auc_score, gmean_score
from hietan.evaluation.cross_validation import fold_of_rows
from reproduction.accuracy import measure
from reproduction.accuracy.measure import N_FOLDS, FoldScores, dataset_of
from reproduction.accuracy.methods import SEEDS
from reproduction.accuracy.trials import TRIALS, Fold, parents_of

BASE = "HieLogistic"
ORGANISMS = tuple(dict.fromkeys(organism for organism, _ in AGEING_DATASETS))
Floats = NDArray[np.float64]
# Name of a mixture: the weights of its standardised members.
MIXTURES: Mapping[str, Mapping[str, float]] = {
    **{
        f"{BASE} + {weight:g} {member}": {BASE: 1.0, member: weight}
        for member in (
            "HIP + NB, pooled",
            "HIP + NB, laplace",
            "Hie-TAN, pooled",
            "ridge logistic regression",
            "ridge logistic regression, C 0.1",
            "balanced random forest",
            "XGBoost",
            "CatBoost",
            "simGIC nearest neighbours",
        )
        for weight in (0.5, 1.0)
    },
    "HieBAN + ridge": {"HieBAN, equal priors": 1.0, "ridge logistic regression, C 0.1": 1.0},
    "HieBAN + forest": {"HieBAN, equal priors": 1.0, "balanced random forest": 1.0},
    "HieBAN + ridge + forest": {
        "HieBAN, equal priors": 1.0,
        "ridge logistic regression, C 0.1": 1.0,
        "balanced random forest": 1.0,
    },
    "HieLogistic + HIP + forest": {
        BASE: 1.0,
        "HIP + NB, pooled": 1.0,
        "balanced random forest": 1.0,
    },
    "HieLogistic + CatBoost + forest": {BASE: 1.0, "CatBoost": 1.0, "balanced random forest": 1.0},
}
# These follow the classes' frequencies, so their log-odds of the classes are taken off before they are averaged.
_FOLLOW_FREQUENCIES = ("HIP", "Hie-TAN")


def trial_path(dataset: str, trial: str, seed: int) -> Path:
    """Where the scores of a trial are kept."""
    return measure.path_of(dataset, f"trial, {trial}", seed)


@cache
def _namespaces(organism: str) -> dict[str, int]:
    """The namespace of each term, by the datasets of one namespace."""
    return {
        term: number
        for number, namespace in enumerate(("BP", "MF", "CC"))
        for term in dataset_of(organism, namespace).feature_names
    }


def run(seeds: Sequence[int] = SEEDS) -> None:
    """Fit the trials that are not kept yet."""
    for seed in seeds:
        for organism, namespaces in AGEING_DATASETS:
            data = dataset_of(organism, namespaces)
            missing = [name for name in TRIALS if not trial_path(data.name, name, seed).exists()]
            if missing:
                for name, score in _tried(organism, namespaces, seed, missing).items():
                    found = FoldScores(score, None, None, fold_of_rows(data.y, N_FOLDS, seed), 0.0)
                    measure.save(found, trial_path(data.name, name, seed))
        print(time.strftime("%H:%M:%S"), f"trials, seed {seed}", flush=True)


def _tried(organism: str, namespaces: str, seed: int, names: Sequence[str]) -> dict[str, Floats]:
    data = dataset_of(organism, namespaces)
    X, parents = data.X.toarray().astype(np.float64), parents_of(data.hierarchy)
    namespace_of = _namespaces(organism)
    namespace = np.array([namespace_of[term] for term in data.feature_names])
    rows = fold_of_rows(data.y, N_FOLDS, seed)
    scores = {name: np.empty(len(data.y)) for name in names}
    for k in range(N_FOLDS):
        fold = Fold(X[rows != k], data.y[rows != k], X[rows == k], parents, namespace)
        for name in names:
            scores[name][rows == k] = TRIALS[name](fold)
    return scores


def mixed(dataset: str, y: NDArray[np.intp], weights: Mapping[str, float], seed: int) -> Floats | None:
    """The weighted sum of standardised members; None if one of them is not kept."""
    total = np.zeros(len(y))
    for member, weight in weights.items():
        found = measure.load(dataset, member, seed)
        if found is None or found.train is None:
            return None
        finite = np.clip(found.train.astype(np.float64), -1e3, 1e3)
        spread = np.nanstd(finite, axis=1)
        share = y.mean()
        centre = np.log(share / (1 - share)) if member.startswith(_FOLLOW_FREQUENCIES) else 0.0
        total += weight * (np.clip(found.score, -1e3, 1e3) - centre) / spread[found.fold]
    return total


@cache
def results(seed: int) -> dict[str, dict[str, tuple[float, float]]]:
    """(AUC, GMean) of each trial and mixture on each dataset; those that are not complete are left out."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for pair in AGEING_DATASETS:
        data = dataset_of(*pair)
        scores = {name: mixed(data.name, data.y, weights, seed) for name, weights in MIXTURES.items()}
        for name in TRIALS:
            kept = measure.load_file(trial_path(data.name, name, seed))
            scores[name] = None if kept is None else kept.score
        base = measure.load(data.name, BASE, seed)
        scores[BASE] = None if base is None else base.score
        for name, score in scores.items():
            if score is not None:
                values = auc_score(data.y, score), gmean_score(data.y, (score > 0).astype(np.intp))
                found.setdefault(name, {})[data.name] = values
    return {name: values for name, values in found.items() if len(values) == len(AGEING_DATASETS)}


def gains(name: str, seeds: Sequence[int]) -> dict[str, tuple[float, float]]:
    """AUC and GMean minus those of HieLogistic: per organism, and over all datasets."""
    by_group: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        base, own = results(seed)[BASE], results(seed)[name]
        for dataset, values in own.items():
            difference = values[0] - base[dataset][0], values[1] - base[dataset][1]
            for group in ("all", dataset.partition("-")[0]):
                by_group.setdefault(group, []).append(difference)
    means = {group: np.mean(values, axis=0) for group, values in by_group.items()}
    return {group: (float(mean[0]), float(mean[1])) for group, mean in means.items()}


def verdict(gain: Mapping[str, tuple[float, float]]) -> str:
    """Whether a trial helps in every organism, by AUC and by GMean; one that changes nothing is where trials start."""
    if max(abs(value) for values in gain.values() for value in values) < 5e-5:
        return "the start"
    worse = [organism for organism in ORGANISMS if min(gain[organism]) < 0]
    return "helps in every organism" if not worse else f"dropped: worse in {len(worse)} of {len(ORGANISMS)}"


def collect() -> list[dict[str, str]]:
    """A row for each trial and mixture, then what a choice on three organisms gives on the fourth."""
    complete = {seed: results(seed) for seed in SEEDS}
    rows, all_gains = [], {}
    for name in (*TRIALS, *MIXTURES):
        seeds = [seed for seed in SEEDS if name in complete[seed] and BASE in complete[seed]]
        if not seeds:
            continue
        all_gains[name] = gain = gains(name, seeds)
        rows.append(_row(name, len(seeds), gain, verdict(gain)))
    if all_gains:
        chosen = {}
        for left_out in ORGANISMS:
            others = [organism for organism in ORGANISMS if organism != left_out]
            totals = {n: sum(g[o][0] for o in others) for n, g in all_gains.items()}
            best = max(totals, key=totals.__getitem__)
            chosen[left_out] = all_gains[best][left_out] if totals[best] > 0 else (0.0, 0.0)
            label = f"chosen without {left_out}: {best if totals[best] > 0 else BASE}"
            rows.append(_row(label, 0, {left_out: chosen[left_out]}, ""))
        mean = np.mean(list(chosen.values()), axis=0)
        rows.append(
            _row("the choice, on the fourth organism", 0, {**chosen, "all": tuple(mean)}, verdict(chosen))
        )
    return rows


def _row(what: str, n_seeds: int, gain: Mapping[str, tuple[float, float]], text: str) -> dict[str, str]:
    row = {"what": what, "seeds": str(n_seeds) if n_seeds else "", "verdict": text}
    for group in ("all", *ORGANISMS):
        for number, metric in enumerate(("auc", "gmean")):
            value = round(gain[group][number], 4) + 0.0 if group in gain else None  # never -0.0000
            row[f"{metric}_{group}"] = "" if value is None else f"{value:.4f}"
    return row
