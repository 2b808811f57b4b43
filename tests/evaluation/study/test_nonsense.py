"""A classifier that returns nonsense fails alone: with a clear error, and at no cost to the results of the others."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from hietan import TAN
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from hietan.evaluation._outputs.explanations import write_explanations
from hietan.evaluation._outputs.report_data import read_details
from hietan.evaluation._outputs.tables import method_stem
from hietan.exceptions import StudyError
from hietan.scores import cross_validate
from support.misbehaving import EQUAL_LABELS, KINDS, TREES, Nonsense
from support.processes import contents

pytestmark = pytest.mark.filterwarnings("ignore::hietan.exceptions.FailedMethodWarning")
DATA = replace(make_hierarchical_classification(60, 12, random_state=0), name="d")
ERRORS = {
    "other classes": "classes_ is 1, 0; expected the classes of the dataset, 0, 1",
    "unknown label": "predict returned 7; expected one of the classes 0, 1",
    "half label": "predict returned 0.5; expected one of the classes 0, 1",
    "text labels": "predict returned '",
    "label too few": "predict returned an array of shape (19,); expected (20,)",
    "column of labels": "predict returned an array of shape (20, 1); expected (20,)",
    "lists as labels": "predict returned an array of shape (20, 1); expected (20,)",
    "NaN": "row 0 of the fold has probabilities that are NaN, infinite or negative",
    "infinity": "row 0 of the fold has probabilities that are NaN, infinite or negative",
    "negative": "row 0 of the fold has probabilities that are NaN, infinite or negative",
    "no sum of 1": "expected a sum of 1",
    "third column": "the probabilities have shape (20, 3); expected (20, 2)",
    "row too few": "the probabilities have shape (19, 2); expected (20, 2)",
    "one column": "the probabilities have shape (20,); expected (20, 2)",
    "column too few": "trees returned trees over 11 features; expected 12",
    "tree too few": "trees returned 19 trees for 20 rows",
}


def run(kind, path=None, seed=1, **options):
    methods = {"odd": Nonsense(kind, seed), "TAN": TAN()}
    return run_study([DATA], methods, cv=3, seeds=2, output=path, **options)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The study whose classifier returns no nonsense, and its files."""
    path = tmp_path_factory.mktemp("sound")
    return run("", path), contents(path)


@pytest.mark.parametrize("kind", [*KINDS, *TREES])
def test_nonsense_fails_alone(kind, sound, tmp_path):
    seed = 1
    results = run(kind, tmp_path, seed)
    assert [(f.method, f.seed, f.fold) for f in results.failures] == [
        ("odd @ tuned none", seed, fold) for fold in range(3)
    ]
    error = results.failures[0].error
    assert error.startswith("ValueError: method 'odd @ tuned none': ") and ERRORS[kind] in error
    with open(tmp_path / "failures.csv", newline="") as file:
        assert [line["error"] for line in csv.DictReader(file)] == [f.error for f in results.failures]
    assert results.summary == tuple(
        row for row in sound[0].summary if (row.method, row.seed) != ("odd", seed)
    )
    others = {name: text for name, text in sound[1].items() if name.startswith("jobs") and "TAN" in name}
    assert others and others.items() <= contents(tmp_path).items()


@pytest.mark.parametrize("kind", EQUAL_LABELS)
def test_labels_that_are_equal_are_those_of_the_dataset(kind, sound, tmp_path):
    assert run(kind, tmp_path).failures == ()
    unlike = {"study.json", "summary.json"}  # they describe the parameters of the classifier
    found, expected = without_checksums(contents(tmp_path)), without_checksums(sound[1])
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name] and name not in unlike] == []


def without_checksums(files):
    """The files of a study, without the checksums of its journals: they depend on the parameters of the classifier."""
    return {
        name: [line.partition(b" ")[2] for line in text.splitlines()] if name.endswith(".jsonl") else text
        for name, text in files.items()
    }


def test_cross_validation_refuses_nonsense():
    with pytest.raises(
        ValueError, match="method 'Nonsense': row 0 of the fold has probabilities that are NaN"
    ):
        cross_validate(Nonsense("NaN"), DATA, n_splits=3, seed=1)


# ------------------------------------------------------------------ what else could cost the study its results


class BadMessage(ClassifierMixin, BaseEstimator):
    """Fails with a message that is not text, as of a file whose name is not."""

    def fit(self, X, y):
        raise OSError("no file \udcff")


def test_a_message_that_cannot_be_written(tmp_path):
    results = run_study([DATA], {"bad": BadMessage(), "TAN": TAN()}, cv=3, output=tmp_path)
    assert results.failures[0].error == "OSError: no file \\udcff"
    assert {row.method for row in results.summary} == {"TAN"}


def test_classes_that_cannot_be_written_are_refused_before_anything_is_written(tmp_path):
    for y, message in (
        (
            DATA.y.astype("S1"),
            "dataset d: class b'0' is a bytes; classes must be numbers or strings",
        ),
        (np.array([None, "a"] * 30, dtype=object), "dataset d: '<' not supported"),
    ):
        data = SimpleNamespace(X=DATA.X, y=y, name="d", hierarchy=DATA.hierarchy)
        with pytest.raises(StudyError, match=message):
            run_study([data], {"TAN": TAN()}, cv=3, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kinds", [[str], [bool], [float], [np.uint8], [str, object]])
def test_classes_of_all_kinds(kinds, sound, tmp_path):
    y = DATA.y
    for kind in kinds:
        y = y.astype(kind)
    data = SimpleNamespace(X=DATA.X, y=y, name="d", hierarchy=DATA.hierarchy)
    results = run_study([data], {"odd": Nonsense(), "TAN": TAN()}, cv=3, seeds=2, output=tmp_path)
    assert results.failures == ()
    assert [row.metrics for row in results.summary] == [row.metrics for row in sound[0].summary]


class Mute(TAN):
    """Explains nothing: it fails, at once or halfway, or returns too little."""

    def __init__(self, kind=""):
        super().__init__()
        self.kind = kind

    def explain(self, X, *, target=None, term_names=None):
        if self.kind == "raises":
            raise RuntimeError("out of\nwords")
        found = super().explain(X, target=target, term_names=term_names)
        return found[1:] if self.kind == "too few" else [*found[:-1], "words"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("raises", "RuntimeError: out of words"), ("too few", "ValueError"), ("words", "AttributeError")],
)
def test_a_method_that_cannot_explain_is_left_out(kind, reason, tmp_path):
    def study():
        return run_study([DATA], {"mute": Mute(kind=kind), "TAN": TAN()}, cv=3, explain=True, output=tmp_path)

    with pytest.warns(RuntimeWarning, match=rf"dataset d: method 'mute @ tuned none' .*\({reason}") as caught:
        results = study()
    assert len(caught) == 1 and results.failures == ()
    written = write_explanations(results, tmp_path)
    assert [path.name for path in written] == [
        f"{method_stem(results.study.methods['TAN @ tuned none'])}.json"
    ]
    explained = read_details(tmp_path, "d")["explained"]
    assert explained and all(set(entry["methods"]) == {"TAN @ tuned none"} for entry in explained)
    with pytest.warns(RuntimeWarning, match="method 'mute @ tuned none'"):  # it is tried again, not forgotten
        study()
