"""Models without row names recognise the same rows, and their files contain no name."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import DataError, DataWarning, ModelFileError
from hietan.models import Model, evaluate_model, explain_rows_by_name, rank_rows, train_model
from hietan.models.names import HashedNames, RowNames, match_rows
from hietan.models.words import description
from support.faults.archives import rewrite
from support.faults.forgery import unpack

NAMES = st.text("aAbB1é", min_size=1, max_size=3)


@st.composite
def row_names(draw):
    n = draw(st.integers(1, 5))
    ids = tuple(draw(st.lists(NAMES, min_size=n, max_size=n, unique=True)))
    symbols = tuple(draw(st.lists(NAMES | st.just(""), min_size=n, max_size=n)))
    synonyms = tuple(map(tuple, draw(st.lists(st.lists(NAMES, max_size=2), min_size=n, max_size=n))))
    return RowNames(ids, symbols, synonyms)


@given(row_names(), row_names())
def test_hashes_recognise_the_rows_that_names_recognise(new, known):
    by_name = match_rows(new, known)
    by_hash = match_rows(new, HashedNames.of(known))
    for found, row in zip(by_hash, range(len(new.ids)), strict=True):
        assert not found or found.name in (new.ids[row], new.symbols[row], *new.synonyms[row])
    assert [found and found.kind for found in by_hash] == [found and found.kind for found in by_name]


@given(row_names(), st.permutations(range(5)))
def test_hashes_do_not_depend_on_the_order_of_the_rows(names, order):
    order = [i for i in order if i < len(names.ids)]
    parts = ([part[i] for i in order] for part in (names.ids, names.symbols, names.synonyms))
    assert HashedNames.of(RowNames(*map(tuple, parts))) == HashedNames.of(names)


@pytest.fixture(scope="module")
def data():
    data = make_hierarchical_classification(300, 60, density=0.3, random_state=1)
    names = {
        "instance_names": tuple(f"patient-{i:03}-of-ward" for i in range(300)),
        "symbols": tuple(f"initials-{i}-X" for i in range(300)),
        "synonyms": tuple((f"insurance-{i}",) for i in range(300)),
    }
    return replace(data, **names)


@pytest.fixture(scope="module")
def pair(data):
    known = data.subset(rows=slice(200))
    return [train_model(hietan.HieBAN(), known, row_names=keep) for keep in (True, False)]


def test_the_file_contains_no_name(pair, tmp_path):
    _, private = pair
    private.save(tmp_path / "private")
    with zipfile.ZipFile(tmp_path / "private") as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for text in (b"patient-", b"initials-", b"insurance-"):
        assert text not in content
    about = json.loads(unpack((tmp_path / "private").read_bytes())["about.json"])["metadata"]
    names = about["training"]["names"]
    assert set(names) == {"kind", "salt", "ids", "symbols", "synonyms"} and names["kind"] == "hashed"
    for hashes in (names[kind] for kind in ("ids", "symbols", "synonyms")):
        assert hashes == sorted(hashes) and len(hashes) == 2 * 200  # as spelled, and in lower case


def test_rows_are_recognised_and_ranked_as_with_names(pair, data, tmp_path):
    named, private = pair
    private.save(tmp_path / "private")
    loaded = Model.load(tmp_path / "private")
    ranked, unnamed = rank_rows(named, data), rank_rows(loaded, data)
    assert unnamed.n_new == 100
    assert [(row.instance, row.p_value) for row in unnamed.rows] == [
        (row.instance, row.p_value) for row in ranked.rows
    ]
    assert unnamed.rows[-1].training_name == unnamed.rows[-1].training_class == ""
    assert unnamed.rows[-1].shared_name == ranked.rows[-1].shared_name
    assert evaluate_model(loaded, data).to_dict() == evaluate_model(named, data).to_dict()
    (new,), (old,) = (
        explain_rows_by_name(loaded, data, [name]) for name in ("initials-250-x", "insurance-3")
    )
    assert not new.in_training and old.in_training and "its class was known" in old.text()
    assert description(loaded) == "HieBAN, trained on 200 rows of synthetic"


def test_unlabelled_rows_need_their_names(data):
    with pytest.raises(ValueError, match="--no-row-names does not apply to unlabelled rows.* the log-odds"):
        train_model(hietan.HieBAN(), data, unlabelled="class0", row_names=False)


@pytest.mark.parametrize(
    "forge",
    [
        lambda stored: stored["training"]["names"].update(salt="no hex"),
        lambda stored: stored["training"]["names"].update(salt=7),
        lambda stored: stored["training"]["names"].update(ids=[1]),
        lambda stored: stored["training"]["names"].update(ids="a"),
        lambda stored: stored["training"]["names"].pop("symbols"),
        lambda stored: stored["training"]["names"].pop("kind"),
        lambda stored: stored["training"]["names"].update(kind="plain"),
        lambda stored: stored["training"].update(names=["a"] * 200),
        lambda stored: stored["training"].update(names={"kind": "plain", "ids": ["a"] * 200}),
        lambda stored: stored["training"].update(features=[2**64] * 200),
        lambda stored: stored["training"].update(features=[-1] * 200),
        lambda stored: stored["training"]["features"].pop(),
        lambda stored: stored["training"]["annotations"].pop(),
        lambda stored: stored["training"]["labels"].pop(),
        lambda stored: stored["held_out"]["rows"].__setitem__(199, 200),
        lambda stored: stored["held_out"]["rows"].__setitem__(1, 0),
        lambda stored: stored.update(term_names=["one"]),
    ],
)
def test_forged_records_are_refused(pair, tmp_path, forge):
    path = tmp_path / "model"
    pair[1].save(path)
    about = json.loads(unpack(path.read_bytes())["about.json"])
    forge(about["metadata"])
    rewrite(path, about=json.dumps(about).encode())
    with pytest.raises(ModelFileError, match=str(path)):
        Model.load(path)


def test_ids_that_are_used_again_are_noticed(pair, data):
    """Next month's rows with the same running numbers: other rows, unless their features are the same."""
    known = data.subset(rows=slice(200))
    others = np.tile(np.arange(200, 300), 2)
    again = replace(known, X=data.X[others], y=data.y[others])
    for trained in pair:
        with pytest.warns(DataWarning) as caught:
            ranked = rank_rows(trained, again)
        text = str(caught[0].message)
        assert ranked.n_new == 0 and "200 of 200 rows of synthetic have the id of a training row, but" in text
        assert "have other terms" in text and "--match none" in text
        everyone = rank_rows(trained, again, match=["none"])
        assert everyone.n_new == 200 and not everyone.unrecognised
        with pytest.raises(DataError, match="no labelled rows except .* have other terms.* --match none"):
            evaluate_model(trained, again)
        assert sum(evaluate_model(trained, again, match=["none"]).class_rows.values()) == 200
    # The rows themselves, and rows of which few have known ids, are no reason to warn.
    assert rank_rows(pair[0], known).n_new == 0
    few = replace(data, instance_names=(*data.instance_names[:100], *(f"new-{i}" for i in range(200))))
    few = replace(few, symbols=(), synonyms=(), X=data.X[np.arange(299, -1, -1)])
    assert rank_rows(pair[0], few).n_new == 200


def test_names_to_compare_are_checked(pair, data):
    for kinds in ("none", [], ["none", "id"], ["name"]):
        with pytest.raises(ValueError, match="expected one or more of id, symbol, synonym, or only none"):
            rank_rows(pair[0], data, match=kinds)


def test_names_of_files_of_single_rows_are_left_out(data):
    files = {"pheno/patient-1.json": "a", "pheno/patient-2.json": "b", "hp.obo": "c"}
    built = replace(data, provenance={"files": files, "options": {}})
    private, named = (
        train_model(hietan.HieBAN(), built, row_names=names, validate=False) for names in (False, True)
    )
    assert private.provenance["files"] == {"hp.obo": "c"} and named.provenance["files"] == files
