"""The table of open points in docs/open-points.md: its effects come from docs/reproduction*.csv alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hietan._io.files import atomic_write
from hietan.evaluation._outputs.text_table import TextTable
from reproduction.pages import fill
from reproduction.paper import collect
from reproduction.paper.sections import points, titled
from reproduction.paper.variants import CRITERIA, chosen_lambda

PAGE = collect.DOCS / "open-points.md"
MARK = "open points"
Changes = Mapping[str, list[dict[str, str]]]
CRITERION_NAMES = {"log_loss": "log loss", "auc": "AUC", "gmean": "GMean"}


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
        "the most common smoothing",
        change("pooled smoothing", 'with `"pooled"` instead'),
    ),
    OpenPoint(
        "Weight of the smoothing",
        "`alpha=1`",
        "Laplace's own value; fixed before anything was measured",
        joined(
            change("alpha 0.5", "alpha 0.5"),
            change("alpha 0.05", "alpha 0.05"),
            change("alpha chosen", "alpha chosen within the training rows"),
        ),
    ),
    OpenPoint(
        "Whether the conditional mutual information is smoothed",
        "not smoothed",
        "Equation 1 uses probabilities, and their maximum-likelihood estimates make edge keys exact",
        unmeasured("not measured"),
    ),
    OpenPoint(
        "Stratified folds",
        "stratified and shuffled",
        "every fold then contains the smaller class",
        change("unstratified folds", "unstratified folds (which also group the rows differently)"),
    ),
    OpenPoint(
        "Number of cross-validations",
        "five, with seeds 0 to 4; GMeans are averaged over seeds and then ranked",
        "the result of a single split depends on chance",
        unmeasured("[spread over seeds](reproduction.md#seeds-and-the-order-of-the-columns)"),
    ),
    OpenPoint(
        "One GMean over all folds, or the mean of the folds' GMeans",
        "one sensitivity and one specificity over all folds",
        "a fold has few rows of the smaller class, and a fold without a correct row of that class has GMean 0",
        change("mean of the folds", "the mean of the folds' GMeans instead"),
    ),
    OpenPoint(
        "Order of edges with equal information",
        "column order, as in the files",
        "the method needs an order, because {duplicates} of {columns} columns are copies of another column",
        absolute("order of the columns", "five random column orders"),
    ),
    OpenPoint(
        "Which feature is the random root, and how edges without a direction are directed",
        "the first candidate in a random order that `fit` draws",
        "a row's tree then does not depend on the other rows to predict",
        absolute("random root", "five other random orders with the same folds"),
    ),
    OpenPoint(
        "What happens if no edge can be added (Hie-TAN-Lite, HRE-TAN)",
        "only the feature with the highest mutual information with the class is kept",
        "a prediction needs at least one feature",
        counted("affects {lone} of {rows} rows"),
    ),
    OpenPoint(
        "Probability at which a row is positive",
        "1/2, so the more probable class is predicted",
        "the usual rule for Bayesian classifiers",
        change("threshold", "a threshold chosen for GMean within the training rows"),
    ),
    OpenPoint(
        "Prediction if both classes are equally probable",
        "the first class in class order",
        "scikit-learn's rule",
        counted("affects {even} predictions of five methods on {rows} rows"),
    ),
    OpenPoint(
        "The positive class",
        "pro-longevity",
        "GMean treats both classes alike, so only predictions for tied classes could change",
        change("classes exchanged", "classes exchanged"),
    ),
    OpenPoint(
        "proximalGraph's lambda",
        "lambda max / 10, a tenth of the smallest value that makes all weights zero, or chosen within the "
        "training rows",
        "fixed beforehand, without using these data",
        change("lambda 0.002", "0.002, a value known from these datasets"),
    ),
    OpenPoint(
        "Criterion for choosing lambda",
        "log loss",
        "log loss judges probabilities and needs no threshold",
        joined(
            *(
                change(chosen_lambda(c), f"chosen by {CRITERION_NAMES[c]}, compared with lambda max / 10")
                for c in CRITERIA
            )
        ),
    ),
    OpenPoint(
        "Inner folds",
        "5, stratified",
        "the usual number; fewer if a class has fewer than 5 rows",
        unmeasured("not measured"),
    ),
    OpenPoint(
        "Terms with few genes, and constant columns",
        "the columns in the files, without the ontology's three roots, which are 1 in nearly every row",
        "the numbers of terms then match earlier papers on these datasets",
        joined(
            counted("{constant} columns are constant over all rows"),
            change("support", "only columns that vary and have at least 3 ones in the training rows"),
        ),
    ),
    OpenPoint(
        "Identical rows",
        "all are kept, with any class",
        "identical rows belong to different genes",
        joined(
            counted(
                "{identical} of {rows} rows are identical to another row, "
                "and {contradictory} of these rows to a row of the other class"
            ),
            change("identical rows", "without training rows that are identical to a held-out row"),
        ),
    ),
    OpenPoint(
        "Rows over which feature usage is counted",
        "each row once per seed, in the fold that holds it out",
        "the paper counts testing instances, but does not give the number of cross-validations",
        unmeasured("[ranks in single seeds](reproduction.md#terms-most-often-used-table-s1)"),
    ),
    OpenPoint(
        "What makes a term top-ranked",
        "a place among the first ten by either count; terms with equal counts share the best rank",
        "the length of Table S1 is not known",
        unmeasured("[both ranks of all 14 terms](reproduction.md#terms-most-often-used-table-s1)"),
    ),
    OpenPoint(
        "Parents of an estimator (Hie-AODE-Lite)",
        "every feature whose value occurs in the training rows",
        "the lowest frequency limit at which the method can be computed",
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
        "open point",
        "in hietan",
        "reason",
        "effect on GMean, in points (means over 28 datasets)",
    )
    title = "Effects over all measured seeds, with alpha 1, Laplace smoothing and lambda max / 10"
    return TextTable(title, header, lines, (), len(header)).to_markdown()


def filled(page: str, sources: Sources) -> str:
    """The page with the table made again from the files."""
    return fill(page, {MARK: lambda: table(sources)})


def write() -> None:
    """Fill the table of docs/open-points.md."""
    atomic_write(PAGE, filled(PAGE.read_text(encoding="utf-8"), read_sources()))
