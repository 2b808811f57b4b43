"""`explain` and `contributions` for classifiers whose scores are sums over features."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from hietan.explain._assemble import (
    MOST_FACTORS,
    contribution_matrix,
    contributions_by_state,
    explain_rows,
    target_index,
)
from hietan.explain._dataset_rows import also_of_datasets, also_of_whole_datasets, readable_names, row_labels
from hietan.explain._explanation import Explanations
from hietan.explain._score_parts import ScoreParts, StateParts
from hietan.hierarchy import Hierarchy
from hietan.structure._rows import BinaryRows


class ExplainsRows(metaclass=ABCMeta):
    """The base class of classifiers whose scores are sums over features. The method `_score_parts` returns the
    summands.
    """

    classes_: NDArray[Any]
    hierarchy_: Hierarchy
    n_jobs: int | None
    _fills_tables = False  # whether each chunk of rows starts with work that does not depend on its size

    @abstractmethod
    def _read(self, X: Any) -> BinaryRows:
        """Return the rows to predict, validated."""

    @abstractmethod
    def _score_parts(self, rows: BinaryRows) -> ScoreParts:
        """Return the parts that add up to the rows' scores."""

    @abstractmethod
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the log class probabilities."""

    def _state_parts(self) -> StateParts | None:
        """Return the same parts for two classes, if each contribution depends only on which of four states a
        feature is in.

        The numbers are identical, but a genome needs far less time and memory.
        """
        return None

    @property
    @abstractmethod
    def _counts_note(self) -> str:
        """A note on how the contributions follow from the counts shown, or "" if they are simply the counts'
        logarithms.
        """

    @property
    def _chunks_per_job(self) -> int:
        return 1 if self._fills_tables else 4

    @also_of_datasets
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Explain each row's prediction by the features' contributions to a class's log-odds.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows to explain. The labels of a data frame's rows appear in the explanations.
        rows : str, sequence of str or None, default None
            The names of the rows to explain if X is a Dataset; None means all rows.
        target : label or None, default None
            The class whose log-odds against all others are explained. None means the second of two classes, or the
            predicted class if there are more.
        term_names : mapping, sequence or None, default None
            Readable feature names: by feature, or in column order.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        read = self._read(X)
        return explain_rows(
            lambda start, stop: self._score_parts(read.between(start, stop)),
            method=type(self).__name__,
            rows=row_labels(X, read.n_rows),
            classes=self.classes_.tolist(),
            target=target,
            hierarchy=self.hierarchy_,
            names=readable_names(term_names, self.hierarchy_.features),
            counts_note=self._counts_note,
        )

    @also_of_whole_datasets
    def contributions(self, X: Any, *, target: Any = None, return_base: bool = False) -> Any:
        """Return each feature's contribution to a class's log-odds in each row of X, like `explain` but for many rows.

        The rows are divided among `n_jobs` threads.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows; all rows of a dataset.
        target : label or None, default None
            The class, as in `explain`.
        return_base : bool, default False
            Whether to also return the base values.

        Returns
        -------
        contributions : scipy.sparse.csr_array of shape (n_samples, n_features)
            Features that are left out of a row have no entry in it. A used feature has an entry even if it contributes
            0.
        base : array of shape (n_samples,), if `return_base`
            The rest of each row's log-odds: the base value of `explain` and its terms that belong to no feature.
        """
        check_is_fitted(self)
        rows, classes = self._read(X), self.classes_.tolist()
        parts = self._state_parts() if len(classes) == 2 else None
        if parts is not None:
            found = contributions_by_state(
                parts, rows, target_index(target, classes, np.zeros(2)), self.n_jobs
            )
        else:
            found = contribution_matrix(
                lambda start, stop: self._score_parts(rows.between(start, stop)),
                rows.n_rows,
                n_features=rows.n_features,
                classes=classes,
                target=target,
                n_jobs=self.n_jobs,
                most_factors=8 * MOST_FACTORS if self._fills_tables else MOST_FACTORS,
                chunks_per_job=self._chunks_per_job,
            )
        if not return_base:
            return found
        logs = self.predict_log_proba(X)
        chosen = [target_index(target, classes, row) for row in logs]
        odds = [row[t] - logsumexp(np.delete(row, t)) for row, t in zip(logs, chosen, strict=True)]
        return found, np.array(odds) - found.sum(axis=1)
