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
SELECTED = collect.DOCS / "aire.csv"


@dataclass(frozen=True, eq=False)
class Sources:
    """What the page is made from: the contents of docs/reproduction*.csv and docs/aire.csv."""

    results: Results
    usage: Lines = ()
    spread: Lines = ()
    compared: Lines = ()
    facts: Lines = ()
    times: Lines = ()
    counts: Lines = ()
    distinct: Results = field(default_factory=lambda: Results(()))
    selected: Lines = ()

    @cached_property
    def rulings(self) -> tuple[Ruling, ...]:
        """The verdict on every claim."""
        found = {row["id"]: row["found"] for row in self.facts}
        return judge(self.results, found, self.usage, self.selected)

    def comparisons(self, table: str) -> Lines:
        """The effect sizes of one of the headline tables."""
        return [row for row in self.compared if row["table"] == table]


def read_sources() -> Sources:
    """The files as they are in docs/."""
    names = (collect.USAGE, collect.SPREAD, collect.COMPARED, collect.FACTS, collect.TIMES, collect.COUNTS)
    distinct = collect.read_results(collect.DISTINCT)
    return Sources(
        collect.read_results(), *map(collect.read_csv, names), distinct, collect.read_csv(SELECTED)
    )


HEAD = """# Reproduction

Wan & Freitas (arXiv 2202.04105) compare six classifiers on 28 datasets of ageing-related genes. We repeated
their experiment with hietan, and this page gives a verdict on every claim that can be checked. We did not have the
authors' programs, so each verdict applies to the methods as the papers describe them.

Unless a table names another smoothing, all methods on this page use Laplace smoothing: *Hie-TAN* is
`HieTAN(smoothing="laplace")`, or `hie-tan-laplace` on the command line. `HieTAN()` uses odds smoothing, which is new in
hietan and is not part of this reproduction."""


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
            results,
            untuned(),
            sources.comparisons("untuned"),
            "alpha 1, Laplace smoothing and lambda max / 10",
            "untuned",
        ),
        "## Tuned: alpha and lambda chosen within the training rows",
        TUNED,
        sections.headline(
            results,
            tuned(),
            sources.comparisons("tuned"),
            "alpha and lambda chosen by log loss",
            "alpha lambda",
        ),
        "## With lambda 0.002, a value known from these datasets",
        KNOWN_LAMBDA,
        sections.headline(
            results, untuned(DEFAULT, KNOWN), [], "alpha 1, Laplace smoothing and lambda 0.002", "untuned"
        ),
        "## Without equal rows",
        DISTINCT.format(**{row["what"]: int(row["number"]) for row in sources.counts})
        if sources.counts
        else "",
        sections.distinct_section(results, sources.distinct),
        "## How much the criterion for lambda matters",
        sections.criterion_section(results),
        "## The claims about the comparison",
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
        (UNKNOWN, "What cannot be known, because it depends on details that the paper does not give"),
    ):
        main = [r for r in rulings if r.verdict == verdict and _is_main(r)]
        lines = [
            f"- {r.claim.says[0].upper()}{r.claim.says[1:]}{f' ({r.here})' if r.here else ''}." for r in main
        ]
        told = Counter(r.claim.topic for r in main)
        rest = {topic: counts[topic, verdict] - told[topic] for topic in topics}
        sizes = Counter(ruling.claim.topic for ruling in rulings)
        listed = ", ".join(f"{topic} ({n} of {sizes[topic]})" for topic, n in rest.items() if n)
        also = "Further claims have the same verdict" if main else "Claims have this verdict"
        lines += [f"- {also}: {listed}."] * bool(listed)
        parts.append(f"**{title}**\n\n" + "\n".join(lines or ["- None of the claims."]))
    rows = tuple((topic, *(str(counts[topic, verdict]) for verdict in VERDICTS)) for topic in topics)
    total = tuple(str(sum(counts[topic, verdict] for topic in topics)) for verdict in VERDICTS)
    table = TextTable("All claims", ("topic", *VERDICTS), (*rows, ("total", *total))).to_markdown()
    return "\n\n".join(parts) + "\n" + table


def _is_main(ruling: Ruling) -> bool:
    """Whether the first screen names a claim: one that is marked, or one about the comparison that holds."""
    about = ruling.claim.topic in ("which method is best", "significance")
    return bool(ruling.claim.headline) or (about and ruling.verdict == HOLDS)


METHOD = f"""**How claims are judged.** Each claim about the comparison is judged in {{n_runs}} runs. A run is a
10-fold cross-validation with settings that the paper may have used. Runs differ in alpha (1, 0.5, 0.05), lambda,
column order, and how GMean is averaged. In some runs, an inner
cross-validation on the training rows chooses alpha and lambda.

- A claim **holds** if it is true in all runs, and **does not hold** if it is true in no run. Otherwise, the claim
  **cannot be known**, because it depends on details that the paper does not give.
- A claim about a number in Table 3 **does not hold** if the number is outside the range of all runs. If the number
  is inside this range, the claim **cannot be known**.
- The paper ranks terms by two counts. A claim about a term in Table S1 **holds** if, with each of five seeds, the
  term is among the first {TOP} by at least one count.
- A claim about selections compares means over the 28 datasets, for each selection and each of three seeds
  ([Select features](selections.md#how-selections-compare)). It **cannot be known** if the comparisons disagree.
- The claim about cost compares the times to fit TAN and HieBAN in `benchmarks/LOG.md`. HieBAN is newer than the paper
  and learns no structure, because the hierarchy is its structure.

Runs are not independent, and the 28 datasets are four gene sets described in seven ways. The p-values and Bayesian
probabilities below assume independent datasets, so they overstate the evidence. The 95% intervals over genes do not
assume independent datasets. [What the paper leaves open](open-points.md) lists every open point with its effect.
[Worked examples](worked-examples.md) shows the paper's examples step by step."""

UNTUNED = """We fixed all parameters before we computed these results. Alpha is 1, with Laplace smoothing. Lambda is a
tenth of the smallest value that makes all of proximalGraph's weights zero. As in the paper's Table 3, p-values are
one-sided and computed from ranks rounded to two decimals."""

TUNED = """In this section, an inner 5-fold cross-validation chooses alpha (0.05, 0.1, 0.25, 0.5, 1 or 2) and lambda (30
values) by log loss. Log loss does not reward a balance between sensitivity and specificity, so the chosen values may
lower GMean."""

KNOWN_LAMBDA = """These results are not fair evidence for proximalGraph, because 0.002 is known to be a good value for
these datasets. We show the results because the paper does not state its lambda."""

DISTINCT = """In the 28 files, {identical} of {rows:,} rows are identical to another row in the same file. These rows
form {pairs} pairs, and {opposed} of these pairs have opposite classes. Identical rows with the same class were
probably merged when the files were made, so nearly all remaining pairs have opposite classes. Such pairs mislead
methods that memorise training rows. The columns for all rows and for unique rows come from the same training rows and
folds. The metrics for unique rows use only test rows that are not identical to any other row."""

CLAIMS = """[reproduction-claims.csv](reproduction-claims.csv) lists all claims, paraphrased, with their verdicts. We
do not judge what the paper reports about the terms' biology. What the paper reports about other papers is judged only
on these 28 datasets. The column "paper" shows the number printed in the paper, if there is one."""

SPREAD = """Column order breaks ties between edges with equal conditional mutual information, and also affects the
random root. The first two values in each row are results over five seeds, with the columns in file order. The last two
values are results over five random column orders, with the folds of seed 0. Hie-AODE-Lite does not choose edges, and
proximalGraph's objective is convex, so neither method depends on column order.
[reproduction-spread.csv](reproduction-spread.csv) lists the results for every dataset."""

USAGE = """The paper names 14 combinations of a term and an organism. We count how often the trees of all held-out rows
use each term. *Freq. of Selection* is the number of rows whose tree contains the term. *Freq. in Edges* is the
number of edges that contain the term. Terms with equal counts all get the best of their ranks. So a rank that many
terms share is weak evidence that a term matters."""

SETTINGS = """The paper does not state which smoothing it uses. Pooled smoothing, which is new in hietan, shrinks
each class's probability towards the probability over both classes together
([Methods](methods.md#probabilities-from-counts))."""

THRESHOLD = """We evaluate the same probabilities at two thresholds: the default, and a threshold chosen for GMean on
the training rows (*tuned*). The threshold does not affect the AUC. So if GMean rises with the tuned threshold, GMean
at the default threshold did not measure how well the probabilities separate the genes. Instead, GMean measured how far
the probabilities lean towards the larger class."""

MADE = """`make reproduction` runs all measurements on two cores. If the command is interrupted, run it again to
resume. `python -m reproduction.paper write` writes this page and the table of open points from CSV files
alone. The files are [reproduction.csv](reproduction.csv) (each variant, method, dataset and seed),
[-distinct](reproduction-distinct.csv) (without identical rows), [-counts](reproduction-counts.csv),
[-spread](reproduction-spread.csv), [-usage](reproduction-usage.csv), [-comparisons](reproduction-comparisons.csv),
[-facts](reproduction-facts.csv) and [-time](reproduction-time.csv). Claims about selections also use
[aire.csv](aire.csv). A test checks that the page agrees with these files."""


RULINGS = collect.DOCS / "reproduction-claims.csv"


def claim_rows(rulings: Sequence[Ruling]) -> list[dict[str, str]]:
    """Return every claim with its verdict, as rows of a file."""
    cells = [(r.claim.topic, r.claim.says, r.claim.where, r.claim.figure, r.here, r.verdict) for r in rulings]
    return [dict(zip(("topic", *sections.CLAIM_HEADER), row, strict=True)) for row in cells]


def write() -> None:
    """Write docs/reproduction.md and the file of all claims."""
    sources = read_sources()
    atomic_write(PAGE, page(sources))
    collect.write_csv(RULINGS, ("topic", *sections.CLAIM_HEADER), claim_rows(sources.rulings))
