"""The command `study`, which compares classifiers by cross-validation.

Like the other command modules, this one imports the library inside its functions, so that `--help` does not wait for
NumPy and scikit-learn.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli import _completion
from hietan.cli._messages import (
    SOME_FAILED,
    errors,
    is_watched,
    make_console,
    printable,
    reporting,
    say,
    set_quiet,
    working,
)

if TYPE_CHECKING:
    from hietan.catalogue import StudyOptions
    from hietan.evaluation import StudyResults
from hietan.cli._compare import print_failures, print_ranking
from hietan.exceptions import FailedMethodWarning

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Suppress progress messages and tables.", callback=set_quiet),
]


def study(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(help="Study file (TOML). Its keys replace the options with the same names."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Dataset: a name such as worm-BP, a set such as ageing-2025 (see `hietan datasets`) or a file. "
            "May be repeated.",
            autocompletion=_completion.studied_datasets,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Method: a name (see `hietan methods`), a set (paper, bayes, new, modern, aire, all) or an "
            "import path. May be repeated.",
            autocompletion=_completion.studied_methods,
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 10,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="Number of seeds: 0, 1, ...")] = 1,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of row groups, such as paralogous genes, to keep in the same fold. Each line contains a "
            "row name and its group.",
        ),
    ] = None,
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="Smoothing strength. May be repeated. [default: 1]",
        ),
    ] = None,
    smoothing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Kind of smoothing: laplace, pooled or odds; a method's name shows if it differs from the method's "
            "default. May be repeated. [default: depends on the method]",
            autocompletion=_completion.one_of("laplace", "pooled", "odds"),
        ),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            help="Lambda of proximalGraph, or 'tuned' to choose lambda by inner cross-validation. [default: a tenth of "
            "the smallest lambda that makes all weights zero]"
        ),
    ] = None,
    lam_relative: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Lambda of proximalGraph as a fraction of the smallest lambda that makes all weights zero. Use it "
            "instead of --lam.",
        ),
    ] = None,
    lam_criterion: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Criterion for --lam tuned: log_loss, auc, or gmean at the best threshold.",
            autocompletion=_completion.one_of("log_loss", "auc", "gmean"),
        ),
    ] = "log_loss",
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Positive class, for sensitivity, specificity, average precision and explanations. "
            "[default: the dataset's positive class]",
        ),
    ] = None,
    tune_alpha: Annotated[bool, typer.Option(help="Choose alpha by inner cross-validation.")] = False,
    tune_threshold: Annotated[
        bool, typer.Option(help="Choose the threshold with the best GMean by inner cross-validation.")
    ] = False,
    lose: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE,...",
            help="Shares of the most specific annotations to remove from held-out rows before predicting these "
            "rows again, such as 0.3,0.7.",
        ),
    ] = None,
    equal_rows: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="How to treat identical rows: keep, same-fold (hold them out together) or not-tested (score only "
            "rows that have no identical row).",
            autocompletion=_completion.one_of("keep", "same-fold", "not-tested"),
        ),
    ] = "keep",
    min_support_in_folds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Drop features that are constant in the training rows or are present in fewer rows than this.",
        ),
    ] = None,
    usage: Annotated[bool, typer.Option(help="Count how often each feature is used.")] = True,
    figures: Annotated[bool, typer.Option(help="Draw figures.")] = True,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Also write explanations of rows as JSON. The rows are drawn at random."
        ),
    ] = False,
    genes: Annotated[
        list[str] | None,
        typer.Option(
            "--rows",
            "--genes",
            metavar="NAME",
            help="Name of another row to explain. May be repeated; implies --explain.",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option(help="Write report.html, a single file to open in a browser.")
    ] = True,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=-4096,
            max=4096,
            help="Number of parallel jobs; -1 uses every core. [default: 1]",
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="Where jobs run: threads, processes or dask. [default: threads]",
            autocompletion=_completion.one_of("threads", "processes", "dask"),
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786. Needs --backend dask."),
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Run failed jobs again.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the results.")] = Path(
        "study"
    ),
    quiet: Quiet = False,
) -> None:
    """Compare classifiers by cross-validation. Tables, tests, figures and raw results go to a directory.

    Run the same command again to resume. The exit code is 1 if some jobs failed, 2 if the options or the input are
    invalid, and 130 if the study was interrupted.
    """
    from hietan.catalogue import run_named_study
    from hietan.evaluation._outputs.explanations import write_explanations

    with errors(output, resumable=True):
        if not quiet:  # the failures are below the tables
            warnings.simplefilter("ignore", FailedMethodWarning)
        options = _options(ctx, file)
        drawn: list[Path] | None = [] if figures else None
        with reporting(quiet) as progress:
            results = run_named_study(
                options,
                output,
                retry_failed=retry_failed,
                progress=progress,
                show_downloads=is_watched(),
                explain=explain or report,
                rows=genes or [],
            )
        _write_tables_and_figures(output, drawn, results)
        if explain or genes:
            write_explanations(results, output)
        if report:
            _write_report(output, quiet)
    if not quiet:
        _print_results(results, output, drawn)
    if results.failures:
        raise typer.Exit(SOME_FAILED)


def _options(ctx: typer.Context, file: Path | None) -> StudyOptions:
    """Return the options of the command or of a study file. With a file, only options on where to run may be given."""
    from hietan.catalogue import StudyOptions, read_study_file
    from hietan.exceptions import StudyError

    named = {field.name: ctx.params[field.name] for field in fields(StudyOptions)}
    known: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value for name, value in named.items()
    }
    if file is None:
        known["lose"] = _shares(known["lose"])
        if not known["data"] or not known["methods"]:
            raise StudyError("a study needs --data and --methods, or a study file")
        return StudyOptions(**{name: value for name, value in known.items() if value not in (None, [])})
    where = {name: known.pop(name) for name in ("jobs", "backend", "scheduler")}
    given = [
        f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
        for name, value in known.items()
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if given:
        verb = "belongs" if len(given) == 1 else "belong"
        raise StudyError(f"{', '.join(given)} {verb} in the study file {file}, not on the command line")
    return read_study_file(file).run_where(**where)


def _shares(text: str | None) -> list[float] | None:
    from hietan.exceptions import StudyError

    try:
        return None if text is None else [float(share) for share in text.split(",")]
    except ValueError:
        raise StudyError(f"--lose is {text!r:.80}; expected numbers from 0 to 1, such as 0.3,0.7") from None


def _write_tables_and_figures(output: Path, drawn: list[Path] | None, results: StudyResults) -> None:
    """Write tables and, unless `drawn` is None, figures, whose paths are added to `drawn`."""
    from hietan.evaluation._outputs.figures import write_figures
    from hietan.evaluation._outputs.tables import write_tables

    write_tables(results, output)
    if drawn is not None:
        drawn.extend(write_figures(results, output))


def _write_report(output: Path, quiet: bool) -> None:
    from hietan.report import write_report

    with nullcontext() if quiet else working("writing the report"):
        write_report(output)


def _print_results(results: StudyResults, output: Path, drawn: list[Path] | None) -> None:
    console = make_console()
    positives = dict.fromkeys(filter(None, map(results.study.positive_name, results.study.datasets)))
    if positives:
        say(printable(f"positive class: {', '.join(positives)}"))
    for metric in ("auc", "gmean"):
        for ranking in results.rankings:
            if ranking.metric == metric:
                print_ranking(console, ranking)
    print_failures(results.failure_lines)
    if results.failures:
        say(f"{len(results.failures)} jobs failed: see {output / 'failures.csv'}")
    if drawn == [] and (results.incomplete or any(ranking.nemenyi for ranking in results.rankings)):
        say('no figures: pip install "hietan[plot]"')
    say(f"results: {output}")
    if (output / "report.html").exists():
        say(f"report: {output / 'report.html'}")
