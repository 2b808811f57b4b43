"""Lists with a stated error rate: numbers as they are defined, recomputed from the file, and on simulated rows."""

import json
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hietan
from hietan.datasets import make_hierarchical_classification
from hietan.exceptions import DataError, DataWarning, ModelFileError
from hietan.models import Model, TrainingRows, explain_rows_by_name, rank_rows, train_model
from hietan.models.names import RowNames
from hietan.models.words import description, error_rate_note, selection_text
from hietan.persistence import read_metadata
from hietan.report._candidates_page import candidates_summary
from hietan.scores import Scores
from hietan.scores.rates import p_value_ranks, select_rows
from hietan.scores.scores import normalised
from support.faults.archives import rewrite
from support.faults.forgery import unpack


def literal_p_values(candidates, calibration, wanted):
    """The definition, row by row: each row is a score and its features, and the calibration rows have a class."""
    found = []
    for score, features in candidates:
        others = sum(1 for s, f, y in calibration if y != wanted and (s >= score or f == features))
        found.append(Fraction(1 + others, len(calibration) + 1))
    return found


def literal_selection(p_values, q):
    """The rows chosen by Benjamini and Hochberg, and the shortest list, as they are defined."""
    n, ordered = len(p_values), sorted(p_values)
    fitting = [p for j, p in enumerate(ordered, 1) if p <= q * Fraction(j, n)]
    return {i for i, p in enumerate(p_values) if fitting and p <= fitting[-1]}


def text_of(ranked):
    """The sentence on a list that was selected."""
    return ranked.selection_text(ranked.selection)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(400, 40, random_state=3)


@pytest.fixture(scope="module")
def trained(data):
    return train_model(hietan.HieBAN(), data.subset(rows=slice(250)), positive="class1")


@pytest.fixture(scope="module")
def ranked(trained, data):
    return rank_rows(trained, data)


small = st.integers(-3, 3)


def hash_codes(codes):
    """Numbers that stand for the hashes of features."""
    return np.asarray(codes).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@given(
    st.lists(st.tuples(small, st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=25),
    st.lists(st.tuples(small, st.integers(0, 6)), min_size=1, max_size=25),
    st.integers(0, 2),
    st.integers(1, 99),
)
def test_p_values_and_lists_are_as_defined_with_ties(calibration, candidates, wanted, percent):
    scores, features, labels = (np.array(column) for column in zip(*calibration, strict=True))
    new_scores, new_features = (np.array(column) for column in zip(*candidates, strict=True))
    q, m = Fraction(percent, 100), len(labels)

    def scored(odds, truth=None):
        # The two other classes are equal, so the odds of the wanted one are `odds`.
        joint = np.full((len(odds), 3), -np.log(2.0))
        joint[:, wanted] = odds
        predicted = joint.argmax(axis=1)
        return Scores(("a", "b", "c"), predicted, normalised(joint), truth).with_positive("abc"[wanted])

    held_out = scored(scores, labels)
    hashes = {"features": hash_codes(new_features), "held_out_features": hash_codes(features)}
    ranks = p_value_ranks(scored(new_scores).log_odds, held_out, **hashes)
    expected = literal_p_values(candidates, calibration, wanted)
    assert [Fraction(int(rank), m + 1) for rank in ranks] == expected
    found = select_rows(ranks, m, percent / 100)
    chosen = literal_selection(expected, q)
    assert set(np.flatnonzero(ranks <= found.limit).tolist()) == chosen and found.n_rows == len(chosen)
    least = next(j for j in range(1, 10**6) if Fraction(1, m + 1) <= q * Fraction(j, len(candidates)))
    assert (found.shortest, found.n_ranked) == (least, len(candidates))
    assert not chosen or len(chosen) >= least


def test_the_example_of_the_shortest_list():
    ranks = np.full(8343, 680)
    found = select_rows(ranks, 679, 0.1)
    none, names = np.zeros(679, dtype=int), RowNames(tuple(f"gene{i}" for i in range(679)))
    training = TrainingRows(names, none, none.astype(np.uint64), none)
    held_out = Scores(("no", "yes"), none, np.log(np.full((679, 2), 0.5)), none, none, np.arange(679))
    model = Model(None, (), ("no", "yes"), "yes", training, held_out, row_noun="gene")
    assert selection_text(found, model, "gene") == (
        "at a false discovery rate of 10%: none of 8,343 genes can be listed; with 679 training genes, no list "
        "can be shorter than 123; choose a higher rate, or restrict the candidates by name (--only)"
    )
    assert select_rows(ranks[:0], 9, 0.1).shortest == 0


def scores_of(odds, truth=None):
    logs = normalised(np.column_stack([np.zeros(len(odds)), odds]))
    return Scores(("other", "wanted"), (odds >= 0).astype(int), logs, truth)


@pytest.mark.parametrize("q", [0.1, 0.3])
def test_the_rate_holds_for_exchangeable_rows(q):
    """Scores of a fixed model, 40% of the rows wanted, 2,000 repetitions: at most q, and not far below what is due."""
    rng, shares = np.random.default_rng(5), []
    for _ in range(2000):
        y = (rng.random(160) < 0.4).astype(int)
        score = (rng.normal(size=160) + 1.5 * y).round(1)  # with ties
        features = hash_codes(np.arange(160))
        hashes = {"features": features[100:], "held_out_features": features[:100]}
        ranks = p_value_ranks(scores_of(score[100:]).log_odds, scores_of(score[:100], y[:100]), **hashes)
        found = select_rows(ranks, 100, q)
        listed = y[100:][ranks <= found.limit]
        shares.append(np.mean(listed == 0) if found.n_rows else 0.0)
    error = np.std(shares) / np.sqrt(len(shares))
    assert q / 2 < np.mean(shares) < q + 3 * error


def test_every_number_follows_from_the_stored_scores(tmp_path, data, trained, ranked):
    """A few lines that share no code with the library."""
    trained.save(tmp_path / "model")
    metadata = read_metadata(tmp_path / "model")
    stored = metadata["held_out"]
    m, others = len(stored["truth"]), []
    rows = data.X.toarray().tolist()
    for logs, label, row in zip(stored["log_proba"], stored["truth"], stored["rows"], strict=True):
        if label == 0:
            others.append((logs[1] - logs[0], rows[row]))
    row_of = dict(zip(data.instance_names, rows, strict=True))
    assert m == 250 and stored["truth"] == data.y[:250].tolist() and metadata["is_split"] is False
    assert sorted(set(stored["fold"])) == [0, 1, 2, 3, 4]
    p_values = [
        (1 + sum(s >= row.log_odds - 1e-12 or f == row_of[row.instance] for s, f in others)) / (m + 1)
        for row in ranked.new_rows
    ]
    assert [row.p_value for row in ranked.new_rows] == pytest.approx(p_values)
    assert all(row.p_value is None for row in ranked.rows[150:])
    assert p_values != sorted(p_values)  # some rows have the features of a training row of the other class
    for percent in (5, 10, 20, 30, 50):
        fits = [p for j, p in enumerate(sorted(p_values), 1) if p <= percent / 100 * j / 150 + 1e-12]
        chosen = ranked.select(fdr=percent / 100)
        names = [row.instance for row in chosen.rows]
        limit = max(fits, default=0) + 1e-12
        assert names == [row.instance for row, p in zip(ranked.new_rows, p_values, strict=True) if p <= limit]
        assert chosen.selection.n_rows == len(names) and chosen.selection.n_ranked == 150
        assert f"no list can be shorter than {-(-150 * 100 // (percent * 251))}" in text_of(chosen)
        assert text_of(chosen) == ranked.selection_text(chosen.selection)
        lines = chosen.to_csv().splitlines()
        assert len(lines) == 2 + len(names) and text_of(chosen) in lines[0]
    assert "p_value" in ranked.to_csv().splitlines()[1].split(",")
    loaded = rank_rows(Model.load(tmp_path / "model"), data)
    assert [row.p_value for row in loaded.rows] == [row.p_value for row in ranked.rows]


def test_the_scores_are_those_of_models_that_did_not_see_the_row(data, trained):
    scores, known = trained.held_out, data.subset(rows=slice(250))
    for k in (0, 4):
        rest, part = np.flatnonzero(scores.fold != k), np.flatnonzero(scores.fold == k)
        model = hietan.HieBAN(hierarchy=data.hierarchy).fit(known.X[rest], known.y[rest])
        joint = model.predict_joint_log_proba(known.X[part])
        expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        np.testing.assert_array_equal(scores.log_proba[part], expected)
        np.testing.assert_array_equal(scores.predicted[part], model.predict(known.X[part]))
    np.testing.assert_array_equal(scores.truth, known.y)
    np.testing.assert_array_equal(scores.rows, np.arange(250))


def test_a_split_fits_the_model_without_a_third_of_the_rows(tmp_path, data):
    known = data.subset(rows=slice(250))
    split = train_model(hietan.HieBAN(), known, fdr="split", seed=2, positive="class1")
    scores = split.held_out
    assert len(scores) == 83 and split.is_split and set(scores.fold.tolist()) == {0}
    assert split.quality["folds"] == 1 and sum(split.quality["class_rows"]) == 83
    assert description(split) == "HieBAN, trained on 167 rows of synthetic (83 more were held out)"
    assert split.classifier.class_count_.sum() == 167
    shares = np.bincount(scores.truth) / 83, np.bincount(known.y) / 250
    np.testing.assert_allclose(*shares, atol=0.01)  # stratified
    np.testing.assert_array_equal(scores.truth, known.y[scores.rows])
    # The stored model itself gave these scores, to the last bit, so equal rows have equal odds.
    joint = split.classifier.predict_joint_log_proba(known.X[scores.rows])
    logs = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    np.testing.assert_array_equal(scores.log_proba, logs)
    again = train_model(hietan.HieBAN(), known, fdr="split", seed=2, positive="class1")
    np.testing.assert_array_equal(again.held_out.log_proba, scores.log_proba)
    split.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    ranked = rank_rows(loaded, data)
    assert loaded.is_split and ranked.n_new == 150  # held-out rows are not candidates
    assert "with 83 held-out rows, no list can be shorter than" in text_of(ranked.select(0.2))
    assert "the rate is proven" in error_rate_note(ranked.model)
    check_p_values(ranked, data, split)
    # The model was not fitted to held-out rows, so it does not know their class.
    seen, unseen = (
        data.instance_names[i] for i in (np.setdiff1d(np.arange(250), scores.rows)[0], scores.rows[0])
    )
    first, second = explain_rows_by_name(split, data, [seen, unseen])
    assert "This row is in the training data, so its class was known." in first.text()
    assert "This row was held out, so the model was not fitted to it." in second.text()
    assert "training data" not in second.text()


def check_p_values(ranked, data, model):
    """The p-values by definition, if only some training rows were held out: the features are those of these rows."""
    features = [tuple(row) for row in data.X.toarray().tolist()]
    row_of, scores = dict(zip(data.instance_names, features, strict=True)), model.held_out
    odds = scores.log_proba[:, 1] - scores.log_proba[:, 0]
    known = [features[row] for row in scores.rows]
    calibration = list(zip(odds.tolist(), known, scores.truth.tolist(), strict=True))
    candidates = [(row.log_odds, row_of[row.instance]) for row in ranked.new_rows]
    expected = [float(p) for p in literal_p_values(candidates, calibration, 1)]
    assert [row.p_value for row in ranked.new_rows] == pytest.approx(expected, rel=1e-12)


def test_held_out_once_uses_the_part_that_was_held_out(data):
    once = train_model(hietan.HieBAN(), data.subset(rows=slice(250)), folds=1, positive="class1")
    assert len(once.held_out) == sum(once.quality["class_rows"]) == 50 and not once.is_split
    assert once.quality["folds"] == 1
    ranked = rank_rows(once, data)
    assert "with 50 held-out rows" in text_of(ranked.select(0.2))
    check_p_values(ranked, data, once)


def test_three_classes_by_the_odds_against_the_rest():
    data = make_hierarchical_classification(240, 30, n_classes=3, random_state=1)
    trained = train_model(hietan.HieBAN(), data.subset(rows=slice(180)), positive="class2")
    ranked = rank_rows(trained, data)
    scores = trained.held_out
    p = np.exp(scores.log_proba - scores.log_proba.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert scores.classes == data.target_names == ("class0", "class1", "class2")
    is_other = scores.truth != 2
    others, X = np.log(p[:, 2] / (p[:, 0] + p[:, 1]))[is_other], data.X.toarray()
    equal = {name: (X[:180][is_other] == X[i]).all(axis=1) for i, name in enumerate(data.instance_names)}
    expected = [
        (1 + np.sum((others >= row.log_odds - 1e-9) | equal[row.instance])) / 181 for row in ranked.new_rows
    ]
    assert [row.p_value for row in ranked.new_rows] == pytest.approx(expected)
    assert "wrong means class0 or class1" in error_rate_note(trained)
    unstated = rank_rows(replace(trained, positive=""), data)
    assert unstated.p_values is None and "p_value" not in unstated.columns
    with pytest.raises(ValueError, match=r"set positive \(--positive\) to one of class0, class1, class2"):
        unstated.select(0.2)


def test_what_select_refuses(data, ranked, trained):
    chosen = ranked.select(0.5)
    with pytest.raises(
        ValueError,
        match="a false discovery rate needs all ranked rows, so select from the result of rank_rows",
    ):
        chosen.select(0.2)
    for wrong in (0, 1, -0.1, 20, float("nan"), True):
        with pytest.raises(ValueError, match="expected a false discovery rate between 0 and 1, such as 0.2"):
            ranked.select(wrong)
    bare = rank_rows(replace(trained, held_out=None), data)
    assert "p_value" not in bare.columns
    with pytest.raises(
        ValueError, match="need held-out scores, but the model has none; fit it again with `hietan fit`"
    ):
        bare.select(0.2)
    for options in ({"folds": 5}, {"validate": False}):
        with pytest.raises(ValueError, match="validates the model on a third of the rows; omit folds"):
            train_model(hietan.HieBAN(), data, fdr="split", **options)
    with pytest.raises(ValueError, match="fdr is 'loo'; expected 'cv', or 'split'"):
        train_model(hietan.HieBAN(), data, fdr="loo")
    rare = data.subset(rows=np.r_[np.flatnonzero(data.y == 0), np.flatnonzero(data.y == 1)[:1]])
    with pytest.raises(
        ValueError, match="a single split needs 10 rows of each class, but class 'class1' has only 1"
    ):
        train_model(hietan.HieBAN(), rare, fdr="split")


def test_only_the_named_rows_are_ranked(data, trained):
    data = replace(data, symbols=tuple(f"sym{i}" for i in range(400)))
    names = ["row300", "SYM301", "row3", "sym302", "nobody", "row300"]
    with pytest.warns(
        DataWarning, match="1 of the 6 names to keep are not names of a row of synthetic: 'nobody'"
    ):
        ranked = rank_rows(trained, data, only=names)
    assert sorted(row.instance for row in ranked.new_rows) == ["row300", "row301", "row302"]
    assert [row.instance for row in ranked.rows[3:]] == ["row3"]  # a training row is never a candidate
    everyone = {row.instance: row.p_value for row in rank_rows(trained, data).rows}
    assert all(row.p_value == everyone[row.instance] for row in ranked.rows)
    assert ranked.selection_at(0.2).n_ranked == 3
    with pytest.raises(DataError, match="none of the 1 names to keep is the name of a row"):
        rank_rows(trained, data, only=["nobody"])


def test_the_page_has_the_lists_of_select(ranked):
    content = candidates_summary(ranked, explained=1, fdr=0.125)
    lists = content["lists"]
    rates = sorted([0.125, *(k / 100 for k in range(1, 51))])
    assert lists["lines"] == [text_of(ranked.select(rate)) for rate in rates]
    assert lists["lines"][lists["first"]].startswith("at a false discovery rate of 12.5%: ")
    assert lists["note"] == error_rate_note(ranked.model)
    shown = content["datasets"][0]["predictions"][0]["p_value"]
    assert shown == pytest.approx([row.p_value for row in ranked.new_rows], rel=1e-3)
    short = candidates_summary(ranked.select(0.5), explained=1)["lists"]
    assert short["lines"] == [ranked.selection_text(ranked.selection_at(0.5))]
    bare = replace(ranked, model=replace(ranked.model, held_out=None))
    assert candidates_summary(bare, explained=1)["lists"] is None


def held_out(name, *changes):
    """A forgery of one array of the held-out scores: each change is a position and its new value."""

    def forge(metadata):
        for position, value in changes:
            metadata["held_out"][name][position] = value

    return forge


FORGERIES = {
    "a missing key": lambda m: m["held_out"].pop("fold"),
    "no numbers": lambda m: m["held_out"]["log_proba"][0].__setitem__(0, "x"),
    "an infinite number": lambda m: m["held_out"]["log_proba"][0].__setitem__(0, float("-inf")),
    "not a number": lambda m: m["held_out"]["log_proba"][0].__setitem__(0, float("nan")),
    "a short row": lambda m: m["held_out"]["log_proba"][0].pop(),
    "a row too few": lambda m: m["held_out"]["log_proba"].pop(),
    "a third class": held_out("truth", (0, 2)),
    "another class": lambda m: held_out("truth", (0, 1 - m["held_out"]["truth"][0]))(m),
    "half a class": held_out("truth", (0, 0.5)),
    "a class below 0": held_out("truth", (0, -1)),
    "a class as text": held_out("truth", (0, "1")),
    "the prediction of a third class": held_out("predicted", (0, 2)),
    "a prediction too few": lambda m: m["held_out"]["predicted"].pop(),
    "no predictions": lambda m: m["held_out"].update(predicted=[]),
    "no classes": lambda m: m["held_out"].update(truth=None),
    "a fold after a gap": held_out("fold", (0, 6)),
    "a fold below 0": held_out("fold", (0, -1)),
    "only other folds": lambda m: m["held_out"].update(fold=[1 + k for k in m["held_out"]["fold"]]),
    "a fold too few": lambda m: m["held_out"]["fold"].pop(),
    "a split in folds": lambda m: m.update(is_split=True),
    "a strange split": lambda m: m.update(is_split="no"),
    "a list": lambda m: m["held_out"].update(log_proba=[]),
    "no dictionary": lambda m: m.update(held_out=[1]),
    "a row too many": lambda m: m["held_out"]["rows"].append(250),
    "a repeated row": held_out("rows", (1, 0)),
    "a row that does not exist": held_out("rows", (249, 250)),
    "a row far away": held_out("rows", (0, 2**53)),
    "rows in another order": held_out("rows", (0, 1), (1, 0)),
    "no rows": lambda m: m["held_out"].update(rows=None),
}


def forged_file(model, path, forge):
    """A model's file with its metadata changed by `forge`."""
    model.save(path)
    about = json.loads(unpack(path.read_bytes())["about.json"])
    forge(about["metadata"])
    rewrite(path, about=json.dumps(about).encode())
    return path


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_scores_are_refused(tmp_path, trained, forge):
    path = forged_file(trained, tmp_path / "model", forge)
    with pytest.raises(ModelFileError, match=f"{path} does not describe its model correctly"):
        Model.load(path)


@pytest.mark.parametrize("fold", [3_000_000, 2**53])
@pytest.mark.parametrize("name", ["fold", "truth", "predicted", "rows"])
def test_forged_numbers_of_folds_and_classes_take_no_memory(tmp_path, trained, name, fold):
    path = forged_file(trained, tmp_path / "model", held_out(name, (0, fold)))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="the held-out scores do not match the 250 training rows"):
        Model.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_a_file_may_have_no_held_out_scores_but_says_so(tmp_path, trained):
    without = Model.load(forged_file(trained, tmp_path / "model", lambda m: m.update(held_out=None)))
    assert without.held_out is without.quality is without.calibration is without.cutoff is None
    path = forged_file(trained, tmp_path / "model", lambda m: m.pop("held_out"))
    with pytest.raises(ModelFileError, match=r"does not describe its model correctly .*held_out"):
        Model.load(path)


def test_a_list_that_its_own_probabilities_contradict_says_so(monkeypatch):
    """The share by probabilities and the rows of other predictions are recomputed by hand."""
    data = make_hierarchical_classification(400, 30, random_state=3, imbalance=0.3)
    ranked = rank_rows(
        train_model(hietan.HieLogistic(), data.subset(range(200))), data.subset(range(200, 400))
    )
    chosen = ranked.select(0.5)
    assert chosen.selection.n_rows
    wrong = 1 - np.mean([row.probability for row in chosen.rows])
    other = sum(row.predicted != ranked.positive for row in chosen.rows)
    assert ("according to their own probabilities" in text_of(chosen)) == (wrong > 0.5)
    assert (f"{other:,} of them" in text_of(chosen)) == (other > 0)
    unlikely = replace(ranked, log_odds=ranked.log_odds - 4)  # the same ranking with lower probabilities
    monkeypatch.setattr(
        type(unlikely), "p_value_ranks", property(lambda _, ranks=ranked.p_value_ranks: ranks)
    )
    text = unlikely.selection_text(unlikely.selection_at(0.5))
    share = 1 - np.mean(unlikely.probabilities[unlikely.order[: chosen.selection.n_rows]])
    assert (
        share > 0.5
        and f"according to their own probabilities, {100 * share:.0f}% of them would be wrong" in text
    )


def test_an_empty_list_has_the_columns_of_a_full_one():
    data = make_hierarchical_classification(400, 30, random_state=3)
    named = replace(data, symbols=tuple(f"s{i}" for i in range(400)))
    trained = train_model(hietan.HieLogistic(), named.subset(range(200)))
    ranked = rank_rows(trained, named.subset(range(200, 400)))
    empty, full = ranked.select(0.0001), ranked.select(0.9)
    assert not empty.rows and full.rows and empty.columns == full.columns and "name" in empty.columns
