"""Train a model: score rows with models that did not see them, then fit the classifier to all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from hietan.datasets import Dataset
from hietan.models.model import BEST_GMEAN, Model, TrainingRows
from hietan.models.names import HashedNames, RowNames
from hietan.scores.cross_validation import class_codes, class_names, configure, fold_of_rows, pool, score_fold
from hietan.scores.lifts import LEAST_POSITIVES
from hietan.scores.rates import hash_features
from hietan.scores.scores import Scores

FOLDS = 5
HELD_OUT = 50_000
"""The largest number of rows to hold out in a single split, unless a rare class needs more."""
LARGEST_ERROR = 0.01
"""The standard error of AUC below which a single split replaces cross-validation."""
Progress = Callable[[int, int], None]
"""A function that is called with the number of finished steps and the number of all steps."""
_KEPT = ("origin", "files", "versions", "options", "aliases")  # of the provenance of the training data


def train_model(
    estimator: Any,
    data: Dataset,
    *,
    method: str = "",
    seed: int = 0,
    validate: bool = True,
    folds: int | None = None,
    threshold: float | str | None = None,
    row_noun: str | None = None,
    positive: str | None = None,
    fdr: str = "cv",
    unlabelled: str | None = None,
    row_names: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Fit a classifier to a dataset, then validate and calibrate it on held-out rows.

    Parameters
    ----------
    estimator : classifier of this package
        It is cloned. A `hierarchy` that is None is set to the dataset's, and a `random_state` that is None to the seed.
    data : Dataset
        The rows with their classes.
    method : str
        The method's name, stored with the model [default: the class name].
    seed : int
        The seed for the classifier's random choices and the folds.
    validate : bool
        Whether to hold out rows, from which the model's quality and calibration are computed. Without held-out rows,
        the model has neither.
    folds : int or None
        The number of cross-validation folds in which rows are held out. With 1, rows are held out once: a model of
        the other rows predicts a fifth of the rows, at most 50,000 unless a class is rare. None means 1 if
        the standard error of AUC is then below 0.01 (as with 18,200 rows of two classes of the same size), otherwise
        5.
    threshold : float, "gmean" or None
        The lowest probability (calibrated, if rows are held out) for predicting the positive of two classes, or
        "gmean" to choose the threshold with the highest GMean on held-out rows. With None, the classifier predicts
        its most probable class.
    row_noun : str, optional
        The word for a row [default: the dataset's word].
    positive : str, optional
        The positive class: rows are ranked by its log-odds, and the validation refers to it [default:
        `Dataset.positive`].
    fdr : {"cv", "split"}
        The source of false discovery rates. "cv": the validation, as specified by `folds`; the model is fitted to all
        rows. "split": a third of the rows, held out once, for the validation, the calibration and the rates; the
        model is fitted to the others, so that the rates are proven. All rows count as training rows of the model.
    unlabelled : str, optional
        The class whose rows are unlabelled: a mixture of positives and others. The model learns to distinguish the
        positives from this class. `rank_rows` ranks its rows, each with a model that did not see the row. Rows are
        always held out by folds, and no metric counts an unlabelled row as wrong.
    row_names : bool
        Whether the model stores the names of the training rows. If not, it stores sorted hashes of them, which are not
        linked to labels or scores, so that training rows are still recognised.
    progress : callable, optional
        Called with the number of finished fits and the total number of fits.

    Raises
    ------
    ValueError
        If the dataset has no labels; the threshold is not a probability, or is given for more than two classes; the
        folds are not a number above 0, or cannot be made; or an option does not apply to unlabelled rows.

    Examples
    --------
    >>> from hietan import HieTAN
    >>> from hietan.datasets import make_hierarchical_classification
    >>> model = train_model(HieTAN(), make_hierarchical_classification(100, 30, random_state=0))
    >>> model, model.quality["class_rows"]
    (<Model: HieTAN, trained on 100 rows of synthetic>, [50, 50])
    """
    if not data.is_labelled:
        raise ValueError(
            f"{data.name or 'the dataset'} has no labels to learn from; fit a model to a labelled dataset, and "
            "use that model to rank these rows"
        )
    present = [data.target_names[label] for label in np.unique(data.y)]
    if len(present) < 2:
        raise ValueError(
            f"all {len(data.y)} {data.row_noun}s in {data.name or 'the dataset'} have the class {present[0]!r}; add "
            f"{data.row_noun}s of another class, because a model needs two classes"
        )
    check_threshold(threshold, len(present), validate)
    check_folds(folds, validate, fdr)
    if unlabelled is not None:
        positive = _known_class(data, present, unlabelled, positive)
        prior = getattr(estimator, "class_prior", None)
        check_unlabelled(folds, validate, fdr, threshold, prior, row_names)
        folds = folds or FOLDS
    if positive is not None and positive not in ("", *present):
        raise ValueError(f"positive is {positive!r:.80}; expected one of the classes {', '.join(present)}")
    if not positive and (data.positive in present or len(present) == 2):
        positive = data.positive if data.positive in present else replace(data, positive="").positive
    positive = positive or ""
    classifier = configure(estimator, data.hierarchy, seed)
    is_split = fdr == "split"
    held_out = None
    if validate:
        held_out = score_held_out(
            classifier, data, seed, progress, folds=folds, split=is_split, positive=positive
        )
    if unlabelled is not None and (held_out is None or held_out.log_proba is None):
        raise ValueError(
            f"each unlabelled {data.row_noun} is ranked by a model that did not see it, which needs held-out "
            f"probabilities; use a classifier with predict_proba and at least two {data.row_noun}s of each "
            "class"
        )
    fitted_rows: Any = slice(None)
    if is_split and held_out is not None and held_out.rows is not None:
        fitted_rows = np.setdiff1d(np.arange(len(data.y)), held_out.rows)
    names = RowNames.of(data)
    model = Model(
        classifier=classifier,
        feature_names=data.feature_names,
        class_names=tuple(data.target_names[label] for label in np.unique(data.y)),
        positive=positive,
        training=TrainingRows(
            names=names if row_names else HashedNames.of(names),
            labels=np.unique(data.y, return_inverse=True)[1],
            features=hash_features(data.X),
            annotations=np.asarray(data.X.sum(axis=1, dtype=np.int64)).ravel(),
        ),
        held_out=held_out,
        is_split=is_split,
        threshold=threshold if threshold in (None, BEST_GMEAN) else float(threshold),
        unlabelled=unlabelled or "",
        dataset=data.name,
        method=method or type(classifier).__name__,
        seed=seed,
        row_noun=row_noun or data.row_noun,
        term_names=() if data.term_names == data.feature_names else data.term_names,
        provenance=_kept_provenance(data, row_names),
    )
    _check_threshold_of(model)
    classifier.fit(data.X[fitted_rows], data.y[fitted_rows])
    return model


def _kept_provenance(data: Dataset, row_names: bool) -> dict[str, Any]:
    """Return what a model keeps of the provenance. Files in folders may be named after rows, such as phenopackets."""
    kept = {key: data.provenance[key] for key in _KEPT if key in data.provenance}
    if not row_names and "files" in kept:
        kept["files"] = {name: content for name, content in kept["files"].items() if "/" not in name}
    return kept


def _check_threshold_of(model: Model) -> None:
    """Raise ValueError for a threshold that the held-out scores do not support."""
    held_out = model.held_out
    if model.threshold is not None and held_out is not None and held_out.log_proba is None:
        raise ValueError(
            f"{type(model.classifier).__name__} has no probabilities, so a threshold cannot be used; omit it, or use a "
            "classifier with predict_proba"
        )
    if model.threshold == BEST_GMEAN and held_out is None:
        raise ValueError(
            "the threshold cannot be tuned, because a class has fewer than two rows; add rows of that "
            "class, or set a number"
        )
    if isinstance(model.threshold, float) and held_out is not None and model.calibration is None:
        raise ValueError(
            f"the threshold {model.threshold} cannot be used, because the model does not separate the classes "
            "(calibrated probabilities do not rise with the log-odds); omit the threshold"
        )


def rows_to_hold_out(y: NDArray[Any]) -> tuple[int, bool]:
    """Return how many rows to hold out in a single split, and whether a single split can replace cross-validation.

    A fifth of the rows are held out, but at most `HELD_OUT`, or as many as a rare class needs. They are enough if the
    standard error of AUC is at most `LARGEST_ERROR` for any AUC.

    >>> rows_to_hold_out(np.arange(200_000) % 2), rows_to_hold_out(np.arange(2_000) % 2)
    ((40000, True), (400, False))
    """
    shares = np.sort(np.unique(y, return_counts=True)[1]) / len(y)
    # Hanley & McNeil (1982): with m and n rows of two classes, the variance is at most (1 / m + 1 / n) / 11.
    needed = float((1 / shares[:2]).sum()) / (11 * LARGEST_ERROR**2)
    fifth = len(y) // 5
    return min(fifth, max(HELD_OUT, int(np.ceil(needed)))), needed <= fifth


def score_held_out(
    classifier: Any,
    data: Dataset,
    seed: int,
    progress: Progress | None = None,
    *,
    folds: int | None = None,
    split: bool = False,
    positive: str = "",
) -> Scores | None:
    """Score each row with a classifier that was fitted to other rows.

    Parameters
    ----------
    classifier : classifier
        The classifier; it is cloned.
    data : Dataset
        The rows with their classes.
    seed : int
        The seed for the folds.
    progress : callable, optional
        Called after each fit with the number of fits so far, and the number of all fits, including the final one.
    folds : int or None
        The number of folds; fewer if a class has fewer rows. 1 holds out some rows once. None means 1 if that is enough
        (see `rows_to_hold_out`), otherwise `FOLDS`.
    split : bool
        Whether to hold out a third of the rows, once.
    positive : str
        The positive class of the scores [default: the dataset's].

    Returns
    -------
    Scores or None
        None if a class has fewer than two rows.
    """
    counts = np.unique(data.y, return_counts=True)[1]
    rarest = int(counts.min())
    if len(counts) < 2 or (rarest < 2 and not split):
        return None
    size, is_enough = rows_to_hold_out(data.y)
    if folds is None:
        folds = 1 if is_enough else FOLDS
    if folds == 1 or split:
        fold = _one_part(data, len(data.y) // 3 if split else size, seed)
    else:
        fold = fold_of_rows(data.y, min(int(folds), rarest), seed, names=data.target_names)
    names = class_names(data, positive)
    n_folds = int(fold.max()) + 1
    parts = []
    for k in range(n_folds):
        parts.append(score_fold(classifier, data.X, data.y, fold == k, names))
        if progress is not None:
            progress(k + 1, n_folds + 1)
    held_out = np.flatnonzero(fold >= 0)
    pooled = pool(parts, fold[held_out], class_codes(data.y, names)[held_out])
    return replace(pooled, rows=held_out)


def _one_part(data: Dataset, size: int, seed: int) -> NDArray[np.int64]:
    """Return 0 for each of the `size` rows to hold out once, and -1 for the others."""
    labels, counts = np.unique(data.y, return_counts=True)
    if counts.min() < 10:  # two of them are held out: one for each half when the calibration is judged
        raise ValueError(
            "a single split needs 10 rows of each class, but class "
            f"{data.target_names[labels[counts.argmin()]]!r} has only {counts.min()}; cross-validate instead "
            "(omit --fdr-split or fdr='split', and set --folds to 2 or more)"
        )
    split = StratifiedShuffleSplit(1, test_size=size, random_state=seed)
    fold = np.full(len(data.y), -1, dtype=np.int64)
    fold[next(split.split(np.zeros((len(data.y), 1)), data.y))[1]] = 0
    return fold


def _known_class(data: Dataset, present: Sequence[str], unlabelled: str, positive: str | None) -> str:
    """Return the class that is not the unlabelled class.

    Raise ValueError if it does not exist or has too few rows.
    """
    others = data.provenance.get("options", {}).get("others")
    if others in present and unlabelled in present and unlabelled != others:
        raise ValueError(
            f"unlabelled is {unlabelled!r:.80}, but rows without a label have the class {others!r:.80}; use that "
            "class (--unlabelled)"
        )
    if len(present) != 2 or unlabelled not in present:
        raise ValueError(
            f"unlabelled is {unlabelled!r:.80}; expected one of exactly two classes, but the dataset's classes "
            f"are {', '.join(present)}"
        )
    known = present[present[0] == unlabelled]
    if positive not in (None, known):
        raise ValueError(f"positive is {positive!r:.80}, but the known class is {known!r:.80}; omit positive")
    n_known = int(np.sum(data.y == data.target_names.index(known)))
    if n_known < LEAST_POSITIVES:
        raise ValueError(
            f"there are only {n_known} {data.row_noun}s of class {known!r:.80}; learning from positive and "
            f"unlabelled {data.row_noun}s needs at least {LEAST_POSITIVES}"
        )
    return known


def check_unlabelled(
    folds: int | None,
    validate: bool,
    fdr: str,
    threshold: float | str | None,
    class_prior: Any,
    row_names: bool = True,
) -> None:
    """Raise ValueError for options that do not apply to unlabelled rows."""
    reasons = {
        "--folds 1": folds == 1
        and "each unlabelled row is ranked by a model that did not see it; use 2 or more",
        "--no-validate": not validate and "each unlabelled row is ranked by a model that did not see it",
        "--fdr-split": fdr == "split"
        and "a false discovery rate would count undiscovered positives as wrong",
        "--threshold": threshold is not None
        and "a class is not predicted, because unlabelled is not a class",
        "--class-prior": class_prior is not None
        and "give the share of positives with `hietan predict --prior`",
        "--no-row-names": not row_names
        and "a row's name finds the log-odds from the model that did not see it",
    }
    for option, reason in reasons.items():
        if reason:
            raise ValueError(f"{option} does not apply to unlabelled rows, so omit it ({reason})")


def check_threshold(threshold: float | str | None, n_classes: int, validate: bool) -> None:
    """Raise ValueError for a threshold that `train_model` does not accept."""
    if threshold is None:
        return
    if threshold != BEST_GMEAN and (isinstance(threshold, str) or not 0 < threshold < 1):
        raise ValueError(
            f"threshold is {threshold!r}; expected a probability between 0 and 1, or {BEST_GMEAN!r} to choose "
            "the threshold"
        )
    if threshold == BEST_GMEAN and not validate:
        raise ValueError(
            f"the threshold {BEST_GMEAN!r} is chosen during validation, which is switched off; switch it on, or "
            "set a number"
        )
    if n_classes != 2:
        raise ValueError(f"a threshold needs two classes, but there are {n_classes}; omit the threshold")


def check_folds(folds: int | None, validate: bool, fdr: str = "cv") -> None:
    """Raise ValueError for folds or hold-out options that `train_model` does not accept."""
    if fdr not in ("cv", "split"):
        raise ValueError(f"fdr is {fdr!r}; expected 'cv', or 'split' to hold out a third of the rows")
    if fdr == "split" and (folds is not None or not validate):
        raise ValueError(
            "fdr='split' (--fdr-split) validates the model on a third of the rows; omit folds and "
            "--no-validate"
        )
    if folds is None:
        return
    if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 1:
        raise ValueError(
            f"folds is {folds!r}; expected 2 or more folds, or 1 to hold out a single part of the rows"
        )
    if not validate:
        raise ValueError(
            f"folds is {folds}, but validation is switched off; omit folds, or switch on validation"
        )
