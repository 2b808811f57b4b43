"""Explanations beside a study: the stated rows, and numbers that add up to the predictions of the study."""

import json

import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import HieTANLite
from hietan.catalogue import load_datasets
from hietan.evaluation import StudyError, run_study
from hietan.evaluation.outputs.explanations import write_explanations


@pytest.fixture(scope="module")
def results():
    return run_study(load_datasets(["synthetic-0"]), {"lite": HieTANLite(), "NB": BernoulliNB()}, cv=3)


def test_the_stated_rows_are_explained_by_the_model_that_never_saw_them(results, tmp_path):
    (path,) = write_explanations(results, tmp_path, wanted=["row7"])
    explained = json.loads(path.read_text())
    why = [entry["why"] for entry in explained]
    asked = [entry for entry in explained if entry["instance"] == "row7"]
    assert len(asked) == 1 and asked[0]["why"] == "asked for"
    assert 9 <= why.count("sure and right") <= 10 and 9 <= why.count("sure and wrong") <= 10
    (pooled,) = [p for (_, key, _), p in results.predictions.items() if key.startswith("lite")]
    for entry in explained:
        row = int(entry["instance"].removeprefix("row"))
        assert entry["log_odds"] == pytest.approx(pooled.score[row])
        assert (str(pooled.y_true[row]) == entry["predicted"]) == (pooled.y_true[row] == pooled.y_pred[row])
        parts = [part["contribution"] for part in entry["contributions"]] + [entry["others"]["contribution"]]
        other = [part["contribution"] for part in entry["other"]]
        assert entry["base"] + sum(parts) + sum(other) == pytest.approx(entry["log_odds"])


def test_an_unknown_row_is_refused(results, tmp_path):
    with pytest.raises(StudyError, match="no dataset of the study has a row 'row999'"):
        write_explanations(results, tmp_path, wanted=["row999"])
