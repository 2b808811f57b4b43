"""The pages that the browser tests look at, below out/browser, and what they must show, in expected.json."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1]))

from hietan import HIPNB, TAN, HieLogistic, HieTANLite
from hietan._io.files import atomic_write
from hietan.catalogue import load_datasets
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.models import rank_rows, train_model, words
from hietan.models.names import RowNames
from hietan.report import write_candidates, write_report
from hietan.report._study_page import study_summary
from hietan.scores.cross_validation import configure
from support.faults.nasty import NASTY, nasty_dataset

OUT = Path("out/browser")
METHODS = {"TAN": TAN(), "Hie-TAN-Lite": HieTANLite(), "HIP": HIPNB()}
N_CANDIDATES = 20_000


def study(folder, datasets, methods, page, **options):
    options = {"explain": True, **options}
    results = run_study(datasets, methods, cv=3, output=folder, command="hietan study ...", **options)
    write_report(folder, OUT / page)
    return results


def trees(results, rows):
    """The edges of the model of the row's own fold, for each tree method."""
    dataset = next(iter(results.study.datasets))
    data = results.study.datasets[dataset]
    found = {}
    for key, method in results.study.methods.items():
        if method.name == "HIP":
            continue
        fold = results.predictions[dataset, key, 0].fold
        model = configure(method.estimator, data.hierarchy, 0)
        for row in rows:
            train = np.flatnonzero(fold != fold[row])
            (tree,) = model.fit(data.X[train], data.y[train]).trees(data.X[[row]])
            nodes = [f for f, p in zip(data.feature_names, tree.parent, strict=True) if p != -2]
            found.setdefault(data.instance_names[row], {})[method.name] = {
                "nodes": len(nodes),
                "edges": sorted(f"{a} -> {b}" for a, b in tree.edges),
            }
    return found


def drawing(data):
    """The term with the most ancestors, and all edges between it and these."""
    h = data.hierarchy
    term = max(h.features, key=lambda term: len(h.ancestors(term)))
    terms = {term, *h.ancestors(term)}
    edges = [f"{a} -> {b}" for a, b in h.edges if a in terms and b in terms]
    return {"term": term, "terms": sorted(terms), "edges": sorted(edges)}


def write_unlabelled():
    """Most positives are known, and the others are unlabelled: two pages, with and without a prior."""
    data = make_hierarchical_classification(400, 60, random_state=4)
    is_known = (data.y == 1) & (np.random.default_rng(0).random(400) < 0.8)
    classes = {"y": is_known.astype(np.intp), "target_names": ("other", "listed"), "row_noun": "gene"}
    mixed = replace(data, name="mixed", positive="", **classes)
    trained = train_model(HieLogistic(), mixed, unlabelled="other")
    ranked = rank_rows(trained, mixed)
    write_candidates(ranked, OUT / "unlabelled.html", command="hietan explain model data")
    with_prior = rank_rows(trained, mixed, prior=0.1)
    write_candidates(with_prior, OUT / "unlabelled-prior.html", command="hietan explain model data")
    first, why = ranked.new_rows[0], trained.classifier.explain(ranked.X[[ranked.order[0]]], target=1)[0]
    return {
        "bound": words.bound_note(trained),
        "lifts": [row.lift for row in ranked.new_rows[:5]],
        "names": [row.instance for row in ranked.new_rows[:5]],
        "probability": with_prior.new_rows[0].probability,
        "log_odds": [why.log_odds, first.log_odds],
    }


def write_many_candidates():
    data = make_hierarchical_classification(200, 120, random_state=1)
    known = tuple(f"gene{i}" for i in range(5))
    trained = train_model(HieTANLite(), data)
    training = replace(trained.training, names=RowNames(known + data.instance_names[5:]))
    options = {"class_names": ("anti", "pro"), "positive": "pro", "row_noun": "gene"}
    held_out = replace(trained.held_out, classes=("anti", "pro"))
    trained = replace(trained, training=training, held_out=held_out, **options)
    picked = np.random.default_rng(0).integers(0, 200, N_CANDIDATES)
    names = tuple(f"gene{i}" for i in range(N_CANDIDATES))
    symbols = tuple(f"sym-{i}" if i % 2 else "" for i in range(N_CANDIDATES))
    X, y = csr_array(data.X[picked]), data.y[picked]
    rows = replace(data, X=X, y=y, instance_names=names, symbols=symbols, name="genome", row_noun="gene")
    command = "hietan explain model.hietan genome.hietan"
    second = replace(trained, classifier=train_model(HIPNB(), data).classifier)
    ranked, other = rank_rows(trained, rows), rank_rows(second, rows)
    write_candidates(ranked, OUT / "candidates.html", command=command, others=[other])
    explained = trained.classifier.explain(ranked.X[ranked.order[:50].tolist()], target=1)
    table = explained.by_branch()
    means = [float(table.base.mean()), *table.mean.tolist(), float(np.mean([e.log_odds for e in explained]))]
    branches = {
        "names": [name for name in table.names if name != "the rest"],
        "means": [f"{m:+.2f}".replace("-", "−") for m in means],
    }
    new = np.array([match is None for match in ranked.matches])
    terms = np.diff(rows.X.indptr)
    return (
        {
            "disagree": int(np.sum(new & (ranked.scores.predicted != other.scores.predicted))),
            "both_pro": int(np.sum(new & (ranked.scores.predicted == 1) & (other.scores.predicted == 1))),
            "well_described": int(np.sum(new & (terms >= 10))),
        },
        {
            "lines": [ranked.selection_text(ranked.selection_at(k / 100)) for k in range(1, 51)],
            "p_values": [
                f"{row.p_value:#.{2 if row.p_value < 0.01 else 3}g}" for row in ranked.new_rows[:40]
            ],
            "note": words.error_rate_note(trained),
        },
        branches,
    )


def write_short_list():
    """Few candidates, many with an equal training row: the ranks of those listed at every rate from 1 to 50%."""
    data = make_hierarchical_classification(600, 30, random_state=0)
    trained = train_model(TAN(), data.subset(np.arange(560)))
    ranked = rank_rows(trained, replace(data.subset(np.arange(560, 600)), name="new"))
    write_candidates(ranked, OUT / "short-list.html")
    rank_of = {row.instance: str(row.rank) for row in ranked.new_rows}
    return [[rank_of[row.instance] for row in ranked.select(k / 100).new_rows] for k in range(1, 51)]


def write_nasty_candidates():
    data = nasty_dataset()
    trained = train_model(HieTANLite(), data, validate=False)
    names = (*data.instance_names[:3], *(f"other{i}" for i in range(len(data.instance_names) - 3)))
    trained = replace(trained, training=replace(trained.training, names=RowNames(names)), dataset=NASTY[0])
    command = f"hietan explain {NASTY[3]}"
    write_candidates(rank_rows(trained, data), OUT / "nasty-candidates.html", command=command)


def main(folder):
    OUT.mkdir(parents=True, exist_ok=True)
    datasets = load_datasets(["synthetic-0", "synthetic-1", "synthetic-2"])
    results = study(folder / "study", datasets, METHODS, "study.html", lose=(0.3, 0.7))
    shown = study_summary(folder / "study")
    rows = [entry["row"] for entry in shown["datasets"][0]["explained"][:3]]
    two = [nasty_dataset(), nasty_dataset(name=f"other {NASTY[4]}", seed=1)]
    study(folder / "nasty", two, {f"lite {NASTY[1]}": HieTANLite(), f"tan {NASTY[3]}": TAN()}, "nasty.html")
    study(folder / "one", datasets[:1], METHODS, "one.html")
    (fly,) = load_datasets(["fly-BP"])
    pairs = fly.subset(np.repeat(np.arange(60), 2), fly.feature_names[:100])
    pairs = replace(pairs, y=np.tile([0, 1], 60), instance_names=tuple(map(str, range(120))))
    study(folder / "equal", [pairs], {"lite": HieTANLite()}, "equal.html", equal_rows="same-fold")
    three = replace(
        datasets[0], y=np.arange(len(datasets[0].y)) % 3, target_names=("a", "b", "c"), positive=""
    )
    study(folder / "three", [three], {"lite": HieTANLite(), "tan": TAN()}, "three.html")
    candidates, lists, branches = write_many_candidates()
    write_nasty_candidates()
    usage = shown["datasets"][0]["usage"][1]
    expected = {
        "unlabelled": write_unlabelled(),
        "trees": trees(results, rows),
        "features": {name: j for j, name in enumerate(shown["datasets"][0]["features"])},
        "most_edges": max(usage["in_edges"]),
        **{
            ranking["metric"]: [f"{v:.3f}" for row in ranking["scores"] for v in row]
            for ranking in shown["rankings"]
            if ranking["metric"] in ("auc", "gmean")
        },
        "incomplete": [[f"{v:.3f}" for v in means] for means in shown["incomplete"][1]["means"]],
        "nasty": list(NASTY),
        "candidates": N_CANDIDATES,
        "agreement": candidates,
        "lists": lists,
        "branches": branches,
        "short_list": write_short_list(),
        "verdicts": {name: study_summary(folder / name)["verdict"] for name in ("study", "one", "three")},
        "drawing": drawing(datasets[0]),
    }
    atomic_write(OUT / "expected.json", json.dumps(expected))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
