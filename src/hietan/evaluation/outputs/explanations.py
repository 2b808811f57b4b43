"""Which rows of a study are explained, and by what: the only place that chooses rows and fits models to explain them.

All methods explain the same rows of a dataset, so that they can be compared. Each row is explained by the model of the
fold in which it was set aside, fitted again, for the first seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone

from hietan._io import atomic_write, safe_file_name, to_json
from hietan._runtime.parallel import run_ordered
from hietan._runtime.thread_limits import one_thread
from hietan.evaluation.cross_validation import PooledPredictions
from hietan.evaluation.dataset_view import DatasetView
from hietan.evaluation.outputs.compact import SHOWN_EDGES
from hietan.evaluation.outputs.details import DatasetDetails, ExplainedRows
from hietan.evaluation.outputs.effects import TermEffects
from hietan.evaluation.outputs.file_names import method_stem
from hietan.evaluation.outputs.one_row import (
    MOST_TRIES,
    TRIES_IN_ALL,
    find_flip,
    promising_columns,
    telling_columns,
)
from hietan.evaluation.study.plan import Study
from hietan.evaluation.study.results import StudyResults
from hietan.exceptions import StudyError

FOLDER = "explanations"
# How many rows of a dataset are explained, at most and at least, and how many explanations there are in a study.
MOST_ROWS, LEAST_ROWS, MOST_EXPLANATIONS = 20, 2, 1000
STRONGEST = 20


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """The rows of a dataset that are explained.

    Attributes
    ----------
    study : Study
        The study, which holds the data and the methods.
    dataset : str
        The name of the dataset.
    why : dict of int to str
        The rows, and why each of them was chosen.
    predictions : mapping of str to PooledPredictions
        For each method that offers `explain`, by key: its predictions in the first seed.
    """

    study: Study
    dataset: str
    why: dict[int, str]
    predictions: Mapping[str, PooledPredictions]

    @property
    def view(self) -> DatasetView:
        """The names in the dataset."""
        return self.study.view(self.dataset)

    def explain(self, key: str, *, in_detail: bool = False) -> ExplainedRows:
        """What a method says about the rows; its models are fitted for it.

        If `in_detail`, also how the trees of the rows were learned and which terms matter, if the method can say so.
        """
        model = self.study.model(self.dataset, key, self.study.seeds[0])
        data = self.study.datasets[self.dataset]
        return _explain(
            model, data, self.predictions[key].fold, list(self.why), self._tries if in_detail else None
        )

    @property
    def _tries(self) -> int:
        """How many changes may be tried for each row of each method."""
        n_explanations = len(self.study.datasets) * len(self.predictions) * len(self.why)
        return min(MOST_TRIES, TRIES_IN_ALL // max(1, n_explanations))


def write_explanations(
    results: StudyResults,
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    readable: bool = True,
    details: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Explain the rows that the methods are most confident about, correctly or not, and those that are requested.

    Parameters
    ----------
    results : StudyResults
        The results of a study.
    folder : Path
        The directory of the study.
    wanted : sequence of str
        The names of further rows to explain, in every dataset that has them.
    readable : bool
        Whether to write `explanations/DATASET/METHOD.json` for every method that offers `explain`: the strongest
        contributions and the sum of the others, in JSON that people can read.
    details : bool
        Whether to write `details/DATASET.json` for every dataset: what a report shows about it. Each model is fitted
        once for both.
    n_jobs : int or None
        The number of methods that are explained at a time, in threads, as in joblib. The files do not depend on it.
    progress : callable, optional
        Called with the number of datasets that are done and the number of all datasets.

    Returns
    -------
    list of Path
        The files.

    Warns
    -----
    RuntimeWarning
        If a method fails to explain its predictions; it is left out.
    """
    written = []
    chosen = choose_study_rows(results, wanted)
    for n_done, rows in enumerate(chosen):
        if progress is not None:
            progress(n_done, len(chosen))
        shown = DatasetDetails(rows.dataset, rows.view, rows.why)
        explained = run_ordered(
            partial(_explain_or_fail, rows, details), [(key,) for key in rows.predictions], n_jobs
        )
        for key, found in zip(rows.predictions, explained, strict=True):
            text = _add_method(rows, key, found, readable, shown if details else None)
            if text is not None:
                name = f"{method_stem(results.study.methods[key])}.json"
                path = folder / FOLDER / safe_file_name(rows.dataset) / name
                atomic_write(path, text)
                written.append(path)
        if details:
            written.append(shown.write(folder))
    if progress is not None:
        progress(len(chosen), len(chosen))
    return written


def _explain_or_fail(rows: ChosenRows, in_detail: bool, key: str) -> ExplainedRows | str:
    """What a method says about rows, or why it cannot; it must not cost the others theirs."""
    try:
        with one_thread():
            return rows.explain(key, in_detail=in_detail)
    except Exception as error:
        return _in_one_line(error)


def _add_method(
    rows: ChosenRows, key: str, found: ExplainedRows | str, readable: bool, shown: DatasetDetails | None
) -> str | None:
    """Add what a method says to the details, if there are any, and return the text of its file.

    A method that fails to explain what it predicted is left out with a warning.
    """
    text, failure = None, found if isinstance(found, str) else None
    if not isinstance(found, str):
        try:
            text = to_json(_readable(rows, key, found.explanations)) if readable else None
            if shown is not None:
                shown.add(key, found)
        except Exception as error:
            text, failure = None, _in_one_line(error)
    if failure is not None:
        if shown is not None:
            shown.discard(key)
        warnings.warn(
            f"dataset {rows.dataset}: method {key!r} has no explanations, because it failed to explain its "
            f"predictions ({failure}); everything else is written",
            RuntimeWarning,
            stacklevel=3,
        )
    return text


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def write_details(
    results: StudyResults,
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write `details/DATASET.json` for every dataset of a study: what its report shows beyond the tables.

    The parameters are those of `write_explanations`.
    """
    options: dict[str, Any] = {"wanted": wanted, "n_jobs": n_jobs, "progress": progress}
    return write_explanations(results, folder, readable=False, details=True, **options)


def refuse_unknown_rows(datasets: Iterable[Any], wanted: Sequence[str]) -> None:
    """Raise StudyError if none of the datasets has a row of one of these names."""
    everyone = {name for data in datasets for name in DatasetView(data).instance_names}
    unknown = [name for name in wanted if name not in everyone]
    if unknown:
        raise StudyError(f"no dataset of the study has a row {unknown[0]!r}")


def choose_study_rows(results: StudyResults, wanted: Sequence[str] = ()) -> list[ChosenRows]:
    """Choose the rows to explain in every dataset of a study; raises StudyError if no dataset has a requested row."""
    study = results.study
    names = {name: study.view(name).instance_names for name in study.datasets}
    refuse_unknown_rows(study.datasets.values(), wanted)
    explaining = [key for key, method in study.methods.items() if hasattr(method.estimator, "explain")]
    n = max(LEAST_ROWS, min(MOST_ROWS, MOST_EXPLANATIONS // (len(study.datasets) * max(1, len(explaining)))))
    chosen = []
    for dataset in study.datasets:
        found = {key: results.predictions.get((dataset, key, study.seeds[0])) for key in explaining}
        pooled = {key: predictions for key, predictions in found.items() if predictions is not None}
        why = select_rows(list(pooled.values()), names[dataset], wanted, n)
        chosen.append(ChosenRows(study, dataset, why, pooled))
    return chosen


def select_rows(
    pooled: Sequence[PooledPredictions], names: Sequence[str], wanted: Sequence[str], n: int
) -> dict[int, str]:
    """Which rows to explain, and why: the most confident correct and incorrect predictions, and the requested rows.

    Half of the `n` rows are of each kind. The confidence of the methods in a row is the mean, over the methods, of the
    row's rank by the log-odds of its true class; a row is correct if most methods predict it correctly. Ties are broken
    by the order of the rows.
    """
    known = [p for p in pooled if p.log_proba is not None]
    chosen: dict[int, str] = {}
    if known:
        sure = np.mean([rankdata(_margin(p)) for p in known], axis=0)
        right = np.mean([p.y_pred == p.y_true for p in known], axis=0) > 0.5
        for kind, order in (
            ("right", np.argsort(-sure, kind="stable")),
            ("wrong", np.argsort(sure, kind="stable")),
        ):
            rows = order[right[order] == (kind == "right")]
            chosen |= {int(i): f"sure and {kind}" for i in rows[: n // 2]}
    return chosen | {i: "asked for" for i, name in enumerate(names) if name in set(wanted)}


def _margin(pooled: PooledPredictions) -> Any:
    """ln P(true class) - ln P(the most probable other class)."""
    truth = np.searchsorted(np.unique(pooled.y_true), pooled.y_true)
    logs = np.maximum(np.asarray(pooled.log_proba), -1e9)
    rows = np.arange(len(truth))
    others = logs.copy()
    others[rows, truth] = -np.inf
    return logs[rows, truth] - others.max(axis=1)


def _explain(
    model: Any, data: Any, fold_of_row: NDArray[np.int64], rows: list[int], tries: int | None
) -> ExplainedRows:
    """What the models of the folds of the rows say; in detail, unless `tries` is None.

    Terms are judged by all rows of these folds, and of the others if these are at least half of all: few models more
    are fitted then. `tries` is the number of changes to try for each row.
    """
    found = ExplainedRows()
    folds, every_fold = sorted({int(fold_of_row[i]) for i in rows}), np.unique(fold_of_row).tolist()
    effects = None
    if tries is not None and len(np.unique(data.y)) == 2 and folds and hasattr(model, "contributions"):
        folds = every_fold if 2 * len(folds) >= len(every_fold) else folds
        effects = TermEffects(data.X.shape[1], len(folds))
    for fold in folds:
        train = np.flatnonzero(fold_of_row != fold)
        fitted = clone(model).fit(data.X[train], data.y[train])
        here = [i for i in rows if fold_of_row[i] == fold]
        if here:
            explanations = fitted.explain(data.X[here], term_names=getattr(data, "term_names", None))
            found.explanations.update(zip(here, explanations, strict=True))
        if tries is None:
            continue
        found.training.update(dict.fromkeys(here, train))
        telling = telling_columns(data.X[train], data.y[train])
        found.flips.update({i: _flip(fitted, data, i, found, telling, tries) for i in here})
        if hasattr(fitted, "trace"):
            found.traces.update({i: fitted.trace(data.X[[i]], limit=SHOWN_EDGES) for i in here})
        if effects is not None:
            effects.add_fold(fitted, data.X[np.flatnonzero(fold_of_row == fold)])
    return found if effects is None else replace(found, effects=effects.content())


def _flip(
    fitted: Any, data: Any, row: int, found: ExplainedRows, telling: Sequence[int], tries: int
) -> dict[str, Any] | None:
    """What would change the class of a row."""
    explanation = found.explanations[row]
    column_of = {name: j for j, name in enumerate(explanation.hierarchy.features)}
    order = promising_columns(explanation, column_of, telling)
    values = data.X[[row]]
    dense = np.asarray(values.toarray() if hasattr(values, "toarray") else values)[0]
    return find_flip(fitted, dense, explanation.hierarchy, order, tries)


def _readable(rows: ChosenRows, key: str, explanations: Mapping[int, Any]) -> list[dict[str, Any]]:
    """The explanations of one method in the order in which the rows were chosen."""
    names, pooled = rows.view.instance_names, rows.predictions[key]
    return [
        {
            "instance": names[i],
            "why": why,
            "fold": int(pooled.fold[i]),
            "y_true": pooled.y_true[i].item(),
            **_shortened(explanations[i].to_dict()),
        }
        for i, why in rows.why.items()
    ]


def _shortened(content: dict[str, Any]) -> dict[str, Any]:
    parts = sorted(content.pop("contributions"), key=lambda part: -abs(part["contribution"]))
    rest = parts[STRONGEST:]
    content.pop("row", None)  # its number within the fold
    content["removed"] = len(content.get("removed", ()))
    content["contributions"] = parts[:STRONGEST]
    content["others"] = {"features": len(rest), "contribution": sum(part["contribution"] for part in rest)}
    return content
