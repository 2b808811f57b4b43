"""HIP: naive Bayes on the most specific features of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import PackedBayes
from hietan.classifiers._fitting import Columns, Counted
from hietan.classifiers._shared_relations import SharedRelations
from hietan.explain import RemovalKind, RemovedByRow, RemovedFeature, ScoreParts, sum_factors
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, count_ones, first_violation, unpack
from hietan.structure.tree import ABSENT, ROOT


class HIPNB(PackedBayes):
    """Naive Bayes with HIP's lazy selection of features (Wan, Freitas & de Magalhaes 2015).

    In the row to classify, a feature at 1 removes all its ancestors and a feature at 0 removes all its descendants,
    because it implies their values. All features are judged at once, so features that are themselves removed still
    remove others. Naive Bayes scores the rest: the most specific ones and the most general zeros. (Only a row that is
    not closed upwards can lose all its features; the class prior then decides.)

    Parameters
    ----------
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half, as in the paper. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import HIPNB, Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    >>> clf = HIPNB(hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> clf.selected(X)
    [('owl',), ('bird', 'owl'), ('animal', 'bird'), ('animal',)]
    """

    _needs_pairs = False

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    @staticmethod
    def _count(rows: BinaryRows, codes: NDArray[np.int64], columns: Columns) -> Counted:
        counts = count_ones(rows, codes, len(columns.classes))
        return Counted(counts, first_violation(rows, columns.hierarchy))

    def _learn(self) -> SharedRelations:
        return SharedRelations(self.hierarchy_)

    def selected(self, X: Any) -> list[tuple[str, ...]]:
        """The features that are kept for each row of X, in the order of the columns."""
        rows = self._read(X)
        relations, names = self._learned.kernel, self.hierarchy_.features

        def select(start: int, stop: int) -> list[tuple[str, ...]]:
            kept = _kernel.hip_select(relations, rows.words(np.arange(start, stop)))
            lanes = [(kept[r // 64] >> np.uint64(r % 64)) & np.uint64(1) for r in range(stop - start)]
            return [tuple(names[v] for v in np.flatnonzero(lane)) for lane in lanes]

        return [row for chunk in map_chunks(select, rows.n_rows, self.n_jobs) for row in chunk]

    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        values = unpack(words, n_rows)
        kept = unpack(_kernel.hip_select(self._learned.kernel, words), n_rows)
        parents = np.where(kept, ROOT, ABSENT).astype(np.int32)
        base = np.tile(log_prior, (n_rows, 1))
        factors = _kernel.tree_factors(
            parents, words, n_rows, **self._count_arguments(), **self._smoothing_arguments()
        )
        return ScoreParts(
            joint=sum_factors(base, factors),
            values=values,
            parents=parents,
            factors=factors,
            base=base,
            removed=RemovedByRow(n_rows, lambda row: self._removed(kept[row], values[row])),
        )

    def _removed(self, kept: NDArray[np.uint8], value: NDArray[np.uint8]) -> tuple[RemovedFeature, ...]:
        """Each feature that is left out, with the nearest one that implies it."""
        above, below = self.hierarchy_.ancestor_matrix, self.hierarchy_.descendant_matrix
        depths = self.hierarchy_.depths
        found = []
        for u in np.flatnonzero(kept == 0).tolist():
            ones = below.indices[below.indptr[u] : below.indptr[u + 1]]
            zeros = above.indices[above.indptr[u] : above.indptr[u + 1]]
            ones, zeros = ones[value[ones] == 1], zeros[value[zeros] == 0]
            if ones.size:
                by, kind = ones[np.argmin(depths[ones])], RemovalKind.IMPLIED_BY_DESCENDANT
            else:
                by, kind = zeros[np.argmax(depths[zeros])], RemovalKind.IMPLIED_BY_ANCESTOR
            found.append(RemovedFeature(u, int(by), kind))
        return tuple(found)

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.hip_joint_log(
            self._learned.kernel,
            words,
            n_rows,
            log_prior=log_prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )
