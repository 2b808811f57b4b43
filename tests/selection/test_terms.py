"""Related terms in a list: against the rules said in words, in every container."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy, HierarchyFilter
from support.comparison import ontology
from support.strategies import problems

# As in the Gene Ontology: cell death has a hidden term between itself and apoptosis.
GO = Hierarchy.from_edges(
    [
        ("GO:0008150", "GO:0008219"),
        ("GO:0008219", "GO:0012501"),
        ("GO:0012501", "GO:0006915"),
        ("GO:0008150", "GO:0040007"),
    ]
)
RESULT = pd.DataFrame(
    {
        "Term": [
            "biological_process (GO:0008150)",
            "cell death (GO:0008219)",
            "apoptotic process (GO:0006915)",
            "growth (GO:0040007)",
            "something new (GO:9999999)",
        ],
        "Adjusted P-value": [0.9, 1e-9, 1e-4, 0.02, 0.5],
    },
    index=list("abcde"),
)


def test_enrichment_results():
    specific = HierarchyFilter(GO).filter(RESULT, terms="Term")
    assert specific.index.tolist() == ["c", "d", "e"]
    general = HierarchyFilter(GO, keep="general").filter(RESULT, terms="Term")
    assert general.index.tolist() == ["a", "e"]
    relevant = HierarchyFilter(GO, keep="relevant")
    columns = {"terms": "Term", "scores": "Adjusted P-value"}
    assert relevant.filter(RESULT, **columns).index.tolist() == ["b", "d", "e"]
    assert relevant.dropped(RESULT, **columns) == {"GO:0008150": "GO:0008219", "GO:0006915": "GO:0008219"}
    assert HierarchyFilter(GO).dropped(RESULT, terms="Term") == {
        "GO:0008150": "GO:0040007",
        "GO:0008219": "GO:0006915",
    }


def test_every_container():
    scores = {"GO:0008219": 2.0, "GO:0006915": 3.0, "GO:0040007": 1.0}
    best = HierarchyFilter(GO, keep="relevant", best="largest")
    kept = ["GO:0006915", "GO:0040007"]
    assert best.filter(list(scores), scores=list(scores.values())) == kept
    assert best.filter(np.array(list(scores)), scores=np.array(list(scores.values()))) == kept
    assert best.filter(scores) == {name: scores[name] for name in kept}
    assert best.filter(pd.Series(scores)).to_dict() == {name: scores[name] for name in kept}
    frame = pd.DataFrame({"importance": scores})
    assert best.filter(frame, scores="importance").index.tolist() == kept
    assert HierarchyFilter(GO).filter(tuple(scores)) == kept
    assert HierarchyFilter(GO).filter([]) == []
    assert "relevant" in repr(best)


def test_ties_go_to_the_more_specific_term_and_rows_of_a_term_stay_together():
    relevant = HierarchyFilter(GO, keep="relevant")
    assert relevant.filter({"GO:0008219": 0.1, "GO:0006915": 0.1}) == {"GO:0006915": 0.1}
    twice = pd.Series([0.5, 0.2, 0.1], index=["GO:0008219", "GO:0006915", "GO:0008219"])
    assert relevant.filter(twice).tolist() == [0.5, 0.1]


@given(problem=problems(min_features=1), seed=st.integers(0, 2**16))
def test_against_the_rules_in_words(problem, seed):
    hierarchy, random = ontology(problem), Random(seed)
    terms = random.sample(problem.names, random.randint(1, len(problem.names)))
    score = {term: random.randint(0, 3) for term in terms}
    specific = [t for t in terms if not hierarchy.descendants(t) & set(terms)]
    general = [t for t in terms if not hierarchy.ancestors(t) & set(terms)]
    assert HierarchyFilter(hierarchy).filter(terms) == specific
    assert HierarchyFilter(hierarchy, keep="general").filter(terms) == general
    relevant = HierarchyFilter(hierarchy, keep="relevant")
    kept, dropped = set(relevant.filter(score)), relevant.dropped(score)
    assert kept | set(dropped) == set(terms) and kept.isdisjoint(dropped)
    assert not any(hierarchy.related(a, b) for a in kept for b in kept if a != b)
    for term, by in dropped.items():
        assert by in kept and hierarchy.related(term, by) and score[by] <= score[term]
        if score[by] == score[term]:
            assert term in hierarchy.ancestors(by) or term in hierarchy.descendants(by)
    for keep in ("specific", "general"):
        rule = HierarchyFilter(hierarchy, keep=keep)
        for term, by in rule.dropped(terms).items():
            assert by in rule.filter(terms)
            assert by in (hierarchy.descendants(term) if keep == "specific" else hierarchy.ancestors(term))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: HierarchyFilter(GO, keep="best"), ValueError, "keep must be one of"),
        (lambda: HierarchyFilter(GO, best="first"), ValueError, "best must be"),
        (lambda: HierarchyFilter(None), TypeError, "needs a hietan.Hierarchy"),
        (lambda: HierarchyFilter("go.obo"), TypeError, "must be a hietan.Hierarchy"),
        (lambda: HierarchyFilter(GO, keep="relevant").filter(["GO:0008219"]), ValueError, "needs scores"),
        (lambda: HierarchyFilter(GO, keep="relevant").filter({"GO:0008219": np.nan}), ValueError, "NaN"),
        (lambda: HierarchyFilter(GO).filter("GO:0008219"), TypeError, "expected a sequence of terms"),
        (lambda: HierarchyFilter(GO).filter([8219]), TypeError, "terms must be strings"),
        (lambda: HierarchyFilter(GO).filter(["GO:0008219"], terms="Term"), TypeError, "names a column"),
        (lambda: HierarchyFilter(GO).filter(["HP:0000001"]), ValueError, "none of the columns"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
