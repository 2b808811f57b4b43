"""The table of open points in docs/methods.md: its effects come from docs/reproduction*.csv alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.pages import fill
from reproduction.paper import collect
from reproduction.paper.sections import points, titled
from reproduction.paper.variants import CRITERIA, chosen_lambda

PAGE = collect.DOCS / "methods.md"
MARK = "open points"
Changes = Mapping[str, list[dict[str, str]]]


class Sources(NamedTuple):
    """What the table is made from: the changes by name, and how often things occur."""

    changes: Changes
    counts: Mapping[str, int]


class OpenPoint(NamedTuple):
    """Something that the paper does not say: what we do, why, and a function that words its measured effect."""

    what: str
    choice: str
    reason: str
    effect: Callable[[Sources], str]


def read_sources() -> Sources:
    """The files as they are in docs/."""
    changes: dict[str, list[dict[str, str]]] = {}
    for row in collect.read_csv(collect.POINTS):
        changes.setdefault(row["change"], []).append(row)
    return Sources(changes, {row["what"]: int(row["number"]) for row in collect.read_csv(collect.COUNTS)})


def change(name: str, words: str) -> Callable[[Sources], str]:
    """Words for a change of GMean: the mean of each method, and the widest changes of a dataset."""

    def effect(sources: Sources) -> str:
        rows = sources.changes.get(name, [])
        if not rows:
            return f"{words}: not measured yet"
        listed = ", ".join(f"{titled(row['method'])} {points(float(row['mean']), '+')}" for row in rows)
        low = min(rows, key=lambda row: float(row["low"]))
        high = max(rows, key=lambda row: float(row["high"]))
        ends = (
            f"single datasets from {points(float(low['low']), '+')} ({titled(low['method'])}, {low['low_dataset']}) "
            f"to {points(float(high['high']), '+')} ({titled(high['method'])}, {high['high_dataset']})"
        )
        return f"{words}: {listed}; {ends}"

    return effect


def absolute(name: str, words: str) -> Callable[[Sources], str]:
    """Words for a change without a direction: the mean absolute change of GMean of each method."""

    def effect(sources: Sources) -> str:
        rows = sources.changes.get(name, [])
        if not rows:
            return f"{words}: not measured yet"
        listed = ", ".join(f"{titled(row['method'])} {points(float(row['mean_absolute']))}" for row in rows)
        return f"{words}, mean absolute change: {listed}"

    return effect


def counted(template: str) -> Callable[[Sources], str]:
    """Words with the numbers of docs/reproduction-counts.csv in them."""

    def effect(sources: Sources) -> str:
        return template.format(**{name: f"{number:,}" for name, number in sources.counts.items()})

    return effect


def joined(*effects: Callable[[Sources], str]) -> Callable[[Sources], str]:
    """Several effects of one point."""
    return lambda sources: "; ".join(effect(sources) for effect in effects)


def unmeasured(words: str) -> Callable[[Sources], str]:
    """Words without a measurement."""
    return lambda _: words


OPEN_POINTS = (
    OpenPoint(
        "Kind of smoothing",
        '`smoothing="laplace"`',
        "the most common one",
        change("pooled smoothing", 'with `"pooled"` instead'),
    ),
    OpenPoint(
        "Weight of the smoothing",
        "`alpha=1`",
        "Laplace's own; fixed before anything was measured",
        joined(
            change("alpha 0.5", "alpha 0.5"),
            change("alpha 0.05", "alpha 0.05"),
            change("alpha chosen", "alpha chosen within the training rows"),
        ),
    ),
    OpenPoint(
        "Whether the conditional mutual information is smoothed",
        "it is not",
        "Equation 1 has probabilities, and their maximum-likelihood estimates make the key of an edge exact",
        unmeasured("not measured"),
    ),
    OpenPoint(
        "Stratified folds",
        "stratified and shuffled",
        "small classes are in every fold",
        change("unstratified folds", "unstratified folds, which also changes which rows are together"),
    ),
    OpenPoint(
        "Number of cross-validations",
        "five, with seeds 0 to 4; scores are averaged, then ranked",
        "one split is a matter of luck",
        unmeasured("[spread over seeds](reproduction.md#seeds-and-the-order-of-the-columns)"),
    ),
    OpenPoint(
        "GMean of all folds together, or mean over folds",
        "sensitivity and specificity of all folds together",
        "a fold has few rows of the smaller class, and one without a hit has GMean 0",
        change("mean of the folds", "the mean of the folds' GMeans instead"),
    ),
    OpenPoint(
        "Edges of equal rank",
        "the order of the columns, as in the files",
        "some order is needed, and {duplicates} of {columns} columns are copies of another",
        absolute("order of the columns", "five random orders"),
    ),
    OpenPoint(
        "Which feature is the random root, and the direction of edges that stay open",
        "the first candidate in a random order that `fit` draws",
        "a row's tree then does not depend on the other rows",
        absolute("random root", "five other random orders with the same folds"),
    ),
    OpenPoint(
        "No edge can be added (Hie-TAN-Lite, HRE-TAN)",
        "the feature with the highest mutual information with the class is kept alone",
        "a prediction should not rest on nothing",
        counted("happens for {lone} of {rows} rows"),
    ),
    OpenPoint(
        "Probability at which a row is positive",
        "1/2, by the class with the larger probability",
        "the rule of every Bayesian classifier",
        change("threshold", "a threshold chosen for GMean within the training rows"),
    ),
    OpenPoint(
        "Equal probabilities of both classes",
        "the class that comes first",
        "scikit-learn's rule",
        counted("happens for {even} predictions of five methods on {rows} rows"),
    ),
    OpenPoint(
        "The positive class",
        "pro-longevity",
        "GMean treats both classes alike, so only ties could differ",
        change("classes exchanged", "classes exchanged"),
    ),
    OpenPoint(
        "lambda of proximalGraph",
        "a tenth of the smallest value with all weights zero, or chosen within the training rows",
        "fixed beforehand, without these data",
        change("lambda 0.002", "0.002 instead, which is known from these datasets"),
    ),
    OpenPoint(
        "Criterion that chooses lambda",
        "log loss",
        "it judges probabilities, without a threshold",
        joined(*(change(chosen_lambda(c), f"by {c.replace('_', ' ')}, against a tenth") for c in CRITERIA)),
    ),
    OpenPoint(
        "Inner folds",
        "5, stratified",
        "as many as usual; fewer if a class has fewer rows",
        unmeasured("not measured"),
    ),
    OpenPoint(
        "Terms with few genes, and constant ones",
        "the columns of the files; the three roots of the ontology are dropped, since they are 1 in nearly every row",
        "the numbers of terms are then those of earlier papers on these datasets",
        joined(
            counted("{constant} columns are constant over all rows"),
            change("support", "only columns that vary and have at least 3 ones in the training rows"),
        ),
    ),
    OpenPoint(
        "Rows that are identical",
        "they stay, whatever their class",
        "they are different genes",
        joined(
            counted(
                "{identical} of {rows} rows equal another, {contradictory} of them one of the other class"
            ),
            change("identical rows", "without training rows that equal a row set aside"),
        ),
    ),
    OpenPoint(
        "Rows over which feature usage is counted",
        "every row once per seed, in the fold where it is set aside",
        "the paper counts testing instances; it does not say of how many cross-validations",
        unmeasured("[ranks in single seeds](reproduction.md#terms-most-often-used-table-s1)"),
    ),
    OpenPoint(
        "What makes a term top-ranked",
        "we judge the first ten by either count; terms with equal counts share the best rank",
        "the length of Table S1 is not known",
        unmeasured("[both ranks of all 14 terms](reproduction.md#terms-most-often-used-table-s1)"),
    ),
    OpenPoint(
        "Parents of an estimator (Hie-AODE-Lite)",
        "every feature whose value occurs in the training rows",
        "the smallest limit that can be computed",
        unmeasured("not measured"),
    ),
)


def table(sources: Sources) -> str:
    """The table in Markdown."""
    lines = tuple(
        (point.what, point.choice, counted(point.reason)(sources), point.effect(sources))
        for point in OPEN_POINTS
    )
    header = (
        "the paper does not say",
        "here",
        "because",
        "effect on GMean, in points, means over 28 datasets",
    )
    title = "Alpha 1, Laplace, lambda max / 10; seeds as far as measured"
    return TextTable(title, header, lines, (), len(header)).to_markdown()


def filled(page: str, sources: Sources) -> str:
    """The page with the table made again from the files."""
    return fill(page, {MARK: lambda: table(sources)})


def write() -> None:
    """Fill the table of docs/methods.md."""
    atomic_write(PAGE, filled(PAGE.read_text(encoding="utf-8"), read_sources()))
