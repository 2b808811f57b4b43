"""The commands `study` and `compare`: parse, call one library function, print.

Here and in the other modules of commands, the library is imported by the functions that need it: a word of help is
there at once.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hietan.cli.names import exact, suggest

if TYPE_CHECKING:
    from rich.console import Console

    from hietan.evaluation import Ranking, StudyResults, SummaryRow

BAD_INPUT, SOME_FAILED, INTERRUPTED = 2, 1, 130
# The lambda of a proximalGraph that is not tuned.
UNTUNED_LAMBDA = 0.002


@dataclass
class StudyOptions:
    """What a study is of: the options of the command, or the keys of a study file."""

    data: list[str]
    methods: list[str]
    folds: int = 10
    seeds: int = 1
    alpha: list[float] | None = None
    smoothing: list[str] | None = None
    lam: float | str = UNTUNED_LAMBDA
    tune_alpha: bool = False
    tune_threshold: bool = False
    usage: bool = True
    min_support_in_folds: int | None = None
    jobs: int = 1
    backend: str = "threads"
    scheduler: str | None = None

    def run_where(self, jobs: int | None, backend: str | None, scheduler: str | None) -> None:
        """Take what the command line says before what a study file says; with the backend goes its scheduler."""
        self.jobs = self.jobs if jobs is None else jobs
        if backend is not None and backend != self.backend:
            self.backend, self.scheduler = backend, None
        self.scheduler = self.scheduler if scheduler is None else scheduler

    def command(self) -> str:
        """The command that asks for this, without what leaves the results as they are."""
        words = ["hietan study"]
        words += [f"--data {shlex.quote(name)}" for name in self.data]
        words += [f"--methods {shlex.quote(name)}" for name in self.methods]
        words += [f"--folds {self.folds}", f"--seeds {self.seeds}"]
        words += [f"--alpha {exact(alpha)}" for alpha in self.alpha or []]
        words += [f"--smoothing {shlex.quote(name)}" for name in self.smoothing or []]
        words += [f"--lam {self.lam}"] if self.lam != UNTUNED_LAMBDA else []
        words += ["--tune-alpha"] * self.tune_alpha + ["--tune-threshold"] * self.tune_threshold
        support = self.min_support_in_folds
        words += [] if support is None else [f"--min-support-in-folds {support}"]
        return " ".join(words + ["--no-usage"] * (not self.usage))


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(study)
    app.command()(compare)


def study(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="A study file (TOML) in place of the options.")] = None,
    data: Annotated[
        list[str] | None, typer.Option(help="ageing-2014, synthetic, CE-BP ..., or a file.")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="A name (tan, hie-tan-lite, ...), a set (paper, bayes, modern, all) or a path; repeatable."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, ...")] = 1,
    alpha: Annotated[
        list[float] | None, typer.Option(help="Weight of the prior guess; several allowed.")
    ] = None,
    smoothing: Annotated[list[str] | None, typer.Option(help="laplace or pooled; several allowed.")] = None,
    lam: Annotated[str, typer.Option(help="Lambda of proximalGraph, or 'tuned'.")] = str(UNTUNED_LAMBDA),
    tune_alpha: Annotated[bool, typer.Option(help="Choose alpha by inner cross-validation.")] = False,
    tune_threshold: Annotated[bool, typer.Option(help="Choose the threshold for GMean.")] = False,
    min_support_in_folds: Annotated[
        int | None,
        typer.Option(min=1, help="Drop columns with fewer ones in the training rows, or constant."),
    ] = None,
    usage: Annotated[bool, typer.Option(help="Count how often features are used.")] = True,
    figures: Annotated[bool, typer.Option(help="Draw figures.")] = True,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the surest right and wrong rows.")
    ] = False,
    genes: Annotated[list[str] | None, typer.Option(help="Explain this row, too; implies --explain.")] = None,
    report: Annotated[bool, typer.Option(help="Write report.html, one file to look at.")] = True,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="Jobs at a time; 1 unless given.")] = None,
    backend: Annotated[str | None, typer.Option(help="threads (unless given), processes or dask.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, as tcp://host:8786; with --backend dask.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Run failed jobs again.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the results.")] = Path("study"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")] = False,
) -> None:
    """Compare classifiers by cross-validation: tables, tests, figures and raw results in a directory.

    The same command goes on where an interrupted run stopped. Exit code 1 says that some jobs failed, 2 that the
    study cannot be run as asked.
    """
    from hietan.evaluation import StudyError
    from hietan.evaluation.outputs import write_explanations, write_figures, write_tables
    from hietan.report import write_report

    with clear_errors(output, resumable=True):
        if file is not None:
            _refuse_beside(file, ctx)
            options = read_study_file(file)
        else:
            tuned = (alpha, smoothing, _lambda(lam), tune_alpha, tune_threshold, usage, min_support_in_folds)
            options = StudyOptions(data or [], methods or [], folds, seeds, *tuned)
        options.run_where(jobs, backend, scheduler)
        if not options.data or not options.methods:
            raise StudyError("a study needs --data and --methods, or a study file")
        results = run(options, output, retry_failed, quiet)
        write_tables(results, output)
        drawn = write_figures(results, output) if figures else None
        if explain or genes or report:
            readable = bool(explain or genes)
            write_explanations(results, output, wanted=genes or [], readable=readable, details=report)
        if report:
            write_report(output)
    if not quiet:
        _print_results(results, output, drawn)
    if results.failures:
        raise typer.Exit(SOME_FAILED)


def compare(
    directories: Annotated[list[Path], typer.Argument(help="Directories of finished studies.")],
    metric: Annotated[str, typer.Option(help="What to rank by.")] = "gmean",
    control: Annotated[str | None, typer.Option(help="Compare with this method, not the best.")] = None,
    one_sided: Annotated[bool, typer.Option(help="Test that a method is worse than the control.")] = False,
) -> None:
    """Rank and test results that are on disk, of one study or of several over the same datasets."""
    with clear_errors(directories[0]):
        rankings = compare_directories(directories, metric, control, "greater" if one_sided else "two-sided")
    from rich.console import Console

    console = Console()
    for ranking in rankings:
        _print_ranking(console, ranking)


def compare_directories(
    directories: list[Path], metric: str, control: str | None, alternative: str
) -> tuple[Ranking, ...]:
    """The rankings of all results in some directories together."""
    from hietan.evaluation import METRICS, StudyError, make_rankings, read_summary
    from hietan.evaluation.study import read_groups

    if metric not in METRICS:
        raise StudyError(f"unknown metric {metric!r}{suggest(metric, METRICS)}")
    rows: dict[tuple[Any, ...], SummaryRow] = {}
    groups: dict[str, str] = {}
    for directory in directories:
        for row in read_summary(directory):
            key = (row.dataset, row.method, row.setting, row.tuning, row.seed)
            if key in rows and rows[key] != row:
                raise StudyError(f"{directory} has other results than before for {', '.join(map(str, key))}")
            rows[key] = row
        groups |= read_groups(directory)
    known = {row.method for row in rows.values()}
    if control is not None and control not in known:
        raise StudyError(f"unknown control {control!r}{suggest(control, known)}")
    options = {"metrics": [metric], "control": control, "alternative": alternative}
    return make_rankings(list(rows.values()), groups=groups, **options)  # type: ignore[arg-type]


def _refuse_beside(file: Path, ctx: typer.Context) -> None:
    """Refuse options that say what a study is of where a study file says it; how it is run may be said beside."""
    from hietan.evaluation import StudyError

    how = ("jobs", "backend", "scheduler")
    given = [
        f"--{'no-' if ctx.params[field.name] is False else ''}{field.name.replace('_', '-')}"
        for field in fields(StudyOptions)
        if field.name not in how
        and getattr(ctx.get_parameter_source(field.name), "name", "") == "COMMANDLINE"
    ]
    if given:
        verb = "belongs" if len(given) == 1 else "belong"
        raise StudyError(f"{', '.join(given)} {verb} into the study file {file}, not beside it")


def read_study_file(path: Path) -> StudyOptions:
    """The options in a study file, whose keys are those of the command: data, methods, folds, seeds, ..."""
    from hietan.evaluation import StudyError

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"there is no study file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is no TOML file: {error}") from None
    known = {field.name: field for field in fields(StudyOptions)}
    values = {key.replace("-", "_"): value for key, value in content.items()}
    for key, value in values.items():
        if key not in known:
            raise StudyError(f"{path}: unknown key {key!r}{suggest(key, known)}")
        values[key] = _checked(path, key, value)
    missing = [key for key in ("data", "methods") if key not in values]
    if missing:
        raise StudyError(f"{path}: the key {missing[0]!r} is missing")
    return StudyOptions(**values)


def _checked(path: Path, key: str, value: Any) -> Any:
    from hietan.evaluation import StudyError

    kinds: dict[str, tuple[Any, str]] = {
        "data": (str, "a name or a list of names"),
        "methods": (str, "a name or a list of names"),
        "smoothing": (str, "a name or a list of names"),
        "alpha": ((int, float), "a number or a list of numbers"),
        "lam": ((int, float, str), "a number or 'tuned'"),
        "folds": (int, "a whole number above 1"),
        "seeds": (int, "a whole number above 0"),
        "min_support_in_folds": (int, "a whole number above 0"),
        "jobs": (int, "a whole number other than 0"),
        "backend": (str, "threads, processes or dask"),
        "scheduler": (str, "an address as tcp://host:8786"),
    }
    kind, expected = kinds.get(key, (bool, "true or false"))
    many = key in ("data", "methods", "smoothing", "alpha")
    values = value if many and isinstance(value, list) else [value]
    wrong = [v for v in values if not isinstance(v, kind) or (kind is not bool and isinstance(v, bool))]
    least = {"folds": 2, "seeds": 1, "min_support_in_folds": 1}
    if wrong or (key in least and value < least[key]) or (key == "jobs" and value == 0):
        raise StudyError(f"{path}: {key} is {value!r}; expected {expected}")
    return values if many else _lambda(str(value)) if key == "lam" else value


def _lambda(text: str) -> float | str:
    from hietan.evaluation import StudyError

    if text == "tuned":
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value > 0:
        raise StudyError(f"lam is {text!r}; expected a number above 0, or 'tuned'")
    return value


def run(options: StudyOptions, output: Path, retry_failed: bool, quiet: bool) -> StudyResults:
    """Run a study as asked for, and tell how far it is."""
    from hietan.cli.datasets import dataset_groups, load_datasets
    from hietan.cli.methods import make_methods
    from hietan.cli.progress import reporting
    from hietan.evaluation import StudyError, run_study

    methods = make_methods(
        options.methods,
        alphas=options.alpha or [1.0],
        smoothings=options.smoothing or ["laplace"],
        lam=None if options.lam == "tuned" else float(options.lam),
        tune_alpha=options.tune_alpha,
        tune_threshold=options.tune_threshold,
        min_support=options.min_support_in_folds,
    )
    unknown = [s for s in options.smoothing or [] if s not in ("laplace", "pooled")]
    if unknown:
        raise StudyError(f"unknown smoothing {unknown[0]!r}{suggest(unknown[0], ['laplace', 'pooled'])}")
    datasets = load_datasets(options.data)
    with reporting(quiet) as progress:
        return run_study(
            datasets,
            methods,
            cv=options.folds,
            seeds=options.seeds,
            n_jobs=options.jobs,
            backend=options.backend,
            scheduler=options.scheduler,
            output=output,
            groups=dataset_groups(datasets),
            usage=options.usage,
            retry_failed=retry_failed,
            progress=progress,
            command=options.command(),
        )


@contextmanager
def clear_errors(output: Path, *, resumable: bool = False) -> Iterator[None]:
    """One line and an exit code for what is wrong with the input, the disk or the patience of the user."""
    from hietan.evaluation import StudyError

    try:
        yield
    except (StudyError, ImportError) as error:
        _fail(str(error))
    except OSError as error:
        where = error.filename or output
        further = "; what is on disk is whole, and the same command goes on" if resumable else ""
        _fail(f"{where}: {error.strerror or error}{further}")
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on from here", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _fail(message: str) -> None:
    typer.echo(f"hietan: {' '.join(message.split())}", err=True)
    raise typer.Exit(BAD_INPUT) from None


def _print_results(results: StudyResults, output: Path, drawn: list[Path] | None) -> None:
    from rich.console import Console

    console = Console()
    for ranking in results.rankings:
        if ranking.metric == "gmean":
            _print_ranking(console, ranking)
    if results.failures:
        console.print(f"{len(results.failures)} jobs failed: see {output / 'failures.csv'}", highlight=False)
    if drawn == []:
        console.print('no figures: pip install "hietan[plot]"', highlight=False, markup=False)
    console.print(f"results in {output}", highlight=False, soft_wrap=True)
    if (output / "report.html").exists():
        console.print(f"to look at: {output / 'report.html'}", highlight=False, soft_wrap=True)


def _print_ranking(console: Console, ranking: Ranking) -> None:
    from rich.table import Table

    table = Table(title=f"{ranking.title}; {len(ranking.datasets)} datasets", title_justify="left")
    table.add_column("method", no_wrap=True)
    for column in ("average rank", "wins", "mean", "p", "p adjusted"):
        table.add_column(column, justify="right")
    compared = ranking.comparison.comparisons if ranking.comparison else ()
    tests = {row.method: (f"{row.p_value:.3g}", f"{row.p_adjusted:.3g}") for row in compared}
    ranks, won, means = ranking.average_ranks(), ranking.wins(), ranking.means()
    for method in sorted(ranks, key=lambda m: ranks[m]):
        cells = [f"{ranks[method]:.2f}", f"{won[method]:g}", f"{means[method]:.3f}"]
        table.add_row(method, *cells, *tests.get(method, ("", "")))
    console.print(table)
    if ranking.left_out:
        console.print(f"left out, with results missing: {', '.join(ranking.left_out)}", highlight=False)
