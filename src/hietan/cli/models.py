"""The commands `methods`, `fit` and `predict`: a model in a file, and rows ranked by it."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import completion
from hietan.cli.messages import (
    errors,
    fail,
    is_watched,
    make_console,
    make_table,
    refuse_overwriting,
    say,
    tell,
    with_quiet_option,
    working,
)
from hietan.cli.quality import quality_line

if TYPE_CHECKING:
    from hietan.candidates import Candidates

Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="A classifier of hietan, such as hie-ban, hie-tan-lite or tan:alpha=0.5; `hietan methods` says when to "
        "take which.",
        autocompletion=completion.methods,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help="Weight of the prior guess in the smoothing; the method's default unless given."),
]
Smoothing = Annotated[
    str | None,
    typer.Option(
        help="Kind of smoothing, laplace or pooled; the method's default unless given.",
        autocompletion=completion.one_of("laplace", "pooled"),
    ),
]
Lambda = Annotated[
    str | None,
    typer.Option(help="Lambda of proximal-graph, or 'tuned' to choose it; 0.002 unless given."),
]
ClassPrior = Annotated[
    str | None,
    typer.Option(
        metavar="P,P,...",
        help="Probabilities of the classes, in their order; as frequent as in the data unless given.",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="Predict the second of two classes from this probability on; 'gmean' chooses the threshold with the best "
        "GMean on held-out rows; unless given, the more probable class.",
    ),
]
RowNoun = Annotated[
    str | None, typer.Option(help="What to call a row, such as gene; what the dataset says unless given.")
]
Validate = Annotated[
    bool,
    typer.Option(
        help="Measure and calibrate the model on rows that are held out; both are kept in the model file. Without it, "
        "fitting takes a fraction of the time."
    ),
]
ValidationFolds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        min=1,
        help="Folds of the cross-validation that measures the model; 1 holds one part of the rows out, once. Unless "
        "given, 5, or 1 where the standard error of AUC is then below 0.01 (from about 18,000 rows on).",
    ),
]
Also = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="MODEL",
        help="Another model file: the page also shows what this model says, and where they agree; may be repeated.",
    ),
]
NewOnly = Annotated[
    bool,
    typer.Option("--new-only", help="Leave out the rows that the model was trained on; else they come last."),
]
Exclude = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Leave out the rows with these names (ids, symbols or synonyms): a name per line, or a table; may be "
        "repeated.",
    ),
]
TermUrls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PREFIX=URL",
        help="Link terms with this prefix to this address, in which {id} is the term and {code} what follows its "
        "prefix; the prefix * is for all others; may be repeated. GO, HP, MONDO, ICD10 and others are known.",
    ),
]
Data = Annotated[
    str,
    typer.Argument(help="A dataset: a name such as worm-BP, or a file.", autocompletion=completion.datasets),
]
PredictedData = Annotated[
    str,
    typer.Argument(
        help="The dataset with the rows to predict: a name or a file.", autocompletion=completion.datasets
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model file that `hietan fit` wrote.")]


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    for command in (fit, methods, predict):
        app.command()(with_quiet_option(command))


def fit(
    dataset: Data,
    method: Method = "hie-logistic",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file to write; unless given, DATASET-METHOD.hietan if it is new.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the roots and of the folds.")] = 0,
    alpha: Alpha = None,
    smoothing: Smoothing = None,
    lam: Lambda = None,
    class_prior: ClassPrior = None,
    threshold: Threshold = None,
    validate: Validate = True,
    folds: ValidationFolds = None,
    row_noun: RowNoun = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace DATASET-METHOD.hietan if it exists.")
    ] = False,
) -> None:
    """Fit a classifier to a dataset and write it to a model file.

    The default is the most accurate of ours on 28 real datasets, on average.
    """
    from hietan.candidates import check_folds, check_threshold, train_model
    from hietan.catalogue import CatalogueError, load_dataset, make_fitted_method

    path = output or _model_path(dataset, method)
    with errors(path):
        estimator = make_fitted_method(
            method,
            alpha=alpha,
            smoothing=smoothing,
            lam=lam,
            class_prior=_numbers("--class-prior", class_prior),
        )
        limit = _threshold(threshold)
        check_threshold(limit, 2, validate)
        check_folds(folds, validate)
        refuse_overwriting(path, dataset)
        if output is None and path.exists() and not force:
            fail(f"{path} exists already; name another file with --output, or replace it with --force")
        with working("reading"):
            data = load_dataset(dataset, progress=is_watched())
        options: dict[str, Any] = {"seed": seed, "validate": validate, "folds": folds}
        options |= {"threshold": limit, "row_noun": row_noun}
        with working(f"fitting {method}") as progress:
            try:
                trained = train_model(estimator, data, method=method, progress=progress, **options)
            except TypeError as error:  # a parameter that was given as text may be of any type
                raise CatalogueError(f"method {method!r} cannot be fitted: {error}") from error
        with working("writing the model"):
            trained.save(path)
    kind = type(trained.classifier).__name__
    tell(f"{kind} fitted to {data.name}: {len(data.y)} {trained.row_noun}s; written to {path}")
    if trained.validation is not None:
        tell(quality_line(trained))


def methods() -> None:
    """List the methods: what each of them does, and when to take it."""
    from hietan.catalogue import METHODS, method_sets

    fitted = completion.fitted_methods()
    ours: list[list[str]] = []
    others: list[list[str]] = []
    for entry in METHODS.values():
        rows = ours if entry.name in fitted else others
        rows.append([entry.name, f"{entry.title}: {entry.idea}", entry.when])
    columns: dict[str, dict[str, Any]] = {"name": {"no_wrap": True}, "what it does": {}, "take it": {}}
    console = make_console()
    console.print(make_table("For `hietan fit` and `hietan study`", columns, ours))
    console.print(make_table("For `hietan study`: scikit-learn's, for comparison", columns, others))
    for name, members in method_sets().items():
        listed = "all of the above" if len(members) == len(METHODS) else ", ".join(members)
        say(f"set {name}: {listed}")


def predict(
    model: ModelFile,
    dataset: PredictedData,
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")] = Path(
        "predictions.csv"
    ),
    calibrate: Annotated[
        bool | None, typer.Option(help="Add calibrated probabilities; unless given, if the model has them.")
    ] = None,
    report: Annotated[
        bool,
        typer.Option("--report", help="Also write a page of candidates with reasons next to it (.html)."),
    ] = False,
    also: Also = None,
    new_only: NewOnly = False,
    exclude: Exclude = None,
    exclude_column: Annotated[
        str | None, typer.Option(help="The column of names in the tables to exclude; the first unless given.")
    ] = None,
    match: Annotated[
        str, typer.Option(help="The kinds of names by which rows are recognised, separated by commas.")
    ] = "id,symbol,synonym",
    term_url: TermUrls = None,
) -> None:
    """Rank the rows of a dataset by the log-odds of a model. Rows that it was trained on are not ranked."""
    from hietan.candidates import TrainedModel, check_kinds, rank_rows, read_names
    from hietan.catalogue import load_dataset
    from hietan.report import candidates_summary, parse_term_urls, render

    page = output.with_suffix(".html")
    with errors(output):
        kinds = tuple(part.strip() for part in match.split(",") if part.strip())
        check_kinds(kinds)
        if also and not report:
            raise ValueError("--also needs --report: what other models say is shown on the page")
        urls = parse_term_urls(term_url or ())
        for written in (output, page):
            refuse_overwriting(written, model, dataset, *(exclude or ()), *(also or ()))
        names = [name for path in exclude or () for name in read_names(path, exclude_column)]
        with working("reading"):
            trained = TrainedModel.load(model)
            data = load_dataset(dataset, progress=is_watched())
        calibrated = trained.calibration is not None if calibrate is None else calibrate
        options: dict[str, Any] = {"calibrated": calibrated, "new_only": new_only, "exclude": names}
        with working(f"predicting {data.name}") as progress:
            ranked = rank_rows(trained, data, match=kinds, progress=progress, **options)
        texts = {output: ranked.to_csv()}
        if report:
            command = shlex.join(["hietan", "explain", str(model), dataset])
            others = [rank_rows(TrainedModel.load(path), data, match=kinds) for path in also or ()]
            with working("explaining both ends of the list") as progress:
                content = candidates_summary(
                    ranked, command=command, others=others, term_urls=urls, progress=progress
                )
            texts[page] = render(content)
        _write_together(texts)
    tell(trained.caution)
    _tell_rows(ranked, len(data.instance_names))
    tell(f"written to {output}")
    if report:
        tell(f"report: {page}")


def _tell_rows(ranked: Candidates, n_rows: int) -> None:
    """Say how many rows are candidates, and what became of the others."""
    n_known = len(ranked.matches) - ranked.n_new
    left_out = n_rows - len(ranked.matches)
    noun = ranked.data.row_noun
    parts = [f"{ranked.n_new} candidates of {n_rows} {noun}s"]
    if n_known:
        weak = sum(found is not None and found.kind == "synonym" for found in ranked.matches)
        by_synonym = f", {weak} of them by a synonym alone" if weak else ""
        parts.append(f"{n_known} share a name with a training {noun} and are listed last{by_synonym}")
    if left_out:
        parts.append(f"{left_out} left out")
    tell("; ".join(parts))


def _model_path(dataset: str, method: str) -> Path:
    """The file of a model that is not named: what it was trained on, and by which method."""
    from hietan._io import safe_file_name

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


def _write_together(texts: dict[Path, str]) -> None:
    """Write several files, and replace none of them before all are complete."""
    from hietan._io import replacing

    with ExitStack() as stack:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(replacing(path)).write_bytes(text.encode())
