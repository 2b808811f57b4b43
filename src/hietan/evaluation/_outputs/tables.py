"""A study's tables for publication: scores, tests, effect sizes and feature usage, with their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.files import atomic_write, safe_file_name
from hietan.evaluation._comparisons import MethodComparison
from hietan.evaluation._outputs.text_table import TextTable
from hietan.evaluation._rank_tables import Ranking, rank_incomplete
from hietan.evaluation._study.plan import Method
from hietan.evaluation._study.results import StudyResults
from hietan.scores.metrics import METRICS

TOP_FEATURES = 10


def provenance(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Return lines that show how a table was made: command, versions, seeds, and fingerprints of data and methods."""
    hashes = [
        ", ".join(f"{name} {h}" for name, h in manifest[what].items()) for what in ("datasets", "methods")
    ]
    return (
        f"command: {manifest['command'] or 'hietan.evaluation.run_study'}",
        "versions: " + ", ".join(f"{name} {version}" for name, version in manifest["versions"].items()),
        f"folds: {manifest['cv']}; seeds: {', '.join(map(str, manifest['seeds']))}",
        f"datasets: {hashes[0]}",
        f"methods: {hashes[1]}",
    )


def score_table(ranking: Ranking, lines: Sequence[str] = ()) -> TextTable:
    """Return a table of datasets by methods, with means, average ranks and wins. The best score of each row is bold.

    The number after ± is the standard deviation over the seeds: the noise of the splits, not sampling error.
    """
    lower = METRICS[ranking.metric].lower_is_better

    def text(value: float, spread: float = np.nan) -> str:
        return f"{value:.3f}" if np.isnan(spread) else f"{value:.3f} ± {spread:.3f}"

    rows: list[tuple[str, ...]] = []
    best: list[tuple[int, int]] = []

    def add(title: str, values: Iterable[float], cells: Iterable[str], lower_is_better: bool) -> None:
        best.extend((len(rows), 1 + k) for k in _best(list(values), lower_is_better))
        rows.append((title, *cells))

    for dataset, scores, spread in zip(ranking.datasets, ranking.scores, ranking.spread, strict=True):
        add(dataset, scores.tolist(), map(text, scores, spread), lower)
    means = list(ranking.means().values())
    add("mean", means, map(text, means), lower)
    for group in (None, *ranking.group_names):
        ranks = list(ranking.average_ranks(group).values())
        title = "average rank" if group is None else f"average rank, {group}"
        add(title, ranks, (f"{v:.2f}" for v in ranks), True)
    won = list(ranking.wins().values())
    add("wins", won, (f"{v:.3g}" for v in won), False)
    header = ("dataset", *ranking.methods)
    return TextTable(ranking.title, header, tuple(rows), tuple(lines), bold=frozenset(best))


def _best(values: Sequence[float], lower_is_better: bool) -> list[int]:
    """Return the positions of the best values, including ties, or none if all values are equal."""
    best = min(values) if lower_is_better else max(values)
    places = [k for k, value in enumerate(values) if value == best]
    return places if len(places) < len(values) else []


def comparison_table(ranking: Ranking, lines: Sequence[str] = ()) -> TextTable:
    """Return average ranks, wins and Holm's post-hoc test, as in the paper's Table 3, with adjusted p-values."""
    compared = ranking.comparison
    if compared is None:
        raise ValueError(
            "a table of tests needs at least two methods and two datasets, but the ranking has "
            f"{len(ranking.methods)} and {len(ranking.datasets)}"
        )
    tests = {row.method: row for row in compared.comparisons}
    won = ranking.wins()
    rows = []
    for method, rank in compared.average_ranks.items():
        test = tests.get(method)
        values = (test.threshold, test.p_value, test.p_adjusted) if test else ()
        cells = (f"{rank:.2f}", f"{won[method]:.3g}", *(f"{v:.2e}" for v in values))
        rows.append((method, *cells, *[""] * (3 - len(values))))
    header = ("method", "average rank", "wins", "Holm threshold", "p", "p adjusted")
    return TextTable(f"{ranking.title}: {overall_tests(ranking)}", header, tuple(rows), tuple(lines))


def overall_tests(ranking: Ranking) -> str:
    """Return a line with Friedman's test and Iman and Davenport's test of whether the methods differ at all.

    If methods tie on a dataset, the line also shows both tests corrected for ties.
    """
    compared = ranking.comparison
    if compared is None:
        return ""

    def words(name: str) -> str:
        test = getattr(compared, name)
        corrected = getattr(compared, f"{name}_corrected")
        shown = f"{test.statistic:.2f}, p {test.p_value:.2e}"
        if np.isinf(test.statistic):
            return "is undefined because all datasets rank the methods identically"
        if corrected is None:
            return shown
        return f"{shown} (corrected for ties {corrected.statistic:.2f}, p {corrected.p_value:.2e})"

    tests = (
        f"Friedman chi-squared {words('friedman')}; Iman-Davenport F {words('iman_davenport')}; "
        f"{compared.alternative}, N = {compared.n_datasets}"
    )
    return " ".join([f"{tests}.", *ranking.cautions]) if ranking.cautions else tests


def effects_table(rows: Sequence[MethodComparison], title: str, lines: Sequence[str] = ()) -> TextTable:
    """Return a table of each method's difference from the control, with effect sizes and probabilities.

    `rows` is the result of `compare_methods` for the ranking.
    """
    compared = [row for row in rows if row.mean_difference is not None]
    if not compared:
        raise ValueError(
            "a table of effect sizes needs at least two methods and two datasets; add the missing ones to the "
            "study"
        )
    control, rope = compared[0].control, compared[0].rope

    def text(value: float | None) -> str:
        return "" if value is None else f"{value:+.4f}"  # one decimal more than the values have

    cells = []
    for row in compared:
        probabilities = (row.p_worse, row.p_equivalent, row.p_better)
        ends = [text(row.difference_low), text(row.difference_high)]
        biserial = "" if row.rank_biserial is None else f"{row.rank_biserial:+.2f}"
        shown = ("" if p is None else f"{p:.3f}" for p in probabilities)
        cells.append(
            (row.method, text(row.mean_difference), " to ".join(filter(None, ends)), biserial, *shown)
        )
    words = f"differences from {control}; equivalent up to {rope or 0:g}"
    # Short words: in a terminal of 80 columns, longer ones would be cut.
    header = ("method", "differs by", "95% interval", "rank biserial", "P worse", "P equiv.", "P better")
    return TextTable(f"{title}: {words}", header, tuple(cells), tuple(lines))


def incomplete_table(by_share: Mapping[float, Ranking], lines: Sequence[str] = ()) -> TextTable:
    """Return each method's mean score by the share of lost annotations. The best score of each column is bold."""
    first = next(iter(by_share.values()))
    metric, means = METRICS[first.metric], [list(ranking.means().values()) for ranking in by_share.values()]
    best = {(row, 1 + k) for k, column in enumerate(means) for row in _best(column, metric.lower_is_better)}
    rows = tuple(
        (method, *map("{:.3f}".format, row)) for method, *row in zip(first.methods, *means, strict=True)
    )
    n = len(first.datasets)
    title = f"{first.title}: mean over {n} dataset{'' if n == 1 else 's'} by share of annotations lost"
    return TextTable(
        title, ("method", *map("{:g}".format, by_share)), rows, tuple(lines), bold=frozenset(best)
    )


def usage_table(
    results: StudyResults, key: str, lines: Sequence[str] = (), *, by: str = "selected"
) -> TextTable:
    """Return each dataset's most used features, ranked by one of the counts, as in the paper's Table S1."""
    rows: list[tuple[str, ...]] = []
    for dataset in results.study.datasets:
        for row in results.feature_usage(dataset, key, by=by, top=TOP_FEATURES):
            numbers = (row.selected, row.rank_selected, row.in_edges, row.rank_in_edges)
            rows.append((dataset, row.feature, row.name, *map(str, numbers)))
    header = ("dataset", "feature", "name", "Freq. of Selection", "rank", "Freq. in Edges", "rank")
    what = "kept most often" if by == "selected" else "in most edges"
    return TextTable(f"{key}: the features {what}", header, tuple(rows), tuple(lines), 3)


def write_tables(results: StudyResults, folder: Path) -> list[Path]:
    """Write all tables to `tables/` in the three formats."""
    lines = provenance(results.manifest)
    named = {
        f"{ranking_stem(ranking)}-scores": score_table(ranking, (*ranking.cautions, *lines))
        for ranking in results.rankings
    }
    tested = [ranking for ranking in results.rankings if ranking.comparison is not None]
    named |= {f"{ranking_stem(ranking)}-tests": comparison_table(ranking, lines) for ranking in tested}
    for ranking, compared in zip(results.rankings, results.comparisons_by_ranking(), strict=True):
        if ranking.comparison is not None:
            notes = (*ranking.cautions, *lines)
            named[f"{ranking_stem(ranking)}-effects"] = effects_table(compared, ranking.title, notes)
    for by_share in rank_incomplete(results.incomplete, results.study.datasets):
        named[f"{ranking_stem(by_share[0])}-incomplete"] = incomplete_table(by_share, lines)
    selective = [key for (_, key), usage in results.usage.items() if (usage.selected < usage.n_rows).any()]
    for key in dict.fromkeys(selective):  # a method that keeps every feature has no selection to show
        stem = f"usage-{method_stem(results.study.methods[key])}"
        named[stem] = usage_table(results, key, lines)
        named[f"{stem}-by-edges"] = usage_table(results, key, lines, by="in_edges")
    written = []
    for name, plain in named.items():
        table = replace(plain, notes=results.failure_lines)
        for ending, text in (("csv", table.to_csv()), ("md", table.to_markdown()), ("tex", table.to_latex())):
            written.append(folder / "tables" / f"{name}.{ending}")
            atomic_write(written[-1], text)
    return written


def file_stem(*parts: str) -> str:
    """Join parts of a file name with hyphens, which also replace commas. Empty parts are left out.

    Different parts give different names unless they differ only in hyphens and commas.

    >>> file_stem("usage", "CE-BP", "", "my tan/2", "alpha=1,lam=2")
    'usage-CE-BP-my%20tan%2F2-alpha=1-lam=2'
    """
    return "-".join(safe_file_name(part).replace(" ", "%20").replace(",", "-") for part in parts if part)


def ranking_stem(ranking: Ranking) -> str:
    """Return the stem of a ranking's file names."""
    tuning = ("untuned",) if ranking.tuning == "none" else ("tuned", ranking.tuning)
    return file_stem(ranking.metric, ranking.setting, *tuning)


def method_stem(method: Method) -> str:
    """Return a method in the form used in file names."""
    return file_stem(method.name, method.setting, "tuned", method.tuning)
