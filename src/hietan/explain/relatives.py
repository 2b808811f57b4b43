"""Which relative made each feature redundant that a tree leaves out, for all features of a row at a time."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hietan.explain.score_parts import RemovalKind, RemovedFeature
from hietan.hierarchy import Hierarchy


class Relatives:
    """The ancestors and descendants of all features, one list after the other, made when they are first needed.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy over the features.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The features of the lists, their relatives, and which of these are ancestors, which come first in a list."""
        above, below = self._hierarchy.ancestor_matrix, self._hierarchy.descendant_matrix
        n_above, n_below = np.diff(above.indptr), np.diff(below.indptr)
        features = np.arange(len(self._hierarchy))
        owner = np.concatenate([np.repeat(features, n_above), np.repeat(features, n_below)])
        related = np.concatenate([above.indices, below.indices]).astype(np.int64)
        is_above = np.arange(owner.size) < above.indices.size
        order = np.argsort(owner, kind="stable")
        return owner[order], related[order], is_above[order]

    def first_to_enter(
        self, is_in_tree: NDArray[np.bool_], values: NDArray[np.uint8], entered: NDArray[np.int64]
    ) -> tuple[RemovedFeature, ...]:
        """Each feature that is not in a tree, with the first of its relatives with the same value to enter the tree.

        Parameters
        ----------
        is_in_tree : bool array of shape (n_features,)
            Which features are in the tree. Each of the others has a relative with its value that is.
        values : array of shape (n_features,)
            The row.
        entered : array of shape (n_features,)
            When each feature of the tree entered it. Of two that entered together, an ancestor is taken rather than a
            descendant, and then the one that comes first in the order of the columns.
        """
        owner, related, is_above = self._lists
        competes = ~is_in_tree[owner] & is_in_tree[related] & (values[owner] == values[related])
        places = np.flatnonzero(competes)
        features, starts = np.unique(owner[places], return_index=True)
        if not features.size:
            return ()
        # The place in the lists decides between those that entered together.
        first = np.minimum.reduceat(entered[related[places]] * owner.size + places, starts) % owner.size
        kinds = (RemovalKind.SAME_AS_DESCENDANT, RemovalKind.SAME_AS_ANCESTOR)
        found = zip(features.tolist(), related[first].tolist(), is_above[first].tolist(), strict=True)
        return tuple(RemovedFeature(u, by, kinds[above]) for u, by, above in found)
