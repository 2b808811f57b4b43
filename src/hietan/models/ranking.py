"""Rank a dataset's rows by a model's log-odds. Training rows are listed separately."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io.tables import comment_line, csv_text
from hietan._runtime.optional import import_optional
from hietan.datasets import Dataset
from hietan.datasets._building.options import build_differences
from hietan.exceptions import DataError, DataWarning
from hietan.models import words
from hietan.models.model import Model
from hietan.models.names import KINDS, NO_KIND, NameMatch, RowNames, check_kinds, match_rows
from hietan.scores.rates import Selection, hash_features, select_rows
from hietan.scores.scores import Scores


@dataclass(frozen=True)
class Candidate:
    """A dataset row with its rank.

    `name` is its symbol. A training row has no rank; `training_name` is its name in the training data, `shared_name`
    the name by which it was recognised, and `training_class` its class. `probability` is calibrated if the model is;
    `raw_probability` is the classifier's raw probability, if requested. `p_value` is small if few training rows of
    other classes had such log-odds when they were held out; None without such rows, and for training rows.

    If one class is unlabelled, `lift` is how many times more frequent rows like this one are among positives than
    among unlabelled rows. It is None for known rows, which the model has seen. `probability` is then None unless the
    share of positives was given, and `predicted` is empty. `held_out` is true for unlabelled training rows, whose
    log-odds come from a model that did not see them.
    """

    rank: int | None
    instance: str
    name: str
    log_odds: float
    lift: float | None
    probability: float | None
    p_value: float | None
    predicted: str
    in_training: bool
    held_out: bool
    raw_probability: float | None = None
    training_name: str = ""
    shared_name: str = ""
    training_class: str = ""


@dataclass(frozen=True, eq=False)
class Candidates:
    """A dataset's rows, ranked by a model.

    Attributes
    ----------
    model : Model
        The model.
    data : Dataset
        The dataset, without the rows that were left out.
    X : matrix
        The rows of the dataset with the model's columns, in the model's order.
    scores : Scores
        The rows' scores, in the dataset's order.
    log_odds : array of shape (n,)
        Their log-odds of the positive class, or of the most probable class if there is none.
    matches : tuple of NameMatch or None, length n
        The training row that shares a name with each row, if any.
    raw : bool
        Whether the table also has the raw probabilities.
    unrecognised : str
        A sentence with example names if no row shares a name with a training row; otherwise empty.
    has_symbols : bool
        Whether the rows from which these were selected have symbols.
    selection : Selection or None
        If these are only the rows of a list with a given false discovery rate, the size of the list.
    held_out : bool array of shape (n,), or None
        Which rows are unlabelled training rows, whose log-odds come from a model that did not see them; None if no
        class is unlabelled.
    prior : float or None
        The share of positives among unlabelled rows, if it was given.
    """

    model: Model
    data: Dataset
    X: Any = field(repr=False)
    scores: Scores = field(repr=False)
    log_odds: NDArray[np.float64] = field(repr=False)
    matches: tuple[NameMatch | None, ...] = field(repr=False)
    raw: bool = False
    unrecognised: str = ""
    selection: Selection | None = None
    has_symbols: bool = False
    held_out: NDArray[np.bool_] | None = field(default=None, repr=False)
    prior: float | None = None

    @property
    def positive(self) -> str:
        """The class that the log-odds and probabilities refer to.

        With several classes, "" means the most probable.
        """
        return self.model.positive

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The positive class's probability for each row, in the dataset's order. A calibrated model gives calibrated
        probabilities.

        If one class is unlabelled, the lifts times the share of positives, at most 1; None if the share was not
        given.
        """
        if not self.model.unlabelled:
            return self.model.probabilities(self.log_odds)
        return None if self.prior is None or self.lifts is None else np.minimum(1, self.prior * self.lifts)

    @property
    def lifts(self) -> NDArray[np.float64] | None:
        """Each row's lift, in the dataset's order; NaN for known rows. See `Model.lifts`."""
        lifts = self.model.lifts(self.log_odds)
        return None if lifts is None else np.where([match is None for match in self.matches], lifts, np.nan)

    @cached_property
    def p_value_ranks(self) -> NDArray[np.int64] | None:
        """Each row's p-value, multiplied by the number of calibration rows plus 1, in the dataset's order.

        None if the model has no held-out scores, or no positive class.
        """
        return self.model.p_value_ranks(self.log_odds, self.X)

    @property
    def p_values(self) -> NDArray[np.float64] | None:
        """Each row's p-value, in the dataset's order, or None if there are no p-values."""
        ranks, held_out = self.p_value_ranks, self.model.held_out
        return None if ranks is None or held_out is None else ranks / (len(held_out) + 1)

    def selection_at(self, fdr: float) -> Selection:
        """Return how many candidates may be listed at this false discovery rate; see `select`."""
        ranks, held_out = self.p_value_ranks, self.model.held_out
        if self.selection is not None:
            raise ValueError(
                f"these rows were already selected at a false discovery rate of {100 * self.selection.fdr:g}%; a "
                "false discovery rate needs all ranked rows, so select from the result of rank_rows"
            )
        if self.model.unlabelled:
            raise ValueError(
                f"the class {self.model.unlabelled} is unlabelled, so a false discovery rate would count its "
                "undiscovered positives as wrong; use the lift instead"
            )
        if held_out is None or held_out.log_proba is None:
            raise ValueError(
                "false discovery rates need held-out scores, but the model has none; fit it again with `hietan "
                "fit`, without --no-validate"
            )
        if ranks is None:
            raise ValueError(
                "a list with a false discovery rate needs a positive class; set positive (--positive) to one "
                f"of {', '.join(self.model.class_names)}"
            )
        return select_rows(ranks[self.order[: self.n_new]], len(held_out), fdr)

    def selection_text(self, selection: Selection) -> str:
        """Return the size of a list in a sentence, with reasons to doubt the list, without a full stop."""
        size = words.selection_text(selection, self.model, self.data.row_noun)
        return ". ".join([size, *self._cautions(selection)])

    def _rows_of(self, found: Selection) -> NDArray[np.intp]:
        """Return the rows of a list, in list order. Rows with the same features as a training row of another class
        may be missing among better rows.
        """
        new = self.order[: self.n_new]
        ranks = self.p_value_ranks
        return new if ranks is None else new[ranks[new] <= found.limit]

    def _cautions(self, found: Selection) -> list[str]:
        """Return reasons to doubt a list: its rows' probabilities, and rows predicted as another class."""
        if not found.n_rows:
            return []
        listed = self._rows_of(found)
        wrong = 1 - self.model.probabilities(self.log_odds[listed]).mean()
        others = int(np.sum(self.scores.predicted[listed] != len(self.scores.classes) - 1))
        noun, cautions = self.data.row_noun, []
        if wrong > found.fdr:
            cautions.append(
                f"But according to their own probabilities, {100 * wrong:.0f}% of them would be wrong. This can "
                f"be chance, or the candidates differ from the training {noun}s"
            )
        if others:
            cautions.append(
                f"{others:,} of them {'is' if others == 1 else 'are'} not predicted as {self.positive}, because "
                "the list is chosen by its false discovery rate, not by predicted class"
            )
        return cautions

    def select(self, fdr: float) -> Candidates:
        """Return the candidates that can be listed at this false discovery rate, the expected share of wrong rows.

        The p-value of a row is (1 + the number of held-out rows of other classes with log-odds at least as high, or
        with the same features) / (1 + the number of held-out rows). The Benjamini-Hochberg rule over all candidates
        chooses the rows. They need not be the first in the ranking, because a row with the same features as a training
        row of another class has a larger p-value than its neighbours. If there is no such list, the result has no rows,
        and its `selection` reports how many rows a list needs.

        Parameters
        ----------
        fdr : float
            The false discovery rate, between 0 and 1. It refers to the whole list, and applies to rows like the
            training rows. A wrong row belongs to another training class.

        Raises
        ------
        ValueError
            If the model has no held-out scores or no positive class, or if these rows have already been selected. A
            list's rate does not apply to a part of the list.
        """
        found = self.selection_at(fdr)
        rows = np.sort(self._rows_of(found))
        return replace(
            self,
            data=self.data.subset(rows=rows),
            X=self.X[rows],
            scores=self.scores.select(rows),
            log_odds=self.log_odds[rows],
            matches=(None,) * len(rows),
            selection=found,
            has_symbols=bool(self.data.symbols),
        )

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows in list order: candidates first, then training rows.

        Each part is sorted by decreasing log-odds; ties are in the dataset's order.
        """
        is_known = np.array([match is not None for match in self.matches], dtype=bool)
        return np.lexsort((-self.log_odds, is_known))

    @cached_property
    def n_new(self) -> int:
        """The number of candidates, which are rows that the model was not trained on."""
        return sum(match is None for match in self.matches)

    @cached_property
    def rows(self) -> tuple[Candidate, ...]:
        """The candidates by decreasing log-odds, followed by the training rows."""
        data, n = self.data, len(self.matches)
        classes = np.array(self.scores.classes, dtype=object)

        def listed(values: NDArray[Any] | None, without: Any = None) -> list[Any]:
            return [without] * n if values is None else values.tolist()

        known = [self._in_training(match) for match in self.matches]
        columns = {
            "instance": data.instance_names,
            "name": data.symbols or ("",) * n,
            "log_odds": self.log_odds.tolist(),
            "lift": [None if lift != lift else lift for lift in listed(self.lifts)],
            "probability": [None if p != p else p for p in listed(self.probabilities)],
            "p_value": [
                None if match else p for p, match in zip(listed(self.p_values), self.matches, strict=True)
            ],
            "predicted": classes[self.scores.predicted].tolist() if self.held_out is None else [""] * n,
            "in_training": [match is not None for match in self.matches],
            "held_out": listed(self.held_out, without=False),
            "raw_probability": expit(self.log_odds).tolist() if self.raw else [None] * n,
            "training_name": [name for name, _, _ in known],
            "shared_name": [shared for _, shared, _ in known],
            "training_class": [label for _, _, label in known],
        }
        ranks = [*range(1, self.n_new + 1), *[None] * (n - self.n_new)]
        return tuple(
            Candidate(rank=rank, **{name: values[i] for name, values in columns.items()})
            for rank, i in zip(ranks, self.order, strict=True)
        )

    @property
    def new_rows(self) -> tuple[Candidate, ...]:
        """The candidates without the training rows."""
        return self.rows[: self.n_new]

    def _in_training(self, match: NameMatch | None) -> tuple[str, str, str]:
        if match is None:
            return "", "", ""
        if match.row is None:
            return "", match.name, ""
        names = self.model.training.names
        assert isinstance(names, RowNames)
        return names.ids[match.row], match.name, str(self.model.training_class[match.row])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The table's column names. Optional columns are included only if at least one row has a value."""
        any_known = self.n_new < len(self.matches)
        optional = {
            "name": bool(self.data.symbols) or self.has_symbols,
            "lift": self.lifts is not None,
            "probability": self.probabilities is not None,
            "predicted": self.held_out is None,
            "held_out": self.held_out is not None,
            "p_value": self.p_value_ranks is not None,
            "raw_probability": self.raw,
            "training_name": any_known,
            "shared_name": any_known,
            "training_class": any_known,
        }
        return tuple(field.name for field in fields(Candidate) if optional.get(field.name, True))

    def to_csv(self) -> str:
        """Return the ranked rows as CSV, below a comment line with the model's caution.

        Names that a spreadsheet would run as formulas are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = attrgetter(*self.columns)
        rows = (cells(row) for row in self.rows)
        about = f" Rows are ranked by the log-odds of {self.positive}." if self.positive else ""
        if self.prior is not None:
            about += (
                f" Probabilities assume that the share of {self.positive} among the unlabelled rows is "
                f"{self.prior:g}, and that the known {self.positive} are a random sample of all {self.positive}."
            )
        if self.selection is not None:
            size = self.selection_text(self.selection)
            about += f" Rows were selected {size}. {words.error_rate_note(self.model)}"
        return comment_line(words.caution(self.model) + about) + csv_text(self.columns, rows)

    def to_frame(self) -> Any:
        """Return the ranked rows as a pandas DataFrame, with the columns of `to_csv`."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        values = {column: [getattr(row, column) for row in self.rows] for column in self.columns}
        if self.n_new < len(self.matches):  # missing ranks must not turn the others into floats
            values["rank"] = pandas.array(values["rank"], dtype="Int64")
        return pandas.DataFrame(values)


def rank_rows(
    model: Model,
    data: Dataset,
    *,
    raw: bool = False,
    new_only: bool = False,
    exclude: Sequence[str] = (),
    only: Sequence[str] | None = None,
    match: Sequence[str] = KINDS,
    positive: str | None = None,
    prior: float | None = None,
) -> Candidates:
    """Rank a dataset's rows by a model's log-odds.

    Training rows are not ranked, because the model has already seen their class. They are recognised by any of their
    names and listed after the other rows. If one class is unlabelled, its training rows are ranked. Each gets its
    log-odds from a validation model that did not see the row.

    Parameters
    ----------
    model : Model
        The model.
    data : Dataset
        The rows, labelled or not. Columns are matched by name, and all of the model's columns must be present.
    raw : bool
        Whether to add the classifier's raw probabilities.
    new_only : bool
        Whether to leave out training rows.
    exclude : sequence of str
        Names of rows to leave out: ids, symbols or synonyms. Training rows stay in the list, below the candidates.
    only : sequence of str, optional
        Names of the rows to keep; all others are left out. Fewer candidates allow shorter lists with a false discovery
        rate, if the names were chosen without looking at the predictions.
    match : sequence of {"id", "symbol", "synonym"}, or ("none",)
        The kinds of names to compare. With ("none",), all rows are candidates.
    positive : str, optional
        The class whose log-odds rank the rows [default: the model's positive class].
    prior : float, optional
        The share of positives among unlabelled rows, between 0 and 1, if one class of the model is unlabelled; rows
        then get probabilities.

    Warns
    -----
    DataWarning
        If no row has any of the names in `exclude`, or one of the names in `only`. Also if the dataset was not built
        with the training data's options, if nearly all rows have the id of a training row but other features, or if
        `prior` is above the model's `unlabelled_bound`.

    Raises
    ------
    DataError
        If the dataset lacks features of the model, or has no row of a name in `only`.
    ValueError
        If the classifier has no probabilities.
    """
    _check_unlabelled(model, positive, raw, prior)
    if positive:
        model = model.with_positive(positive)
    X = align_columns(data, model.feature_names)
    names = RowNames.of(data)
    training = model.training
    matches = match_rows(names, training.names, match)
    noun, what = data.row_noun, data.name or "the dataset"
    unrecognised = ""
    if names.ids and not any(matches) and tuple(match) != (NO_KIND,):
        unrecognised = (
            f"all {len(matches):,} {noun}s of {what} are new: none has the same name as one of the "
            f"{len(training):,} training {model.row_noun}s; hietan compared {names.examples(match)} "
            f"with {training.names.examples(match)}"
        )
    if reused := reused_ids(model, X, matches, f"{noun}s of {what}"):
        warnings.warn(reused, DataWarning, stacklevel=2)
    if different := build_differences(data.provenance, model.provenance):
        warnings.warn(
            f"{what} was built differently from the model's training data: {different}. Its features may have "
            "other meanings; build the dataset with the same options (like=, --like)",
            DataWarning,
            stacklevel=2,
        )
    seen, held_out = unlabelled_training_rows(model, matches), None
    if model.unlabelled:
        held_out = seen >= 0
        matches = tuple(None if at >= 0 else found for found, at in zip(matches, seen.tolist(), strict=True))
    is_kept = np.array([not (new_only and found) for found in matches], dtype=bool)
    if exclude:
        is_known = np.array([found is not None for found in matches])
        is_kept &= is_known | ~_named(names, exclude, match, f"{noun} of {what}", keep=False)
    if only is not None:
        is_kept &= _named(names, only, match, f"{noun} of {what}", keep=True)
    if not is_kept.all():
        data, X = data.subset(rows=is_kept), X[np.flatnonzero(is_kept)]
        matches = tuple(found for found, kept in zip(matches, is_kept, strict=True) if kept)
        seen, held_out = seen[is_kept], None if held_out is None else held_out[is_kept]
    scores = model.score(X)
    log_odds = model.log_odds(scores)
    if held_out is not None and model.held_out is not None:
        log_odds = np.where(held_out, model.held_out.log_odds[seen], log_odds)
    return Candidates(
        model, data, X, scores, log_odds, matches, raw, unrecognised, held_out=held_out, prior=prior
    )


MOSTLY = 0.9
"""The share of rows with a training row's id from which ids are suspected to be used again."""


def reused_ids(model: Model, X: Any, matches: Sequence[NameMatch | None], rows: str) -> str:
    """Return a warning if nearly all rows have a training row's id but most of these have other features, or ""."""
    by_id = [(i, match.row) for i, match in enumerate(matches) if match and match.kind == "id"]
    if not by_id or len(by_id) < MOSTLY * len(matches):
        return ""
    features = hash_features(X)
    same = sum(
        int(features[i]) in model.known_features
        if row is None
        else features[i] == model.training.features[row]
        for i, row in by_id
    )
    other = len(by_id) - same
    if other <= len(by_id) / 2:
        return ""
    return (
        f"{len(by_id):,} of {len(matches):,} {rows} have the id of a training {model.row_noun}, but {other:,} of "
        f"them have other terms. If these are other {model.row_noun}s, do not compare names (match=['none'], "
        "--match none)"
    )


def unlabelled_training_rows(model: Model, matches: Sequence[NameMatch | None]) -> NDArray[np.intp]:
    """Return each row's unlabelled training row, matched by id or unique symbol, or -1 for rows without a match.

    Other rows may share a synonym or a symbol, but a training row's log-odds would not apply to them.
    """
    rows = np.full(len(matches), -1, dtype=np.intp)
    names = model.training.names
    if not model.unlabelled or not isinstance(names, RowNames):
        return rows
    n_matches = Counter(found.row for found in matches if found)
    symbols = names.symbols or ("",) * len(names.ids)
    is_unlabelled = model.training_class == model.unlabelled
    for i, found in enumerate(matches):
        if found is None or found.row is None or not is_unlabelled[found.row]:
            continue
        is_exact = found.name in (names.ids[found.row], symbols[found.row])
        is_unique = found.kind == "id" or n_matches[found.row] == 1
        if is_exact and is_unique and found.kind != "synonym":
            rows[i] = found.row
    return rows


def _check_unlabelled(model: Model, positive: str | None, raw: bool, prior: float | None) -> None:
    """Check the prior, and raise ValueError for options that do not fit a model with, or without, an
    unlabelled class.
    """
    if not model.unlabelled:
        if prior is not None:
            raise ValueError(
                "a prior is the share of positives among unlabelled rows, but the model has no unlabelled class; "
                "fit it with unlabelled= (--unlabelled CLASS)"
            )
        return
    if positive == model.unlabelled or raw:
        what = "raw probabilities are" if raw else f"a rank by {positive} is"
        raise ValueError(
            f"{what} not available, because {model.unlabelled} is a mixture of unlabelled rows; rank by "
            f"{model.positive}, without raw probabilities"
        )
    if prior is not None and not 0 < prior < 1:
        raise ValueError(f"prior is {prior!r}; expected a share of positives between 0 and 1, such as 0.02")
    bound = model.unlabelled_bound
    if prior is not None and bound is not None and prior > bound:
        warnings.warn(
            f"prior is {prior:g}, but the share of {model.positive} among unlabelled {model.row_noun}s "
            f"is at most {bound:.3g} if the known {model.positive} are a random sample of all "
            f"{model.positive}; choose a smaller prior",
            DataWarning,
            stacklevel=3,
        )


def _named(
    names: RowNames, listed: Sequence[str], match: Sequence[str], what: str, *, keep: bool
) -> NDArray[np.bool_]:
    """Return whether each row has one of the listed names, and report unknown names."""
    known, kinds = RowNames(tuple(listed)), tuple(dict.fromkeys(["id", *check_kinds(match)]))
    found = np.array([each is not None for each in match_rows(names, known, kinds)], dtype=bool)
    unknown = [
        name for name, each in zip(listed, match_rows(known, names, kinds), strict=True) if each is None
    ]
    if not found.any():
        text = (
            f"none of the {len(listed)} names to {'keep' if keep else 'exclude'} is the name of a {what}; hietan "
            f"compared {names.examples(match)} with names such as {', '.join(map(repr, listed[:2]))}"
        )
        if keep:
            raise DataError(text)
        warnings.warn(text, DataWarning, stacklevel=3)
    elif keep and unknown:
        text = f"{len(unknown)} of the {len(listed)} names to keep are not names of a {what}: "
        text += ", ".join(map(repr, unknown[:10])) + " ..." * (len(unknown) > 10)
        warnings.warn(text, DataWarning, stacklevel=3)
    return found


def align_columns(data: Dataset, features: Sequence[str]) -> Any:
    """Return the dataset's columns for a model's features, in the model's order. Raise DataError if columns are
    missing.
    """
    if data.feature_names == tuple(features):
        return data.X
    index = {name: j for j, name in enumerate(data.feature_names)}
    missing = [name for name in features if name not in index]
    if missing:
        raise DataError(
            f"{data.name or 'the dataset'} lacks {len(missing)} of the model's {len(features)} features: "
            f"{', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}; build it like the training data "
            "(like=, --like)"
        )
    return data.X[:, [index[name] for name in features]]
