"""The command `fit`, which fits a model and writes it to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._info import bias_lines, model_facts, quality_line
from hietan.cli._messages import (
    Json,
    Quiet,
    errors,
    fail,
    is_watched,
    print_json,
    refuse_overwriting,
    tell,
    working,
)

if TYPE_CHECKING:
    from hietan.models import Model


def fit(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Dataset: a name such as worm-BP, or a file.", autocompletion=_completion.datasets
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="hietan classifier, such as hie-ban, hie-tan-lite or tan:alpha=0.5. `hietan methods` helps you "
            "choose one.",
            autocompletion=_completion.methods,
        ),
    ] = "hie-logistic",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Model file to write. [default: DATASET-METHOD.hietan, unless it exists]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for tree roots and folds.")] = 0,
    alpha: Annotated[
        float | None,
        typer.Option(help="Smoothing strength. [default: depends on the method]"),
    ] = None,
    smoothing: Annotated[
        str | None,
        typer.Option(
            help="Kind of smoothing: laplace, pooled or odds. [default: depends on the method]",
            autocompletion=_completion.one_of("laplace", "pooled", "odds"),
        ),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            help="Lambda of proximal-graph, or 'tuned' to choose lambda by inner cross-validation. [default: a tenth "
            "of the smallest lambda that makes all weights zero]"
        ),
    ] = None,
    class_prior: Annotated[
        str | None,
        typer.Option(
            metavar="P,P,...",
            help="Class priors, in class order. [default: class frequencies]",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Smallest probability at which the positive class is predicted (calibrated, if the model is "
            "validated). 'gmean' chooses the threshold with the best GMean on held-out rows. [default: the "
            "classifier's threshold]",
        ),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option(
            help="Validate and calibrate the model on held-out rows and store the results in the model file. "
            "--no-validate is several times faster."
        ),
    ] = True,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            min=1,
            help="Number of validation folds; 1 holds out one part of the rows, once. [default: 5, or 1 if the "
            "standard error of AUC is then below 0.01 (about 18,000 rows or more)]",
        ),
    ] = None,
    fdr_split: Annotated[
        bool,
        typer.Option(
            "--fdr-split",
            help="Hold out a third of the rows for validation and false discovery rates, and fit the model to "
            "the other rows. The rates are then guaranteed by a theorem.",
        ),
    ] = False,
    unlabelled: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Class whose rows are unlabelled, not negative. The model ranks them by their similarity to "
            "the other class.",
        ),
    ] = None,
    no_row_names: Annotated[
        bool,
        typer.Option(
            "--no-row-names",
            help="Store hashes of the training rows' names instead of the names, not linked to labels or scores. "
            "Training rows are still recognised.",
        ),
    ] = False,
    row_noun: Annotated[
        str | None, typer.Option(help="Word for a row, such as gene. [default: the dataset's word]")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Positive class. Rows are ranked by its log-odds. [default: the dataset's positive class]",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace DATASET-METHOD.hietan if it exists.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a classifier to a dataset and write it to a model file.

    On 28 real datasets, the default method and TAN have the highest mean AUC and GMean of hietan's classifiers.
    """
    from hietan.catalogue import load_dataset
    from hietan.catalogue._estimators import make_fitted_method, smoothed_name
    from hietan.exceptions import CatalogueError
    from hietan.models import train_model, words
    from hietan.models.fitting import check_folds, check_threshold, check_unlabelled
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
                f"a model file can only store a hietan classifier, but {method} is a {kind}; compare it with "
                "`hietan study`, or fit it in Python and store it with skops"
            )
        name = method if smoothing is None else smoothed_name(method, smoothing)
        limit = _threshold(threshold)
        check_threshold(limit, 2, validate)
        fdr = "split" if fdr_split else "cv"
        check_folds(folds, validate, fdr)
        if unlabelled is not None:
            check_unlabelled(folds, validate, fdr, limit, class_prior, not no_row_names)
        refuse_overwriting(path, dataset)
        if output is None and path.exists() and not force:
            fail(f"{path} already exists; choose another file with --output, or replace it with --force")
        with working("reading"):
            data = load_dataset(dataset, progress=is_watched())
        options: dict[str, Any] = {"seed": seed, "validate": validate, "folds": folds, "fdr": fdr}
        options |= {"threshold": limit, "row_noun": row_noun, "positive": positive, "unlabelled": unlabelled}
        options |= {"row_names": not no_row_names}
        with working(f"fitting {method}") as progress:
            try:
                trained = train_model(estimator, data, method=name, progress=progress, **options)
            except TypeError as error:  # a parameter given as text may be of any type
                raise CatalogueError(
                    f"method {method!r} cannot be fitted ({error}); check its parameters"
                ) from error
        with working("writing the model"):
            trained.save(path)
    if as_json:
        print_json({"output": str(path), **model_facts(trained)})
        return
    held_out = len(trained.held_out) if trained.held_out is not None and trained.is_split else 0
    apart = f" ({held_out:,} more were held out)" if held_out else ""
    rows = f"{len(data.y) - held_out:,} {trained.row_noun}s{apart}"
    tell(f"{kind} fitted to {data.name}: {rows}; written to {path}")
    if trained.unlabelled:
        tell(f"positive class: {trained.positive}; {trained.unlabelled} is unlabelled")
        for line in [
            *bias_lines(trained),
            quality_line(trained),
            words.bound_note(trained),
            words.probability_note(trained),
        ]:
            tell(line)
        return
    if trained.positive:
        tell(positive_line(trained, positive))
    if trained.quality is not None:
        tell(quality_line(trained))
        for line in bias_lines(trained):
            tell(line)
        if trained.calibration is None:
            tell(words.probability_note(trained))


def positive_line(trained: Model, given: str | None) -> str:
    """Return a line that states which class is positive, and how to choose another."""
    if given:
        return f"positive class: {trained.positive} (--positive)"
    n = trained.class_sizes[trained.positive]
    return (
        f"positive class: {trained.positive} ({n:,} of {len(trained.training):,} {trained.row_noun}s; choose another "
        "with --positive CLASS)"
    )


def _model_path(dataset: str, method: str) -> Path:
    """Return the default path of the model file, named after the dataset and the method."""
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
    """Return the threshold as a number if it is a number; `check_threshold` checks everything else."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
