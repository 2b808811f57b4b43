"""docs/reproduction.md: the whole page, made from docs/reproduction*.csv and the table of claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.paper import collect, sections
from reproduction.paper.runs import Results, tuned, untuned
from reproduction.paper.sections import Lines
from reproduction.paper.variants import DEFAULT, KNOWN
from reproduction.paper.verdicts import FAILS, HOLDS, TOP, UNKNOWN, VERDICTS, Ruling, judge

PAGE = collect.DOCS / "reproduction.md"


@dataclass(frozen=True, eq=False)
class Sources:
    """What the page is made from: the contents of docs/reproduction*.csv."""

    results: Results
    usage: Lines = ()
    spread: Lines = ()
    compared: Lines = ()
    facts: Lines = ()
    times: Lines = ()
    counts: Lines = ()
    distinct: Results = field(default_factory=lambda: Results(()))

    @cached_property
    def rulings(self) -> tuple[Ruling, ...]:
        """The verdict on every claim."""
        return judge(self.results, {row["id"]: row["found"] for row in self.facts}, self.usage)

    def comparisons(self, table: str) -> Lines:
        """The effect sizes of one of the headline tables."""
        return [row for row in self.compared if row["table"] == table]


def read_sources() -> Sources:
    """The files as they are in docs/."""
    names = (collect.USAGE, collect.SPREAD, collect.COMPARED, collect.FACTS, collect.TIMES, collect.COUNTS)
    distinct = collect.read_results(collect.DISTINCT)
    return Sources(collect.read_results(), *map(collect.read_csv, names), distinct=distinct)


HEAD = """# The paper's experiment, repeated

Wan & Freitas (arXiv 2202.04105) compare six classifiers on 28 datasets of ageing-related genes. This page repeats their
experiment with this package and judges every claim of theirs that can be checked. The authors' own programs were not
at hand: a verdict is about the methods as their papers describe them, made here."""


def page(sources: Sources) -> str:
    """The whole page; every number in it comes from the argument or from the table of claims."""
    results = sources.results
    parts = [
        HEAD,
        _short(sources.rulings),
        METHOD.format(n_runs=len(results.judged)),
        "## Untuned: all six methods with parameters fixed beforehand",
        UNTUNED,
        sections.headline(
            results, untuned(), sources.comparisons("untuned"), "Alpha 1, Laplace, lambda max / 10", "untuned"
        ),
        "## Tuned: alpha and lambda chosen within the training rows",
        TUNED,
        sections.headline(
            results, tuned(), sources.comparisons("tuned"), "Alpha and lambda by log loss", "alpha lambda"
        ),
        "## With lambda 0.002, a value known from these datasets",
        KNOWN_LAMBDA,
        sections.headline(
            results,
            untuned(DEFAULT, KNOWN),
            sources.comparisons("lambda 0.002"),
            "Alpha 1, Laplace, lambda 0.002",
            "untuned",
        ),
        "## Without equal rows",
        DISTINCT.format(**{row["what"]: int(row["number"]) for row in sources.counts})
        if sources.counts
        else "",
        sections.distinct_section(results, sources.distinct),
        "## How far the criterion for lambda matters",
        sections.criterion_section(results),
        "## Every claim",
        CLAIMS,
        sections.claims_section(sources.rulings),
        "## Seeds, and the order of the columns",
        SPREAD,
        sections.spread_section(sources.spread),
        "## Terms most often used (Table S1)",
        USAGE,
        sections.usage_section(sources.usage),
        "## Every smoothing",
        SETTINGS,
        sections.settings_section(results),
        "## What GMean measures here",
        THRESHOLD,
        sections.threshold_section(results),
        "## Other classifiers",
        OTHERS,
        sections.others_section(results),
        "## Each dataset",
        sections.datasets_section(results),
        "## How this page is made",
        MADE,
        sections.missing_section(results),
        sections.time_section(sources.times),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _short(rulings: Sequence[Ruling]) -> str:
    """The first screen: what holds, what does not, and what cannot be known."""
    counts = Counter((ruling.claim.topic, ruling.verdict) for ruling in rulings)
    topics = dict.fromkeys(ruling.claim.topic for ruling in rulings)
    parts = []
    for verdict, title in (
        (HOLDS, "What holds"),
        (FAILS, "What does not hold"),
        (UNKNOWN, "What cannot be known: it depends on what the paper does not say"),
    ):
        main = [r for r in rulings if r.verdict == verdict and _is_main(r)]
        lines = [
            f"- {r.claim.says[0].upper()}{r.claim.says[1:]}{f': {r.here}' if r.here else ''}." for r in main
        ]
        told = Counter(r.claim.topic for r in main)
        rest = {topic: counts[topic, verdict] - told[topic] for topic in topics}
        sizes = Counter(ruling.claim.topic for ruling in rulings)
        listed = ", ".join(f"{topic} ({n} of {sizes[topic]})" for topic, n in rest.items() if n)
        also = "Further claims" if main else "Claims"
        lines += [f"- {also}: {listed}."] * bool(listed)
        parts.append(f"**{title}**\n\n" + "\n".join(lines or ["- None of the claims."]))
    rows = tuple((topic, *(str(counts[topic, verdict]) for verdict in VERDICTS)) for topic in topics)
    total = tuple(str(sum(counts[topic, verdict] for topic in topics)) for verdict in VERDICTS)
    table = TextTable("All claims", ("topic", *VERDICTS), (*rows, ("together", *total))).to_markdown()
    return "\n\n".join(parts) + "\n" + table


def _is_main(ruling: Ruling) -> bool:
    """Whether the first screen names a claim: one that is marked, or one about the comparison that holds."""
    about = ruling.claim.topic in ("which method is best", "significance")
    return bool(ruling.claim.headline) or (about and ruling.verdict == HOLDS)


METHOD = f"""A claim about the comparison is judged in {{n_runs}} runs, each a 10-fold cross-validation such as the
paper may have made: Laplace smoothing with alpha 1, 0.5 and 0.05, each with lambda fixed at a tenth of the smallest
value that makes all weights zero and at 0.002; GMean averaged over folds instead of computed from all folds
together; five random orders of the columns; and alpha and lambda chosen within the training rows. A statement
**holds** if it is true in all runs, **does not hold** if it is true in none, and **cannot be known** if that
depends on what the paper does not say. A figure does not hold if it lies outside the range of all runs, and cannot
be known if it lies inside. A term of Table S1 holds if it is among the first {TOP} by either of the paper's
rankings with all of five seeds, since the length of that table is not known. Runs are not independent, and the 28
datasets are 4 sets of genes, each described in 7 ways: a Friedman test with N = 28 is anti-conservative, and is
given for comparison with the paper. The same goes for all p-values and for the probabilities of the Bayesian
signed-rank test, which count the datasets as independent; the intervals over genes do not. Differences between
seeds are the noise of the splits, not sampling error; intervals over genes are. All points that the paper leaves
open are listed in [methods.md](methods.md#what-the-paper-leaves-open) with their measured effects; the worked
examples have a [page of their own](worked-examples.md)."""

UNTUNED = """The first of two tables that are never mixed. All parameters are round values that were fixed before
the table was computed: alpha is 1, the smoothing is Laplace's, and lambda is a tenth of the smallest value that
makes all weights of proximalGraph zero, in the training rows of each fold. P-values are computed as in the paper's
Table 3: one-sided, from ranks rounded to two decimals."""

TUNED = """The second table: alpha (of 0.05, 0.1, 0.25, 0.5, 1 and 2) and lambda (of 30 values) are chosen by the
log loss of an inner 5-fold cross-validation. Log loss does not reward a balance of sensitivity and specificity, so
a chosen value may lower GMean."""

KNOWN_LAMBDA = """This is not honest evidence for proximalGraph: that 0.002 is a good value is known from these same
28 datasets. It is given because the paper does not say how its lambda was set."""

DISTINCT = """In the 28 files, {identical} of {rows:,} rows have an equal row in the same file. They make {pairs}
pairs, and {opposed} of these pairs have opposite classes. When the files were made, equal rows of the same class
were merged, so almost only contradictions are left. A method that remembers its training rows predicts the wrong
class for them. The tables below have the same training rows and folds, but the second figure of each pair is
computed only from test rows without an equal."""

CLAIMS = """All claims of [claims.csv](../reproduction/paper/claims.csv), in our words. What the paper says about
the biology of the terms, and about other papers, is not judged. "Paper" is the figure that it prints, if there is
one."""

SPREAD = """The order of the columns decides between edges with equal conditional mutual information, of which there
are many: columns that are copies of each other make ties. A random order of the columns also moves the random root.
The first pair of columns is for five seeds (other folds and another root) in the order of the files, the second for
five random orders with the folds of seed 0. Hie-AODE-Lite has no edges to choose and proximalGraph a convex
objective, so neither depends on the order except through rounding and the tolerance of the solver."""

USAGE = """The paper names 14 pairs of organism and term. *Freq. of Selection* counts the rows whose tree keeps the
term, *Freq. in Edges* the edges that contain it, over the trees of all rows that are set aside. Terms with equal
counts share the best rank; a rank by selection that is shared by many says little."""

SETTINGS = """The paper does not say how it smooths. "Pooled" is ours: it shrinks toward the same probability over
both classes together, see [methods.md](methods.md#statistics)."""

THRESHOLD = """The same probabilities at two thresholds: the default, and one chosen for GMean on the training rows.
A threshold does not change the AUC. Where GMean rises and the AUC stays the same, GMean at the default threshold
measured how far the probabilities lean toward the larger class, not how well they separate the genes."""

OTHERS = """Classifiers without a hierarchy, untuned, beside those of the paper, with one seed.
[accuracy.md](accuracy.md) has more of them, with more seeds. The balanced random forest is scikit-learn's with
`class_weight="balanced_subsample"`: weights change its splits but not its threshold."""

MADE = """`make reproduction` measures everything from scratch on two cores, says how long it took, and resumes
where it was interrupted; `python -m reproduction.paper write` makes the pages from the files alone. Every number on
this page comes from [reproduction.csv](reproduction.csv) (a row per variant, method, dataset and seed),
[-distinct](reproduction-distinct.csv) (the same without equal rows), [-counts](reproduction-counts.csv),
[-spread](reproduction-spread.csv), [-usage](reproduction-usage.csv), [-comparisons](reproduction-comparisons.csv),
[-facts](reproduction-facts.csv) and [-time](reproduction-time.csv), or from the table of claims, and a test
compares. "Timed" are the measurements whose time is known; rows that an earlier run has written stay in the files
until they are measured again."""


def write() -> None:
    """Write docs/reproduction.md."""
    atomic_write(PAGE, page(read_sources()))
