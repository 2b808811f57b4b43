"""Data whose names try everything: markup, quotes, other directions, great length."""

from dataclasses import replace

from hietan.datasets import make_hierarchical_classification
from hietan.hierarchy import Hierarchy

SCRIPT = "<script>alert(1)</script>"
NASTY = (
    SCRIPT,
    "</script><img src=x onerror=alert(2)>",
    "<!--<script>",
    "\"quoted\" & 'single' `back` ${alert(3)}",
    "שלום \u202eevil\u202c عالم",
    "long " * 400,
    "{{data}} {{script}} \\u003cb>",
    "line\u2028separator\u2029and\nnewline",
)


def nasty_dataset(n_rows=60, n_features=24, name=f"data {SCRIPT}", seed=0):
    """Labelled rows; what rows, features, terms, classes and the dataset itself are called is taken from `NASTY`."""
    data = make_hierarchical_classification(n_rows, n_features, random_state=seed)
    features = [f"{NASTY[j % len(NASTY)]} f{j}" for j in range(n_features)]
    rename = dict(zip(data.feature_names, features, strict=True))
    edges = [(rename[a], rename[b]) for a, b in data.hierarchy.edges]
    return replace(
        data,
        hierarchy=Hierarchy.from_edges(edges, features=features),
        feature_names=tuple(features),
        term_names=tuple(f"term {NASTY[(j + 3) % len(NASTY)]}" for j in range(n_features)),
        instance_names=tuple(f"{NASTY[i % len(NASTY)]} r{i}" for i in range(n_rows)),
        symbols=tuple(f"symbol {NASTY[(i + 2) % len(NASTY)]}" for i in range(n_rows)),
        target_names=("<b>anti</b>", "</script>pro"),
        positive="</script>pro",
        name=name,
    )
