"""Tables say what the ranking says, in three formats; figures are drawn, the same bytes each time."""

import csv
import io
import re
import sys
from dataclasses import replace

import numpy as np
import pandas
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import average_precision_score, matthews_corrcoef
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

from hietan import TAN, HieTANLite
from hietan.catalogue import load_datasets
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import Method, SummaryRow, compare_methods, make_rankings, run_study
from hietan.evaluation._outputs.explanations import write_explanations
from hietan.evaluation._outputs.figures import plot_critical_difference, write_figures
from hietan.evaluation._outputs.report_data import read_details
from hietan.evaluation._outputs.tables import (
    comparison_table,
    effects_table,
    score_table,
    usage_table,
    write_tables,
)
from hietan.scores import METRICS


def ranking_of(scores, seeds=1):
    """A ranking of given GMeans: datasets in rows, methods in columns."""
    rows = [
        SummaryRow(f"d{i}", f"m_{j}", "", "none", s, 10, (value + 0.01 * s, *[0.5] * (len(METRICS) - 1)))
        for s in range(seeds)
        for i, line in enumerate(scores)
        for j, value in enumerate(line)
    ]
    return make_rankings(rows, groups={f"d{i}": "AB"[i % 2] for i in range(len(scores))}, metrics=["gmean"])[
        0
    ]


@pytest.fixture(scope="module")
def results():
    data = load_datasets(["synthetic-0", "synthetic-1", "synthetic-2"])
    methods = {"Hie-TAN-Lite": HieTANLite(), "NB": BernoulliNB(), "none": DummyClassifier()}
    return run_study(data, methods, cv=3, command="hietan study --data ...")


def test_scores_of_one_seed():
    table = score_table(ranking_of([[0.5, 0.6], [0.7, 0.7], [0.1, 0.9]]), ["by hand"])
    rows = list(csv.reader(io.StringIO(table.to_csv().partition("\n")[2])))
    assert rows[0] == ["dataset", "m_0", "m_1"]
    assert rows[1] == ["d0", "0.500", "0.600"]
    below = {row[0]: row[1:] for row in rows}
    assert below["average rank"] == ["1.83", "1.17"]
    assert below["average rank, B"] == ["1.50", "1.50"]
    assert below["wins"] == ["0.5", "2.5"]
    assert table.to_csv().startswith("# by hand\n")


def test_the_spread_over_seeds_is_shown_beside_the_mean():
    table = score_table(ranking_of([[0.5, 0.6], [0.7, 0.7]], seeds=3))
    assert table.rows[0][1] == "0.510 ± 0.010"
    assert r"0.510 $\pm$ 0.010" in table.to_latex()


def test_latex_is_escaped():
    latex = score_table(ranking_of([[0.5, 0.6], [0.7, 0.7]]), ["100 % sure"]).to_latex()
    assert r"m\_0" in latex and latex.startswith("% 100 % sure\n")


def test_the_comparison_has_the_tests_of_the_ranking():
    ranking = ranking_of(np.linspace(0.2, 0.9, 30).reshape(10, 3))
    table = comparison_table(ranking)
    assert "Friedman chi-squared 20.00" in table.title and "N = 10" in table.title
    assert "Iman-Davenport F is undefined because all datasets rank the methods identically;" in table.title
    worst = ranking.comparison.comparisons[-1]
    assert table.rows[-1][0] == worst.method == "m_0"
    assert table.header.index("p") == 4 and table.rows[-1][4] == f"{worst.p_value:.2e}"
    assert [row[2] for row in table.rows] == ["10", "0", "0"] and table.header[2] == "wins"


def test_ties_are_corrected_for_in_the_title_where_there_are_any():
    tied = comparison_table(ranking_of([[0.5, 0.5, 0.6], [0.7, 0.8, 0.9], [0.1, 0.2, 0.3]]))
    assert "Friedman chi-squared 5.17, p 7.55e-02 (corrected for ties 5.64, p 5.97e-02)" in tied.title
    assert "corrected" not in comparison_table(ranking_of([[0.5, 0.4], [0.7, 0.8]])).title


def test_the_best_value_of_a_row_is_bold_in_every_format():
    table = score_table(ranking_of([[0.5, 0.6, 0.2], [0.7, 0.1, 0.7], [0.3, 0.3, 0.3]]))
    markdown, latex = table.to_markdown(), table.to_latex()
    assert "| d0 | 0.500 | **0.600** | 0.200 |" in markdown
    assert "| d1 | **0.700** | 0.100 | **0.700** |" in markdown  # both of the best
    assert "| d2 | 0.300 | 0.300 | 0.300 |" in markdown  # none is better
    assert "| average rank | **1.83** | 2.00 | 2.17 |" in markdown
    assert (
        "| mean | **0.500** | 0.333 | 0.400 |" in markdown
        and "| wins | 0.833 | **1.33** | 0.833 |" in markdown
    )
    assert r"d0 & 0.500 & \textbf{0.600} & 0.200 \\" in latex
    assert latex.count("textbf") == markdown.count("**") // 2 - 1  # the title is bold, too
    assert "*" not in table.to_csv()


def test_effects_say_how_much_methods_differ():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.4, 0.6, size=(10, 3)) + np.array([0, 0.2, 0.1])
    ranking = ranking_of(scores)
    compared = compare_methods(ranking, rope=0.02)
    table = effects_table(compared, ranking.title)
    assert "differences from m_1; equivalent up to 0.02" in table.title
    assert effects_table(compare_methods(ranking), "").title.endswith("equivalent up to 0.01")
    assert [row[0] for row in table.rows] == [row.method for row in compared[1:]]
    for cells, row in zip(table.rows, compared[1:], strict=True):
        assert cells[1] == f"{row.mean_difference:+.4f}" and cells[2] == ""
        assert cells[3:] == (
            f"{row.rank_biserial:+.2f}",
            *(f"{p:.3f}" for p in (row.p_worse, row.p_equivalent, row.p_better)),
        )
    with pytest.raises(ValueError, match="at least two methods and two datasets"):
        effects_table(compare_methods(ranking_of([[0.5, 0.6]])), "one dataset")


def test_every_table_says_what_made_it(results, tmp_path):
    written = write_tables(results, tmp_path)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex"}
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert "hietan study" in text and "scikit-learn" in text and "seeds: 0" in text
        for name, fingerprint in results.manifest["datasets"].items():
            assert f"{name} {fingerprint}" in text
    markdown = next(path for path in written if path.name == "gmean-untuned-scores.md").read_text()
    widths = {line.count("|") for line in markdown.splitlines() if line.startswith("|")}
    assert widths == {5}  # four columns in every line
    assert re.search(r"<!-- command: hietan study - -data", markdown)


def test_usage_lists_the_features_kept_most_often(results):
    key = next(key for _, key in results.usage)
    table = usage_table(results, key)
    kept = [int(row[3]) for row in table.rows if row[0] == "synthetic-1"]
    assert kept == sorted(kept, reverse=True) and len(kept) == 10
    assert kept[0] == results.usage["synthetic-1", key].selected.max()
    by_edges = usage_table(results, key, by="in_edges")
    edges = [int(row[5]) for row in by_edges.rows if row[0] == "synthetic-1"]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] == results.usage["synthetic-1", key].in_edges.max() and by_edges.rows[0][6] == "1"


@pytest.mark.slow
def test_figures_are_the_same_bytes_each_time(results, tmp_path):
    one = replace(results, rankings=results.rankings[:1])
    first, second = (write_figures(one, tmp_path / name) for name in "ab")
    assert len(first) == 2  # SVG and PNG
    for here, there in zip(first, second, strict=True):
        assert here.read_bytes() == there.read_bytes()
    names = (tmp_path / "a" / "figures" / "gmean-untuned-critical-difference.svg").read_text()
    assert "Hie-TAN-Lite" in names and "critical difference" in names


def test_a_clique_is_a_bar(results):
    apart = ranking_of([[0.1, 0.9]] * 10)
    alike = ranking_of([[0.5, 0.5]] * 10)
    bars = [
        [line for line in plot_critical_difference(r).lines if line.get_linewidth() > 3]
        for r in (apart, alike)
    ]
    assert [len(found) for found in bars] == [0, 1]


def test_figures_go_into_given_axes(results):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    assert plot_critical_difference(ranking_of([[0.1, 0.9]] * 10), ax=ax) is ax
    with pytest.raises(ValueError, match="at least two methods and two datasets"):
        plot_critical_difference(ranking_of([[0.5, 0.6]]))


@pytest.mark.patient
def test_names_that_differ_have_files_of_their_own(tmp_path):
    """Names may hold characters that file systems refuse, or differ in punctuation alone."""
    data = make_hierarchical_classification(60, 12, random_state=0)
    names = ["a b", "a-b", "a/b", "a|b"]
    methods = [Method(f"lite {name}", HieTANLite(), "alpha=1") for name in names[:2]]
    datasets = [replace(data, name=name) for name in names]
    results = run_study(datasets, methods, cv=3, explain=True, output=tmp_path / "study")
    results = replace(results, rankings=results.rankings[:1])
    tables = write_tables(results, tmp_path)
    assert len(set(tables)) == 3 * (3 + 2 * 2) and all(path.exists() for path in tables)
    explained = write_explanations(results, tmp_path)
    assert len(set(explained)) == 4 * 2 and all(path.exists() for path in explained)
    assert not any(" " in path.name for path in tables)
    assert all(read_details(tmp_path / "study", name)["dataset"] == name for name in names)


def test_without_matplotlib_nothing_is_drawn(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it fails as if it were not installed
    assert write_figures(results, tmp_path) == []


def test_frames_and_files_come_from_python_as_from_the_command(tmp_path):
    data = make_hierarchical_classification(60, 12, random_state=0)
    results = run_study([data], {"TAN": TAN(), "SVC": LinearSVC()}, cv=3, seeds=2, output=tmp_path / "study")
    folds = results.folds_frame()
    assert list(folds.columns) == [*SummaryRow.header()[:5], "fold", "n_rows", *METRICS]
    assert len(folds) == 2 * 2 * 3 and folds["n_rows"].sum() == 2 * 2 * 60
    for (_, key, seed), scores in results.predictions.items():
        name = results.study.methods[key].name
        for k in range(3):
            is_it = (folds["method"] == name) & (folds["seed"] == seed) & (folds["fold"] == k)
            (of_fold,) = folds[is_it].to_dict("records")
            chosen = scores.fold == k
            assert of_fold["mcc"] == matthews_corrcoef(scores.truth[chosen], scores.predicted[chosen])
            if name == "TAN":
                truth, p, odds = scores.truth[chosen], scores.proba[chosen, 1], scores.log_odds[chosen]
                assert of_fold["average_precision"] == pytest.approx(average_precision_score(truth, odds))
                assert of_fold["brier"] == pytest.approx(np.mean((p - truth) ** 2))
            assert np.isnan(of_fold["log_loss"]) == (name == "SVC")
    stored = pandas.read_csv(tmp_path / "study" / "folds.csv")
    pandas.testing.assert_frame_equal(
        folds[stored.columns].drop(columns="setting"), stored.drop(columns="setting"), check_dtype=False
    )
    tables = results.write_tables(tmp_path / "again")
    assert tables == write_tables(results, tmp_path / "again") and len(tables) == 3 * len(results.rankings)
    assert results.write_figures(tmp_path / "again") == write_figures(results, tmp_path / "again")
