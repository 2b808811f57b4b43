"""The paper's experiment on the 28 ageing-gene datasets: python reproduction/experiment.py run|write.

`run` runs the studies into out/reproduction/; all of them take hours, and an interrupted run resumes. `write` makes
docs/reproduction.csv from their summaries and docs/reproduction-usage.csv from their feature usage, and writes
docs/reproduction.md from these two files alone; without any studies, it uses the two files as they are. `run PART...`
runs some of the studies; the page says which ones are missing.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hietan.evaluation import METRICS, Ranking, SummaryRow, make_rankings, read_summary
from hietan.evaluation.outputs import TextTable

ROOT = Path(__file__).parent.parent
OUT, DOCS = ROOT / "out" / "reproduction", ROOT / "docs"
RESULTS, USAGE = DOCS / "reproduction.csv", DOCS / "reproduction-usage.csv"
FIELDS = (
    "dataset",
    "method",
    "setting",
    "tuning",
    "seed",
    "n_rows",
    "gmean",
    "sensitivity",
    "specificity",
    "auc",
)
ALL, BOTH = ["--data", "ageing-2014"], ["--smoothing", "laplace", "--smoothing", "pooled"]
PAPER, BAYES, GRAPH = ["--methods", "paper"], ["--methods", "bayes"], ["--methods", "proximal-graph"]
ALPHAS = [word for alpha in ("1", "0.5", "0.05") for word in ("--alpha", alpha)]
PARTS = {
    "settings": [*ALL, *PAPER, "--seeds", "5", *ALPHAS, *BOTH, "--no-usage"],
    "modern": [*ALL, "--methods", "modern"],
    "threshold": [*ALL, *PAPER, *BOTH, "--tune-threshold"],
    "nested": [*ALL, *BAYES, *BOTH, "--tune-alpha"],
    "lambda": [*ALL, *GRAPH, "--lam", "tuned"],
    "usage": ["--data", "CE-BP", "--data", "DM-BP", "--data", "SC-BP", "--methods", "hie-tan-lite"],
}
# From Wan & Freitas, arXiv 2202.04105: Table 3, and the terms of Table S1.
PAPER_RANKS = {
    "hie-tan-lite": 1.89,
    "hie-tan": 2.59,
    "hie-aode-lite": 3.43,
    "hre-tan": 3.71,
    "proximal-graph": 4.52,
    "tan": 4.86,
}
PAPER_TERMS = {
    "DM-BP": ("GO:0044702", "GO:0003006"),
    "CE-BP": ("GO:0044702",),
    "SC-BP": ("GO:0006725", "GO:0003006"),
}


# ------------------------------------------------------------------ running and collecting


def run(parts: Sequence[str]) -> None:
    for part in parts or PARTS:
        words = ["study", *PARTS[part], "--jobs", "2", "--no-figures", "--no-report", "-o", str(OUT / part)]
        subprocess.run([Path(sys.executable).with_name("hietan"), *words], check=True)


def collect() -> list[SummaryRow]:
    """The rows of all finished parts; feature usage has its own file."""
    done = [part for part in PARTS if part != "usage" and (OUT / part / "summary.csv").exists()]
    return [row for part in done for row in read_summary(OUT / part)]


def write_rows(rows: Iterable[SummaryRow], path: Path) -> None:
    places = [SummaryRow.header().index(field) for field in FIELDS]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for row in rows:
            values = row.values()
            writer.writerow([f"{v:.6f}" if isinstance(v, float) else v for v in (values[p] for p in places)])


def read_rows(path: Path) -> list[SummaryRow]:
    empty = dict.fromkeys(METRICS, "")
    with open(path, newline="", encoding="utf-8") as file:
        return [SummaryRow.from_dict({**empty, **row}) for row in csv.DictReader(file)]


def collect_usage() -> list[dict[str, str]]:
    """The rank of the paper's terms in each dataset, by the number of rows that keep them and by edges."""
    path = OUT / "usage" / "feature_usage.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = []
    for dataset, terms in PAPER_TERMS.items():
        here = [row for row in rows if row["dataset"] == dataset]
        for row in (row for row in here if row["feature"] in terms):
            kept, edges = int(row["selected"]), int(row["in_edges"])
            places = {
                "selected_place": str(1 + sum(int(other["selected"]) > kept for other in here)),
                "selected_ties": str(sum(int(other["selected"]) == kept for other in here)),
                "in_edges_place": str(1 + sum(int(other["in_edges"]) > edges for other in here)),
                "n_features": str(len(here)),
            }
            names = ("dataset", "feature", "name", "selected", "in_edges", "n_rows")
            found.append({**{name: row[name] for name in names}, **places})
    return found


# ------------------------------------------------------------------ the page


def page(rows: list[SummaryRow], usage: list[dict[str, str]]) -> str:
    """The whole page; every number in it comes from the arguments."""
    sections = [
        HEAD,
        "## In short",
        _short_section(rows),
        "## The paper's table, and ours",
        _paper_section(rows),
        "## Every setting",
        _settings_section(rows),
        "## What GMean measures here",
        _threshold_section(rows),
        "## Tuned and modern methods",
        _tuned_section(rows),
        _modern_section(rows),
        "## Which terms are used (Table S1)",
        _usage_section(usage),
        "## Each dataset",
        _dataset_section(rows),
    ]
    return "\n\n".join(section.strip("\n") for section in sections) + "\n"


HEAD = """# The paper's experiment, repeated

Wan & Freitas (arXiv 2202.04105) compare six classifiers on 28 datasets of ageing-related genes. This page repeats
their experiment with this package: 10-fold stratified cross-validation; sensitivity and specificity pooled over the
folds of a seed; GMean, their geometric mean, averaged over seeds and then ranked once per dataset.
`python reproduction/experiment.py` writes the page. Every number on it comes from
[reproduction.csv](reproduction.csv), which has a row per dataset, method, setting and seed, or from
[reproduction-usage.csv](reproduction-usage.csv).

How to read it: the 28 datasets are 4 sets of genes, each described in 7 ways, so a Friedman test with N = 28 is
anti-conservative; it is given for comparison with the paper. Tuned and untuned methods are never ranked in the same
table."""


def _short_section(rows: list[SummaryRow]) -> str:
    """Which findings held up and which did not, in sentences whose numbers are those of the tables below."""
    settings = _settings(rows)
    gmean = [r.means() for s in settings if (r := _ranking(rows, "none", s, "gmean")) is not None]
    auc = [r.means() for s in settings if (r := _ranking(rows, "none", s, "auc")) is not None]
    paper = _ranking(rows, "none", "alpha=1,smoothing=laplace", "gmean")
    if not gmean or not auc or paper is None:
        return _absent("settings")
    ranks = paper.average_ranks()
    place = 1 + sum(rank < ranks["hie-tan-lite"] for rank in ranks.values())

    def apart(means: list[dict[str, float]], a: str, b: str) -> float:
        return max(abs(m[a] - m[b]) for m in means)

    def moved(means: list[dict[str, float]], method: str) -> float:
        return max(m[method] for m in means) - min(m[method] for m in means)

    lines = [
        f"- The paper's ranking is not reproduced. With Laplace smoothing and alpha 1, Hie-TAN-Lite, the paper's best "
        f"method, has rank {place} of {len(ranks)}.",
        f"- The direction of the edges hardly matters: in all {len(settings)} settings, the mean GMeans of Hie-TAN and "
        f"TAN differ by at most {100 * apart(gmean, 'hie-tan', 'tan'):.1f} points, and those of Hie-TAN-Lite and "
        f"HRE-TAN by at most {100 * apart(gmean, 'hie-tan-lite', 'hre-tan'):.1f}; their mean AUCs differ by at most "
        f"{apart(auc, 'hie-tan', 'tan'):.3f} and {apart(auc, 'hie-tan-lite', 'hre-tan'):.3f}.",
        f"- Smoothing does matter: alpha and the prior guess change TAN's mean GMean by up to "
        f"{100 * moved(gmean, 'tan'):.1f} points and its mean AUC by up to {moved(auc, 'tan'):.3f}.",
    ]
    tuned = [
        row for row in rows if row.tuning == "threshold" and row.setting in ("alpha=1,smoothing=laplace", "")
    ]
    if tuned:
        methods = list(dict.fromkeys(row.method for row in tuned))
        same = [r for r in rows if r.seed == 0 and r.tuning == "none"]
        plain = [r for r in same if r.method in methods and r.setting in ("alpha=1,smoothing=laplace", "")]
        before = [_mean([r for r in plain if r.method == m], "gmean") for m in methods]
        after = [_mean([r for r in tuned if r.method == m], "gmean") for m in methods]
        lines.append(
            f"- GMean at the default threshold mostly measures the threshold: with a threshold chosen on the training "
            f"rows, the methods' mean GMeans lie between {_range(after)} instead of between {_range(before)} (seed 0, "
            "alpha 1, Laplace)."
        )
    return "\n".join(lines)


def _range(values: list[str]) -> str:
    return f"{min(values, key=float)} and {max(values, key=float)}"


def _paper_section(rows: list[SummaryRow]) -> str:
    ranking = _ranking(rows, "none", "alpha=1,smoothing=laplace", "gmean", "greater")
    if ranking is None or ranking.comparison is None:
        return _absent("settings")
    ranks, means = ranking.average_ranks(), ranking.means()
    tests = {c.method: c for c in ranking.comparison.comparisons}
    lines = []
    for method in sorted(ranks, key=lambda m: ranks[m]):
        test = tests.get(method)
        p = (f"{test.p_value:.2e}", f"{test.p_adjusted:.2e}") if test else ("", "")
        paper = f"{PAPER_RANKS[method]:.2f}" if method in PAPER_RANKS else ""
        lines.append((method, paper, f"{ranks[method]:.2f}", f"{100 * means[method]:.1f}", *p))
    header = ("method", "rank, paper", "rank, here", "mean GMean", "p, one-sided", "p, Holm-adjusted")
    compared = ranking.comparison
    words = (
        f"Alpha 1, Laplace smoothing, default threshold, mean of {_seeds(rows)} seeds. Friedman chi-squared "
        f"{compared.friedman.statistic:.2f} (50.87 in the paper), Iman-Davenport F "
        f"{compared.iman_davenport.statistic:.2f} (15.41 in the paper). Best here: {compared.control}."
    )
    groups = [("method", *ranking.group_names)]
    groups += [(m, *(f"{ranking.average_ranks(g)[m]:.2f}" for g in ranking.group_names)) for m in ranks]
    organisms = TextTable("Average rank per organism", groups[0], tuple(groups[1:]))
    table = TextTable("Average ranks by GMean", header, tuple(lines))
    return f"{words}\n{table.to_markdown()}{organisms.to_markdown()}\n{_claims(rows)}"


def _claims(rows: list[SummaryRow]) -> str:
    """The paper's claims under every setting: how often each one holds is counted, not chosen."""
    settings = _settings(rows)
    first = higher = above = 0
    for setting in settings:
        ranking = _ranking(rows, "none", setting, "gmean")
        if ranking is None:
            continue
        ranks = ranking.average_ranks()
        first += min(ranks, key=lambda m: ranks[m]) == "hie-tan-lite"
        higher += ranks.get("hie-tan", np.inf) < ranks.get("tan", -np.inf)
        above += ranks.get("hie-tan-lite", np.inf) < ranks.get("hre-tan", -np.inf)
    return (
        f"The paper's claims, counted over {len(settings)} settings of alpha and smoothing, by average rank in GMean: "
        f"Hie-TAN-Lite is the best method in {first}, Hie-TAN is better than TAN in {higher}, and Hie-TAN-Lite is "
        f"better than HRE-TAN in {above}."
    )


def _settings_section(rows: list[SummaryRow]) -> str:
    parts = []
    for metric, scale, digits in (("gmean", 100, 1), ("auc", 1, 3)):
        tables = [(s, _ranking(rows, "none", s, metric)) for s in _settings(rows)]
        there = [(s, r) for s, r in tables if r is not None]
        if not there:
            return _absent("settings")
        methods = there[0][1].methods
        lines = [
            (s, *(f"{scale * r.means()[m]:.{digits}f} ({r.average_ranks()[m]:.2f})" for m in methods))
            for s, r in there
        ]
        title = f"Mean {metric} (average rank)"
        parts.append(TextTable(title, ("setting", *methods), tuple(lines)).to_markdown())
    spread = [r.spread for s in _settings(rows) if (r := _ranking(rows, "none", s, "gmean")) is not None]
    noise = float(np.nanmean(np.concatenate([s.ravel() for s in spread])))
    words = (
        f"The GMean of a dataset varies between seeds with a standard deviation of {100 * noise:.1f} points on "
        "average. This is the noise of the splits, not sampling error."
    )
    return "".join(parts) + f"\n{words}"


def _threshold_section(rows: list[SummaryRow]) -> str:
    first = [row for row in rows if row.seed == 0]
    lines = []
    for smoothing in ("laplace", "pooled"):
        here = [row for row in first if row.setting in (f"alpha=1,smoothing={smoothing}", "")]
        for method in dict.fromkeys(row.method for row in here if row.tuning == "threshold"):
            cells = []
            for tuning in ("none", "threshold"):
                chosen = [row for row in here if (row.method, row.tuning) == (method, tuning)]
                cells += [_mean(chosen, name) for name in ("sensitivity", "specificity", "gmean", "auc")]
            lines.append((smoothing, method, *cells))
    if not lines:
        return _absent("threshold")
    names = ("sens.", "spec.", "GMean", "AUC")
    header = ("smoothing", "method", *names, *(f"{name}, tuned" for name in names))
    words = (
        "The same probabilities at two thresholds: the default, and one chosen for GMean on the training rows. A "
        "threshold does not affect the AUC. Where GMean rises and the AUC stays the same, GMean at the default "
        "threshold measured how far the probabilities lean toward the larger class, not how well they separate the "
        "genes."
    )
    return words + "\n" + TextTable("Seed 0, alpha 1, means", header, tuple(lines), (), 2).to_markdown()


def _tuned_section(rows: list[SummaryRow]) -> str:
    parts = []
    for smoothing in ("laplace", "pooled"):
        for metric in ("gmean", "auc"):
            ranking = _ranking(rows, "nested", f"smoothing={smoothing}", metric)
            if ranking is not None and len(ranking.methods) > 1:
                title = f"Alpha (or lambda) by inner cross-validation, {smoothing}, seed 0, by {metric}"
                parts.append(_rank_table(ranking, title))
    if not parts:
        return _absent("nested")
    words = (
        "Alpha and lambda are chosen by the log loss of an inner cross-validation. For proximalGraph this favours "
        "strong penalties, which lean toward the larger class, so its GMean is lower than at the fixed lambda above."
    )
    return f"{words}\n{''.join(parts)}"


def _modern_section(rows: list[SummaryRow]) -> str:
    first = [row for row in rows if row.seed == 0]
    parts = []
    for smoothing in ("laplace", "pooled"):
        for metric in ("gmean", "auc"):
            ranking = _ranking(first, "none", f"alpha=1,smoothing={smoothing}", metric)
            if ranking is not None and "logistic-l2" in ranking.methods:
                parts.append(
                    _rank_table(ranking, f"All untuned methods, {smoothing}, alpha 1, seed 0, by {metric}")
                )
    if not parts:
        return _absent("modern")
    words = (
        'The balanced random forest is scikit-learn\'s with `class_weight="balanced_subsample"`: weights change the '
        "splits but not the threshold, so its GMean does not improve."
    )
    return f"{words}\n{''.join(parts)}"


def _usage_section(usage: list[dict[str, str]]) -> str:
    if not usage:
        return _absent("usage")
    lines = [
        (
            row["dataset"],
            row["feature"],
            row["name"],
            f"{row['selected']} of {row['n_rows']}",
            f"{row['selected_place']} (shared by {row['selected_ties']})",
            row["in_edges"],
            f"{row['in_edges_place']} of {row['n_features']}",
        )
        for row in usage
    ]
    header = ("dataset", "term", "name", "rows that keep it", "rank by rows", "edges", "rank by edges")
    words = "The terms that the paper names for Hie-TAN-Lite on the BP datasets, and their ranks here."
    return words + "\n" + TextTable("Seed 0, alpha 1, laplace", header, tuple(lines), (), 3).to_markdown()


def _dataset_section(rows: list[SummaryRow]) -> str:
    parts = []
    for setting in ("alpha=1,smoothing=laplace", "alpha=1,smoothing=pooled"):
        gmean, auc = (_ranking(rows, "none", setting, metric) for metric in ("gmean", "auc"))
        if gmean is None or auc is None:
            continue
        lines = []
        for i, dataset in enumerate(gmean.datasets):
            pairs = zip(gmean.scores[i], auc.scores[i], strict=True)
            lines.append((dataset, *(f"{100 * g:.1f} / {a:.3f}" for g, a in pairs)))
        parts.append(
            TextTable(f"GMean / AUC, {setting}", ("dataset", *gmean.methods), tuple(lines)).to_markdown()
        )
    return "".join(parts) or _absent("settings")


def _rank_table(ranking: Ranking, title: str) -> str:
    ranks, means, wins = ranking.average_ranks(), ranking.means(), ranking.wins()
    tests = {c.method: c for c in ranking.comparison.comparisons} if ranking.comparison else {}
    scale, digits = (100, 1) if ranking.metric == "gmean" else (1, 3)
    lines = []
    for m in sorted(ranks, key=lambda name: ranks[name]):
        p = (f"{tests[m].p_value:.2e}", f"{tests[m].p_adjusted:.2e}") if m in tests else ("", "")
        lines.append((m, f"{ranks[m]:.2f}", f"{wins[m]:.3g}", f"{scale * means[m]:.{digits}f}", *p))
    header = ("method", "average rank", "wins", f"mean {ranking.metric}", "p, two-sided", "p, Holm-adjusted")
    return TextTable(title, header, tuple(lines)).to_markdown()


def _ranking(
    rows: list[SummaryRow], tuning: str, setting: str, metric: str, alternative: str = "two-sided"
) -> Ranking | None:
    chosen = [row for row in rows if row.tuning == tuning and row.setting in (setting, "")]
    if not any(row.setting == setting for row in chosen):
        return None
    organisms = {row.dataset: row.dataset.partition("-")[0] for row in chosen}
    return make_rankings(chosen, groups=organisms, metrics=[metric], alternative=alternative)[0]


def _settings(rows: list[SummaryRow]) -> list[str]:
    return list(dict.fromkeys(row.setting for row in rows if row.tuning == "none" and row.setting))


def _seeds(rows: list[SummaryRow]) -> int:
    return len({row.seed for row in rows if row.tuning == "none" and row.setting})


def _mean(rows: list[SummaryRow], metric: str) -> str:
    if not rows:
        return ""
    value = float(np.mean([row[metric] for row in rows]))
    return f"{value:.3f}" if metric == "auc" else f"{100 * value:.1f}"


def _absent(part: str) -> str:
    return f"(Not run yet: `python reproduction/experiment.py run {part}`.)"


def write() -> None:
    """Write the two files of results, as far as there are studies, and the page from the two files."""
    rows, usage = collect(), collect_usage()
    if rows:
        write_rows(rows, RESULTS)
    if usage:
        with open(USAGE, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(usage[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(usage)
    with open(USAGE, newline="", encoding="utf-8") as file:
        text = page(read_rows(RESULTS), list(csv.DictReader(file)))
    (DOCS / "reproduction.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", *parts] if set(parts) <= set(PARTS):
            run(parts)
        case ["write"]:
            write()
        case _:
            sys.exit(f"usage: experiment.py run [{'|'.join(PARTS)}]... or experiment.py write")
