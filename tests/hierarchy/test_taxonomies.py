"""Hierarchies from paths and from codes: compared with a few lines that search for each parent."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan import Hierarchy

NAMES = st.text("ab ", min_size=1, max_size=3).map(str.strip).filter(bool)
CODES = st.text("AB1.", min_size=1, max_size=5).filter(
    lambda code: code.strip(".") == code and ".." not in code
)


@given(st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=12))
def test_nodes_are_the_beginnings_of_paths(paths):
    hierarchy = Hierarchy.from_paths([" > ".join(path) for path in paths])
    nodes = {tuple(path[: k + 1]) for path in paths for k in range(len(path))}
    assert set(hierarchy.features) == {" > ".join(node) for node in nodes}
    for node in nodes:
        expected = {" > ".join(node[:k]) for k in range(1, len(node))}
        assert hierarchy.ancestors(" > ".join(node)) == expected


@given(st.lists(CODES, min_size=1, max_size=25))
def test_the_parent_is_the_longest_prefix(codes):
    hierarchy = Hierarchy.from_prefixes(codes)
    known = {*codes, *(code.partition(".")[0] for code in codes)}
    assert set(hierarchy.features) == known
    for code in known:
        above = [other for other in known if other != code and code.startswith(other)]
        assert hierarchy.parents(code) == ((max(above, key=len),) if above else ())


@given(
    st.sets(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted).map(tuple), max_size=6),
    st.sets(st.integers(0, 60), max_size=12),
)
def test_a_code_is_below_the_narrowest_range(ranges, codes):
    nested = all(not (a < c <= b < d) for a, b in ranges for c, d in ranges)
    named = {f"E{a:02}-E{b:02}": (a, b) for a, b in ranges}
    listed = [*named, *(f"E{code:02}" for code in codes)]
    if not nested:
        with pytest.raises(
            ValueError, match="overlap; ranges must be separate, or one must contain the other"
        ):
            Hierarchy.from_prefixes(listed)
        return
    hierarchy = Hierarchy.from_prefixes(listed)
    for code in codes:
        around = [(b - a, name) for name, (a, b) in named.items() if a <= code <= b]
        assert hierarchy.parents(f"E{code:02}") == ((min(around)[1],) if around else ())
        assert hierarchy.ancestors(f"E{code:02}") == {name for _, name in around}


def test_a_range_is_nearer_than_the_code_around_it():
    hierarchy = Hierarchy.from_prefixes(["E", "E08-E13", "E11"])
    assert hierarchy.parents("E11") == ("E08-E13",) and hierarchy.parents("E08-E13") == ("E",)


def test_published_code_systems():
    atc = Hierarchy.from_prefixes(["A", "A10", "A10B", "A10BA", "A10BA02", "B", "B01"])
    assert atc.ancestors("A10BA02") == {"A", "A10", "A10B", "A10BA"} and atc.roots == ("A", "B")
    naics = Hierarchy.from_prefixes(["31-33", "311", "3111", "311111", "32", "44-45", "451"])
    assert naics.ancestors("311111") == {"31-33", "311", "3111"} and naics.parents("32") == ("31-33",)
    phecodes = Hierarchy.from_prefixes(["008", "008.5", "008.51", "250.2"])
    assert phecodes.ancestors("008.51") == {"008", "008.5"} and phecodes.parents("250.2") == ("250",)
    german = Hierarchy.from_prefixes(["E10-E14", "E11.-", "E11.9"])
    assert german.ancestors("E11.9") >= {"E10-E14", "E11"}
    mesh = Hierarchy.from_paths(["C10.228.140", "C10.22"], ".")
    assert mesh.ancestors("C10.228.140") == {"C10", "C10.228"}  # not C10.22


def test_the_same_name_under_two_parents_and_within_its_own_path_is_no_cycle():
    hierarchy = Hierarchy.from_paths(["A > B", "B > A", "A > A"])
    assert set(hierarchy.features) == {"A", "A > B", "B", "B > A", "A > A"} and hierarchy.roots == ("A", "B")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Hierarchy.from_paths(["a >  > b"]),
            "has an empty part; expected names separated by ' > '",
        ),
        (
            lambda: Hierarchy.from_paths([" > ".join(["a"] * 256)]),
            "more than 255 levels; check the separator",
        ),
        (lambda: Hierarchy.from_paths(["k__; p__"], ";"), "has an empty part"),
        (lambda: Hierarchy.from_paths(["a"], ""), "separator is ''; expected the text between two names"),
        (lambda: Hierarchy.from_prefixes(["1" * 101]), "is too long; a code has at most 100 characters"),
        (lambda: Hierarchy.from_prefixes([""]), "a feature name is empty"),
    ],
)
def test_bad_paths_and_codes(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("build", [Hierarchy.from_paths, Hierarchy.from_prefixes])
def test_numbers_and_single_texts_are_refused(build):
    with pytest.raises(TypeError, match="a feature name must be a string, got 12"):
        build([12])
    with pytest.raises(TypeError, match="must be a list of"):
        build(string.ascii_letters)
