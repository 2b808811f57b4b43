"""Tables to publish, as CSV, Markdown and LaTeX (booktabs); each says how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io import atomic_write, comment_line, csv_text
from hietan.evaluation.metrics import METRICS
from hietan.evaluation.outputs.file_names import method_stem, ranking_stem
from hietan.evaluation.rank_tables import Ranking
from hietan.evaluation.study.results import StudyResults

TOP_FEATURES = 10


@dataclass(frozen=True)
class TextTable:
    """Cells as text, with a title and lines that say how they were made. The first `text_columns` hold text.

    >>> table = TextTable("Ranks", ("method", "rank"), (("TAN", "4.86"),), ("made by hand",))
    >>> print(table.to_markdown())
    <BLANKLINE>
    **Ranks**
    <BLANKLINE>
    | method | rank |
    |:---|---:|
    | TAN | 4.86 |
    <BLANKLINE>
    <!-- made by hand -->
    <BLANKLINE>
    >>> print(table.to_latex())
    % made by hand
    \\begin{tabular}{lr}
    \\toprule
    method & rank \\\\
    \\midrule
    TAN & 4.86 \\\\
    \\bottomrule
    \\end{tabular}
    <BLANKLINE>
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    provenance: tuple[str, ...] = ()
    text_columns: int = 1

    def to_markdown(self) -> str:
        """A Markdown table; the provenance is a comment below it."""
        marks = [":---"] * self.text_columns + ["---:"] * (len(self.header) - self.text_columns)
        lines = [
            "",
            f"**{self.title}**",
            "",
            _piped(self.header),
            f"|{'|'.join(marks)}|",
            *map(_piped, self.rows),
        ]
        return "\n".join([*lines, "", *(f"<!-- {_comment(line)} -->" for line in self.provenance), ""])

    def to_latex(self) -> str:
        """A LaTeX table for the package booktabs; the provenance is a comment above it."""
        columns = "l" * self.text_columns + "r" * (len(self.header) - self.text_columns)
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        lines = [*(f"% {line}" for line in self.provenance), f"\\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.header)) + r" \\", r"\midrule", *body]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def to_csv(self) -> str:
        """Comma-separated values, after lines with the provenance, which begin with #.

        Names that a spreadsheet would run are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = ((*row[: self.text_columns], *map(_Number, row[self.text_columns :])) for row in self.rows)
        return "".join(map(comment_line, self.provenance)) + csv_text(self.header, cells)


class _Number:
    """A cell whose text is that of a number, or empty: it is written as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


def provenance(manifest: dict[str, Any]) -> tuple[str, ...]:
    """How a table was made, in lines: command, versions, seeds, and the fingerprints of data and methods."""
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
    """Datasets by methods, and below them the mean, the average rank and the wins.

    The number after ± is the standard deviation over the seeds: the noise of the splits, not sampling error.
    """
    metric = METRICS[ranking.metric]

    def text(value: float, spread: float = np.nan) -> str:
        shown = metric.text(value)
        return shown if np.isnan(spread) else f"{shown} ± {metric.text(spread)}"

    rows = [
        (dataset, *(text(v, s) for v, s in zip(*pair, strict=True)))
        for dataset, *pair in zip(ranking.datasets, ranking.scores, ranking.spread, strict=True)
    ]
    rows.append(("mean", *map(text, ranking.means().values())))
    rows.append(("average rank", *(f"{v:.2f}" for v in ranking.average_ranks().values())))
    for group in ranking.group_names:
        rows.append((f"average rank, {group}", *(f"{v:.2f}" for v in ranking.average_ranks(group).values())))
    rows.append(("wins", *(f"{v:.3g}" for v in ranking.wins().values())))
    return TextTable(ranking.title, ("dataset", *ranking.methods), tuple(rows), tuple(lines))


def comparison_table(ranking: Ranking, lines: Sequence[str] = ()) -> TextTable:
    """Average ranks with Holm's post-hoc, like the paper's Table 3, with adjusted p-values next to the raw ones."""
    compared = ranking.comparison
    if compared is None:
        raise ValueError("a table of tests needs at least two methods and two datasets")
    tests = {row.method: row for row in compared.comparisons}
    rows = []
    for method, rank in compared.average_ranks.items():
        test = tests.get(method)
        values = (test.threshold, test.p_value, test.p_adjusted) if test else ()
        rows.append((method, f"{rank:.2f}", *(f"{v:.2e}" for v in values), *[""] * (3 - len(values))))
    chi2, f = compared.friedman, compared.iman_davenport
    words = (
        f"Friedman chi-squared {chi2.statistic:.2f}, p {chi2.p_value:.2e}; "
        f"Iman-Davenport F {f.statistic:.2f}, p {f.p_value:.2e}; {compared.alternative}, N = {compared.n_datasets}"
    )
    header = ("method", "average rank", "Holm threshold", "p", "p adjusted")
    return TextTable(f"{ranking.title}: {words}", header, tuple(rows), tuple(lines))


def usage_table(results: StudyResults, key: str, lines: Sequence[str] = ()) -> TextTable:
    """The features that are kept most often on each dataset, as in the paper's Table S1."""
    rows: list[tuple[str, ...]] = []
    for dataset in results.study.datasets:
        if (dataset, key) in results.usage:
            usage, view = results.usage[dataset, key], results.study.view(dataset)
            features, names = view.feature_names, view.term_names
            rows += [
                (dataset, features[j], names[j], str(usage.selected[j]), str(usage.in_edges[j]))
                for j in usage.top(TOP_FEATURES)
            ]
    header = ("dataset", "feature", "name", "Freq. of Selection", "Freq. in Edges")
    return TextTable(f"{key}: the features kept most often", header, tuple(rows), tuple(lines), 3)


def write_tables(results: StudyResults, folder: Path) -> list[Path]:
    """Write all tables into `tables/`, in the three formats."""
    lines = provenance(results.manifest)
    named = {f"{ranking_stem(ranking)}-scores": score_table(ranking, lines) for ranking in results.rankings}
    tested = [ranking for ranking in results.rankings if ranking.comparison is not None]
    named |= {f"{ranking_stem(ranking)}-tests": comparison_table(ranking, lines) for ranking in tested}
    selective = [key for (_, key), usage in results.usage.items() if (usage.selected < usage.n_rows).any()]
    for key in dict.fromkeys(selective):  # a method that keeps every feature has no choice to show
        named[f"usage-{method_stem(results.study.methods[key])}"] = usage_table(results, key, lines)
    written = []
    for name, table in named.items():
        for ending, text in (("csv", table.to_csv()), ("md", table.to_markdown()), ("tex", table.to_latex())):
            written.append(folder / "tables" / f"{name}.{ending}")
            atomic_write(written[-1], text)
    return written


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _comment(line: str) -> str:
    return line.replace("--", "- -")  # two hyphens would end the comment


def _latex(text: str) -> str:
    for plain, escaped in (("\\", r"\textbackslash "), ("±", r"$\pm$"), *((c, f"\\{c}") for c in "&%#_")):
        text = text.replace(plain, escaped)
    return text
