"""A study's results, computed from its journals, and the files that store them."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hietan._io.files import atomic_write, to_json
from hietan._io.tables import csv_text, read_csv
from hietan._runtime.notebook import card
from hietan._runtime.optional import import_optional
from hietan.evaluation._comparisons import MethodComparison, compare_methods
from hietan.evaluation._outputs.report_data import write_details
from hietan.evaluation._rank_tables import Ranking, SummaryRow, make_rankings, score_rows_html
from hietan.evaluation._study.explaining import ExplainedFold, explained_path, read_explained
from hietan.evaluation._study.journal import Journal, decode_scores, decode_usage, read_manifest
from hietan.evaluation._study.plan import Study
from hietan.evaluation._usage import FeatureUsage, UsageRow
from hietan.exceptions import StudyError
from hietan.scores.bootstrap import Bootstrap, bootstrap_gmean
from hietan.scores.cross_validation import class_codes, pool
from hietan.scores.effect_sizes import ROPE
from hietan.scores.metrics import METRICS, metrics_of
from hietan.scores.scores import Scores

SUMMARY_FORMAT = 1
"""The format of `summary.json`."""
INCOMPLETE = "incomplete.csv"
NOT_RUN = "not run"
"""How the error of a job begins that was not run, because its method had failed in every fold of the first dataset."""


@dataclass(frozen=True)
class Failure:
    """A job that ended in an error."""

    dataset: str
    method: str
    seed: int
    fold: int
    error: str
    traceback: str


@dataclass(frozen=True, eq=False)
class StudyResults:
    """A study's results.

    Attributes
    ----------
    study : Study
        The plan: datasets, methods, folds and seeds.
    summary : tuple of SummaryRow
        A row per dataset, method and seed; a method that failed in a fold has no row for that dataset and seed.
    rankings : tuple of Ranking
        One per tuning, setting and metric: average ranks and tests.
    failures : tuple of Failure
        The jobs that ended in an error.
    predictions : mapping
        (dataset, method key, seed) to Scores.
    usage : mapping
        (dataset, method key) to FeatureUsage, over all seeds in which no job failed; `feature_usage` returns the
        rankings.
    directory : Path or None
        The results directory; None if nothing was stored on disk.
    incomplete : mapping of float to tuple of SummaryRow
        The rows of `summary` by the share of annotations that the held-out rows have lost, 0 included; empty if the
        study predicts complete rows only.
    explained : mapping
        (dataset, method key) to the explanations of the folds of the first seed; empty unless the study explains rows.
    """

    study: Study
    summary: tuple[SummaryRow, ...]
    rankings: tuple[Ranking, ...]
    failures: tuple[Failure, ...]
    predictions: Mapping[tuple[str, str, int], Scores]
    usage: Mapping[tuple[str, str], FeatureUsage]
    directory: Path | None = None
    incomplete: Mapping[float, tuple[SummaryRow, ...]] = field(default_factory=dict)
    explained: Mapping[tuple[str, str], tuple[ExplainedFold, ...]] = field(default_factory=dict)

    @property
    def manifest(self) -> dict[str, Any]:
        """The study as plain values: versions, seeds and fingerprints."""
        return self.study.manifest

    def comparisons(self, *, rope: float = ROPE) -> tuple[MethodComparison, ...]:
        """Compare every method in every ranking with the control, in one tidy table.

        The table contains the tests, the effect sizes and the probabilities of the Bayesian signed-rank test, in
        which differences up to `rope` count as equivalent. ``pandas.DataFrame(results.comparisons())`` makes a data
        frame.
        """
        return tuple(row for rows in self.comparisons_by_ranking(rope=rope) for row in rows)

    def comparisons_by_ranking(self, *, rope: float = ROPE) -> tuple[tuple[MethodComparison, ...], ...]:
        """Return the rows of `comparisons` for each ranking. The rows are computed only once."""
        if rope not in self._compared:
            self._compared[rope] = tuple(
                tuple(compare_methods(ranking, self.bootstrap(ranking), rope=rope))
                for ranking in self.rankings
            )
        return self._compared[rope]

    @property
    def failure_lines(self) -> tuple[str, ...]:
        """A line for each method that failed: on how many datasets it failed, and its first error."""
        found = [(failure.dataset, failure.method, failure.error) for failure in self.failures]
        return _failure_lines(found, self.manifest)

    def to_frame(self) -> Any:
        """Return the summary as a pandas DataFrame: a row per dataset, method and seed, and a column per metric."""
        pandas = import_optional("pandas", extra="frames", purpose="StudyResults.to_frame")
        return pandas.DataFrame([row.values() for row in self.summary], columns=SummaryRow.header())

    def folds_frame(self) -> Any:
        """Return all metrics of each fold as a pandas DataFrame: a row per dataset, method, seed and fold.

        Metrics that do not apply, or need a class that the fold lacks, are NaN.
        """
        pandas = import_optional("pandas", extra="frames", purpose="StudyResults.folds_frame")
        return pandas.DataFrame(list(_fold_lines(self, METRICS)), columns=(*_FOLD, *METRICS))

    def write_tables(self, path: str | Path) -> list[Path]:
        """Write the rankings and tests to ``path/tables`` as CSV, Markdown and LaTeX, and return the files."""
        from hietan.evaluation._outputs.tables import write_tables  # it imports this module

        return write_tables(self, Path(path))

    def write_figures(self, path: str | Path) -> list[Path]:
        """Write the figures to ``path/figures``, and return the files. There are none without matplotlib."""
        from hietan.evaluation._outputs.figures import write_figures  # it imports this module

        return write_figures(self, Path(path))

    def report(self, *, height: int = 720) -> Any:
        """Return the study's report for display in a notebook. Nothing is written to the study's directory.

        Parameters
        ----------
        height : int
            The frame height in pixels.

        Returns
        -------
        hietan.report.InlineReport
        """
        from hietan.report import show_report  # the only import of a later package

        return show_report(self, height=height)

    def __repr__(self) -> str:
        datasets, methods = len(self.study.datasets), len(self.study.methods)
        failed = f", {len(self.failures)} failed jobs" if self.failures else ""
        return (
            f"StudyResults({datasets} datasets, {methods} methods, {self._n_folds()} folds, "
            f"{len(self.study.seeds)} seeds{failed})"
        )

    def _repr_html_(self) -> str:
        counts = {
            "datasets": len(self.study.datasets),
            "methods": len(self.study.methods),
            "folds": self._n_folds(),
            "seeds": len(self.study.seeds),
            "failed jobs": len(self.failures),
        }
        return card("Study", counts, score_rows_html(self.rankings))

    def _n_folds(self) -> int | str:
        """Return the number of folds. Some splitters make more folds for one dataset than for another."""
        numbers = [self.study.n_folds(*which) for which in self.study.folds]
        return max(numbers) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"

    def feature_usage(
        self,
        dataset: str | None = None,
        method: str | None = None,
        *,
        by: str | None = "selected",
        top: int | None = None,
    ) -> tuple[UsageRow, ...]:
        """Return how often each feature is used, ranked as in the paper's Table S1.

        Parameters
        ----------
        dataset : str, optional
            The dataset [default: all of them, one after the other].
        method : str, optional
            The key of the method [default: all methods].
        by : {"selected", "in_edges"} or None
            The count that sorts the features of a dataset and method, the most frequent first: *Freq. of Selection* or
            *Freq. in Edges*. Ties are broken by the other count, then by column order. None keeps the column order.
            Every row has both ranks.
        top : int, optional
            Number of features to return for each dataset and method [default: all].

        Returns
        -------
        tuple of UsageRow
            ``pandas.DataFrame(results.feature_usage())`` makes a data frame.
        """
        rows: list[UsageRow] = []
        for (where, key), usage in self.usage.items():
            if dataset not in (None, where) or method not in (None, key):
                continue
            view, kind = self.study.view(where), self.study.methods[key]
            n_seeds = usage.n_rows // len(view.instance_names)
            which = (where, kind.name, kind.setting, kind.tuning, n_seeds)
            columns = (usage.selected, usage.in_edges, usage.ranks("selected"), usage.ranks("in_edges"))
            selected, in_edges, *ranks = (column.tolist() for column in columns)
            features, names = view.feature_names, view.term_names
            for j in range(len(selected))[:top] if by is None else usage.top(top, by):
                feature = (features[j], names[j])
                counts = (selected[j], in_edges[j], usage.n_rows)
                rows.append(UsageRow(*which, *feature, *counts, *(rank[j] for rank in ranks)))
        return tuple(rows)

    def bootstrap(self, ranking: Ranking) -> Bootstrap | None:
        """Return bootstrap draws for a ranking's methods, or None if the ranking does not use GMean."""
        if ranking.metric != "gmean":
            return None
        which = (ranking.tuning, ranking.setting, ranking.methods)
        if which not in self._drawn:
            self._drawn[which] = _draw_rows(self, ranking)
        return self._drawn[which]

    @cached_property
    def _compared(self) -> dict[float, tuple[tuple[MethodComparison, ...], ...]]:
        return {}

    @cached_property
    def _drawn(self) -> dict[tuple[Any, ...], Bootstrap]:
        return {}


def results_from_journals(study: Study, folder: Path) -> StudyResults:
    """Read a finished study's journals, and compute all results from the journals."""
    shares = (0.0, *study.lose)
    scored: dict[float, dict[tuple[str, str, int], Scores]] = {share: {} for share in shares}
    usage: dict[tuple[str, str], FeatureUsage] = {}
    failures: list[Failure] = []
    for dataset, data in study.datasets.items():
        names = study.class_names[dataset]
        classes, truth = tuple(names.values()), class_codes(data.y, names)
        for key in study.methods:
            jobs = Journal(folder, study.manifest, dataset, key).seal()
            failures += [
                Failure(dataset, key, seed, fold, job["error"], job["traceback"])
                for (seed, fold), job in jobs.items()
                if "error" in job
            ]
            for seed in study.seeds:
                whole = [jobs[seed, fold] for fold in range(study.n_folds(dataset, seed))]
                if any("error" in job for job in whole):
                    continue
                for k, share in enumerate(shares):
                    outcomes = [job["incomplete"][k - 1] if k else job for job in whole]
                    parts = [decode_scores(outcome, classes) for outcome in outcomes]
                    scored[share][dataset, key, seed] = pool(parts, study.folds[dataset, seed], truth)
            counted = [
                part
                for seed in study.seeds
                for part in _usage_of_folds(jobs, seed, study.n_folds(dataset, seed))
            ]
            if counted:
                usage[dataset, key] = sum(counted[1:], counted[0])
    summaries = {share: tuple(_summary_rows(study, found)) for share, found in scored.items()}
    summary = summaries[0]
    about: dict[str, Any] = {
        "groups": study.groups,
        "shared_rows": study.shared_rows,
        "class_weighted": study.class_weighted,
    }
    rankings = make_rankings(summary, names=study.datasets, **about)
    return StudyResults(
        study,
        summary,
        rankings,
        tuple(failures),
        scored[0],
        usage,
        incomplete=summaries if study.lose else {},
        explained=_explained(study, folder),
    )


def _explained(study: Study, folder: Path) -> dict[tuple[str, str], tuple[ExplainedFold, ...]]:
    """Return the stored explanations. A method that failed to explain its predictions has none, with a warning."""
    by_method: dict[tuple[str, str], list[ExplainedFold]] = {}
    for job in study.jobs():
        wanted = study.rows_to_explain(job)
        if wanted is None:
            continue
        explained = read_explained(explained_path(folder, job.dataset, job.method, job.fold), wanted)
        if explained is not None:
            by_method.setdefault((job.dataset, job.method), []).append(explained)
    for (dataset, method), folds in list(by_method.items()):
        failures = [fold.failure for fold in folds if fold.failure]
        if failures:
            del by_method[dataset, method]
            warnings.warn(
                f"dataset {dataset}: method {method!r} has no explanations, because it failed to explain its "
                f"predictions ({failures[0]}); all other results are written",
                RuntimeWarning,
                stacklevel=4,
            )
    return {which: tuple(folds) for which, folds in by_method.items()}


def _usage_of_folds(
    jobs: Mapping[tuple[int, int], Mapping[str, Any]], seed: int, n_folds: int
) -> list[FeatureUsage]:
    """Return the feature usage over all folds of a seed, or None unless it was counted for every row."""
    whole = [jobs[seed, fold] for fold in range(n_folds)]
    return [decode_usage(job) for job in whole] if all("usage" in job for job in whole) else []


def read_summary(folder: str | Path) -> tuple[SummaryRow, ...]:
    """Return the rows of `summary.csv` in a finished study's directory. The file may come from any version."""
    path = Path(folder) / "summary.csv"
    if not path.is_file():
        hint = (
            "its study has not finished, or the file was removed; run the study again to write it"
            if (Path(folder) / "study.json").exists()
            else "it does not contain a study; check the path"
        )
        raise StudyError(f"there is no summary.csv in {folder}, because {hint}")
    try:
        return tuple(map(SummaryRow.from_dict, read_csv(path)))
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        raise StudyError(f"{path} is not a valid study summary ({error}); run the study again") from None


def read_incomplete(folder: str | Path) -> dict[float, list[SummaryRow]]:
    """Return the rows of `incomplete.csv` by share of lost annotations. Without this file, the result is empty."""
    path, found = Path(folder) / INCOMPLETE, dict[float, list[SummaryRow]]()
    for line in read_csv(path) if path.is_file() else ():
        found.setdefault(float(line["share_lost"]), []).append(SummaryRow.from_dict(line))
    return found


def read_failure_lines(folder: str | Path) -> tuple[str, ...]:
    """Return a study's `StudyResults.failure_lines` from its directory."""
    path = Path(folder) / "failures.csv"
    lines = read_csv(path) if path.is_file() else ()
    found = [(line["dataset"], line["method"], line["error"]) for line in lines]
    return _failure_lines(found, read_manifest(Path(folder))) if found else ()


def _failure_lines(failures: Sequence[tuple[str, str, str]], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Describe each method's failures, which are given as (dataset, method key, error)."""
    name_of = {key: key.partition(" @ ")[0] for key in manifest["methods"]}
    names, n = list(name_of.values()), len(manifest["datasets"])
    described = []
    for key in dict.fromkeys(key for _, key, _ in failures):
        own = [(dataset, error) for dataset, method, error in failures if method == key]
        (first, error), n_failed = own[0], len({dataset for dataset, _ in own})
        is_stopped = any(text.startswith(NOT_RUN) for _, text in own)
        name = name_of[key] if names.count(name_of[key]) == 1 else key
        stopped = f" (every fold of {first} failed, so it was not run on the others)" if is_stopped else ""
        described.append(f"{name} failed on {n_failed} of {n} datasets{stopped}: {error:.300}")
    return tuple(described)


def read_relations(folder: str | Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return each dataset's group, and the datasets that share its rows, from a study's directory."""
    manifest = read_manifest(Path(folder))
    return dict(manifest["groups"]), dict(manifest["shared_rows"])


def write_results(results: StudyResults, folder: Path) -> None:
    """Write all result files. Each file is replaced as a whole."""
    write_csv(folder / "summary.csv", SummaryRow.header(), [row.values() for row in results.summary])
    if results.incomplete:
        lines = ([share, *row.values()] for share, rows in results.incomplete.items() for row in rows)
        write_csv(folder / INCOMPLETE, ("share_lost", *SummaryRow.header()), lines)
    is_partly_tested = results.study.equal_rows == "not-tested"
    header = (*PREDICTIONS, "tested") if is_partly_tested else PREDICTIONS
    write_csv(folder / "predictions.csv", header, _prediction_lines(results, is_partly_tested))
    write_csv(folder / "folds.csv", (*_FOLD, *_FOLD_METRICS), _fold_lines(results, _FOLD_METRICS))
    used = [row.values() for row in results.feature_usage(by=None)]
    write_csv(folder / "feature_usage.csv", UsageRow.header(), used)
    write_csv(folder / "bootstrap.csv", BOOTSTRAP, _bootstrap_lines(results))
    write_rankings(results.rankings, folder)
    compared = [row.values() for row in results.comparisons()]
    write_csv(folder / "comparisons.csv", MethodComparison.header(), compared)
    if results.study.explain:
        write_details(results, folder)
    failures = [[f.dataset, f.method, f.seed, f.fold, f.error] for f in results.failures]
    write_csv(folder / "failures.csv", ("dataset", "method", "seed", "fold", "error"), failures)
    atomic_write(folder / "failures.txt", "\n".join(_tracebacks(results.failures)))
    atomic_write(folder / "summary.json", to_json(summarise(results)))


def write_rankings(rankings: Sequence[Ranking], folder: Path) -> None:
    """Write `ranks.csv` and `tests.csv`."""
    write_csv(folder / "ranks.csv", Ranking.RANKS, [line for r in rankings for line in r.rank_lines()])
    write_csv(folder / "tests.csv", Ranking.TESTS, [line for r in rankings for line in r.test_lines()])


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, with full-precision floats, empty cells for missing values, and text that is safe in
    spreadsheets.
    """
    atomic_write(path, csv_text(header, rows))


def summarise(results: StudyResults) -> dict[str, Any]:
    """Return everything except the predictions as plain values, which is the content of `summary.json`.

    `docs/summary.schema.json` describes it. The format number increases when an entry changes its meaning or is
    removed, but not for new entries.
    """
    return {
        "format": SUMMARY_FORMAT,
        "study": results.manifest,
        "jobs_failed": len(results.failures),
        "failures": list(results.failure_lines),
        "summary": [
            {
                name: None if value != value else value
                for name, value in zip(row.header(), row.values(), strict=True)
            }
            for row in results.summary
        ],
        "rankings": [ranking.to_dict() for ranking in results.rankings],
    }


# ------------------------------------------------------------------ the lines of the files

_WHICH = ("dataset", "method", "setting", "tuning", "seed")
PREDICTIONS = (*_WHICH, "fold", "instance", "y_true", "y_pred", "log_odds", "probabilities")
_FOLD = (*_WHICH, "fold", "n_rows")
_FOLD_METRICS = ("gmean", "sensitivity", "specificity", "auc")  # the others take ten times as long
_ENDS = ("mean_gmean_low", "mean_gmean_high", "average_rank_low", "average_rank_high")
BOOTSTRAP = ("tuning", "setting", "method", "n_draws", *_ENDS)


def _which(results: StudyResults, dataset: str, key: str, seed: int) -> list[Any]:
    method = results.study.methods[key]
    return [dataset, method.name, method.setting, method.tuning, seed]


def _prediction_lines(results: StudyResults, is_partly_tested: bool) -> Iterable[list[Any]]:
    for (dataset, key, seed), scores in results.predictions.items():
        which = _which(results, dataset, key, seed)
        names = results.study.view(dataset).instance_names
        n = len(names)
        labels = list(results.study.class_names[dataset])
        truth, predicted = ([labels[k] for k in codes] for codes in (scores.truth, scores.predicted))
        odds, proba = [None] * n, [""] * n
        if scores.proba is not None:
            proba = [" ".join(map(repr, p)) for p in scores.proba.tolist()]
            if len(labels) == 2:
                odds = scores.log_odds.tolist()
        columns = [scores.fold.tolist(), names, truth, predicted, odds, proba]
        columns += [results.study.tested[dataset].astype(int).tolist()] if is_partly_tested else []
        for row in zip(*columns, strict=True):
            yield [*which, *row]


def _fold_lines(results: StudyResults, metrics: Iterable[str]) -> Iterable[list[Any]]:
    for (dataset, key, seed), pooled in results.predictions.items():
        which = _which(results, dataset, key, seed)
        scores = pooled.select(results.study.tested[dataset])
        for k in np.unique(scores.fold).tolist():
            of_fold = scores.select(scores.fold == k)
            yield [*which, k, len(of_fold), *metrics_of(of_fold, metrics).values()]


def _bootstrap_lines(results: StudyResults) -> Iterable[list[Any]]:
    """Yield 95% bootstrap intervals, which show sampling error. The spread over seeds shows the noise of the splits."""
    for ranking in results.rankings:
        drawn = results.bootstrap(ranking)
        if drawn is None:
            continue
        ends = np.vstack([drawn.interval(drawn.mean_gmean), drawn.interval(drawn.average_rank)]).T
        for name, row in zip(ranking.methods, ends.tolist(), strict=True):
            yield [ranking.tuning, ranking.setting, name, len(drawn.mean_gmean), *row]


def _draw_rows(results: StudyResults, ranking: Ranking) -> Bootstrap:
    tested = results.study.tested
    rows = {
        name: [
            row
            for row, is_tested in zip(results.study.view(name).instance_names, mask, strict=True)
            if is_tested
        ]
        for name, mask in tested.items()
    }
    scored = {which: pooled.select(tested[which[0]]) for which, pooled in results.predictions.items()}
    keys = [
        key
        for name in ranking.methods
        for key, m in results.study.methods.items()
        if m.name == name and m.tuning == ranking.tuning and m.setting in (ranking.setting, "")
    ]
    return replace(bootstrap_gmean(scored, rows, keys, groups=ranking.groups), methods=ranking.methods)


def _summary_rows(study: Study, predictions: Mapping[tuple[str, str, int], Scores]) -> Iterable[SummaryRow]:
    for (dataset, key, seed), pooled in predictions.items():
        method = study.methods[key]
        scores = pooled.select(study.tested[dataset])
        which = (dataset, method.name, method.setting, method.tuning, seed, len(scores))
        yield SummaryRow(*which, tuple(metrics_of(scores).values()), study.positive_name(dataset))


def _tracebacks(failures: Iterable[Failure]) -> Iterable[str]:
    for f in failures:
        yield f"{f.dataset}, {f.method}, seed {f.seed}, fold {f.fold}\n{f.traceback}"
