"""Contributions by branch: sums along the hierarchy that lose nothing, against a walk up every path."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan import HieLogistic, Hierarchy
from hietan.datasets import load_ageing_genes
from hietan.explain import Contributions, Explanation, Explanations
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
    n, amounts = len(names), np.array(amounts, dtype=float)
    parts = Contributions(
        features=tuple(names),
        names=tuple(names),
        row=np.ones(n),
        columns=np.arange(n),
        parents=np.full(n, -1),
        amounts=amounts,
        probabilities=None,
        counts=None,
        adjustments=np.zeros(n),
        above=None,
    )
    total = base + amounts.sum()
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
        assert sizes == sorted(sizes, reverse=True) and branch.parts[:2] == branch.strongest(2)
    total = explanation.base + sum(branch.amount for branch in found)
    assert total == pytest.approx(explanation.log_odds, abs=1e-10)


@given(dags(), st.integers(1, 4), st.data())
def test_any_cut_of_many_rows_is_that_of_each_row_and_adds_up(dag, n_rows, data):
    names, edges = dag
    one_row = st.lists(st.floats(-5, 5), min_size=len(names), max_size=len(names))
    rows = [data.draw(one_row) for _ in range(n_rows)]
    terms = data.draw(st.none() | st.lists(st.sampled_from(names), unique=True))
    many = Explanations(explained(names, edges, amounts, base=k) for k, amounts in enumerate(rows))
    found = many.by_branch(terms, limit=3)
    if terms is None:  # chosen from the mean contributions
        chosen = explained(names, edges, np.mean(rows, axis=0)).by_branch(limit=3)
        assert found.features == tuple(branch.feature for branch in chosen)
        np.testing.assert_allclose(found.mean, [branch.amount for branch in chosen], atol=1e-10)
    for k, explanation in enumerate(many):
        alone = {branch.feature: branch.amount for branch in explanation.by_branch(found.features[:-1])}
        np.testing.assert_allclose(found.amounts[k], [alone[f] for f in found.features], atol=1e-10)
        assert found.base[k] + found.amounts[k].sum() == pytest.approx(explanation.log_odds, abs=1e-10)
    assert found.to_frame().shape == (n_rows, 1 + len(found.features))


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


def test_unknown_branches_are_refused():
    explanation = explained(["a", "b"], [("a", "b")], [1.0, 2.0])
    with pytest.raises(ValueError, match="by_branch names 'c'; expected only features of the hierarchy"):
        explanation.by_branch(["c"])
    with pytest.raises(ValueError, match="by_branch needs at least one explanation"):
        Explanations().by_branch()


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
    many = model.explain(worm, worm.instance_names[:3])
    table = many.by_branch()
    total = table.base + table.amounts.sum(axis=1)
    np.testing.assert_allclose(total, [one.log_odds for one in many], rtol=0, atol=1e-10)
    for explanation in many:
        found = explanation.by_branch()
        extra = sum(value for _, value in explanation.other)
        total = explanation.base + sum(branch.amount for branch in found) + extra
        assert total == pytest.approx(explanation.log_odds, abs=1e-10)


def test_text_and_html_show_branches_that_add_up_instead_of_hundreds_of_weaker_features(worm):
    model = HieLogistic(hierarchy=worm.hierarchy).fit(worm.X, worm.y)
    (explanation,) = model.explain(worm, "daf-16")
    text, html = explanation.text(), explanation.to_html()
    assert "weaker features" not in text and "weaker features" in explanation.text(limit=15)
    lines = [line for line in text.split("\n\n")[1].splitlines() if not line.startswith(" " * 6)]
    *parts, total = (float(line.split()[-1]) for line in lines)
    assert sum(parts) == pytest.approx(total, abs=0.001 * len(parts))
    for branch in explanation.by_branch():
        assert branch.label in text and html.count(f"<summary>{branch.label}</summary>") == 1
        for strongest, amount in branch.strongest(1 if branch.feature else 3):
            of = "" if amount == strongest.contribution else f" of {strongest.contribution:+.3f}"
            assert f"{amount:+.3f}{of} {strongest.feature} = {strongest.value:g}" in text
    assert "so it can count in several branches" in text and "so it can count in several branches" in html
    assert html.count("weaker feature") == sum(len(branch.parts) > 15 for branch in explanation.by_branch())


def test_single_features_are_listed_if_no_branch_is_found(worm):
    fly = load_ageing_genes("fly", "BP")
    model = hietan.HieTAN(hierarchy=fly.hierarchy, random_state=0).fit(fly.X, fly.y)
    (explanation,) = model.explain(fly, "Pi3K92E")
    assert len(explanation.by_branch()) == 1 and explanation.branches == ()
    assert (
        explanation.text() == explanation.text(limit=15)
        and explanation.strongest[0].feature in explanation.text()
    )
    unrelated = hietan.HieBAN().fit(worm.X, worm.y).explain(worm.X[:1])[0]
    assert len(unrelated.contributions) > 20 and unrelated.branches == ()
    assert unrelated.text() == unrelated.text(limit=15)


def test_the_strongest_feature_is_always_shown(worm):
    for name in ("HieTAN", "HieLogistic", "HIPNB"):
        model = getattr(hietan, name)(hierarchy=worm.hierarchy).fit(worm.X, worm.y)
        for explanation in model.explain(worm, worm.instance_names[::30]):
            strongest = explanation.strongest[0]
            text = explanation.text()
            branches = explanation.branches
            if branches and not any(
                strongest == p for b in branches for p, _ in b.strongest(3 if not b.feature else 1)
            ):
                # It is divided among several branches, in none of which its share is the largest.
                assert sum(any(strongest == p for p, _ in b.parts) for b in branches) > 1
            else:
                assert strongest.feature in text


def test_bad_limits_are_refused_and_one_term_may_be_given_alone():
    explanation = explained(["a", "b"], [("a", "b")], [1.0, 2.0])
    assert [branch.feature for branch in explanation.by_branch("b")] == ["b", None]
    for limit in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="limit is .*; expected a whole number from 1"):
            explanation.by_branch(limit=limit)


def test_an_explanation_without_a_hierarchy_lists_single_features():
    bare = explained([f"f{i}" for i in range(25)], [], [0.1 * i for i in range(25)])
    assert bare.branches == () and "10 weaker features" in bare.text()
