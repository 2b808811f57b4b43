"""The page of candidates: other models, similar training rows and changes agree with the data and the models."""

from dataclasses import replace

import numpy as np
import pytest

from hietan import HIPNB, HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.models import rank_rows, train_model
from hietan.models.names import RowNames
from hietan.report._candidates_page import candidates_summary


@pytest.fixture(scope="module")
def ranked_twice():
    data = make_hierarchical_classification(60, 20, random_state=0)
    first, second = (train_model(model, data, validate=False) for model in (HieTANLite(), HIPNB()))
    names = ("row0", "row1", *(f"other{i}" for i in range(58)))
    training = replace(first.training, names=RowNames(names))
    ranked = [rank_rows(replace(model, training=training), data) for model in (first, second)]
    return data, ranked


def test_candidates_show_what_other_models_say_about_the_same_rows(ranked_twice):
    data, (ranked, other) = ranked_twice
    shown = candidates_summary(ranked, others=[other])
    (rows,) = shown["datasets"]
    assert [method["name"] for method in shown["methods"]] == ["HieTANLite", "HIPNB"]
    place = [data.instance_names.index(name) for name in rows["genes"]]
    for i, ranking in enumerate((ranked, other)):
        assert rows["predictions"][i]["log_odds"] == pytest.approx(ranking.log_odds[place], abs=1e-3)
        assert rows["predictions"][i]["predicted"] == ranking.scores.predicted[place].tolist()
    assert rows["n_terms"] == np.diff(data.X.indptr)[place].tolist()
    names = [method["name"] for method in candidates_summary(ranked, others=[ranked])["methods"]]
    assert names == ["HieTANLite 1", "HieTANLite 2"]


def test_candidates_have_similar_training_rows(ranked_twice):
    _, (ranked, _) = ranked_twice
    (rows,) = candidates_summary(ranked, explained=5)["datasets"]
    for entry in rows["explained"]:
        # The two rows that the model was trained on come last.
        assert {row for row, _ in entry["similar"]} == {58, 59}


def test_rows_that_share_only_a_synonym_are_not_shown_as_training_rows(ranked_twice):
    data, (ranked, _) = ranked_twice
    named = replace(data, instance_names=tuple(f"new{i}" for i in range(60)))
    shared = replace(named, synonyms=tuple((f"row{i}",) if i < 2 else () for i in range(60)))
    (rows,) = candidates_summary(rank_rows(ranked.model, shared), explained=5)["datasets"]
    assert len(rows["in_training"]) == 2 and not any("similar" in entry for entry in rows["explained"])


def test_other_models_must_know_the_same_rows_and_classes(ranked_twice):
    data, (ranked, other) = ranked_twice
    few = rank_rows(other.model, data.subset(rows=np.arange(60) < 30))
    with pytest.raises(ValueError, match="did not rank 'row.*' and 29 other rows"):
        candidates_summary(ranked, others=[few])
    mixed = replace(other, model=replace(other.model, unlabelled="class0"))
    with pytest.raises(ValueError, match="unlabelled class .*unlabelled: none.*unlabelled: class0"):
        candidates_summary(ranked, others=[mixed])
    strange = replace(other, model=replace(other.model, class_names=("a", "b"), positive="b"))
    with pytest.raises(ValueError, match="differ in their classes, positive class or unlabelled class"):
        candidates_summary(ranked, others=[strange])
