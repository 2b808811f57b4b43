"""The commands methods, fit, predict and explain."""

import csv
import os
import re
from dataclasses import replace

import pytest

import hietan
from hietan.catalogue import METHODS, load_dataset
from hietan.datasets import make_hierarchical_classification
from hietan.models import Model


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "model.hietan"
    result = run("fit", "synthetic-0", "-m", "hie-tan", "-o", path)
    assert result.exit_code == 0, result.output
    assert "HieTAN fitted to synthetic-0: 150 rows" in result.output
    return path


def table(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# This model separates class0 from class1")
    return list(csv.DictReader(lines[1:]))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("-m hie-tan --smoothing laplace", "hie-tan-laplace"),
        ("-m hie-tan-laplace --smoothing odds", "hie-tan"),
        ("-m tan:alpha=2 --smoothing pooled", "tan:alpha=2,smoothing=pooled"),
    ],
)
def test_a_model_file_names_its_smoothing(run, tmp_path, words, name):
    path = tmp_path / "model.hietan"
    assert run("fit", "synthetic-0", *words.split(), "--no-validate", "-o", path).exit_code == 0
    trained = Model.load(path)
    assert (trained.method, trained.classifier.smoothing) == (name, words.split()[-1])


def test_rows_are_ranked_by_log_odds(run, model, tmp_path):
    out = tmp_path / "predictions.csv"
    result = run("predict", model, "synthetic-0", "-o", out, "--raw")
    assert result.exit_code == 0, result.output
    assert "rows that are neither are also ranked" in result.output
    assert "0 candidates of 150 rows; 150 training rows are listed last" in result.output
    rows = table(out)
    odds = [float(row["log_odds"]) for row in rows]
    assert odds == sorted(odds, reverse=True) and len(rows) == 150
    data = load_dataset("synthetic-0")
    proba = hietan.load(model).predict_proba(data.X)[:, 1]
    by_name = dict(zip(data.instance_names, proba, strict=True))
    assert all(float(row["raw_probability"]) == pytest.approx(by_name[row["instance"]]) for row in rows)
    assert {row["in_training"] for row in rows} == {"True"}
    calibrated = [float(row["probability"]) for row in rows]
    assert calibrated == sorted(calibrated, reverse=True)  # the slope is positive here


def test_what_is_printed_is_about_the_class_that_rows_are_ranked_by(run, model, tmp_path):
    out = tmp_path / "predictions.csv"
    result = run("predict", model, "synthetic-0", "--positive", "class0", "-o", out)
    printed, written = " ".join(result.output.split()), out.read_text().splitlines()[0]
    assert "positive class: class0" in printed
    assert "P(class0) is calibrated" in printed and "P(class0) is calibrated" in written
    assert "P(class1)" not in printed + written
    result = run("predict", model, "synthetic-0", "--report", "-o", os.devnull)
    assert result.exit_code == 2 and f"{os.devnull} is not a file; choose a file with -o" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("predict MODEL synthetic-9", "no dataset or file named 'synthetic-9'"),
        ("predict no-model synthetic-0", "error: no-model does not exist; check the path"),
        ("predict OTHER synthetic-0", "other.hietan"),
        ("predict MODEL OTHER", "synthetic lacks 50 of the model's 80 features"),
        ("fit synthetic-0 -m hie-tann", "did you mean 'hie-tan'?"),
        (
            "fit synthetic-0 -m logistic-l2",
            "logistic-l2 is a LogisticRegression; compare it with `hietan study`",
        ),
        ("fit no-such-data -m gtd-tan", "a model file can only store a hietan classifier"),
        ("fit synthetic-0 -m tan:alpha=0", "alpha must be a number above 0"),
        (
            "fit synthetic-0 -m tan:hierarchy=x",
            "method 'tan:hierarchy=x' cannot be fitted (hierarchy must be",
        ),
    ],
)
def test_bad_input(run, model, tmp_path, words, message):
    make_hierarchical_classification(20, 30, random_state=5).save(tmp_path / "other.hietan")
    names = {"MODEL": model, "OTHER": tmp_path / "other.hietan"}
    result = run(*[names.get(word, word) for word in words.split()], "-o", tmp_path / "out")
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
    assert len(result.stderr.splitlines()) == 1 and result.stderr.startswith("error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "n_classes", "note"),
    [
        (
            "-m tan",
            3,
            "P is not calibrated. It is the classifier's raw probability, which assumes the class "
            "frequencies of the training",
        ),
        (
            "--no-validate",
            2,
            "P is not calibrated. It is the classifier's raw probability, which assumes equally frequent classes.",
        ),
        ("--no-validate --class-prior 0.9,0.1", 2, "which assumes the class frequencies in class_prior."),
        (
            "--class-prior 0.9,0.1",
            2,
            "P(class1) is calibrated on held-out rows, for data with 10.0% class1.",
        ),
        ("", 2, "P(class1) is calibrated on held-out rows, for data with 30.0% class1."),
    ],
)
def test_every_output_says_what_its_probabilities_mean(run, tmp_path, words, n_classes, note):
    rows, model, out = tmp_path / "rows.hietan", tmp_path / "model.hietan", tmp_path / "out.csv"
    data = make_hierarchical_classification(90, 10, n_classes=n_classes, imbalance=0.7, random_state=0)
    data.save(rows)
    assert run("fit", rows, *words.split(), "-o", model).exit_code == 0
    assert note in run("predict", model, rows, "--report", "-o", out).output
    assert note in out.read_text() and note in out.with_suffix(".html").read_text().replace("\\u0027", "'")
    assert note in run("explain", model, rows, "--row", "row3").output
    trained = Model.load(model)
    found = {
        row["instance"]: float(row["probability"]) for row in csv.DictReader(out.read_text().splitlines()[1:])
    }
    is_at_prior = "0.9,0.1" in words and trained.calibration is not None
    sentence = "class frequencies of the held-out rows, not the frequencies in class_prior."
    assert (sentence in " ".join(run("info", model).output.split())) == is_at_prior
    assert (sentence in out.with_suffix(".html").read_text()) == is_at_prior
    if is_at_prior:
        assert sum(found.values()) / 90 == pytest.approx(0.1, abs=0.05)
    shown = run("explain", model, rows, "--row", "row3").output
    raw = run("explain", model, rows, "--row", "row3", "--raw").output
    assert (f"= {found['row3']:.4g} (calibrated)" in shown) == (trained.calibration is not None)
    own = trained.classifier.predict_proba(data.X[[3]])[0]
    assert f"= {own[1] if n_classes == 2 else own.max():.4g}, log-odds" in raw


def test_a_file_that_is_read_is_not_overwritten(run, model, tmp_path):
    data = tmp_path / "data.hietan"
    make_hierarchical_classification(40, 10, random_state=0).save(data)
    before = {path: path.read_bytes() for path in (data, model)}
    for words in (
        ["fit", data, "-o", data],
        ["predict", model, "synthetic-0", "-o", model],
        ["predict", model, data, "-o", data],
    ):
        result = run(*words)
        assert result.exit_code == 2, result.output
        assert (
            "is an input of this command and would be overwritten; choose another --output" in result.stderr
        )
    assert {path: path.read_bytes() for path in before} == before


def test_names_are_shortened_to_fit_a_terminal(run, tmp_path, monkeypatch):
    path, rows = tmp_path / "model.hietan", tmp_path / "rows.hietan"
    made = make_hierarchical_classification(60, 10, random_state=0)
    replace(made, term_names=tuple(f"term {'with a long name ' * 5}{i}" for i in range(10))).save(rows)
    assert run("fit", rows, "-o", path).exit_code == 0
    words = ("explain", path, rows, "--row", made.instance_names[0])
    whole = run(*words).output
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    monkeypatch.setenv("COLUMNS", "80")
    fits = run(*words).output
    before, after = (
        [
            line for line in text.split("\n\n")[1].splitlines() if not line.startswith(" " * 6)
        ]  # not the counts
        for text in (whole, fits)
    )
    assert max(map(len, before)) > 80 >= max(map(len, after)) and "...)" in fits
    assert [line.split()[-1] for line in before] == [line.split()[-1] for line in after]


def test_hie_ban_is_fitted_and_its_reasons_are_listed(run, tmp_path):
    """A feature is named with one of its parents, and only where all of them are 1."""
    path, data = tmp_path / "model.hietan", load_dataset("synthetic-0")
    result = run("fit", "synthetic-0", "-m", "hie-ban:alpha=None", "-o", path)
    assert result.exit_code == 0 and "HieBAN fitted to synthetic-0: 150 rows" in result.output
    gene = data.instance_names[int(data.X.sum(axis=1).argmax())]
    result = run("explain", path, "synthetic-0", "--gene", gene, "--limit", "1000")
    assert result.exit_code == 0, result.output
    assert f"HieBAN, {gene}" in result.output
    given = [line for line in result.output.splitlines() if " given " in line]
    assert given and all(" given " in line and " = 1 " in line.partition(" given ")[2] for line in given)


def test_without_a_method_the_most_accurate_of_ours_is_fitted(run, tmp_path):
    """Everything that follows a fit works for it: calibrated probabilities, and a page with reasons."""
    path, page = tmp_path / "model.hietan", tmp_path / "p.html"
    result = run("fit", "synthetic-0", "-o", path)
    assert result.exit_code == 0 and "HieLogistic fitted to synthetic-0: 150 rows" in result.output
    trained = Model.load(path)
    assert trained.method == "hie-logistic" and trained.calibration[0] > 0
    result = run("predict", path, "synthetic-0", "--report", "-o", page.with_suffix(".csv"))
    assert result.exit_code == 0, result.output
    rows = table(page.with_suffix(".csv"))
    data = load_dataset("synthetic-0")
    mean = sum(float(row["probability"]) for row in rows) / len(rows)
    assert mean == pytest.approx(data.y.mean(), abs=0.08)  # not those of equally frequent classes
    assert "HieLogistic, trained on 150 rows of synthetic-0" in page.read_text()
    words = ("explain", path, "synthetic-0", "--gene", "row3")
    reasons = run(*words).output
    assert "base value (intercept) " in reasons and " given " not in reasons


def test_the_page_of_candidates_shows_what_other_models_say(run, model, tmp_path):
    other, out = tmp_path / "other.hietan", tmp_path / "p.csv"
    assert run("fit", "synthetic-0", "-m", "hip-nb", "-o", other).exit_code == 0
    result = run("predict", model, "synthetic-0", "--also", other, "--report", "-o", out)
    assert result.exit_code == 0, result.output
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert '"name":"HieTAN"' in page and '"name":"HIPNB"' in page
    refused = run("predict", model, "synthetic-0", "--also", other, "-o", out)
    assert refused.exit_code == 2 and "--also needs --report" in refused.stderr
    before = other.read_bytes()
    assert run("predict", model, "synthetic-0", "--also", other, "--report", "-o", other).exit_code == 2
    assert other.read_bytes() == before


def test_methods_are_listed_with_what_they_do_and_when_to_take_them(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    result = run("methods")
    assert result.exit_code == 0, result.output
    for name, entry in METHODS.items():
        assert re.search(
            rf"^{name} +{re.escape(f'{entry.title}: {entry.idea}')} +{re.escape(entry.when)} *$",
            result.output,
            re.MULTILINE,
        )
    fitted, compared = result.output.split("For `hietan study`: scikit-learn's")
    assert "\nhie-logistic " in fitted and "\nlogistic-l2 " in compared and "\nlogistic-l2 " not in fitted
    assert "set new: hie-ban, hie-logistic\n" in result.output
