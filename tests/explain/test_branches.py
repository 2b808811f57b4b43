"""Contributions by branch: sums along the hierarchy that lose nothing, against a walk up every path."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan import HieLogistic, Hierarchy
from hietan.datasets import load_ageing_genes
from hietan.explain import Contribution, Explanation
from hietan.explain._branches import LEAST, MOST_BELOW


@st.composite
def dags(draw):
    """Names, and edges from earlier to later names, some of them implied by others."""
    n = draw(st.integers(1, 12))
    names = [f"t{i}" for i in range(n)]
    pairs = [(a, b) for b in range(n) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return names, [(names[a], names[b]) for a, b in edges]


def explained(names, edges, amounts, base=0.5):
    parts = tuple(
        Contribution(feature=name, name=name, value=1, contribution=float(amount))
        for name, amount in zip(names, amounts, strict=True)
    )
    total = base + sum(part.contribution for part in parts)
    hierarchy = Hierarchy.from_edges(edges, features=names)
    return Explanation("M", "0", ("a", "b"), (0.5, 0.5), "b", total, base, parts, hierarchy=hierarchy)


def literal_amounts(names, edges, amounts, branches):
    """Each contribution walks up: to each direct parent with an equal part of it, until it meets a branch."""
    hierarchy = Hierarchy.from_edges(edges, features=names)
    direct = {
        name: [
            p
            for p in hierarchy.parents(name)
            if not any(p in hierarchy.ancestors(q) for q in hierarchy.parents(name))
        ]
        for name in names
    }
    found = dict.fromkeys([*branches, None], Fraction(0))

    def walk(name, amount):
        if name in branches or not direct[name]:
            found[name if name in branches else None] += amount
            return
        for parent in direct[name]:
            walk(parent, amount / len(direct[name]))

    for name, amount in zip(names, amounts, strict=True):
        walk(name, Fraction(amount))
    return found


@given(dags(), st.data())
def test_any_cut_is_that_of_walking_up_and_adds_up(dag, data):
    names, edges = dag
    amounts = data.draw(st.lists(st.floats(-5, 5), min_size=len(names), max_size=len(names)))
    terms = data.draw(st.lists(st.sampled_from(names), unique=True))
    explanation = explained(names, edges, amounts)
    found = explanation.by_branch(terms)
    assert found[-1].feature is None and {branch.feature for branch in found[:-1]} == set(terms)
    expected = literal_amounts(names, edges, amounts, terms)
    for branch in found:
        assert branch.amount == pytest.approx(float(expected[branch.feature]), abs=1e-10)
        assert branch.amount == pytest.approx(sum(amount for _, amount in branch.parts), abs=1e-10)
        sizes = [abs(amount) for _, amount in branch.parts]
        assert sizes == sorted(sizes, reverse=True)
    total = explanation.base + sum(branch.amount for branch in found)
    assert total == pytest.approx(explanation.log_odds, abs=1e-10)


@given(dags(), st.integers(1, 5), st.data())
def test_chosen_branches_follow_the_stated_rule(dag, limit, data):
    names, edges = dag
    amounts = data.draw(st.lists(st.floats(-5, 5), min_size=len(names), max_size=len(names)))
    explanation = explained(names, edges, amounts)
    *branches, rest = explanation.by_branch(limit=limit)
    least, hierarchy = LEAST * np.abs(amounts).sum(), explanation.hierarchy
    assert len(branches) <= limit
    for branch in branches:
        assert abs(branch.amount) >= least * (1 - 1e-12)
        assert len(hierarchy.descendants(branch.feature)) <= MOST_BELOW * len(names)
    sizes = [abs(branch.amount) for branch in branches]
    assert sizes == sorted(sizes, reverse=True)
    total = explanation.base + sum(sizes and [branch.amount for branch in branches]) + rest.amount
    assert total == pytest.approx(explanation.log_odds, abs=1e-10)


def test_the_first_branch_has_the_largest_total_and_drained_branches_are_given_up():
    """b and c carry everything below a: once both are branches, a is left with nothing."""
    names = ["root", "a", "b", "c", *(f"x{i}" for i in range(12))]
    edges = [("root", "a"), ("a", "b"), ("a", "c"), *(("root", f"x{i}") for i in range(12))]
    explanation = explained(names, edges, [0.0, 0.0, 3.0, 2.0, *[0.1] * 12])
    assert [(b.feature, round(b.amount, 9)) for b in explanation.by_branch(limit=1)] == [
        ("a", 5.0),
        (None, 1.2),
    ]
    chosen = explanation.by_branch(limit=3)
    assert [(b.feature, round(b.amount, 9)) for b in chosen] == [("b", 3.0), ("c", 2.0), (None, 1.2)]


def test_unknown_branches_are_refused_and_strange_names_belong_to_the_rest():
    explanation = explained(["a", "b"], [("a", "b")], [1.0, 2.0])
    with pytest.raises(ValueError, match="by_branch names 'c', not among the features"):
        explanation.by_branch(["c"])
    renamed = replace(explanation.contributions[1], feature="b?")
    other = replace(explanation, contributions=(explanation.contributions[0], renamed))
    assert [(b.feature, b.amount) for b in other.by_branch(["a"])] == [(None, 2.0), ("a", 1.0)][::-1]


@pytest.fixture(scope="module")
def worm():
    return load_ageing_genes("worm", "BP")


@pytest.mark.parametrize(
    "name", ["HieLogistic", "HieTAN", "HieTANLite", "HieAODELite", "HIPNB", "ProximalGraph"]
)
def test_branches_of_real_genes_add_up_for_every_kind_of_method(worm, name):
    options = (
        {"random_state": 0}
        if name.startswith("HieTAN")
        else {"lam": 0.002}
        if name == "ProximalGraph"
        else {}
    )
    model = getattr(hietan, name)(hierarchy=worm.hierarchy, **options).fit(worm.X, worm.y)
    for explanation in model.explain(worm, worm.instance_names[:3]):
        found = explanation.by_branch()
        extra = sum(value for _, value in explanation.other)
        total = explanation.base + sum(branch.amount for branch in found) + extra
        assert total == pytest.approx(explanation.log_odds, abs=1e-10)


def test_text_and_html_show_branches_that_add_up_instead_of_hundreds_of_weaker_features(worm):
    model = HieLogistic(hierarchy=worm.hierarchy).fit(worm.X, worm.y)
    (explanation,) = model.explain(worm, "daf-16")
    text, html = explanation.text(), explanation.to_html()
    assert "weaker features" not in text + html and "weaker features" in explanation.text(limit=15)
    lines = [line for line in text.split("\n\n")[1].splitlines() if not line.startswith(" " * 6)]
    *parts, total = (float(line.split()[-1]) for line in lines)
    assert sum(parts) == pytest.approx(total, abs=0.001 * len(parts))
    for branch in explanation.by_branch()[:-1]:
        assert branch.label in text and html.count(f"<summary>{branch.label}</summary>") == 1
        strongest, amount = branch.parts[0]
        assert f"{amount:+.3f} {strongest.feature} = {strongest.value:g}" in text
    assert "A branch sums up the features below it" in text and "A branch sums up" in html
