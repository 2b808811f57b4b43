"""Which rows of a study are explained, by which models, and what is kept of it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB

from hietan import HIPNB, TAN, HieTANLite
from hietan.catalogue import load_datasets
from hietan.evaluation import run_study
from hietan.evaluation._outputs.explanations import write_explanations
from hietan.evaluation._outputs.report_data import read_details
from hietan.evaluation._study.explaining import draw_rows_to_explain
from hietan.exceptions import StudyError
from hietan.scores.cross_validation import configure


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json")}


@pytest.fixture(scope="module")
def results():
    methods = {"lite": HieTANLite(), "NB": BernoulliNB()}
    return run_study(load_datasets(["synthetic-0"]), methods, cv=3, rows=["row7"])


def test_the_drawn_rows_are_explained_by_the_model_that_never_saw_them(results, tmp_path):
    (path,) = write_explanations(results, tmp_path)
    explained = json.loads(path.read_text())
    why = [entry["why"] for entry in explained]
    assert why.count("drawn") >= 19 and why.count("asked for") == 1
    ((dataset, data),) = results.study.datasets.items()
    ((_, key, _),) = [which for which in results.predictions if which[1].startswith("lite")]
    scores = results.predictions[dataset, key, 0]
    fitted = {}
    for entry in explained:
        row = int(entry["instance"].removeprefix("row"))
        assert entry["log_odds"] == pytest.approx(scores.log_odds[row])
        assert (str(scores.truth[row]) == entry["predicted"]) == (scores.truth[row] == scores.predicted[row])
        parts = [part["contribution"] for part in entry["contributions"]] + [entry["others"]["contribution"]]
        other = [part["contribution"] for part in entry["other"]]
        assert entry["base"] + sum(parts) + sum(other) == pytest.approx(entry["log_odds"])
        fold = entry["fold"]
        if fold not in fitted:
            train = np.flatnonzero(scores.fold != fold)
            fitted[fold] = configure(HieTANLite(), data.hierarchy, 0).fit(data.X[train], data.y[train])
        (expected,) = fitted[fold].explain(data.X[[row]])
        strongest = expected.strongest[0]
        assert entry["contributions"][0]["contribution"] == strongest.contribution


def test_rows_are_drawn_from_all_classes_in_turn():
    y = np.array(["b"] * 50 + ["a"] * 3 + ["c"] * 20)
    for n in (2, 9, 20, 73):
        drawn = draw_rows_to_explain(y, n, seed=3)
        assert len(set(drawn)) == len(drawn) == n
        sizes = {label: int(np.sum(y[drawn] == label)) for label in "abc"}
        assert max(sizes.values()) - min(sizes.values()) <= 1 or sizes["a"] == 3
    assert draw_rows_to_explain(y, 9, seed=3) == draw_rows_to_explain(y, 9, seed=3)
    assert draw_rows_to_explain(y, 9, seed=3) != draw_rows_to_explain(y, 9, seed=4)


def test_an_unknown_row_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(StudyError, match="no dataset in the study contains row 'row999'"):
        run_study(
            load_datasets(["synthetic-0"]), {"TAN": TAN()}, cv=3, rows=["row999"], output=tmp_path / "s"
        )
    assert not (tmp_path / "s").exists()


class Counted(TAN):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y):
        Counted.fits += 1
        return super().fit(X, y)


SEVERAL = {"TAN": Counted(), "lite": HieTANLite(), "HIP": HIPNB(), "NB": BernoulliNB()}


def run_several(output, **options):
    return run_study(load_datasets(["synthetic-0", "synthetic-1"]), SEVERAL, cv=3, output=output, **options)


def test_all_methods_and_the_report_explain_the_same_rows(tmp_path):
    results = run_several(tmp_path, rows=["row7"])
    written = write_explanations(results, tmp_path)
    assert len(written) == 2 * 3
    for dataset in results.study.datasets:
        details = read_details(tmp_path, dataset)
        expected = [(entry["row"], entry["why"]) for entry in details["explained"]]
        assert {why for _, why in expected} == {"drawn", "asked for"}
        for name in ("TAN", "lite", "HIP"):
            path = tmp_path / "explanations" / dataset / f"{name}-tuned-none.json"
            entries = json.loads(path.read_text())
            found = [(int(entry["instance"].removeprefix("row")), entry["why"]) for entry in entries]
            assert found == expected
            for entry, shown in zip(entries, details["explained"], strict=True):
                compacted = shown["methods"][f"{name} @ tuned none"]
                assert entry["log_odds"] == pytest.approx(compacted["log_odds"], abs=1e-4)


def test_every_model_is_fitted_once(tmp_path):
    for explain, n_seeds in ((False, 1), (True, 1), (True, 2)):
        Counted.fits = 0
        run_several(tmp_path / f"{explain}-{n_seeds}", explain=explain, seeds=n_seeds)
        assert Counted.fits == 2 * 3 * n_seeds  # datasets, folds and seeds


def test_explanations_change_no_score(tmp_path):
    with_them = run_several(None, explain=True)
    assert run_several(None).summary == with_them.summary
    assert set(with_them.explained) == {
        (dataset, f"{name} @ tuned none")
        for dataset in ("synthetic-0", "synthetic-1")
        for name in ("TAN", "lite", "HIP")
    }


def test_stored_explanations_are_kept_and_missing_ones_are_made(tmp_path):
    seen = []
    run_several(tmp_path, explain=True)
    first, Counted.fits = contents(tmp_path), 0
    run_several(tmp_path, explain=True, progress=seen.append)
    assert Counted.fits == 0 and seen[-1].resumed == 24 and contents(tmp_path) == first
    # A file that is missing, cut off or of other rows costs its own job.
    one, two, *_ = sorted((tmp_path / "jobs" / "synthetic-1").glob("TAN*/*.npz"))
    one.unlink()
    two.write_bytes(two.read_bytes()[:100])
    run_several(tmp_path, explain=True, n_jobs=2)
    assert Counted.fits == 2 and contents(tmp_path) == first
    # Rows that are requested later are explained by the folds that have them.
    Counted.fits = 0
    results = run_several(tmp_path, rows=["row7"])
    assert Counted.fits == 2 - sum(
        7 in rows for rows in results.study.explained_rows.values() if rows[7] == "drawn"
    )
    # A study without explanations can be explained later.
    Counted.fits = 0
    run_several(tmp_path / "later")
    run_several(tmp_path / "later", explain=True)
    assert Counted.fits == 2 * 6
    assert (tmp_path / "later" / "details" / "synthetic-0.json").read_bytes() == first[
        (tmp_path / "details" / "synthetic-0.json").relative_to(tmp_path)
    ]


@pytest.mark.patient
def test_explanations_are_the_same_in_processes(tmp_path):
    for backend in ("threads", "processes"):
        run_several(tmp_path / backend, explain=True, n_jobs=2, backend=backend)
    details = [contents(tmp_path / backend / "details") for backend in ("threads", "processes")]
    assert details[0] == details[1] and len(details[0]) == 2


def test_labels_of_any_type_are_explained(tmp_path):
    (data,) = load_datasets(["synthetic-0"])
    for k, y in enumerate((data.y, data.y.astype(bool), np.array([str(c) for c in data.y], dtype=object))):
        like = SimpleNamespace(X=data.X, y=y, hierarchy=data.hierarchy, name="d")
        run_study([like], {"TAN": TAN()}, cv=3, explain=True, output=tmp_path / str(k))
        assert read_details(tmp_path / str(k), "d")["explained"][0]["methods"]


def test_the_positive_class_is_explained(tmp_path):
    data = load_datasets(["synthetic-0"])
    turned, usual = (
        run_study(data, {"TAN": TAN()}, cv=3, explain=True, positive=name)
        for name in (data[0].target_names[0], data[0].target_names[1])
    )
    for one, other in zip(turned.explained.values(), usual.explained.values(), strict=True):
        for a, b in zip(one, other, strict=True):
            assert [a.rows[i]["log_odds"] for i in a.rows] == [-b.rows[i]["log_odds"] for i in a.rows]
            np.testing.assert_allclose(a.effects.present[0], -b.effects.present[0], atol=1e-12)


class Breaks(TAN):
    """Fails to fit on request."""

    broken = False

    def fit(self, X, y):
        if Breaks.broken:
            raise RuntimeError("out of order")
        return super().fit(X, y)


def test_a_run_for_explanations_costs_no_score(tmp_path, monkeypatch):
    data = load_datasets(["synthetic-0"])
    before = run_study(data, {"TAN": Breaks()}, cv=3, output=tmp_path)
    monkeypatch.setattr(Breaks, "broken", True)
    results = run_study(data, {"TAN": Breaks()}, cv=3, output=tmp_path, explain=True)
    assert results.summary == before.summary and results.failures == () and not results.explained
    monkeypatch.setattr(Breaks, "broken", False)
    assert run_study(data, {"TAN": Breaks()}, cv=3, output=tmp_path, explain=True).explained


class Silent(TAN):
    """Has an explanation that no file can store."""

    fits = 0

    def fit(self, X, y):
        Silent.fits += 1
        return super().fit(X, y)

    def explain(self, X, *, target=None, term_names=None):
        found = super().explain(X, target=target, term_names=term_names)
        return [replace(one, base=np.longdouble(1), row=object()) for one in found]


def test_an_explanation_that_cannot_be_stored_costs_itself_alone(tmp_path):
    for n_fits, retry_failed in ((3, False), (3, False), (6, True)):
        with pytest.warns(RuntimeWarning, match="method 'S.*' has no explanations"):
            results = run_study(
                load_datasets(["synthetic-0"]),
                {"S": Silent(), "TAN": TAN()},
                cv=3,
                output=tmp_path,
                explain=True,
                retry_failed=retry_failed,
            )
        assert Silent.fits == n_fits and len(results.summary) == 2
        assert [key for _, key in results.explained] == ["TAN @ tuned none"]


def test_explanations_with_other_names_are_made_again(tmp_path):
    (data,) = load_datasets(["synthetic-0"])
    renamed = replace(data, term_names=tuple(f"new {name}" for name in data.feature_names))
    run_study([data], {"TAN": TAN()}, cv=3, output=tmp_path, explain=True)
    results = run_study([renamed], {"TAN": TAN()}, cv=3, output=tmp_path, explain=True)
    names = {
        part["name"]
        for folds in results.explained.values()
        for fold in folds
        for row in fold.readable.values()
        for part in row["contributions"]
    }
    assert names and all(name.startswith("new ") for name in names)


def test_the_positive_attribute_of_a_plain_object_is_honoured():
    (data,) = load_datasets(["synthetic-0"])
    plain = SimpleNamespace(X=data.X, y=data.y, name="p", target_names=("a", "b"), positive="a")
    for found, positive in ((plain, "a"), (SimpleNamespace(**{**vars(plain), "positive": ""}), "b")):
        results = run_study([found], {"NB": BernoulliNB()}, cv=3)
        assert results.summary[0].positive == positive
