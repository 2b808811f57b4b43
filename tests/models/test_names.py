"""Rows are recognised by any of their names, in any case where that is unambiguous."""

import io
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan.datasets import Annotation, Dataset, build_dataset
from hietan.exceptions import DataWarning
from hietan.models import read_names
from hietan.models.names import RowNames, match_rows

NAMES = st.text(alphabet="abAB1", min_size=1, max_size=2)


@st.composite
def row_names(draw):
    n = draw(st.integers(0, 5))
    ids = draw(st.lists(NAMES, min_size=n, max_size=n))
    symbols = draw(st.lists(NAMES | st.just(""), min_size=n, max_size=n) | st.just([]))
    synonyms = draw(st.lists(st.lists(NAMES, max_size=3), min_size=n, max_size=n) | st.just([]))
    return RowNames(tuple(ids), tuple(symbols), tuple(map(tuple, synonyms)))


def all_names(names, i):
    listed = {names.ids[i], *names.symbols[i : i + 1], *(names.synonyms[i] if names.synonyms else ())}
    return listed - {""}


def owners(names, name):
    return {i for i in range(len(names.ids)) if name in all_names(names, i)}


def is_distinguished_by_case(names, name):
    """Whether rows of one side spell a name differently, and are not the same rows."""
    spellings = {n for i in range(len(names.ids)) for n in all_names(names, i) if n.lower() == name.lower()}
    return len({frozenset(owners(names, spelling)) for spelling in spellings}) > 1


@given(row_names(), row_names())
def test_a_row_is_known_if_it_shares_a_name(new, known):
    """As a reader would say it: the same name, or one in another case that means the same rows on both sides."""
    for i, match in enumerate(match_rows(new, known)):
        mine = all_names(new, i)
        exact = {name for name in mine if owners(known, name)}
        folded = {
            name
            for name in mine - exact
            if any(name.lower() == n.lower() for k in range(len(known.ids)) for n in all_names(known, k))
            and not is_distinguished_by_case(new, name)
            and not is_distinguished_by_case(known, name)
        }
        assert (match is not None) == bool(exact | folded)
        if match is not None:
            assert match.name in exact | folded
            assert match.name.lower() in {name.lower() for name in all_names(known, match.row)}


def test_the_most_decisive_name_decides():
    known = RowNames(("a", "b"), ("s", "t"), (("P1",), ("x",)))
    matches = match_rows(RowNames(("P1",), ("t",), (("a",),)), known)
    assert (matches[0].row, matches[0].name, matches[0].kind) == (1, "t", "symbol")
    assert match_rows(RowNames(("P1",)), known, ("id", "symbol")) == (None,)
    assert match_rows(RowNames(("P1",)), known)[0].kind == "synonym"


def test_case_distinguishes_the_genes_of_the_fly():
    """`dl` is dorsal, `Dl` is Delta: where both are rows, a name in another case means neither."""
    both = RowNames(("F1", "F2"), ("dl", "Dl"))
    assert [m and m.row for m in match_rows(both, RowNames(("DL",)))] == [None, None]
    assert [m and m.row for m in match_rows(both, RowNames(("Dl",)))] == [None, 0]
    assert [m and m.row for m in match_rows(RowNames(("F3",), ("DL",)), both)] == [None]
    assert [m and m.row for m in match_rows(RowNames(("F1",), ("eps-8",)), RowNames(("EPS-8",)))] == [0]


def test_proteins_of_one_gene_share_its_symbol():
    assert [
        m and m.row for m in match_rows(RowNames(("P1", "P2"), ("eps-8", "eps-8")), RowNames(("EPS-8",)))
    ] == [0, 0]


@pytest.mark.parametrize("kinds", [(), ("name",), "id"])
def test_unknown_kinds_of_names_are_refused(kinds):
    with pytest.raises(ValueError, match="expected one or more of id, symbol, synonym"):
        match_rows(RowNames(("a",)), RowNames(("a",)), kinds)


@pytest.mark.parametrize(
    ("text", "column", "names"),
    [
        ("daf-2\n\n# a note\ndaf-16\ndaf-2\n", None, ("daf-2", "daf-16")),
        ("\ufeffid,symbol\n1,daf-2\n2,\n", "symbol", ("daf-2",)),
        ("a\tb\nc\td\n", None, ("a", "c")),
        ("# caution\nrank,instance\n1,'=x\n,row2\n", None, ("=x", "row2")),
        ('"a,b",c\n', None, ("a,b",)),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lists_of_names(tmp_path, text, column, names, encoding):
    path = tmp_path / "names"
    path.write_text(text.removeprefix("\ufeff") if encoding == "utf-16" else text, encoding=encoding)
    assert read_names(path, column) == names


OBO = "[Term]\nid: T:1\n\n[Term]\nid: T:2\nis_a: T:1\n\n[Term]\nid: T:3\nis_a: T:1\n"


def small_dataset(**options):
    """Two genes, of which the first has two proteins."""
    lines = [("P1", "daf-2", "tyr-1|Y5"), ("P2", "daf-2", "Y5"), ("P3", "daf-16", "")]
    annotations = [Annotation(i, f"T:{2 + (i == 'P3')}", symbol=s, synonym_field=n) for i, s, n in lines]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return build_dataset(io.StringIO(OBO), annotations, min_support=1, **options)


def test_a_dataset_keeps_all_names_of_its_rows(tmp_path):
    data = small_dataset(labels={"tyr-1": "yes", "daf-16": "no"}, row_noun="worm gene")
    assert data.instance_names == ("tyr-1", "daf-16")
    assert data.synonyms == (("P1", "Y5"), ("P3",)) and data.symbols == ("daf-2", "daf-16")
    merged = small_dataset(match=["symbol"])
    assert merged.synonyms == (("P1", "tyr-1", "Y5", "P2"), ("P3",)) and merged.row_noun == "row"
    data.save(tmp_path / "d")
    again = Dataset.load(tmp_path / "d")
    assert (again.synonyms, again.row_noun) == (data.synonyms, "worm gene")
    assert again.subset(rows=[1]).synonyms == (("P3",),) and again.subset(rows=[1]).row_noun == "worm gene"
    assert [m and m.row for m in match_rows(RowNames.of(small_dataset()), RowNames.of(data))] == [0, 0, 1]
