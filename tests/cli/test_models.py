"""The commands fit and predict."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import hietan
from hietan.cli import models as cli_models
from hietan.catalogue import load_dataset
from hietan.cli.models import align_columns, predictions_text
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import StudyError, pooled_predictions
from hietan.persistence import read_metadata


@pytest.fixture
def run():
    app = typer.Typer()
    cli_models.register(app)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


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


def test_rows_are_ranked_by_log_odds(run, model, tmp_path):
    out = tmp_path / "predictions.csv"
    result = run("predict", model, "synthetic-0", "-o", out, "--calibrate")
    assert result.exit_code == 0, result.output
    assert "most genes may belong to none of them" in result.output
    rows = table(out)
    odds = [float(row["log_odds"]) for row in rows]
    assert odds == sorted(odds, reverse=True) and len(rows) == 150
    data = load_dataset("synthetic-0")
    proba = hietan.load(model).predict_proba(data.X)[:, 1]
    by_name = dict(zip(data.instance_names, proba, strict=True))
    assert all(float(row["probability"]) == pytest.approx(by_name[row["instance"]]) for row in rows)
    assert {row["in_training"] for row in rows} == {"True"}
    calibrated = [float(row["calibrated_probability"]) for row in rows]
    assert calibrated == sorted(calibrated, reverse=True)  # the slope is positive here


def test_calibration_makes_the_probabilities_of_new_rows_better():
    data = make_hierarchical_classification(400, 60, random_state=2)
    model = hietan.HieTAN(hierarchy=data.hierarchy, random_state=0)
    slope, shift = cli_models.calibrate(model, data, seed=0)
    pooled = pooled_predictions(model, data, seed=1)
    p = 1 / (1 + np.exp(-(slope * pooled.score + shift)))
    loss = -np.mean(np.log(np.where(data.y == 1, p, 1 - p)))
    assert loss < pooled.metrics()["log_loss"]


def test_new_rows_are_not_marked_and_columns_are_matched_by_name(model):
    data = load_dataset("synthetic-0")
    order = np.random.default_rng(0).permutation(data.X.shape[1])
    names = [data.feature_names[j] for j in order]
    shuffled = replace(
        data,
        X=data.X[:, order],
        feature_names=names,
        term_names=names,
        hierarchy=data.hierarchy.restrict(names),
        instance_names=[f"new {i}" for i in range(150)],
    )
    about = read_metadata(model)
    assert (align_columns(shuffled, about["feature_names"]) != data.X).nnz == 0
    text = predictions_text(hietan.load(model), about, shuffled)
    assert "True" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["predict", "MODEL", "synthetic-9"], "unknown dataset 'synthetic-9'"),
        (["predict", "no-model", "synthetic-0"], "no-model: No such file"),
        (["fit", "synthetic-0", "-m", "hie-tann"], "did you mean 'hie-tan'?"),
        (["fit", "synthetic-0", "-m", "logistic-l2"], "For other estimators use skops"),
        (["fit", "synthetic-0", "-m", "tan:alpha=0"], "alpha must be a number above 0"),
    ],
)
def test_bad_input(run, model, tmp_path, words, message):
    result = run(*[model if word == "MODEL" else word for word in words], "-o", tmp_path / "out")
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_misaligned_data_are_refused(model):
    data = make_hierarchical_classification(20, 30, random_state=5)
    with pytest.raises(StudyError, match=r"lacks \d+ of the model's 80 features"):
        align_columns(data, read_metadata(model)["feature_names"])
