"""Explain rows of a study in the job that fits the model of their fold.

All methods explain the same rows of a dataset, so that they can be compared. The rows are drawn with the folds of the
first seed, so each model is fitted once. Explanations are stored next to the journals, one file per job.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan._io.files import atomic_write, safe_file_name
from hietan.evaluation._outputs.report_data import FoldEffects, Reasons, compact, fold_effects
from hietan.exceptions import StudyError
from hietan.scores.cross_validation import Label, rows_for

# How many rows of a dataset are explained, at most and at least, and how many explanations a study has.
MOST_ROWS, LEAST_ROWS, MOST_EXPLANATIONS = 20, 2, 1000
DRAWN, REQUESTED = "drawn", "asked for"
STRONGEST = 20
"""The number of contributions that a readable explanation lists."""


def draw_rows_to_explain(y: Any, n: int, seed: int) -> list[int]:
    """Return `n` rows, drawn at random from all classes in turn.

    >>> y = np.array([0] * 90 + [1] * 10)
    >>> np.bincount(y[draw_rows_to_explain(y, 8, seed=0)]).tolist()
    [4, 4]
    """
    rng = np.random.default_rng(seed)
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    turns = np.empty(len(codes), dtype=np.int64)
    for k in range(len(labels)):
        rows = np.flatnonzero(codes == k)
        turns[rng.permutation(rows)] = np.arange(len(rows))
    drawn: list[int] = np.lexsort((codes, turns))[:n].tolist()
    return drawn


def refuse_unknown_rows(names: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> None:
    """Raise StudyError if a requested row name occurs in none of the datasets, given as names of rows by dataset."""
    everyone = {name for of_dataset in names.values() for name in of_dataset}
    unknown = [name for name in wanted if name not in everyone]
    if unknown:
        raise StudyError(
            f"no dataset in the study contains row {unknown[0]!r}; use a row id from one of the study's "
            "datasets"
        )


@dataclass(frozen=True, eq=False)
class RowsToExplain:
    """What a job explains with the model of its fold.

    Attributes
    ----------
    rows : tuple of int
        The rows of the fold to explain, by their position in the dataset.
    labels : tuple
        The dataset's class labels, the positive one of two last.
    term_names : sequence of str or None
        The readable names of the columns.
    n_folds : int
        The number of folds with rows to explain, over which the rows for term effects are divided.
    key : str
        A hash of everything else that affects the explanations.
    """

    rows: tuple[int, ...]
    labels: tuple[Label, ...]
    term_names: Sequence[str] | None
    n_folds: int
    key: str


_TEXTS = ("rows", "readable", "reasons", "failure", "key")


@dataclass(frozen=True, eq=False)
class ExplainedFold:
    """The explanations by the model of one fold.

    Attributes
    ----------
    rows : dict of int to dict
        The compact explanation of each row, for reports.
    readable : dict of int to dict
        The strongest contributions of each row and the sum of the others, by name.
    reasons : list of str
        The sentences that the compact explanations refer to by number.
    effects : FoldEffects or None
        The effects of terms in the fold; None unless there are two classes and the method has contributions.
    failure : str
        Why the method failed to explain its rows, in one line; otherwise empty.
    key : str
        The key of `RowsToExplain`.
    """

    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    readable: dict[int, dict[str, Any]] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    effects: FoldEffects | None = None
    failure: str = ""
    key: str = ""

    def to_bytes(self) -> bytes:
        """Return the explanations as a NumPy archive with plain arrays and JSON."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        arrays: dict[str, Any] = {} if self.effects is None else asdict(self.effects)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, texts=np.array(json.dumps(texts)), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> ExplainedFold:
        """Return the explanations from `to_bytes`."""
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        texts = json.loads(str(arrays.pop("texts")))
        effects = None
        if arrays:
            effects = FoldEffects(**{each.name: arrays[each.name] for each in fields(FoldEffects)})
        return cls(
            rows={int(i): shown for i, shown in texts["rows"].items()},
            readable={int(i): shown for i, shown in texts["readable"].items()},
            reasons=texts["reasons"],
            effects=effects,
            failure=texts["failure"],
            key=texts["key"],
        )


def explain_fold(fitted: Any, X: Any, test: NDArray[np.bool_], wanted: RowsToExplain) -> bytes:
    """Explain rows of a fold with the fold's model; see `ExplainedFold.to_bytes`. A failure is part of the result."""
    try:
        return _explain_fold(fitted, X, test, wanted).to_bytes()
    except Exception as error:
        failure = " ".join(f"{type(error).__name__}: {error}".split())
        return ExplainedFold(failure=failure, key=wanted.key).to_bytes()


def _explain_fold(fitted: Any, X: Any, test: NDArray[np.bool_], wanted: RowsToExplain) -> ExplainedFold:
    labels: list[Any] = list(wanted.labels)
    # By default, the second of two classes is explained; not every classifier can explain another one.
    is_default = len(labels) != 2 or labels == sorted(labels)
    target = {} if is_default else {"target": labels[-1]}
    rows = rows_for(fitted, X[list(wanted.rows)])
    explained = fitted.explain(rows, term_names=wanted.term_names, **target)
    explanations = dict(zip(wanted.rows, explained, strict=True))
    reasons = Reasons()
    effects = None
    if len(labels) == 2 and hasattr(fitted, "contributions"):
        effects = fold_effects(fitted, rows_for(fitted, X, test), wanted.n_folds, target)
    return ExplainedFold(
        rows={i: compact(explanation, reasons) for i, explanation in explanations.items()},
        readable={i: _readable(explanation) for i, explanation in explanations.items()},
        reasons=reasons.texts,
        effects=effects,
        key=wanted.key,
    )


def _readable(explanation: Any) -> dict[str, Any]:
    amounts = np.asarray(explanation.amounts)
    strongest = np.argsort(-np.abs(amounts), kind="stable")
    listed, rest = strongest[:STRONGEST], strongest[STRONGEST:]
    shortened = replace(explanation, contributions=explanation.contributions.at(listed.tolist()), removed=())
    content: dict[str, Any] = shortened.to_dict()
    content.pop("row", None)  # its number within the fold
    content["removed"] = len(explanation.removed)
    content["others"] = {"features": len(rest), "contribution": float(amounts[rest].sum())}
    return content


# ------------------------------------------------------------------ files


def explained_path(folder: Path, dataset: str, method: str, fold: int) -> Path:
    """Return where a job's explanations are stored."""
    return folder / "jobs" / safe_file_name(dataset) / safe_file_name(method) / f"explained-{fold}.npz"


def write_explained(path: Path, explained: bytes) -> None:
    """Store a job's explanations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, explained)


def read_explained(path: Path, wanted: RowsToExplain) -> ExplainedFold | None:
    """Return a job's explanations of the wanted rows, or None if they are not stored or the file is damaged."""
    try:
        explained = ExplainedFold.from_bytes(path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if explained.key != wanted.key:
        return None
    if explained.failure:
        return explained
    if not set(wanted.rows) <= explained.rows.keys():
        return None
    return replace(
        explained,
        rows={i: explained.rows[i] for i in wanted.rows},
        readable={i: explained.readable[i] for i in wanted.rows},
    )
