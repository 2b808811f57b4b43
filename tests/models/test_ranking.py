"""Models that are kept with their names, and rows of other data ranked and explained by them."""

import csv
import io
import re
import warnings
from dataclasses import asdict, fields, make_dataclass, replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import hietan
from hietan import HIPNB
from hietan.catalogue import load_dataset
from hietan.datasets import build_dataset, make_hierarchical_classification
from hietan.evaluation import restore_text
from hietan.exceptions import DataError, DataWarning, ModelFileError
from hietan.models import Candidate, Model, explain_rows_by_name, rank_rows, train_model
from hietan.models.names import find_rows
from hietan.models.ranking import align_columns
from hietan.models.words import caution, description
from hietan.persistence import read_metadata
from hietan.scores import cross_validate, metrics_of
from hietan.scores.scores import class_odds


@pytest.fixture(scope="module")
def data():
    return load_dataset("synthetic-0")


@pytest.fixture(scope="module")
def trained(data):
    return train_model(hietan.HieTAN(), data, method="hie-tan", seed=3)


def shuffled(data):
    """The same rows under new names, with the columns in another order."""
    order = np.random.default_rng(0).permutation(data.X.shape[1])
    names = [data.feature_names[j] for j in order]
    return replace(
        data,
        X=data.X[:, order],
        feature_names=names,
        term_names=names,
        hierarchy=data.hierarchy.restrict(names),
        instance_names=[f"new {i}" for i in range(len(data.y))],
    )


def test_a_model_is_fitted_with_the_hierarchy_and_the_seed(data, trained):
    expected = hietan.HieTAN(hierarchy=data.hierarchy, random_state=3).fit(data.X, data.y)
    assert (trained.classifier.predict_proba(data.X) == expected.predict_proba(data.X)).all()
    assert trained.class_names == trained.classes == data.target_names == ("class0", "class1")
    assert trained.training.names.ids == data.instance_names
    assert trained.training.labels.tolist() == data.y.tolist()
    assert trained.training.annotations.tolist() == data.X.toarray().sum(axis=1).tolist()
    assert description(trained) == "HieTAN, trained on 150 rows of synthetic-0"
    assert "separates class0 from class1; rows that are neither are also ranked" in caution(trained)


def test_a_model_is_read_as_it_was_written(data, trained, tmp_path):
    trained.save(tmp_path / "model.hietan")
    again = Model.load(tmp_path / "model.hietan")
    names = ["feature_names", "class_names", "positive", "dataset", "method", "seed", "calibration"]
    names += ["is_split", "threshold", "cutoff", "border", "quality", "unlabelled", "row_noun", "term_names"]
    names += ["provenance", "class_sizes", "classes", "known_features"]
    assert all(getattr(again, name) == getattr(trained, name) for name in names)
    assert again.training.names == trained.training.names
    for part in ("labels", "features", "annotations"):
        np.testing.assert_array_equal(getattr(again.training, part), getattr(trained.training, part))
    assert again.held_out.classes == trained.held_out.classes
    for part in ("predicted", "log_proba", "truth", "fold", "rows"):
        np.testing.assert_array_equal(getattr(again.held_out, part), getattr(trained.held_out, part))
    assert rank_rows(again, data).to_csv() == rank_rows(trained, data).to_csv()
    first = (tmp_path / "model.hietan").read_bytes()
    again.save(tmp_path / "model.hietan")
    assert (tmp_path / "model.hietan").read_bytes() == first


def training(**entries):
    """A change of the stored training rows."""
    return lambda content: content["training"].update(entries)


FORGED = {
    "other features": {"feature_names": ["a"]},
    "features in another order": lambda content: content["feature_names"].reverse(),
    "features that are no list": {"feature_names": {"a": 1}},
    "a class too few": {"class_names": ["class0"]},
    "a class too many": {"class_names": ["class0", "class1", "class2"]},
    "a class twice": {"class_names": ["class1", "class1"]},
    "classes that are no list": {"class_names": "ab"},
    "no classes": {"class_names": None},
    "classes without the positive one": {"class_names": ["a", "b"]},
    "no positive class": {"positive": ""},
    "a positive class that is no class": {"positive": "class2"},
    "a row that is no text": lambda content: content["training"]["names"].update(ids=[3]),
    "names of another row": lambda content: content["training"]["names"]["ids"].append("one more"),
    "training rows that are a list": {"training": [1]},
    "no training rows": training(
        names={"kind": "plain", "ids": [], "symbols": [], "synonyms": []},
        labels=[],
        features=[],
        annotations=[],
    ),
    "training rows of one class": training(labels=[0] * 150),
    "an infinite seed": {"seed": float("inf")},
    "a seed that is a list": {"seed": []},
    "a threshold that is NaN": {"threshold": float("nan")},
    "a threshold that is a dictionary": {"threshold": {}},
    "options that are a number": {"provenance": {"options": 5}},
    "an alias that is a number": {"provenance": {"aliases": {"a": 5}}},
    "a term too few": {"term_names": ["one"]},
}


def forged_model(model, path, forge):
    """Write a model's file with other metadata."""
    model.save(path)
    content = read_metadata(path)
    content.update(forge) if isinstance(forge, dict) else forge(content)
    hietan.save(model.classifier, path, metadata=content)


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_file_with_other_names_is_refused(trained, tmp_path, forge):
    forged_model(trained, tmp_path / "model.hietan", forge)
    with pytest.raises(ModelFileError, match="model.hietan does not describe its model correctly"):
        Model.load(tmp_path / "model.hietan")


def test_a_file_without_an_entry_is_refused(trained, tmp_path):
    trained.save(tmp_path / "whole")
    for name in read_metadata(tmp_path / "whole"):
        forged_model(trained, tmp_path / "model.hietan", lambda content, name=name: content.pop(name))
        problem = f"does not describe its model correctly .*{name}"
        if name == "class_names":
            problem = "contains only a classifier, without class names .* read it with hietan.load"
        with pytest.raises(ModelFileError, match=f"model.hietan {problem}"):
            Model.load(tmp_path / "model.hietan")
    hietan.save(trained.classifier, tmp_path / "model.hietan", metadata={})
    with pytest.raises(ModelFileError, match="model.hietan contains only a classifier, without class names"):
        Model.load(tmp_path / "model.hietan")


@pytest.mark.parametrize("labels", [[-1, 0], ["a", "b"], [0, 2], [0.0, 1.0]])
def test_classes_are_named_in_the_order_of_the_classifier(data, trained, tmp_path, labels):
    """Whatever its labels are."""
    classifier = hietan.HieTAN(hierarchy=data.hierarchy, random_state=3).fit(data.X, np.array(labels)[data.y])
    other = replace(trained, classifier=classifier)
    other.save(tmp_path / "model.hietan")
    again = Model.load(tmp_path / "model.hietan")
    assert again.positive_label == labels[1] and again.class_names == trained.class_names
    assert rank_rows(again, data).rows == rank_rows(trained, data).rows
    for names in (("a",), ("a", "b", "c"), ("a", "a")):
        with pytest.raises(ModelFileError, match="class_names .* does not name all of the classes"):
            replace(other, class_names=names).save(tmp_path / "other.hietan")


def test_a_model_with_names_that_could_not_be_read_back_is_not_written(trained, tmp_path):
    other = replace(trained, feature_names=trained.feature_names[::-1])
    with pytest.raises(
        ModelFileError,
        match="feature_names differ from the classifier's 80 feature names.*pass the same names in the same order",
    ):
        other.save(tmp_path / "model.hietan")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_stored_is_refused(data, tmp_path):
    with pytest.raises(ModelFileError, match="For other estimators, use skops"):
        train_model(LogisticRegression(), data).save(tmp_path / "model.hietan")
    assert not list(tmp_path.iterdir())


def test_calibration_makes_the_probabilities_of_new_rows_better():
    data = make_hierarchical_classification(400, 60, random_state=2)
    model = hietan.HieTAN(hierarchy=data.hierarchy, random_state=0)
    slope, shift = train_model(model, data, seed=0).calibration
    scores = cross_validate(model, data, seed=1)
    p = expit(slope * scores.log_odds + shift)
    loss = -np.mean(np.log(np.where(data.y == 1, p, 1 - p)))
    assert loss < metrics_of(scores)["log_loss"]


def test_calibration_needs_two_classes_of_two_rows():
    three = make_hierarchical_classification(60, 15, n_classes=3, random_state=0)
    single = make_hierarchical_classification(30, 15, random_state=0)
    single = single.subset(rows=[*np.flatnonzero(single.y == 0), np.flatnonzero(single.y == 1)[0]])
    for data in (three, single):
        trained = train_model(hietan.TAN(), data)
        assert trained.calibration is None and "P is not calibrated" in caution(trained)
        ranked = rank_rows(trained, data)
        np.testing.assert_allclose(
            [row.probability for row in ranked.rows], expit([row.log_odds for row in ranked.rows])
        )


def test_a_model_that_does_not_separate_held_out_rows_is_not_calibrated(data, tmp_path):
    permuted = replace(data, y=np.random.default_rng(2).permutation(data.y))
    trained = train_model(hietan.HieLogistic(), permuted)
    assert trained.quality["auc"] < 0.5 and trained.calibration is None
    assert "On held-out rows, the model ranks no better than chance. P is not calibrated" in caution(trained)
    quality = trained.quality
    assert (quality["calibrated_log_loss"], quality["calibration_error"], quality["curve"]) == (
        None,
        None,
        [],
    )
    ranked = rank_rows(trained, permuted)
    np.testing.assert_allclose(ranked.probabilities, expit(ranked.log_odds))
    with pytest.raises(ValueError, match="the model does not separate the classes"):
        train_model(hietan.HieLogistic(), permuted, threshold=0.7)
    trained.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert again.calibration is None and again.quality == quality and again.border == trained.border == 0.5


def test_rows_are_ranked_by_log_odds(data, trained):
    ranked = rank_rows(trained, data, raw=True)
    odds = [row.log_odds for row in ranked.rows]
    assert odds == sorted(odds, reverse=True) and ranked.n_new == 0
    assert {row.rank for row in ranked.rows} == {None}  # the model knows them: none is a candidate
    proba = dict(zip(data.instance_names, trained.classifier.predict_proba(data.X)[:, 1], strict=True))
    label = dict(zip(data.instance_names, trained.classifier.predict(data.X), strict=True))
    slope, shift = trained.calibration
    for row in ranked.rows:
        assert row.raw_probability == pytest.approx(proba[row.instance])
        assert row.predicted == data.target_names[label[row.instance]] and row.in_training
        assert row.probability == pytest.approx(expit(slope * row.log_odds + shift))


def test_candidates_are_shown_in_a_few_lines(data, trained):
    shown = repr(rank_rows(trained, data))
    assert "Model" in shown and "Dataset" in shown and len(shown) < 1000


def test_the_table_is_the_same_as_text_and_as_a_frame(data, trained):
    for raw, symbols in ((False, ()), (True, tuple(f"s{i}" for i in range(150)))):
        ranked = rank_rows(trained, replace(data, symbols=symbols), raw=raw)
        comment, *lines = ranked.to_csv().splitlines()
        assert comment == f"# {caution(trained)} Rows are ranked by the log-odds of class1."
        rows = list(csv.DictReader(lines))
        assert ("name" in rows[0], "raw_probability" in rows[0]) == (bool(symbols), raw)
        frame = ranked.to_frame()
        assert list(frame.columns) == list(rows[0]) == list(ranked.columns)
        assert frame.astype(str).fillna("").replace("<NA>", "").to_dict("records") == rows
        assert all(not symbols or row["name"] == "s" + row["instance"].removeprefix("row") for row in rows)


def test_new_rows_are_not_marked_and_columns_are_matched_by_name(data, trained):
    new = shuffled(data)
    assert (align_columns(new, trained.feature_names) != data.X).nnz == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # in a clean hold-out, all rows are new
        ranked = rank_rows(trained, new)
    before = rank_rows(trained, data)
    assert not before.unrecognised and ranked.unrecognised == (
        "all 150 rows of synthetic-0 are new: none has the same name as one of the 150 training "
        "rows; hietan compared ids such "
        "as 'new 0', 'new 1' with ids such as 'row0', 'row1'"
    )
    assert not any(row.in_training for row in ranked.rows)
    assert [row.rank for row in ranked.rows] == list(range(1, 151))
    assert [row.log_odds for row in ranked.rows] == [row.log_odds for row in before.rows]


def test_data_without_the_features_are_refused(trained):
    other = make_hierarchical_classification(20, 30, random_state=5)
    with pytest.raises(
        DataError, match=r"synthetic lacks 50 of the model's 80 features: .*, .*, .* \.\.\.; "
    ):
        rank_rows(trained, other)


def test_a_dataset_that_was_built_differently_is_noticed(tmp_path):
    """Also by a model that was read from a file; not by one that does not know how its training data were built."""
    edges = "child,parent,relation\na,r,is_a\nb,r,is_a\nb,a,part_of\nc,a,is_a\nd,b,is_a\n"
    pairs = [(f"p{i}", "abcd"[i % 4]) for i in range(24)]
    labels = {f"p{i}": "xy"[i % 4 > 1] for i in range(24)}
    files = {"min_support": 1, "name": "known"}
    other_relation = "1 of 5 edges have a relation other than is_a"
    with pytest.warns(DataWarning, match=other_relation):
        known = build_dataset(io.StringIO(edges), pairs, labels, **files)
    train_model(hietan.HieTAN(), known, validate=False).save(tmp_path / "model")
    trained = Model.load(tmp_path / "model")
    with pytest.warns(DataWarning, match="built differently from known: relations"):
        other = build_dataset(io.StringIO(edges), pairs, features=known, relations="is_a,part_of".split(","))
    said = "built differently from the model's training data: relations is_a, part_of instead of is_a. Its features"
    with pytest.warns(DataWarning, match=said):
        rank_rows(trained, other)
    with pytest.warns(DataWarning, match=other_relation):
        same = build_dataset(io.StringIO(edges), pairs, like=known)
    rank_rows(trained, same)
    rank_rows(replace(trained, provenance={}), other)


def test_odds_of_several_classes_are_those_of_the_likeliest():
    proba = np.array([[0.2, 0.7, 0.1], [1.0, 0.0, 0.0]])
    with np.errstate(divide="ignore"):
        odds = class_odds(np.log(proba), None)
    assert odds[0] == pytest.approx(np.log(0.7 / 0.3)) and np.isfinite(odds[1]) and odds[1] > 30


def test_rows_are_found_by_name_or_by_a_symbol_of_their_own(data):
    few = data.subset(rows=slice(5))
    few = replace(few, symbols=("a", "b", "b", "", "row0"))
    assert find_rows(few, ["a", "row3", "row2"]) == [0, 3, 2]
    assert find_rows(few, ["row0"]) == [0]  # a name comes before a symbol
    assert find_rows(few, ["A", "ROW3"]) == [0, 3]  # in any case
    for name, message in {
        "b": "2 rows in synthetic-0 have the name 'b'; use one of these ids: 'row1', 'row2'",
        "": "synthetic-0 has no row ''; it contains ids such as 'row0', 'row1' and symbols such as 'a', 'b'",
        "row-4": "synthetic-0 has no row 'row-4'; did you mean 'row4'?",
        "row9": "synthetic-0 has no row 'row9'; did you mean 'row",
    }.items():
        with pytest.raises(DataError, match=f"^{re.escape(message)}"):
            find_rows(few, ["a", name])


def test_explanations_have_the_names_of_rows_terms_and_classes(data, trained):
    named = replace(
        data,
        symbols=tuple(f"s{i}" for i in range(150)),
        term_names=[f"term {name}" for name in data.feature_names],
    )
    three, new = (
        explain_rows_by_name(trained, rows, ["s3"])[0]
        for rows in (named, replace(named, instance_names=[f"new {i}" for i in range(150)]))
    )
    (plain,) = trained.classifier.explain(data.X[[3]])
    assert three.explanation.row == "row3 (s3)" and new.explanation.row == "new 3 (s3)"
    assert three.explanation.classes == data.target_names
    assert three.explanation.target == data.target_names[plain.target]
    assert three.explanation.log_odds == plain.log_odds
    assert {part.name for part in three.explanation.contributions} <= set(named.term_names)
    assert three.text(3).endswith("\n\nThis row is in the training data, so its class was known.")
    assert "training data" not in new.text() and (three.in_training, new.in_training) == (True, False)


def test_names_of_classes_and_rows_cannot_break_or_run_a_table(data, trained):
    classes = ("a\nb,=1+1", '"c\r')
    held_out = replace(trained.held_out, classes=classes)
    hostile = replace(trained, class_names=classes, positive=classes[1], held_out=held_out)
    names = tuple(f"=HYPERLINK({i})" for i in range(len(data.y)))
    ranked = rank_rows(hostile, replace(data, instance_names=names))
    assert "ids such as '=HYPERLINK" in ranked.unrecognised
    comment, *lines = io.StringIO(ranked.to_csv(), newline="")
    assert comment.startswith("# This model separates a\\nb,'=1+1 from 'c\\r")
    header, *rows = csv.reader(lines)
    assert header == list(ranked.columns) and len(rows) == len(names)
    column = dict(zip(header, zip(*rows, strict=True), strict=True))
    assert set(map(restore_text, column["instance"])) == set(names)
    assert set(map(restore_text, column["predicted"])) <= set(classes)
    assert all(cell.startswith("'=") for cell in column["instance"])
    assert [float(cell) for cell in column["log_odds"]] == [row.log_odds for row in ranked.rows]
    frame = pd.read_csv(io.StringIO(ranked.to_csv(), newline=""), comment="#")
    assert frame["log_odds"].tolist() == pytest.approx([row.log_odds for row in ranked.rows])


def test_rows_are_filled_by_the_names_of_their_columns(monkeypatch):
    """A field that is added anywhere in `Candidate` must not shift the values of the others."""
    data = make_hierarchical_classification(60, 20, random_state=0)
    trained = train_model(HIPNB(), data.subset(rows=slice(40)), folds=2)
    rows = rank_rows(trained, data, raw=True).rows
    turned = make_dataclass("Candidate", [field.name for field in reversed(fields(Candidate))])
    monkeypatch.setattr("hietan.models.ranking.Candidate", turned)
    again = rank_rows(trained, data, raw=True).rows
    assert [asdict(row) for row in again] == [asdict(row) for row in rows]
