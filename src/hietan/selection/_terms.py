"""Related terms in a list, such as an enrichment result or a ranking of features: which of them to report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hietan.classifiers._checks import check_hierarchy
from hietan.hierarchy import Hierarchy

KEEP = ("specific", "general", "relevant")
"""Which terms of a lineage can be kept."""


class HierarchyFilter:
    """Leaves one kind of term of each lineage in a list: the most specific, the most general or the most relevant.

    An enrichment result lists a term together with its ancestors, which hold the same genes and more. These are the
    rules of the selections, applied to a list of terms: a term is judged by its relatives in the list, however many
    terms of the hierarchy are between them.

    - "specific" drops a term if a descendant of it is in the list (HIP's rule for ones).
    - "general" drops a term if an ancestor of it is in the list (HIP's rule for zeros).
    - "relevant" takes the term with the best score, drops its ancestors and descendants, and so on (GTD's rule): every
      dropped term is related to a kept one whose score is at least as good. Of equal scores, the more specific term is
      taken, then the one that comes first.

    Terms that the hierarchy does not know are not related to any other: they are kept.

    Parameters
    ----------
    hierarchy : Hierarchy
        The DAG of the terms. It may have any number of terms that are not in the list.
    keep : {"specific", "general", "relevant"}, default "specific"
        Which terms are kept.
    best : {"smallest", "largest"}, default "smallest"
        Which scores are the best if `keep` is "relevant": the smallest for p-values, the largest for importances.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, HierarchyFilter
    >>> hierarchy = Hierarchy.from_edges([("process", "death"), ("death", "apoptosis"), ("process", "growth")])
    >>> HierarchyFilter(hierarchy).filter(["process", "death", "apoptosis", "growth"])
    ['apoptosis', 'growth']
    >>> result = pd.DataFrame({"ID": ["death", "apoptosis", "growth"], "p.adjust": [1e-9, 1e-4, 0.02]})
    >>> HierarchyFilter(hierarchy, keep="relevant").filter(result, terms="ID", scores="p.adjust")["ID"].tolist()
    ['death', 'growth']
    >>> HierarchyFilter(hierarchy, keep="relevant").dropped(result, terms="ID", scores="p.adjust")
    {'apoptosis': 'death'}
    """

    def __init__(self, hierarchy: Hierarchy, keep: str = "specific", *, best: str = "smallest") -> None:
        if hierarchy is None:
            raise TypeError("HierarchyFilter needs a hietan.Hierarchy; build one with Hierarchy.from_edges")
        check_hierarchy(hierarchy)
        if keep not in KEEP:
            raise ValueError(f"keep must be one of {KEEP}, got {keep!r}")
        if best not in ("smallest", "largest"):
            raise ValueError(f"best must be 'smallest' or 'largest', got {best!r}")
        self.hierarchy = hierarchy
        self.keep = keep
        self.best = best

    def filter(self, listed: Any, *, terms: str | None = None, scores: Any = None) -> Any:
        """The terms that are kept, in the container and the order in which they came.

        Parameters
        ----------
        listed : sequence of str, mapping, pandas Series or pandas DataFrame
            The terms. The keys of a mapping and the index of a Series are terms, and their values are scores. A term
            may be written with its name in front, as in ``apoptotic process (GO:0006915)``. Rows of one term are kept
            or dropped together.
        terms : str or None, default None
            The column of a DataFrame that holds the terms; None means its index.
        scores : str, sequence of numbers or None, default None
            The column of a DataFrame that holds the scores, or a score for each term of a sequence. They are needed if
            `keep` is "relevant", and not used otherwise.

        Returns
        -------
        list, dict, Series or DataFrame
            Of the same kind as `listed`; a sequence becomes a list.
        """
        kept = np.flatnonzero(self.kept(listed, terms=terms, scores=scores)).tolist()
        if hasattr(listed, "iloc"):
            return listed.iloc[kept]
        if isinstance(listed, Mapping):
            items = list(listed.items())
            return dict(items[place] for place in kept)
        return [listed[place] for place in kept]

    def kept(self, listed: Any, *, terms: str | None = None, scores: Any = None) -> NDArray[np.bool_]:
        """Whether `filter` keeps each of the terms, in their order; the parameters are those of `filter`."""
        names, numbers = self._read(listed, terms, scores)
        removed = self._removed(names, numbers)
        return np.array([name not in removed for name in names], dtype=np.bool_)

    def dropped(self, listed: Any, *, terms: str | None = None, scores: Any = None) -> dict[str, str]:
        """The terms that `filter` drops, each with a related term that is kept.

        The parameters are those of `filter`. If several kept terms are related to a dropped one, the nearest is named,
        or, if `keep` is "relevant", the one with the best score.
        """
        return self._removed(*self._read(listed, terms, scores))

    def _removed(self, names: list[str], scores: NDArray[np.float64] | None) -> dict[str, str]:
        unique = list(dict.fromkeys(names))
        if not unique:
            return {}
        among = self.hierarchy.align(unique, len(unique))
        if self.keep == "relevant":
            assert scores is not None
            best: dict[str, float] = {}
            for name, score in zip(names, scores.tolist(), strict=True):
                best[name] = min(score, best.get(name, math.inf))
            order = sorted(range(len(unique)), key=lambda v: (best[unique[v]], -among.depths[v], v))
            removed = _taken_in_order(order, among)
        elif self.keep == "specific":
            removed = _left_at_the_end(among.descendant_matrix, lambda u: (among.depths[u], u))
        else:
            removed = _left_at_the_end(among.ancestor_matrix, lambda u: (-among.depths[u], u))
        return {unique[v]: unique[by] for v, by in removed.items()}

    def _read(
        self, listed: Any, terms: str | None, scores: Any
    ) -> tuple[list[str], NDArray[np.float64] | None]:
        """The terms, as the hierarchy spells them, and their scores, if these are needed, the smallest best."""
        written, numbers = _columns_of(listed, terms, scores)
        names = [self._known_as(text) for text in written]
        if self.keep != "relevant":
            return names, None
        if numbers is None:
            raise ValueError(
                'keep="relevant" needs scores: a column of the frame, a mapping or Series from terms to numbers, or '
                "a number for each term"
            )
        values = np.asarray(numbers, dtype=np.float64)
        if values.shape != (len(names),) or np.isnan(values).any():
            raise ValueError(
                f"there must be a number for each of the {len(names)} terms, and none may be NaN"
            )
        return names, values if self.best == "smallest" else -values

    def _known_as(self, text: Any) -> str:
        """The term itself: tools write it alone, or in brackets after its name."""
        if not isinstance(text, str):
            raise TypeError(f"terms must be strings, got {text!r:.80}")
        inside = text.rpartition("(")[2].rstrip(") ")
        return inside if text not in self.hierarchy and inside in self.hierarchy else text

    def __repr__(self) -> str:
        return f"HierarchyFilter({self.hierarchy!r}, keep={self.keep!r}, best={self.best!r})"


def _columns_of(listed: Any, terms: str | None, scores: Any) -> tuple[list[Any], Any]:
    """The terms and the scores of any container."""
    if hasattr(listed, "columns"):  # a data frame
        written = list(listed.index if terms is None else listed[terms])
        return written, listed[scores].to_numpy() if isinstance(scores, str) else scores
    if terms is not None:
        raise TypeError(f"terms={terms!r:.80} names a column, but the list is not a DataFrame")
    if hasattr(listed, "iloc"):  # a Series
        return list(listed.index), listed.to_numpy() if scores is None else scores
    if isinstance(listed, Mapping):
        return list(listed), list(listed.values()) if scores is None else scores
    if isinstance(listed, str) or not isinstance(listed, Sequence | np.ndarray):
        raise TypeError(
            f"expected a sequence of terms, a mapping, a Series or a DataFrame; got {listed!r:.80}"
        )
    return list(listed), scores


def _left_at_the_end(relatives: Any, nearest: Callable[[int], Any]) -> dict[int, int]:
    """The terms that have relatives on one side, each with the nearest of these that has none itself."""
    is_end = np.diff(relatives.indptr) == 0
    removed = {}
    for v in np.flatnonzero(~is_end).tolist():
        ends = [
            u for u in relatives.indices[relatives.indptr[v] : relatives.indptr[v + 1]].tolist() if is_end[u]
        ]
        removed[v] = min(ends, key=nearest)
    return removed


def _taken_in_order(order: Sequence[int], hierarchy: Hierarchy) -> dict[int, int]:
    """The terms that are related to one that was taken before them, each with the first such one."""
    removed: dict[int, int] = {}
    for v in order:
        if v in removed:
            continue
        for matrix in (hierarchy.ancestor_matrix, hierarchy.descendant_matrix):
            for u in matrix.indices[matrix.indptr[v] : matrix.indptr[v + 1]].tolist():
                removed.setdefault(u, v)
    return removed
