"""The commands `fit` and `predict`: a model in a file, and genes ranked by it."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli.study import clear_errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hietan.datasets import Dataset

CALIBRATION_FOLDS = 5


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(fit)
    app.command()(predict)


def fit(
    dataset: Annotated[str, typer.Argument(help="A dataset: a name, as CE-BP, or a file.")],
    method: Annotated[str, typer.Option("--method", "-m", help="A classifier of hietan.")] = "hie-tan-lite",
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of the model.")] = Path(
        "model.hietan"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the roots and of the inner folds.")] = 0,
) -> None:
    """Fit a classifier to a dataset and write it to a file."""
    from hietan import persistence
    from hietan.cli.datasets import load_dataset
    from hietan.cli.methods import make_estimator
    from hietan.evaluation import StudyError
    from hietan.evaluation.cross_validation import configure

    with clear_errors(output):
        data = load_dataset(dataset)
        model = configure(make_estimator(method), data.hierarchy, seed)
        try:
            metadata = _metadata(data, method, seed) | {"calibration": calibrate(model, data, seed)}
            persistence.save(model.fit(data.X, data.y), output, metadata=metadata)
        except (TypeError, ValueError) as error:
            raise StudyError(str(error)) from error
    typer.echo(f"{type(model).__name__} fitted to {data.name}: {len(data.y)} rows; written to {output}")


def predict(
    model: Annotated[Path, typer.Argument(help="A file that `hietan fit` wrote.")],
    dataset: Annotated[str, typer.Argument(help="The rows to predict: a name or a file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of the predictions.")] = Path(
        "predictions.csv"
    ),
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Add calibrated probabilities.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a page of candidates with reasons beside it (.html).")
    ] = False,
) -> None:
    """Rank the rows of a dataset by the log-odds that a model gives them."""
    from hietan import persistence
    from hietan._io import atomic_write
    from hietan.cli.datasets import load_dataset
    from hietan.report import render

    with clear_errors(output):
        fitted, about, data = load_model(model), persistence.read_metadata(model), load_dataset(dataset)
        text = predictions_text(fitted, about, data, calibrate)
        page = None
        if report:
            command = shlex.join(["hietan", "explain", str(model), dataset])
            page = render(candidates(fitted, about, data, command))
        atomic_write(output, text)
        if page is not None:
            atomic_write(output.with_suffix(".html"), page)
    typer.echo(_caution(about))
    typer.echo(f"written to {output}")
    if report:
        typer.echo(f"to look at: {output.with_suffix('.html')}")


def load_model(path: Path) -> Any:
    """The classifier in a file that `hietan fit` wrote."""
    from hietan import persistence
    from hietan.evaluation import StudyError
    from hietan.exceptions import ModelFileError

    try:
        return persistence.load(path)
    except ModelFileError as error:
        raise StudyError(str(error)) from error


def candidates(model: Any, about: dict[str, Any], data: Dataset, command: str) -> dict[str, Any]:
    """What the page of ranked candidates shows."""
    from hietan.evaluation.cross_validation import predict_rows
    from hietan.report import candidates_summary

    X = align_columns(data, about["feature_names"])
    rows = predict_rows(model, X)
    assert rows.log_proba is not None
    names = dict(zip(data.feature_names, data.term_names, strict=True))
    kind = f"{type(model).__name__}, trained on {len(about['training_rows'])} rows of {about['dataset']}"
    return candidates_summary(
        model,
        X,
        row_odds(rows.log_proba),
        rows=data.instance_names,
        symbols=data.symbols,
        features=about["feature_names"],
        names=[names[feature] for feature in about["feature_names"]],
        classes=about["target_names"],
        trained_on=about["training_rows"],
        about=f"{len(data.instance_names):,} rows of {data.name or 'a dataset'}, ranked by {kind}.",
        caution=_caution(about),
        command=command,
    )


def predictions_text(model: Any, about: dict[str, Any], data: Dataset, calibrate: bool = False) -> str:
    """The predictions as CSV, the highest log-odds first; rows that the model was fitted to are marked."""
    import numpy as np
    from scipy.special import expit

    from hietan.evaluation import StudyError
    from hietan.evaluation.cross_validation import predict_rows

    targets = about["target_names"]
    if calibrate and about.get("calibration") is None:
        raise StudyError(
            "this model has no calibration: it has more than two classes, or too few rows of one"
        )
    rows = predict_rows(model, align_columns(data, about["feature_names"]))
    assert rows.log_proba is not None
    odds = row_odds(rows.log_proba)
    known = set(about["training_rows"]) if about.get("training_rows") else set()
    header = ["rank", "instance", "log_odds", "probability", "predicted", "in_training"]
    columns: list[Any] = [data.instance_names, odds.tolist(), expit(odds).tolist()]
    if data.symbols:
        header.insert(2, "name")
        columns.insert(1, data.symbols)
    columns += [[targets[label] for label in rows.y_pred], [name in known for name in data.instance_names]]
    if calibrate:
        slope, shift = about["calibration"]
        header.append("calibrated_probability")
        columns.append(expit(slope * odds + shift).tolist())
    table = list(zip(*columns, strict=True))
    order = np.argsort(-odds, kind="stable")
    text = io.StringIO()
    text.write(f"# {_caution(about)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([place, *table[i]] for place, i in enumerate(order, start=1))
    return text.getvalue()


def align_columns(data: Dataset, features: list[str]) -> Any:
    """The columns that the model knows, in its order; refused if the data lack any."""
    from hietan.evaluation import StudyError

    if list(data.feature_names) == features:
        return data.X
    index = {name: j for j, name in enumerate(data.feature_names)}
    missing = [name for name in features if name not in index]
    if missing:
        raise StudyError(
            f"{data.name or 'the dataset'} lacks {len(missing)} of the model's {len(features)} features: "
            f"{', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}; predict data with the same features"
        )
    return data.X[:, [index[name] for name in features]]


def row_odds(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of the second of two classes; of the most probable against the rest for several."""
    import numpy as np

    from hietan.evaluation.cross_validation import row_scores

    if log_proba.shape[1] == 2:
        return row_scores(log_proba)
    best = log_proba.max(axis=1)
    return np.asarray(best - np.log(-np.expm1(np.minimum(best, -1e-16))), dtype=np.float64)


def calibrate(model: Any, data: Dataset, seed: int) -> list[float] | None:
    """Slope and shift of Platt's sigmoid over the log-odds of rows set aside; None if there are too few of a class."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from hietan.evaluation import pooled_predictions

    labels, counts = np.unique(data.y, return_counts=True)
    folds = min(CALIBRATION_FOLDS, int(counts.min()))
    if len(labels) != 2 or folds < 2:
        return None
    pooled = pooled_predictions(model, data, n_splits=folds, seed=seed)
    if pooled.score is None:
        return None
    odds = np.clip(pooled.score, -700, 700)
    scale = float(np.abs(odds).max()) or 1.0
    sigmoid = LogisticRegression(C=1e6, max_iter=1000).fit(odds[:, None] / scale, data.y)
    return [float(sigmoid.coef_[0, 0]) / scale, float(sigmoid.intercept_[0])]


def _metadata(data: Dataset, method: str, seed: int) -> dict[str, Any]:
    return {
        "dataset": data.name,
        "method": method,
        "seed": seed,
        "feature_names": list(data.feature_names),
        "target_names": list(data.target_names),
        "training_rows": list(data.instance_names),
    }


def _caution(about: dict[str, Any]) -> str:
    classes = " from ".join(about["target_names"]) if len(about["target_names"]) == 2 else "its classes"
    return (
        f"This model separates {classes}, the classes it was trained on; most genes may belong to none of them, "
        "and a high rank does not say that a gene belongs to one."
    )
