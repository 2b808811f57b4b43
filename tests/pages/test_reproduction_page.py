"""docs/reproduction.md has every claim and only numbers of its files; a sample of those is recomputed."""

import csv
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from hietan.datasets import AGEING_DATASETS
from reproduction.paper import collect, effects, examples, facts, measure, page, points, sections
from reproduction.paper.claims import read_claims
from reproduction.paper.runs import Results, Row, tuned, untuned
from reproduction.paper.variants import BAYES, DEFAULT, GRAPH, KNOWN, PAPER, TENTH, VARIANTS
from reproduction.paper.verdicts import FAILS, HOLDS, UNKNOWN, judge
from support.paper import TABLE_3

SHOWN = page.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources():
    return page.read_sources()


# ------------------------------------------------------------------ the page and its files


def test_the_page_is_made_of_the_files(sources):
    assert page.page(sources) == SHOWN


def test_the_table_of_open_points_is_made_of_the_files():
    shown = points.PAGE.read_text(encoding="utf-8")
    assert points.filled(shown, points.read_sources()) == shown


def test_derived_files_follow_from_the_results(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "SPREAD", tmp_path / "spread.csv")
    collect.collect_spread()
    assert collect.read_csv(tmp_path / "spread.csv") == sources.spread
    collect.write_csv(tmp_path / "points.csv", effects.FIELDS, effects.measured_changes(sources.results))
    assert (tmp_path / "points.csv").read_text(encoding="utf-8") == collect.POINTS.read_text(encoding="utf-8")


def test_every_claim_is_in_the_file_and_the_comparison_on_the_page(sources):
    assert len(read_claims()) == len(sources.rulings) == len({claim.id for claim in read_claims()})
    assert collect.read_csv(page.RULINGS) == page.claim_rows(sources.rulings)
    table = SHOWN.partition("## The claims about the comparison")[2].partition("## Seeds")[0]
    rows = [re.split(r" \| ", line.strip("| ")) for line in table.splitlines() if line.startswith("| ")]
    shown = [[cell.strip() for cell in row] for row in rows]
    topics = list(dict.fromkeys(claim.topic for claim in read_claims()))[: sections.SHOWN_TOPICS]
    for ruling in sources.rulings:
        claim = ruling.claim
        expected = [claim.says, claim.where, claim.figure, ruling.here, f"**{ruling.verdict}**"]
        assert ([cell.strip() for cell in expected] in shown) == (claim.topic in topics), claim.id


def test_the_first_screen_says_what_holds_and_what_does_not(sources):
    first = SHOWN.partition("## ")[0]
    for ruling in sources.rulings:
        if ruling.claim.headline:
            assert ruling.claim.says[1:] in first, ruling.claim.id
    assert first.index("What holds") < first.index("What does not hold") < first.index("What cannot be known")


def test_the_headline_tables_have_the_means_of_the_rows(sources):
    for choice, heading in (
        (untuned(), "## Untuned"),
        (tuned(), "## Tuned"),
        (untuned(DEFAULT, KNOWN), "## With"),
    ):
        text = SHOWN.partition(heading)[2].partition("\n## ")[0]
        seeds = sources.results.seeds(choice)
        assert seeds, heading
        for method, variant in choice.items():
            rows = [r for r in sources.results.by_variant[variant, method] if r.seed in seeds]
            assert len(rows) == 28 * len(seeds)
            line = next(row for row in text.splitlines() if row.startswith(f"| {sections.titled(method)} |"))
            cells = [cell.strip() for cell in line.split("|")]
            assert f"{np.mean([row.gmean for row in rows]):.3f}" == cells[5]
            assert f"{np.mean([row.auc for row in rows]):.3f}" == cells[6]


# ------------------------------------------------------------------ the claims


def test_the_claims_have_the_papers_table_3():
    claims = {claim.id: claim for claim in read_claims()}
    for method in PAPER:
        rank, threshold, p = TABLE_3[sections.titled(method)]
        assert float(claims[f"rank-{method}"].figure) == rank
        if threshold is not None:
            assert float(claims[f"threshold-{method}"].figure) == float(threshold)
            assert (
                float(claims[f"p-{method}"].figure)
                == float(p)
                == float(claims[f"p-from-ranks-{method}"].figure)
            )
    assert sum(float(claims[f"wins-{method}"].figure) for method in PAPER) == 28
    named = [claim for claim in read_claims() if claim.kind == "usage"]
    assert len(named) == 14 and {claim.versus for claim in named} == {"CE-BP", "DM-BP", "MM-BP", "SC-BP"}


def test_claims_that_need_no_data_are_checked_again(sources):
    found = {row["id"]: row["found"] for row in sources.facts}
    for claim in read_claims():
        if claim.kind in facts.WITHOUT_DATA:
            assert facts.CHECKS[claim.kind](claim) == claim.figure == found[claim.id], claim.id


def test_figure_1b_is_learned_with_the_root_that_the_paper_chooses():
    """Section 2.1: two edges point against the hierarchy, one is missing, and one is not in the hierarchy."""
    tree = examples.trace_of("figure 1b").tree
    (root,) = (name for name in examples.FEATURES if name not in {child for _, child in tree.edges})
    assert root == "C"
    joined = {frozenset(edge) for edge in tree.edges}
    above = {name: examples.HIERARCHY.ancestors(name) for name in examples.FEATURES}
    reversed_edges = {(parent, child) for parent, child in tree.edges if child in above[parent]}
    assert {("A", "E"), ("C", "F")} == reversed_edges
    assert frozenset("BD") in joined and "B" not in above["D"] and "D" not in above["B"]
    assert frozenset("BF") not in joined and "F" in above["B"]


def test_claims_about_selections_are_those_of_their_file(sources):
    """Recomputed from docs/aire.csv: means over 28 datasets, for each selection and seed."""
    table = pd.read_csv(page.SELECTED)
    rulings = {ruling.claim.id: ruling for ruling in sources.rulings}
    for name, metric in (
        ("selection-tan", "gmean"),
        ("selection-tan-auc", "auc"),
        ("selection-hierarchy", "gmean"),
        ("selection-hierarchy-auc", "auc"),
    ):
        claim = rulings[name].claim
        means = table.pivot_table(index="seed", columns="method", values=metric)
        higher = means[claim.subject.split()].gt(means[claim.versus], axis=0).to_numpy()
        assert rulings[name].here == f"true in {higher.sum()} of {higher.size} comparisons"
        assert (rulings[name].verdict == HOLDS) == higher.all()
        assert (rulings[name].verdict == FAILS) == (not higher.any())


def test_ranks_by_auc_come_from_aucs():
    def claim(gmean, auc):
        rows = [
            r._replace(gmean=gmean(r.method), gmean_of_folds=gmean(r.method), auc=auc(r.method))
            for r in made_up(lambda *_: 0)
        ]
        rulings = {ruling.claim.id: ruling.verdict for ruling in judge(Results(rows), {}, [])}
        return rulings["hre-tan-above-tan"], rulings["hre-tan-above-tan-auc"]

    def low(method):
        return 0.4 + 0.1 * (method == "hre-tan")

    def high(method):
        return 0.6 + 0.1 * (method == "tan")

    assert claim(low, high) == (HOLDS, FAILS)
    assert claim(high, low) == (FAILS, HOLDS)


def test_the_claim_about_cost_follows_the_benchmark_log(sources, tmp_path, monkeypatch):
    claim = next(c for c in read_claims() if c.id == "cost-tan")
    ruling = next(r for r in sources.rulings if r.claim == claim)
    assert (facts.CHECKS[claim.kind](claim) == "") == (ruling.verdict == HOLDS)
    monkeypatch.setattr(facts, "TIMES", tmp_path / "LOG.md")
    facts.TIMES.write_text("| TAN fit    |  4.00 | x |\n| HieBAN fit |  1.00 | x |\n", encoding="utf-8")
    assert facts.CHECKS[claim.kind](claim) == "HieBAN needs 0.2 times TAN's time"
    facts.TIMES.write_text("| TAN fit    |  1.00 | x |\n| HieBAN fit |  4.00 | x |\n", encoding="utf-8")
    assert facts.CHECKS[claim.kind](claim) == ""


def made_up(ranks_of):
    """Rows in which the methods have given ranks on every dataset."""
    names = [f"{a}-{b}" for a, b in AGEING_DATASETS]
    kinds = [(DEFAULT, method) for method in BAYES] + [(TENTH, GRAPH), (KNOWN, GRAPH)]
    return [
        Row(variant, method, name, seed, 100, score, score, score, score, score, np.nan)
        for variant, method in kinds
        for name in names
        for seed in range(5)
        for score in [0.9 - 0.1 * ranks_of(method, seed)]
    ]


def test_verdicts_are_what_the_runs_agree_on():
    order = ["hie-tan-lite", "hie-tan", "hie-aode-lite", "hre-tan", "proximal-graph", "tan"]

    def verdicts(ranks_of):
        rulings = judge(Results(made_up(ranks_of)), {}, [])
        return {ruling.claim.id: ruling for ruling in rulings}

    as_printed = verdicts(lambda method, seed: order.index(method))
    assert {
        as_printed[name].verdict for name in ("best", "second", "hie-tan-above-tan", "lite-significant-tan")
    } == {HOLDS}
    assert as_printed["lite-not-significant-hie-tan"].verdict == FAILS
    assert as_printed["rank-hie-tan-lite"].here == "1.00 to 1.00 in 20 runs"
    assert as_printed["rank-hie-tan-lite"].verdict == FAILS  # 1.89 lies outside
    reverse = verdicts(lambda method, seed: -order.index(method))
    assert reverse["best"].verdict == reverse["lite-above-tan"].verdict == FAILS
    mixed = verdicts(lambda method, seed: order.index(method) * (1 if seed else -1))
    assert mixed["best"].verdict == UNKNOWN and mixed["best"].here == "true in 16 of 20 runs"
    assert mixed["rank-hie-tan-lite"].verdict == UNKNOWN
    assert as_printed["term-worm-0044702"].verdict == as_printed["table-1"].verdict == UNKNOWN


def test_a_page_of_nothing_says_what_to_run():
    assert "run untuned" in page.page(page.Sources(Results([])))


# ------------------------------------------------------------------ a sample of the results


@pytest.mark.parametrize(
    ("variant", "method", "dataset"),
    [
        (DEFAULT, "hie-tan-lite", "SC-MF"),
        ("alpha 0.05, pooled", "tan", "MM-CC"),
        ("alpha 0.5, laplace", "hie-aode-lite", "SC-MF"),
        ("order 3", "hie-tan", "MM-CC"),
        ("root 2", "hre-tan", "MM-MF"),
        ("unstratified folds", "tan", "MM-MF"),
        ("classes exchanged", "hie-tan", "MM-CC"),
        ("identical rows left out of training", "hie-tan-lite", "SC-MF"),
        ("support of 3 in training rows", "tan", "MM-MF"),
        (TENTH, GRAPH, "MM-MF"),
    ],
)
def test_a_sample_is_recomputed(real_data, sources, variant, method, dataset):
    rows = [r for r in sources.results.by_variant[variant, method] if r.dataset == dataset]
    row = rows[len(rows) // 2]
    task = (variant, method, dataset, row.seed)
    found = measure.measure(VARIANTS[variant], method, measure.dataset_of(*measure.NAMES[dataset]), row.seed)
    again = collect.row_of(task, found)
    for name in ("gmean", "sensitivity", "specificity", "auc"):
        assert getattr(again, name) == pytest.approx(getattr(row, name), abs=1e-5)
    if row.gmean_of_folds == row.gmean_of_folds:
        assert again.gmean_of_folds == pytest.approx(row.gmean_of_folds, abs=1e-5)


def test_scores_without_equal_rows_are_recomputed(real_data, sources):
    data = measure.dataset_of(*measure.NAMES["SC-MF"])
    _, group, size = np.unique(data.X.toarray(), axis=0, return_inverse=True, return_counts=True)
    lone = size[group.ravel()] == 1
    assert 0 < (~lone).sum() < 30
    for variant, method in ((DEFAULT, "hie-tan-lite"), (TENTH, GRAPH)):
        row = next(r for r in sources.distinct.by_variant[variant, method] if r.dataset == "SC-MF")
        found = measure.measure(VARIANTS[variant], method, data, row.seed)
        hit, y = found.predicted[lone], data.y[lone] == 1
        assert row.n_rows == lone.sum()
        assert row.gmean == pytest.approx(np.sqrt(hit[y].mean() * (~hit[~y]).mean()), abs=1e-5)
        assert row.auc == pytest.approx(roc_auc_score(y, found.score[lone]), abs=1e-5)


def test_the_section_without_equal_rows_follows_from_its_files(sources):
    counts = {row["what"]: int(row["number"]) for row in sources.counts}
    assert counts["pairs"] - counts["opposed"] == 6  # equal rows of one class were merged
    text = SHOWN.partition("## Without equal rows")[2].partition("\n## ")[0]
    assert f"{counts['opposed']} of these pairs have opposite classes" in " ".join(text.split())
    for claim in ("best", "lite-above-hie-tan"):
        says = next(c.says for c in read_claims() if c.id == claim)
        assert re.search(rf"^\| {re.escape(says)} \| \d+ of \d+ \| \d+ of \d+ \|$", text, re.MULTILINE)


def test_usage_counts_are_those_of_the_library(real_data, sources):
    data = measure.dataset_of(*measure.NAMES["SC-BP"])
    found = measure.measure(VARIANTS[DEFAULT], "hie-tan-lite", data, 0)
    rows = [row for row in sources.usage if row["dataset"] == "SC-BP" and row["seed"] == "0"]
    assert len(rows) == 7
    for row in rows:
        j = data.feature_names.index(row["feature"])
        assert found.usage[:, j].tolist() == [int(row["selected"]), int(row["in_edges"])]


def test_columns_in_another_order_are_the_same_data(real_data):
    data = measure.dataset_of(*measure.NAMES["MM-CC"])
    view = VARIANTS["order 1"].view(data)
    assert set(view.feature_names) == set(data.feature_names) != view.feature_names
    name = view.feature_names[0]
    assert (view.X[:, [0]] != data.X[:, [data.feature_names.index(name)]]).nnz == 0
    assert view.hierarchy.ancestors(name) == data.hierarchy.ancestors(name)


def test_measurements_are_kept_and_found_again(real_data, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "OUT", tmp_path)
    small = replace(VARIANTS[DEFAULT], seeds=(0,), methods=("tan",))
    monkeypatch.setitem(measure.VARIANTS, DEFAULT, small)
    monkeypatch.setattr(measure, "NAMES", {"MM-CC": measure.NAMES["MM-CC"]})
    monkeypatch.setattr(measure, "tasks", lambda parts: [(DEFAULT, "tan", "MM-CC", 0)])
    measure.run(["untuned"], n_jobs=1)
    kept = measure.load((DEFAULT, "tan", "MM-CC", 0))
    assert kept is not None and len(kept.score) == len(measure.dataset_of(*measure.NAMES["MM-CC"]).y)
    before = measure.path_of((DEFAULT, "tan", "MM-CC", 0)).stat().st_mtime_ns
    measure.run(["untuned"], n_jobs=1)
    assert measure.path_of((DEFAULT, "tan", "MM-CC", 0)).stat().st_mtime_ns == before


def test_files_of_results_are_plain_tables():
    for path in sorted(collect.DOCS.glob("reproduction*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1, path
