"""Studies of named datasets and methods: options, study files, and how to run a study."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from hietan._runtime.spelling import suggest
from hietan.catalogue._datasets import dataset_groups, load_datasets
from hietan.catalogue._estimators import LAMBDA_FRACTION, make_methods, number_text, parse_lambda
from hietan.classifiers._solvers.lambda_path import LAMBDA_CRITERIA
from hietan.evaluation import StudyResults, run_study
from hietan.evaluation._study.plan import Progress
from hietan.exceptions import StudyError


@dataclass(frozen=True)
class StudyOptions:
    """A study's plan: the options of ``hietan study`` or the keys of a study file.

    Parameters
    ----------
    data, methods : list of str
        Names, names of sets, files and import paths, as accepted by `load_datasets` and `make_methods`.
    folds, seeds : int
        The number of folds of each cross-validation, and the number of seeds, which are 0, 1, ...
    groups : str, optional
        A file that names, in each line, a row and its group, separated by a tab or comma; see `read_row_groups`.
    alpha : list of float, optional
        Values of alpha [default: 1].
    smoothing : list of str, optional
        Kinds of smoothing [default: the smoothing that each method's name implies].
    lam : float or str, optional
        proximalGraph's lambda: a number above 0, or "tuned" to choose it by inner cross-validation. If neither `lam`
        nor `lam_relative` is given, `lam_relative` is 0.1.
    lam_relative : float, optional
        proximalGraph's lambda as a fraction of the smallest value with all weights zero, which differs between
        training sets; from 1e-10 to 1.
    lam_criterion : str
        The criterion that tunes proximalGraph's lambda: "log_loss", "auc" or "gmean".
    tune_alpha, tune_threshold : bool
        Whether to choose alpha and the probability threshold by inner cross-validation.
    usage : bool
        Whether to count how often features are used.
    min_support_in_folds : int, optional
        Fit methods only to columns with at least this many ones in the training rows.
    jobs, backend, scheduler
        How many jobs run at a time, and where; see `hietan.evaluation.run_study`. Results do not depend on them.
    positive : str, optional
        The positive class [default: each dataset's].
    lose : list of float, optional
        Shares of their most specific annotations that held-out rows lose in further predictions.
    equal_rows : str
        How to treat identical rows: "keep", "same-fold" or "not-tested"; see `hietan.evaluation.run_study`.
    """

    data: list[str]
    methods: list[str]
    folds: int = 10
    seeds: int = 1
    groups: str | None = None
    alpha: list[float] | None = None
    smoothing: list[str] | None = None
    lam: float | str | None = None
    lam_relative: float | None = None
    lam_criterion: str = "log_loss"
    tune_alpha: bool = False
    tune_threshold: bool = False
    usage: bool = True
    min_support_in_folds: int | None = None
    jobs: int = 1
    backend: str = "threads"
    scheduler: str | None = None
    positive: str | None = None
    lose: list[float] | None = None
    equal_rows: str = "keep"

    def __post_init__(self) -> None:
        if self.lam is None:
            fraction = LAMBDA_FRACTION if self.lam_relative is None else self.lam_relative
            object.__setattr__(self, "lam_relative", fraction)
        elif self.lam_relative is None:
            lam = parse_lambda(self.lam)
            object.__setattr__(self, "lam", "tuned" if lam is None else lam)
        else:
            raise StudyError(
                f"lam and lam_relative are mutually exclusive (got {self.lam!r:.40} and {self.lam_relative!r:.40}); "
                "set only one"
            )
        if self.lam_criterion not in LAMBDA_CRITERIA:
            raise StudyError(
                f"lam_criterion is {self.lam_criterion!r:.40}; expected one of {', '.join(LAMBDA_CRITERIA)}"
            )
        if self.lam_criterion != "log_loss" and self.lam != "tuned":
            raise StudyError(
                f"lam_criterion is {self.lam_criterion!r}, but lambda is not tuned; set lam to 'tuned' (--lam "
                "tuned)"
            )

    def run_where(
        self, jobs: int | None = None, backend: str | None = None, scheduler: str | None = None
    ) -> StudyOptions:
        """Return the same study with different run options.

        None changes nothing, but a new backend drops the scheduler.
        """
        given = {"jobs": jobs, "backend": backend, "scheduler": scheduler}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if backend not in (None, self.backend):
            changes.setdefault("scheduler", None)
        return replace(self, **changes)

    def command(self) -> str:
        """Return the shell command that runs this study, without options that do not affect its results."""
        words = ["hietan study"]
        words += [f"--data {shlex.quote(name)}" for name in self.data]
        words += [f"--methods {shlex.quote(name)}" for name in self.methods]
        words += [f"--folds {self.folds}", f"--seeds {self.seeds}"]
        words += [f"--groups {shlex.quote(self.groups)}"] if self.groups is not None else []
        words += [f"--alpha {number_text(alpha)}" for alpha in self.alpha or []]
        words += [f"--smoothing {shlex.quote(name)}" for name in self.smoothing or []]
        words += [] if self.lam is None else [f"--lam {self.lam}"]
        relative = self.lam_relative
        words += [] if relative in (None, LAMBDA_FRACTION) else [f"--lam-relative {number_text(relative)}"]
        words += [f"--lam-criterion {self.lam_criterion}"] if self.lam_criterion != "log_loss" else []
        words += [] if self.positive is None else [f"--positive {shlex.quote(self.positive)}"]
        words += [f"--lose {','.join(map(number_text, sorted(self.lose)))}"] if self.lose else []
        words += [f"--equal-rows {self.equal_rows}"] if self.equal_rows != "keep" else []
        words += ["--tune-alpha"] * self.tune_alpha + ["--tune-threshold"] * self.tune_threshold
        support = self.min_support_in_folds
        words += [] if support is None else [f"--min-support-in-folds {support}"]
        return " ".join(words + ["--no-usage"] * (not self.usage))


def run_named_study(
    options: StudyOptions,
    output: str | Path | None = None,
    *,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    show_downloads: bool = False,
    explain: bool = False,
    rows: Sequence[str] = (),
) -> StudyResults:
    """Run a study of named datasets and methods, and explain rows if requested.

    Parameters
    ----------
    options : StudyOptions
        The study's plan.
    output : path, optional
        The results directory, from which an interrupted study is resumed. Without it, nothing is kept on disk.
    retry_failed : bool
        Whether to run again the jobs that failed before.
    progress : callable, optional
        Called with a `Progress` after every job.
    show_downloads : bool
        Whether to show the progress of downloads on stderr.
    explain, rows
        Whether to explain rows, and which ones besides those that are drawn; see `hietan.evaluation.run_study`.

    Raises
    ------
    CatalogueError
        If a dataset or method is unknown.
    StudyError
        If the options or the input are invalid.

    Examples
    --------
    >>> results = run_named_study(StudyOptions(["synthetic-0"], ["hie-tan", "bernoulli-nb"], folds=3))
    >>> [row.method for row in results.summary]
    ['hie-tan', 'bernoulli-nb']
    """
    methods = make_methods(
        options.methods,
        alphas=options.alpha or [1.0],
        smoothings=options.smoothing or None,
        lam=options.lam,
        lam_relative=options.lam_relative,
        lam_criterion=options.lam_criterion,
        tune_alpha=options.tune_alpha,
        tune_threshold=options.tune_threshold,
        min_support=options.min_support_in_folds,
    )
    datasets = load_datasets(options.data, progress=show_downloads)
    return run_study(
        datasets,
        methods,
        cv=options.folds,
        seeds=options.seeds,
        row_groups=None if options.groups is None else read_row_groups(options.groups),
        n_jobs=options.jobs,
        backend=options.backend,
        scheduler=options.scheduler,
        output=output,
        groups=dataset_groups(datasets),
        usage=options.usage,
        retry_failed=retry_failed,
        progress=progress,
        command=options.command(),
        positive=options.positive or "",
        lose=options.lose or (),
        equal_rows=options.equal_rows,
        explain=explain or bool(rows),
        rows=rows,
    )


def read_row_groups(path: str | Path) -> dict[str, str]:
    """Return each row's group from a file. Each line has a name and a group, separated by a tab or a comma.

    Empty lines and lines that begin with # are skipped.

    Raises
    ------
    StudyError
        If the file cannot be read, a line does not have two entries, or a row has two groups.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"the row groups cannot be read from {path} ({error}); expected a text file in UTF-8"
        ) from None
    groups: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        entries = [entry.strip() for entry in line.split("\t" if "\t" in line else ",")]
        if len(entries) != 2 or not all(entries):
            raise StudyError(
                f"{path}, line {number}: expected a row name and its group, separated by a tab or a comma; got "
                f"{line!r:.80}"
            )
        if groups.setdefault(entries[0], entries[1]) != entries[1]:
            raise StudyError(
                f"{path}, line {number}: row {entries[0]!r} is in group {entries[1]!r}, but an earlier line "
                f"puts it in group {groups[entries[0]]!r}; remove one of the two lines"
            )
    return groups


# ------------------------------------------------------------------ study files

_NAMES = (str, "a name or a list of names")
_COUNT = (int, "a whole number above 0")
# The accepted values of each key, as types and in words; keys that are not listed are true or false.
_KINDS: dict[str, tuple[Any, str]] = {
    "data": _NAMES,
    "methods": _NAMES,
    "smoothing": _NAMES,
    "alpha": ((int, float), "a number or a list of numbers"),
    "lam": ((int, float, str), "a number or 'tuned'"),
    "lam_relative": ((int, float), "a number from 1e-10 to 1"),
    "lam_criterion": (str, "log_loss, auc or gmean"),
    "folds": (int, "a whole number above 1"),
    "seeds": _COUNT,
    "groups": (str, "the name of a file"),
    "min_support_in_folds": _COUNT,
    "jobs": (int, "a whole number other than 0"),
    "backend": (str, "threads, processes or dask"),
    "scheduler": (str, "an address such as tcp://host:8786"),
    "positive": (str, "the name of a class"),
    "lose": ((int, float), "a number or a list of numbers"),
    "equal_rows": (str, "keep, same-fold or not-tested"),
}
_LISTS = ("data", "methods", "smoothing", "alpha", "lose")
_LEAST = {"folds": 2, "seeds": 1, "min_support_in_folds": 1}


def read_study_file(path: str | Path) -> StudyOptions:
    """Read a study's options from a TOML file. The file's keys are the options of ``hietan study``.

    Raises
    ------
    StudyError
        If the file is not TOML, a key is unknown or missing, or a value is not accepted for its key.
    CatalogueError
        If `lam` is neither a number above 0 nor "tuned".
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"there is no study file {path}; check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not a valid TOML file ({error}); correct the file") from None
    known = [field.name for field in fields(StudyOptions)]
    values = {key.replace("-", "_"): value for key, value in content.items()}
    for key, value in values.items():
        if key not in known:
            raise StudyError(f"{path}: unknown key {key!r}{suggest(key, known)}")
        values[key] = _checked(path, key, value)
    missing = [key for key in ("data", "methods") if key not in values]
    if missing:
        raise StudyError(f"{path}: the key {missing[0]!r} is missing; add it")
    return StudyOptions(**values)


def _checked(path: Path, key: str, value: Any) -> Any:
    kind, expected = _KINDS.get(key, (bool, "true or false"))
    values = value if key in _LISTS and isinstance(value, list) else [value]
    wrong = [v for v in values if not isinstance(v, kind) or (kind is not bool and isinstance(v, bool))]
    if wrong or (key in _LEAST and value < _LEAST[key]) or (key == "jobs" and value == 0):
        raise StudyError(f"{path}: {key} is {value!r}; expected {expected}")
    return values if key in _LISTS else value
