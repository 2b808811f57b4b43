"""The rows of a dataset, ranked by the log-odds that a model gives them; those it was trained on are listed apart."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hietan._io.tables import comment_line, csv_text
from hietan._runtime.optional import import_optional
from hietan.candidates._error_rate import Selection, row_odds, select_rows
from hietan.candidates._models import TrainedModel, check_positive
from hietan.candidates._names import KINDS, NameMatch, RowNames, match_rows
from hietan.datasets import Dataset
from hietan.datasets._building.options import build_differences
from hietan.evaluation._cross_validation import predict_rows
from hietan.exceptions import DataError, DataWarning


@dataclass(frozen=True)
class Candidate:
    """A row of a dataset with its rank.

    `name` is its symbol. A row that the model was trained on has no rank; `training_name` is what it is called there,
    `shared_name` the name by which it was recognised, and `training_class` its class. `probability` is calibrated if
    the model is; `raw_probability` is the classifier's own, if requested. `p_value` is small if few training rows of
    other classes had such log-odds when they were held out; None without such rows, and for training rows.
    """

    rank: int | None
    instance: str
    name: str
    log_odds: float
    probability: float
    p_value: float | None
    predicted: str
    in_training: bool
    raw_probability: float | None = None
    training_name: str = ""
    shared_name: str = ""
    training_class: str = ""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows of a dataset, ranked by a model.

    Attributes
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The dataset, without the rows that were left out.
    X : matrix
        The rows of the dataset with the model's columns, in the model's order.
    log_odds, labels : arrays of shape (n,)
        The log-odds of the positive class and the predicted labels of the rows, in the dataset's order.
    matches : tuple of NameMatch or None, length n
        The training row that shares a name with each row, if any.
    raw : bool
        Whether the table also has the classifier's own probabilities.
    unrecognised : str
        If no row has a name of a training row, a sentence with examples of both; else empty.
    has_symbols : bool
        Whether the rows that these were selected from have symbols.
    selection : Selection or None
        If these are only the rows of a list with a stated false discovery rate, the size of the list.
    """

    trained: TrainedModel
    data: Dataset
    X: Any
    log_odds: NDArray[np.float64]
    labels: NDArray[Any]
    matches: tuple[NameMatch | None, ...]
    raw: bool = False
    unrecognised: str = ""
    selection: Selection | None = None
    has_symbols: bool = False

    @property
    def positive(self) -> str:
        """The class whose log-odds and probabilities these are; "" for the most probable of several classes."""
        return self.trained.positive_name

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities of the positive class, calibrated if the model is, in the dataset's order."""
        return self.trained.probabilities(self.log_odds)

    @cached_property
    def p_value_ranks(self) -> NDArray[np.int64] | None:
        """The p-values of the rows, in the dataset's order, times 1 + the number of rows that they come from.

        None if the model has no held-out scores, or no positive class.
        """
        trained = self.trained
        if trained.held_out is None or not self.positive:
            return None
        return trained.held_out.ranks(self.log_odds, trained.classifier.classes_, trained.positive_label)

    @property
    def p_values(self) -> NDArray[np.float64] | None:
        """The p-values of the rows, in the dataset's order; None if there are none."""
        ranks, scores = self.p_value_ranks, self.trained.held_out
        return None if ranks is None or scores is None else ranks / (len(scores.labels) + 1)

    def selection_at(self, fdr: float) -> Selection:
        """How many candidates may be listed at this false discovery rate; see `select`."""
        ranks, held_out = self.p_value_ranks, self.trained.held_out
        if self.selection is not None:
            raise ValueError(
                f"these are the rows listed {self.selection.text.partition(':')[0]}; a false discovery rate needs all "
                "ranked rows, so select from what rank_rows returned"
            )
        if held_out is None:
            raise ValueError(
                "the model has no held-out scores, which false discovery rates are computed from; fit it again with "
                "`hietan fit`, without --no-validate"
            )
        if ranks is None:
            raise ValueError(
                f"a list with a false discovery rate is one of a wanted class; state it as the positive class: "
                f"{', '.join(self.trained.class_names)}"
            )
        found = select_rows(
            ranks[self.order[: self.n_new]],
            len(held_out.labels),
            fdr,
            rows=f"{self.data.row_noun}s",
            calibrated_on=self.trained.calibrated_on,
        )
        return replace(found, text=". ".join([found.text, *self._cautions(found)]))

    def _cautions(self, found: Selection) -> list[str]:
        """Return reasons to doubt a list: its rows' own probabilities, and rows that are predicted as another class."""
        listed = self.order[: found.n_rows]
        wrong = 1 - self.probabilities[listed].mean() if found.n_rows else 0.0
        others = int(np.sum(self.labels[listed] != self.trained.positive_label))
        noun, cautions = self.data.row_noun, []
        if wrong > found.fdr:
            cautions.append(
                f"But by their own probabilities, {100 * wrong:.0f}% of them would be wrong, so the candidates are "
                f"probably not like the training {noun}s"
            )
        if others:
            cautions.append(
                f"{others:,} of them {'is' if others == 1 else 'are'} not predicted {self.positive}: the list follows "
                f"its rate, not the predicted class"
            )
        return cautions

    def select(self, fdr: float) -> Candidates:
        """Return the candidates that may be listed so that this share of them is expected to be wrong, at most.

        The p-value of a row is (1 + the number of held-out rows of other classes with log-odds at least as high) / (1 +
        the number of held-out rows). The rows are chosen by the rule of Benjamini and Hochberg over all candidates. The
        result has no rows if there is no such list; its `selection` states how many rows a list needs.

        Parameters
        ----------
        fdr : float
            The false discovery rate, between 0 and 1. It is one of the whole list, and holds for rows like the training
            rows. A wrong row belongs to another training class.

        Raises
        ------
        ValueError
            If the model has no held-out scores or no positive class, or if these rows have been selected already: a
            rate that holds for a list does not hold for a part of it.
        """
        found = self.selection_at(fdr)
        rows = np.sort(self.order[: found.n_rows])
        return replace(
            self,
            data=self.data.subset(rows=rows),
            X=self.X[rows],
            log_odds=self.log_odds[rows],
            labels=self.labels[rows],
            matches=(None,) * len(rows),
            selection=found,
            has_symbols=bool(self.data.symbols),
        )

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows of the dataset as they are listed: first the candidates, then the rows that the model knows.

        Each part is in the order of the log-odds, the highest first; ties are in the dataset's order.
        """
        is_known = np.array([match is not None for match in self.matches], dtype=bool)
        return np.lexsort((-self.log_odds, is_known))

    @cached_property
    def n_new(self) -> int:
        """The number of candidates: of the rows that the model was not trained on."""
        return sum(match is None for match in self.matches)

    @cached_property
    def rows(self) -> tuple[Candidate, ...]:
        """The candidates, the highest log-odds first, and after them the rows that the model was trained on."""
        data, targets = self.data, self.trained.target_names
        found: list[float | None] = (
            [None] * len(self.matches) if self.p_values is None else self.p_values.tolist()
        )
        columns = (
            data.instance_names,
            data.symbols or ("",) * len(data.instance_names),
            self.log_odds.tolist(),
            self.probabilities.tolist(),
            [None if match else p for p, match in zip(found, self.matches, strict=True)],
            [targets[label] for label in self.labels],
            [match is not None for match in self.matches],
            expit(self.log_odds).tolist() if self.raw else [None] * len(self.log_odds),
            *zip(*map(self._in_training, self.matches), strict=True),
        )
        table = list(zip(*columns, strict=True))
        ranks = [*range(1, self.n_new + 1), *[None] * (len(table) - self.n_new)]
        return tuple(Candidate(rank, *table[i]) for rank, i in zip(ranks, self.order, strict=True))

    @property
    def new_rows(self) -> tuple[Candidate, ...]:
        """The candidates alone."""
        return self.rows[: self.n_new]

    def _in_training(self, match: NameMatch | None) -> tuple[str, str, str]:
        if match is None:
            return "", "", ""
        labels = self.trained.training_labels
        label = self.trained.target_names[labels[match.row]] if labels else ""
        return self.trained.training_rows[match.row], match.name, label

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; some are included only if there are rows that have them."""
        any_known = self.n_new < len(self.matches)
        optional = {
            "name": bool(self.data.symbols) or self.has_symbols,
            "p_value": self.p_value_ranks is not None,
            "raw_probability": self.raw,
            "training_name": any_known,
            "shared_name": any_known,
            "training_class": any_known,
        }
        return tuple(field.name for field in fields(Candidate) if optional.get(field.name, True))

    def to_csv(self) -> str:
        """The ranked rows as CSV, below a comment line with the model's caution.

        Names that a spreadsheet would run are marked; `hietan.evaluation.restore_text` removes the mark.
        """
        cells = attrgetter(*self.columns)
        rows = (cells(row) for row in self.rows)
        about = f" Rows are ranked by the log-odds of {self.positive}." if self.positive else ""
        if self.selection is not None:
            about += f" These are the rows {self.selection.text}. {self.trained.error_rate_note}"
        return comment_line(self.trained.caution + about) + csv_text(self.columns, rows)

    def to_frame(self) -> Any:
        """The ranked rows as a pandas frame, with the columns of `to_csv`."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        values = {column: [getattr(row, column) for row in self.rows] for column in self.columns}
        if self.n_new < len(self.matches):  # ranks that are missing must not turn the others into floats
            values["rank"] = pandas.array(values["rank"], dtype="Int64")
        return pandas.DataFrame(values)


def rank_rows(
    trained: TrainedModel,
    data: Dataset,
    *,
    raw: bool = False,
    new_only: bool = False,
    exclude: Sequence[str] = (),
    only: Sequence[str] | None = None,
    match: Sequence[str] = KINDS,
    positive: str | None = None,
) -> Candidates:
    """Rank the rows of a dataset by the log-odds that a model gives them.

    Rows that the model was trained on are no candidates: they are recognised by any of their names, and listed after
    the others, without a rank.

    Parameters
    ----------
    trained : TrainedModel
        The model.
    data : Dataset
        The rows, labelled or not. Columns are matched by name, and all of the model's must be there.
    raw : bool
        Whether to add the classifier's own probabilities to those of the model, which are calibrated if it can be.
    new_only : bool
        Whether to leave out the rows that the model was trained on.
    exclude : sequence of str
        Names of rows to leave out: ids, symbols or synonyms.
    only : sequence of str, optional
        Names of the rows to keep; all others are left out. Fewer candidates allow shorter lists with a false discovery
        rate, if the names were chosen without looking at scores.
    match : sequence of {"id", "symbol", "synonym"}
        The kinds of names that are compared.
    positive : str, optional
        The class by whose log-odds the rows are ranked; the model's positive class if not given.

    Warns
    -----
    DataWarning
        If no row has any of the names in `exclude`, or one of those in `only`, or if the dataset was not built with the
        options of the training data.

    Raises
    ------
    DataError
        If the dataset lacks features of the model, or has no row of a name in `only`.
    ValueError
        If the classifier has no probabilities.
    """
    wanted = check_positive(trained.positive_name if positive is None else positive, trained.class_names)
    trained = replace(trained, positive=wanted)
    X = align_columns(data, trained.feature_names)
    names = RowNames.of(data)
    matches = match_rows(names, trained.training_names, match)
    noun, what = data.row_noun, data.name or "the dataset"
    unrecognised = ""
    if trained.training_rows and names.ids and not any(matches):
        unrecognised = (
            f"all {len(matches)} {noun}s of {what} are new: none has a name of one of the "
            f"{len(trained.training_rows)} training {trained.row_noun}s; compared were "
            f"{names.examples(match)} with {trained.training_names.examples(match)}"
        )
    if different := build_differences(data.provenance, trained.provenance):
        warnings.warn(
            f"{what} was built differently from the model's training data: {different}. Its features may mean "
            "something else; build it with the same options (like=, --like)",
            DataWarning,
            stacklevel=2,
        )
    is_kept = np.array([not (new_only and found) for found in matches], dtype=bool)
    if exclude:
        is_kept &= ~_named(names, exclude, match, f"{noun} of {what}", keep=False)
    if only is not None:
        is_kept &= _named(names, only, match, f"{noun} of {what}", keep=True)
    if not is_kept.all():
        data, X = data.subset(rows=is_kept), X[np.flatnonzero(is_kept)]
        matches = tuple(found for found, kept in zip(matches, is_kept, strict=True) if kept)
    odds, labels = np.empty(0), trained.classifier.classes_[:0]
    if X.shape[0]:
        predicted = predict_rows(trained.classifier, X)
        if predicted.log_proba is None:
            raise ValueError(f"{type(trained.classifier).__name__} has no probabilities to rank rows by")
        labels = trained.predicted_labels(row_odds(predicted.log_proba), predicted.y_pred)
        odds = row_odds(predicted.log_proba, trained.class_names.index(wanted) if wanted else None)
    return Candidates(trained, data, X, odds, labels, matches, raw, unrecognised)


def _named(
    names: RowNames, listed: Sequence[str], match: Sequence[str], what: str, *, keep: bool
) -> NDArray[np.bool_]:
    """Whether each row has one of the listed names, which say what to keep or what to exclude; reports unknown ones."""
    known, kinds = RowNames(tuple(listed)), match if "id" in match else ("id", *match)
    found = np.array([each is not None for each in match_rows(names, known, kinds)], dtype=bool)
    unknown = [
        name for name, each in zip(listed, match_rows(known, names, kinds), strict=True) if each is None
    ]
    if not found.any():
        text = (
            f"none of the {len(listed)} names to {'keep' if keep else 'exclude'} is a name of a {what}; compared were "
            f"{names.examples(match)} with names such as {', '.join(map(repr, listed[:2]))}"
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
    """The columns of a dataset that a model uses, in the model's order; raises DataError if some are missing."""
    if data.feature_names == tuple(features):
        return data.X
    index = {name: j for j, name in enumerate(data.feature_names)}
    missing = [name for name in features if name not in index]
    if missing:
        raise DataError(
            f"{data.name or 'the dataset'} lacks {len(missing)} of the model's {len(features)} features: "
            f"{', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}; use data with the same features"
        )
    return data.X[:, [index[name] for name in features]]
