"""Claims that need no cross-validation, recomputed: the worked examples, the arithmetic of Table 3, the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hietan.datasets import Ontology, read_obo
from hietan.datasets._fetching.fetch import fetch_collection
from hietan.evaluation._rank_tests import compare_ranks
from reproduction.paper.claims import Claim, paper_ranks, read_claims
from reproduction.paper.examples import EXAMPLES, HIERARCHY, trace_of
from reproduction.paper.measure import NAMES, dataset_of
from reproduction.paper.runs import PAPERS_BEST
from reproduction.paper.walk import Trace, Verdict

N_DATASETS = 28
TIMES = Path(__file__).parents[2] / "benchmarks" / "LOG.md"


def step(claim: Claim) -> str:
    """What became of an edge of a worked example: its direction and what gave it, "open" or "refused"."""
    first, _, second = claim.versus.partition("-")
    edges = [e for e in trace_of(claim.subject).considered if {e.first, e.second} == {first, second}]
    if not edges:
        return "not considered"
    (edge,) = edges
    if not edge.verdict.is_taken:
        return "refused"
    if edge.verdict is Verdict.OPEN:
        return "open"
    kind = "hierarchy" if edge.verdict is Verdict.ALONG_HIERARCHY else "parent"
    return f"{edge.parent}>{edge.child} {kind}"


def tree(claim: Claim) -> str:
    """The edges of the tree of a worked example, from the root down."""
    return " ".join(f"{parent}>{child}" for parent, child in trace_of(claim.subject).tree.edges)


def in_tree(claim: Claim) -> str:
    """Whether two features are joined in the tree of a worked example."""
    return "yes" if direction(claim) else "no"


def direction(claim: Claim) -> str:
    """The direction of an edge in the tree of a worked example; nothing if it is not in the tree."""
    ends = set(claim.versus.split("-"))
    return "".join(
        f"{parent}>{child}" for parent, child in trace_of(claim.subject).tree.edges if {parent, child} == ends
    )


def removed(claim: Claim) -> str:
    """The features that are removed in a worked example."""
    return " ".join(sorted(trace_of(claim.subject).removed_by))


def removed_edges(claim: Claim) -> str:
    """The edges that became unavailable in a worked example, in the order in which the paper lists them."""
    trace: Trace = trace_of(claim.subject)
    gone, before = set(trace.removed_by), EXAMPLES[claim.subject].ranking
    taken_at = next(edge.rank for edge in trace.considered if edge.removed)
    found = {f"{a}-{b}" for a, b in before[taken_at:] if gone & {a, b}}
    return " ".join(edge for edge in claim.figure.split() if edge in found) + " ?" * (len(found) != 8)


def ancestors(claim: Claim) -> str:
    """The ancestors of a feature in the DAG of the figures."""
    return " ".join(sorted(HIERARCHY.ancestors(claim.versus)))


def descendants(claim: Claim) -> str:
    """The descendants of a feature in the DAG of the figures."""
    return " ".join(sorted(HIERARCHY.descendants(claim.versus)))


def threshold(claim: Claim) -> str:
    """Holm's threshold, from the printed ranks."""
    return f"{_tested(claim.subject).threshold:.2e}"


def p_from_ranks(claim: Claim) -> str:
    """The one-sided p-value, from the printed ranks."""
    return f"{_tested(claim.subject).p_value:.2e}"


def _tested(method: str) -> Any:
    compared = compare_ranks(paper_ranks(), N_DATASETS, alternative="greater", control=PAPERS_BEST)
    return next(c for c in compared.comparisons if c.method == method)


@cache
def ontology() -> Ontology:
    """The release of the Gene Ontology that comes with the datasets."""
    (path,) = (path for path in fetch_collection("ageing-genes") if ".obo" in path.name)
    return read_obo(path)


def parent(claim: Claim) -> str:
    """Whether a term is a parent of another; nothing if it is."""
    parents = ontology().terms[claim.versus].is_a
    return "" if claim.subject in parents else f"the parents are {' and '.join(parents)}"


def closed(_: Claim) -> str:
    """Whether all datasets are closed upwards."""
    bad = [
        name for name, pair in NAMES.items() if not dataset_of(*pair).hierarchy.is_closed(dataset_of(*pair).X)
    ]
    return f"not in {', '.join(bad)}" if bad else ""


def sparse(_: Claim) -> str:
    """Whether fewer than half of the cells are 1, in every dataset."""
    dense = [name for name, pair in NAMES.items() if dataset_of(*pair).X.mean() >= 0.5]
    return f"not {', '.join(dense)}" if dense else ""


def faster(claim: Claim) -> str:
    """Whether a classifier is fitted in less time than another one, in the benchmark log; nothing if it is."""
    text = TIMES.read_text(encoding="utf-8")
    own, other = (
        float(re.findall(rf"^\| {name} +\| +([\d.]+) \|", text, re.MULTILINE)[0])
        for name in (f"{claim.subject} fit", f"{claim.versus} fit")
    )
    return "" if own < other else f"{claim.versus} needs {other / own:.1f} times {claim.subject}'s time"


def counted(claim: Claim) -> str:
    """The numbers of datasets, organisms and classes, and the values of features."""
    every = [dataset_of(*pair) for pair in NAMES.values()]
    match claim.kind.rpartition(" ")[2]:
        case "datasets":
            return str(len(every))
        case "organisms":
            return str(len({name.partition("-")[0] for name in NAMES}))
        case "classes":
            return " ".join(map(str, sorted({len(np.unique(data.y)) for data in every})))
        case _:
            return " ".join(map(str, sorted({int(v) for data in every for v in np.unique(data.X.toarray())})))


CHECKS: Mapping[str, Callable[[Claim], str]] = {
    "step": step,
    "tree": tree,
    "in tree": in_tree,
    "direction": direction,
    "removed": removed,
    "removed edges": removed_edges,
    "ancestors": ancestors,
    "descendants": descendants,
    "threshold": threshold,
    "p from ranks": p_from_ranks,
    "faster": faster,
    "parent": parent,
    "closed": closed,
    "sparse": sparse,
    "count of datasets": counted,
    "count of organisms": counted,
    "count of classes": counted,
    "values of features": counted,
}
"""For each kind of claim, what is found here; the claim holds if it equals the claim's figure."""
# Claims that are checked without the datasets.
WITHOUT_DATA = frozenset(list(CHECKS)[:10])


def check_facts() -> list[dict[str, str]]:
    """A line of docs/reproduction-facts.csv for each claim that is checked here."""
    return [{"id": c.id, "found": CHECKS[c.kind](c)} for c in read_claims() if c.kind in CHECKS]
