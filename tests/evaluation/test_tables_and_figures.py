"""Tables say what the ranking says, in three formats; figures are drawn, the same bytes each time."""

import csv
import io
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import BernoulliNB

from hietan import HieTANLite
from hietan.catalogue import load_datasets
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import METRICS, Method, SummaryRow, make_rankings, run_study
from hietan.evaluation.outputs import read_details, write_explanations
from hietan.evaluation.outputs.figures import FIGURES, plot_critical_difference, plot_usage, write_figures
from hietan.evaluation.outputs.tables import comparison_table, score_table, usage_table, write_tables


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
    assert rows[1] == ["d0", "50.0", "60.0"]
    below = {row[0]: row[1:] for row in rows}
    assert below["average rank"] == ["1.83", "1.17"]
    assert below["average rank, B"] == ["1.50", "1.50"]
    assert below["wins"] == ["0.5", "2.5"]
    assert table.to_csv().startswith("# by hand\n")


def test_the_spread_over_seeds_is_shown_beside_the_mean():
    table = score_table(ranking_of([[0.5, 0.6], [0.7, 0.7]], seeds=3))
    assert table.rows[0][1] == "51.0 ± 1.0"
    assert r"51.0 $\pm$ 1.0" in table.to_latex()


def test_latex_is_escaped():
    latex = score_table(ranking_of([[0.5, 0.6], [0.7, 0.7]]), ["100 % sure"]).to_latex()
    assert r"m\_0" in latex and latex.startswith("% 100 % sure\n")


def test_the_comparison_has_the_tests_of_the_ranking():
    ranking = ranking_of(np.linspace(0.2, 0.9, 30).reshape(10, 3))
    table = comparison_table(ranking)
    assert "Friedman chi-squared 20.00" in table.title and "N = 10" in table.title
    worst = ranking.comparison.comparisons[-1]
    assert table.rows[-1][0] == worst.method == "m_0"
    assert table.rows[-1][3] == f"{worst.p_value:.2e}"


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


@pytest.mark.slow
def test_figures_are_the_same_bytes_each_time(results, tmp_path):
    one_of_each = replace(results, rankings=results.rankings[:1], usage=dict(list(results.usage.items())[:1]))
    first, second = (write_figures(one_of_each, tmp_path / name, usage=True) for name in "ab")
    assert len(first) == 2 * (len(FIGURES) + 1)  # SVG and PNG; the last is that of the usage
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
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
    assert plot_usage(results, "synthetic-0", next(key for _, key in results.usage), ax=ax) is ax
    with pytest.raises(ValueError, match="at least two methods and two datasets"):
        plot_critical_difference(ranking_of([[0.5, 0.6]]))


def test_the_usage_plot_shows_both_counts_each_on_its_own_scale(results):
    pytest.importorskip("matplotlib")
    (dataset, key), usage = next(iter(results.usage.items()))
    data = results.study.datasets[dataset]
    named = replace(
        data,
        term_names=["a rather long name of a term that would not fit beside the bars"] * len(data.term_names),
    )
    shown = replace(results, study=replace(results.study, datasets={dataset: named}))
    ax = plot_usage(shown, dataset, key, top=5)
    rows, edges = ax.child_axes
    order = usage.top(5)[::-1]
    assert [bar.get_width() for bar in rows.patches] == usage.selected[order].tolist()
    assert [bar.get_width() for bar in edges.patches] == usage.in_edges[order].tolist()
    assert [text.get_text() for text in edges.texts] == [f"{n:,}" for n in usage.in_edges[order]]
    assert rows.get_xlim()[1] > usage.n_rows and edges.get_xlim()[1] > usage.in_edges.max()
    labels = [label.get_text() for label in rows.get_yticklabels()]
    assert labels[-1] == f"a rather long name of a term that would not… ({data.feature_names[order[-1]]})"
    assert ax.get_title(loc="left").startswith(f"{dataset}, ") and "@" not in ax.get_title(loc="left")


@pytest.mark.slow
def test_names_that_differ_have_files_of_their_own(tmp_path):
    """Names may hold characters that file systems refuse, or differ in punctuation alone."""
    data = make_hierarchical_classification(60, 12, random_state=0)
    names = ["a b", "a-b", "a/b", "a|b"]
    methods = [Method(f"lite {name}", HieTANLite(), "alpha=1") for name in names[:2]]
    results = run_study([replace(data, name=name) for name in names], methods, cv=3)
    results = replace(results, rankings=results.rankings[:1])
    tables = write_tables(results, tmp_path)
    assert len(set(tables)) == 3 * (2 + 2) and all(path.exists() for path in tables)
    figures = write_figures(replace(results, rankings=()), tmp_path, usage=True)
    assert len(set(figures)) == 2 * 4 * 2 and all(path.exists() for path in figures)
    explained = write_explanations(results, tmp_path, details=True)
    assert len(set(explained)) == 4 * (2 + 1) and all(path.exists() for path in explained)
    assert not any(" " in path.name for path in tables + figures)
    assert all(read_details(tmp_path, name)["dataset"] == name for name in names)


def test_without_matplotlib_nothing_is_drawn(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it fails as if it were not installed
    assert write_figures(results, tmp_path) == []
