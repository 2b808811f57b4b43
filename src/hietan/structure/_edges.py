"""Candidate edges between features, in order of decreasing conditional mutual information."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from hietan import _kernel
from hietan._runtime.parallel import number_of_parts, run_ordered
from hietan.hierarchy import Hierarchy
from hietan.structure._counts import PairCounts, SparsePairs
from hietan.structure._rows import kernel_relations

# Of the edges that are sorted in advance, so many are listed for each thread in one pass over all keys, 16 bytes each,
# and so many make a block, which a thread sorts by itself; that takes some 32 bytes for each.
_LISTED_AT_ONCE = 1 << 23
_LARGEST_BLOCK = 1 << 21


class EdgeRanking:
    """All feature pairs by decreasing CMI given the class. Ties are in column order.

    The edges are sorted by an integer key, rint(1e12 CMI), so that the order does not depend on the last bit of a
    sum. Real data have hundreds of identical columns. Keys are computed, and edges sorted in blocks from the top,
    when they are first needed: most are never read. Safe to share between threads.

    Parameters
    ----------
    counts : PairCounts
        The counts of the training rows.
    hierarchy : Hierarchy
        The hierarchy over the same features.
    block : int
        The number of edges in the first sorted block; 0 leaves it to the kernel. The order is the same.
    n_jobs : int or None
        The number of threads that compute the keys and sort the first blocks, as in joblib. The order is the same.
    """

    def __init__(
        self, counts: PairCounts, hierarchy: Hierarchy, *, block: int = 0, n_jobs: int | None = None
    ) -> None:
        self.counts = counts
        self.hierarchy = hierarchy
        self.block = block
        self.n_jobs = n_jobs
        self._lock = Lock()
        self._kernel: _kernel.Ranking | None = None

    @cached_property
    def keys(self) -> NDArray[np.int64] | _kernel.SparseKeys:
        """The sort keys of the pairs i < j, row by row of the upper triangle.

        With sparse counts, an object that computes the keys of pairs that never co-occur when needed.
        """
        if self.counts.is_dense:
            return _kernel.cmi_keys(self.counts.kernel)
        keys = _kernel.SparseKeys(self.counts.kernel, parts := number_of_parts(self.n_jobs))
        if parts > 1:
            run_ordered(keys.compute, [(part,) for part in range(parts)], self.n_jobs)
        return keys

    @cached_property
    def relations(self) -> _kernel.Relations:
        """The ancestors of each feature, in the kernel's form."""
        return kernel_relations(self.hierarchy)

    @property
    def kernel(self) -> _kernel.Ranking:
        """The lazily sorted edges, in the kernel's form.

        They are made once, even if several threads request them first.
        """
        with self._lock:
            if self._kernel is None:
                self._kernel = _kernel.Ranking(self.keys, self.relations, self.block)
            return self._kernel

    @cached_property
    def lone_feature(self) -> int:
        """The feature with the highest mutual information with the class. It is kept if all features are mutually
        redundant.
        """
        return _kernel.most_informative(self.counts.kernel)

    def tree(self, root_order: NDArray[np.int64], *, directed: bool) -> NDArray[np.int32]:
        """Return each feature's parent, in Hie-TAN's tree or in the maximum spanning tree, which ignores relations."""
        if directed:
            return _kernel.hierarchical_tree(self.keys, self.relations, root_order, self.block)
        if isinstance(self.keys, np.ndarray):
            return _kernel.spanning_tree(self.keys, self.counts.n_features, int(root_order[0]))
        # Without relations, Hie-TAN's walk down the ranking is Kruskal's: it never needs all keys.
        unrelated = kernel_relations(Hierarchy.unrelated(self.hierarchy.features))
        return _kernel.hierarchical_tree(self.keys, unrelated, root_order, self.block)

    def prepare(self) -> None:
        """Compute the sort keys, and sort the edges that most rows need."""
        pairs, kernel = self.counts.pairs, self.kernel
        limit = pairs.indices.size if isinstance(pairs, SparsePairs) else 0
        parts = number_of_parts(self.n_jobs, per_job=2)
        n_blocks = kernel.plan(limit, max(number_of_parts(self.n_jobs), 1 + limit // _LARGEST_BLOCK))
        at_once = _LISTED_AT_ONCE * effective_n_jobs(self.n_jobs)
        first = 0
        while first < n_blocks:
            blocks = _kernel.ListedBlocks(kernel, first, at_once, parts)
            run_ordered(blocks.list, [(part,) for part in range(parts)], self.n_jobs)
            run_ordered(blocks.sort, [(k,) for k in range(len(blocks))], self.n_jobs)
            first += len(blocks)

    def edges(self, limit: int | None = None) -> NDArray[np.int32]:
        """Return the first `limit` edges [default: all] as pairs (i, j) with i < j."""
        d = self.counts.n_features
        return self.kernel.edges(d * (d - 1) // 2 if limit is None else limit)

    def order_of_entry(self, parent: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return when each feature of a tree got its first edge, as a position in the order in which edges are added.

        Parameters
        ----------
        parent : array of shape (n_features,)
            The parent of each feature in a tree that was learned from this ranking.
        """
        children = np.flatnonzero(parent >= 0)
        ends = np.sort(np.stack([parent[children].astype(np.int64), children]), axis=0)
        keys = _kernel.pair_keys(ends[0].copy(), ends[1].copy(), counts=self.counts.kernel)
        entered = np.full(parent.size, children.size, dtype=np.int64)
        for rank, edge in reversed(list(enumerate(np.lexsort((ends[1], ends[0], -keys)).tolist()))):
            entered[ends[:, edge]] = rank
        return entered
