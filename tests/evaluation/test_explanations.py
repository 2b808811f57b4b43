"""Explanations of a study: the stated rows, and numbers that add up to the predictions of the study."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import HIPNB, TAN, HieTANLite
from hietan.catalogue import load_datasets
from hietan.evaluation import run_study
from hietan.evaluation._outputs.explanations import choose_study_rows, write_details, write_explanations
from hietan.evaluation._outputs.report_data import read_details
from hietan.exceptions import StudyError
from support.processes import contents


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
        assert entry["log_odds"] == pytest.approx(pooled.log_odds[row])
        assert (str(pooled.truth[row]) == entry["predicted"]) == (pooled.truth[row] == pooled.predicted[row])
        parts = [part["contribution"] for part in entry["contributions"]] + [entry["others"]["contribution"]]
        other = [part["contribution"] for part in entry["other"]]
        assert entry["base"] + sum(parts) + sum(other) == pytest.approx(entry["log_odds"])


def test_an_unknown_row_is_refused(results, tmp_path):
    with pytest.raises(StudyError, match="no dataset in the study contains row 'row999'"):
        write_explanations(results, tmp_path, wanted=["row999"])


class Counted(TAN):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y):
        Counted.fits += 1
        return super().fit(X, y)


@pytest.fixture(scope="module")
def several():
    methods = {"TAN": Counted(), "lite": HieTANLite(), "HIP": HIPNB(), "NB": BernoulliNB()}
    return run_study(load_datasets(["synthetic-0", "synthetic-1"]), methods, cv=3)


def test_methods_and_report_explain_the_same_rows(several, tmp_path):
    written = write_explanations(several, tmp_path, wanted=["row7"], details=True)
    assert len(written) == 2 * (3 + 1)
    for dataset in several.study.datasets:
        details = read_details(tmp_path, dataset)
        expected = [(entry["row"], entry["why"]) for entry in details["explained"]]
        assert {why for _, why in expected} == {"sure and right", "sure and wrong", "asked for"}
        for name in ("TAN", "lite", "HIP"):
            path = tmp_path / "explanations" / dataset / f"{name}-tuned-none.json"
            entries = json.loads(path.read_text())
            found = [(int(entry["instance"].removeprefix("row")), entry["why"]) for entry in entries]
            assert found == expected
            for entry, shown in zip(entries, details["explained"], strict=True):
                compacted = shown["methods"][f"{name} @ tuned none"]
                assert entry["log_odds"] == pytest.approx(compacted["log_odds"], abs=1e-4)


def test_every_model_is_fitted_once_for_both(several, tmp_path):
    needed = 0
    for rows in choose_study_rows(several):
        folds = {int(rows.predictions["TAN @ tuned none"].fold[i]) for i in rows.why}
        needed += (
            3 if 2 * len(folds) >= 3 else len(folds)
        )  # terms are judged in all folds if most are needed anyway
    Counted.fits = 0
    write_explanations(several, tmp_path / "both", details=True)
    assert Counted.fits == needed > 2
    write_details(several, tmp_path / "details")
    assert Counted.fits == 2 * needed
    assert not (tmp_path / "details" / "explanations").exists()
    for path in (tmp_path / "details").rglob("*.json"):
        assert path.read_bytes() == (tmp_path / "both" / path.relative_to(tmp_path / "details")).read_bytes()


def test_what_was_explained_is_kept(several, tmp_path):
    seen = []
    paths = write_details(several, tmp_path, progress=lambda *counts: seen.append(counts))
    assert seen == [(done, 6) for done in range(7)]
    first, Counted.fits = contents(tmp_path), 0
    assert write_details(several, tmp_path, progress=lambda *counts: seen.append(counts)) == paths
    assert Counted.fits == 0 and seen[7:] == [(6, 6)] and contents(tmp_path) == first
    # An interrupted run resumes with the datasets that it has not explained, whatever the number of jobs.
    paths[0].unlink()
    write_details(several, tmp_path, n_jobs=2, progress=lambda *counts: seen.append(counts))
    assert Counted.fits == 3 and seen[8:] == [(3, 6), (4, 6), (5, 6), (6, 6)] and contents(tmp_path) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"present":[[', '"present":[[9,', 1),
        lambda text: text[: len(text) // 2],
        lambda text: "{}",
    ],
    ids=["changed", "cut", "another"],
)
def test_details_that_were_changed_are_not_kept(change, results, tmp_path):
    (path,) = write_details(results, tmp_path)
    whole = path.read_text()
    path.write_text(change(whole))
    assert path.read_text() != whole
    write_details(results, tmp_path)
    assert path.read_text() == whole


def test_details_of_other_rows_are_not_kept(results, tmp_path):
    (path,) = write_details(results, tmp_path, wanted=["row7"])
    assert [entry["row"] for entry in read_details(tmp_path, "synthetic-0")["explained"]].count(7) == 1
    write_details(results, tmp_path)
    expected, *_ = write_details(results, tmp_path / "other")
    assert path.read_bytes() == expected.read_bytes()


@pytest.mark.patient
def test_explanations_are_the_same_in_processes(several, tmp_path):
    for backend in ("threads", "processes"):
        write_details(several, tmp_path / backend, n_jobs=2, backend=backend)
    assert contents(tmp_path / "threads") == contents(tmp_path / "processes")


class Stays(HIPNB):
    """No other process can get it."""

    def __reduce__(self):
        raise TypeError("this classifier stays here")


@pytest.mark.patient
def test_a_job_that_cannot_be_sent_costs_its_own_explanations_alone(tmp_path):
    found = run_study(load_datasets(["synthetic-0"]), {"TAN": TAN(), "bad": Stays()}, cv=3)
    with pytest.warns(RuntimeWarning, match="'bad.*' has no explanations.*Could not pickle"):
        write_explanations(found, tmp_path, readable=False, details=True, backend="processes")
    for entry in read_details(tmp_path, "synthetic-0")["explained"]:
        assert [key.split()[0] for key in entry["methods"]] == ["TAN"]


def test_other_places_for_jobs_are_refused(results, tmp_path):
    with pytest.raises(ValueError, match="backend is 'dask'; expected 'threads' or 'processes'"):
        write_explanations(results, tmp_path, backend="dask")


def test_labels_of_another_type_are_explained_again_and_objects_too(tmp_path):
    (data,) = load_datasets(["synthetic-0"])
    kept = []
    for y in (data.y, data.y.astype(bool), np.array([str(c) for c in data.y], dtype=object)):
        like = SimpleNamespace(X=data.X, y=y, hierarchy=data.hierarchy, name="d")
        found = run_study([like], {"TAN": TAN()}, cv=3)
        kept.append(choose_study_rows(found, ())[0].recipe)
        write_explanations(found, tmp_path / str(len(kept)), details=True)
        assert read_details(tmp_path / str(len(kept)), "d")["explained"][0]["methods"]
    assert len(set(kept)) == 3
