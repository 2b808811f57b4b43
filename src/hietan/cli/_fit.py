"""The command `fit`: a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._info import bias_lines, quality_line
from hietan.cli._messages import (
    Quiet,
    errors,
    fail,
    is_watched,
    refuse_overwriting,
    tell,
    working,
)

if TYPE_CHECKING:
    from hietan.candidates import TrainedModel
    from hietan.datasets import Dataset


def fit(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A dataset: a name such as worm-BP, or a file.", autocompletion=_completion.datasets
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="A classifier of hietan, such as hie-ban, hie-tan-lite or tan:alpha=0.5; `hietan methods` "
            "says when to "
            "take which.",
            autocompletion=_completion.methods,
        ),
    ] = "hie-logistic",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file to write; unless given, DATASET-METHOD.hietan if it is new.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the roots and of the folds.")] = 0,
    alpha: Annotated[
        float | None,
        typer.Option(help="Strength of the smoothing [default: the method's own]."),
    ] = None,
    smoothing: Annotated[
        str | None,
        typer.Option(
            help="Kind of smoothing: laplace, pooled or odds [default: the method's own].",
            autocompletion=_completion.one_of("laplace", "pooled", "odds"),
        ),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            help="Lambda of proximal-graph, or 'tuned' to choose it by inner cross-validation [default: a tenth "
            "of the smallest value with all weights zero]."
        ),
    ] = None,
    class_prior: Annotated[
        str | None,
        typer.Option(
            metavar="P,P,...",
            help="Class frequencies for which the probabilities should hold, in the order of the classes "
            "[default: those of the training data].",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Predict the positive of two classes from this probability on (calibrated, if validated); 'gmean' "
            "chooses the threshold with the best GMean on held-out rows [default: the classifier's own choice].",
        ),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option(
            help="Measure and calibrate the model on rows that are held out; both are kept in the model "
            "file. Without it, "
            "fitting takes a fraction of the time."
        ),
    ] = True,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            min=1,
            help="Folds of the cross-validation that measures the model; 1 holds one part of the rows out, "
            "once. Unless "
            "given, 5, or 1 where the standard error of AUC is then below 0.01 (from about 18,000 rows on).",
        ),
    ] = None,
    fdr_split: Annotated[
        bool,
        typer.Option(
            "--fdr-split",
            help="Hold out a third of the rows for validation and false discovery rates, and fit the model to the "
            "others; the rates then have a proof.",
        ),
    ] = False,
    row_noun: Annotated[
        str | None, typer.Option(help="What to call a row, such as gene; what the dataset says unless given.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Positive class, by whose log-odds rows are ranked [default: as the dataset states, or the rarer "
            "of two].",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace DATASET-METHOD.hietan if it exists.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Fit a classifier to a dataset and write it to a model file.

    The default is the most accurate of ours on 28 real datasets, on average.
    """
    from hietan.candidates import train_model
    from hietan.candidates._models import check_folds, check_threshold
    from hietan.catalogue import load_dataset
    from hietan.catalogue._estimators import make_fitted_method
    from hietan.exceptions import CatalogueError
    from hietan.persistence._files import CLASSIFIERS

    path = output or _model_path(dataset, method)
    with errors(path):
        estimator = make_fitted_method(
            method,
            alpha=alpha,
            smoothing=smoothing,
            lam=lam,
            class_prior=_numbers("--class-prior", class_prior),
        )
        if (kind := type(estimator).__name__) not in CLASSIFIERS:
            fail(
                f"a model file holds a classifier of hietan, and {method} is a {kind}; compare it with "
                "`hietan study`, or fit it in Python and store it with skops"
            )
        limit = _threshold(threshold)
        check_threshold(limit, 2, validate)
        fdr = "split" if fdr_split else "cv"
        check_folds(folds, validate, fdr)
        refuse_overwriting(path, dataset)
        if output is None and path.exists() and not force:
            fail(f"{path} exists already; name another file with --output, or replace it with --force")
        with working("reading"):
            data = load_dataset(dataset, progress=is_watched())
        options: dict[str, Any] = {"seed": seed, "validate": validate, "folds": folds, "fdr": fdr}
        options |= {"threshold": limit, "row_noun": row_noun, "positive": positive}
        with working(f"fitting {method}") as progress:
            try:
                trained = train_model(estimator, data, method=method, progress=progress, **options)
            except TypeError as error:  # a parameter that was given as text may be of any type
                raise CatalogueError(f"method {method!r} cannot be fitted: {error}") from error
        with working("writing the model"):
            trained.save(path)
    scores = trained.held_out
    held_out = len(scores.labels) if scores is not None and scores.split else 0
    apart = f", without {held_out:,} held out" if held_out else ""
    rows = f"{len(data.y) - held_out:,} {trained.row_noun}s{apart}"
    tell(f"{kind} fitted to {data.name}: {rows}; written to {path}")
    if trained.positive:
        tell(positive_line(trained, data, positive))
    if trained.validation is not None:
        tell(quality_line(trained))
        for line in bias_lines(trained):
            tell(line)
        if trained.calibration is None:
            tell(trained.probability_note)


def positive_line(trained: TrainedModel, data: Dataset, given: str | None) -> str:
    """Which class is positive, and why."""
    why = "--positive" if given else "as the dataset states" if data.positive else "the rarer class"
    sizes = trained.class_sizes
    if not given and not data.positive and len(set(sizes)) == 1:
        why = "the last of two classes of the same size"
    other = "" if given or data.positive else "; choose another with --positive CLASS"
    return f"positive class: {trained.positive} ({why}{other})"


def _model_path(dataset: str, method: str) -> Path:
    """The file of a model that is not named: what it was trained on, and by which method."""
    from hietan._io.files import safe_file_name

    stem = Path(dataset).stem if Path(dataset).suffix == ".hietan" else Path(dataset).name
    return Path(safe_file_name(f"{stem}-{method.replace(':', '-')}") + ".hietan")


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} is {text!r}; expected numbers separated by commas, such as 0.5,0.5"
        ) from None


def _threshold(text: str | None) -> float | str | None:
    """A threshold as a number, if it is one; `check_threshold` judges the rest."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
