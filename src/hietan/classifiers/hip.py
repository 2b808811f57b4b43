"""HIP: naive Bayes on the most specific of what a row says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import BaseBayes
from hietan.explain import Parts
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, PairCounts, count_ones, kernel_relations, unpack
from hietan.structure.tree import ABSENT, ROOT


class HIPNB(BaseBayes):
    """Naive Bayes with HIP's lazy selection of features (Wan, Freitas & de Magalhaes 2015).

    In the row to classify, a feature at 1 removes all its ancestors and a feature at 0 all its descendants, for it
    implies them; all are judged at once on the row, also by features that are removed themselves. Naive Bayes scores
    what is left: the most specific ones and the most general zeros. (Only a row that is not closed upwards can lose
    all its features; the class prior then decides.)

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

    def selected(self, X: Any) -> list[tuple[str, ...]]:
        """The features that are kept for each row of X, in the order of the columns."""
        rows = self._read(X)
        relations, names = kernel_relations(self.hierarchy_), self.hierarchy_.features

        def select(start: int, stop: int) -> list[tuple[str, ...]]:
            kept = _kernel.hip_select(relations, rows.words(np.arange(start, stop)))
            lanes = [(kept[r // 64] >> np.uint64(r % 64)) & np.uint64(1) for r in range(stop - start)]
            return [tuple(names[v] for v in np.flatnonzero(lane)) for lane in lanes]

        return [row for chunk in map_chunks(select, rows.n_rows, self.n_jobs) for row in chunk]

    def _parts(self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]) -> Parts:
        values = unpack(words, n_rows)
        kept = unpack(_kernel.hip_select(kernel_relations(self.hierarchy_), words), n_rows)
        parents = np.where(kept, ROOT, ABSENT).astype(np.int32)
        factors = _kernel.tree_factors(
            parents, words, n_rows, **self._count_arguments(), **self._smoothing_arguments()
        )
        return Parts(
            joint=self._joint_log(words, n_rows, log_prior),
            values=values,
            parents=parents,
            factors=factors,
            base=np.tile(log_prior, (n_rows, 1)),
            removals=lambda row: self._removals(kept[row], values[row]),
        )

    def _removals(self, kept: NDArray[np.uint8], value: NDArray[np.uint8]) -> Iterator[tuple[int, int, str]]:
        """Each feature that is left out, the nearest one that implies it, and why."""
        above, below = self.hierarchy_.ancestor_matrix, self.hierarchy_.descendant_matrix
        depths, features = self.hierarchy_.depths, self.hierarchy_.features
        for u in np.flatnonzero(kept == 0).tolist():
            ones = below.indices[below.indptr[u] : below.indptr[u + 1]]
            zeros = above.indices[above.indptr[u] : above.indptr[u + 1]]
            ones, zeros = ones[value[ones] == 1], zeros[value[zeros] == 0]
            if ones.size:
                by = int(ones[np.argmin(depths[ones])])
                yield u, by, f"implied by its descendant {features[by]}, which is 1"
            else:
                by = int(zeros[np.argmax(depths[zeros])])
                yield u, by, f"implied by its ancestor {features[by]}, which is 0"

    def _count(self, rows: BinaryRows, codes: NDArray[np.int64]) -> PairCounts:
        return count_ones(rows, codes, len(self.classes_))

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return _kernel.hip_joint_log(
            kernel_relations(self.hierarchy_),
            words,
            n_rows,
            log_prior=log_prior,
            **self._count_arguments(),
            **self._smoothing_arguments(),
        )
