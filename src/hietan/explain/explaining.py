"""What classifiers whose scores are sums over features have in common: `explain` and `contributions`."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hietan.explain.assemble import (
    MOST_FACTORS,
    contribution_matrix,
    contributions_by_state,
    explain_rows,
    filled_contributions,
    target_index,
)
from hietan.explain.explanation import Explanations
from hietan.explain.labels import also_of_datasets, also_of_whole_datasets, readable_names, row_labels
from hietan.explain.score_parts import ScoreParts, TabledParts
from hietan.hierarchy import Hierarchy


class ExplainsRows(metaclass=ABCMeta):
    """A fitted classifier that can take its scores apart, which it does in `_take_apart`."""

    classes_: NDArray[Any]
    hierarchy_: Hierarchy
    n_jobs: int | None
    _most_factors = MOST_FACTORS  # of the rows of a table that are taken apart together
    _chunks_per_job = 4  # of rows that threads share

    @abstractmethod
    def _take_apart(self, X: Any) -> tuple[Callable[[int, int], ScoreParts], int]:
        """A function from a start and a stop to the parts of the scores of these rows of X, and the number of rows."""

    def _take_apart_by_state(self, X: Any) -> TabledParts | None:
        """The same for all rows at once, if what a feature adds depends on which of a few states it is in."""
        return None

    def _fill_contributions(
        self, X: Any, target: int
    ) -> tuple[Callable[[int, int, NDArray[np.float64]], None], int] | None:
        """A function that fills an array with the contributions to one of two classes, and the number of rows.

        It is called with a start, a stop, and the array, whose rows are these rows of X, and whose columns are all
        features: for classifiers that leave none out, and know the contributions without all that `_take_apart` finds.
        """
        return None

    @also_of_datasets
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Why each row of X is classified as it is: contributions of the features to the log-odds of a class.

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
            Readable names of the features: by feature, or in the order of the columns.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        parts_of, n_rows = self._take_apart(X)
        return explain_rows(
            parts_of,
            method=type(self).__name__,
            rows=row_labels(X, n_rows),
            classes=self.classes_.tolist(),
            target=target,
            hierarchy=self.hierarchy_,
            names=readable_names(term_names, self.hierarchy_.features),
        )

    @also_of_whole_datasets
    def contributions(self, X: Any, *, target: Any = None) -> sp.csr_array[np.float64]:
        """What each feature adds to the log-odds of a class in each row of X: the numbers of `explain`, many at a time.

        The rows are divided among `n_jobs` threads.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dataset of shape (n_samples, n_features)
            The rows; of a dataset, all of them.
        target : label or None, default None
            The class, as in `explain`.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_features)
            Features that are left out of a row have no entry in it. One that takes part has an entry even if it adds 0.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            t = target_index(target, self.classes_.tolist(), np.zeros(2))
            tabled = self._take_apart_by_state(X)
            if tabled is not None:
                return contributions_by_state(tabled, t, n_jobs=self.n_jobs)
            filling = self._fill_contributions(X, t)
            if filling is not None:
                return filled_contributions(
                    *filling,
                    len(self.hierarchy_),
                    n_jobs=self.n_jobs,
                    most_entries=self._most_factors,
                    chunks_per_job=self._chunks_per_job,
                )
        parts_of, n_rows = self._take_apart(X)
        return contribution_matrix(
            parts_of,
            n_rows,
            n_features=len(self.hierarchy_),
            classes=self.classes_.tolist(),
            target=target,
            n_jobs=self.n_jobs,
            most_factors=self._most_factors,
            chunks_per_job=self._chunks_per_job,
        )
