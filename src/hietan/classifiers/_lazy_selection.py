"""Lazy feature selection, which chooses each row's features separately, before a model scores the row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import PairBayes, require
from hietan.classifiers._checks import ACCEPTED, Accepted, is_one_of, is_whole, random_source
from hietan.classifiers._fitting import CountFunction
from hietan.explain import RemovedFeature
from hietan.explain._score_parts import RemovalKind, ScoreParts, StateParts, StateWords
from hietan.hierarchy import Hierarchy
from hietan.structure import Tree
from hietan.structure._counts import PairCounts, count_ones
from hietan.structure._edges import EdgeRanking
from hietan.structure._relevance import relevance_levels
from hietan.structure._rows import BinaryRows, Violation, first_violation, kernel_relations, unpack
from hietan.structure._tree import ABSENT, ROOT

SELECTIONS = _kernel.SELECTIONS
MODELS = ("naive-bayes", "tan")
_MOST = 2**31 - 1  # upper limit on the number of features


def _counting_ones(
    rows: BinaryRows, codes: NDArray[np.int64], n_classes: int, hierarchy: Hierarchy, n_jobs: int | None
) -> tuple[PairCounts, Violation | None]:
    return count_ones(rows, codes, n_classes), first_violation(rows, hierarchy, n_jobs=n_jobs)


class _Choice(NamedTuple):
    """Which features a row keeps, their maximum number, and the model that scores them."""

    selection: str
    model: str
    n_features: int


class _Learned(NamedTuple):
    """The data that every row needs.

    Attributes
    ----------
    choice : _Choice
        The parameters with which the other attributes were made.
    selector : Selector
        The selection, for the kernel.
    levels : array of shape (n_features,)
        The features' relevance as integers; HIP does not use it.
    ranking : EdgeRanking or None
        The ranking of the edges, if the model is a tree.
    """

    choice: _Choice
    selector: _kernel.Selector
    levels: NDArray[np.int32]
    ranking: EdgeRanking | None


class _SelectedFeatures(PairBayes):
    """A classifier that selects features for each row. Subclasses define the selection and the model in `_choice`."""

    random_state: Any
    root_order_: NDArray[np.int64]

    @property
    @abstractmethod
    def _choice(self) -> _Choice:
        """The current selection and model, derived from the parameters."""

    def selected(self, X: Any) -> list[tuple[str, ...]]:
        """Return the features that each row of X keeps, in the feature order of X."""
        rows, names = self._read(X), self.hierarchy_.features
        _ = self._learned  # once, before there are threads

        def select(start: int, stop: int) -> list[tuple[str, ...]]:
            kept = self._kept(rows.between(start, stop))
            return [tuple(names[v] for v in np.flatnonzero(row)) for row in kept]

        return [row for chunk in map_chunks(select, rows.n_rows, self.n_jobs) for row in chunk]

    # ------------------------------------------------------------------------------------------ fitting

    @property
    def _count(self) -> CountFunction:  # type: ignore[override]
        return PairBayes._count if self._choice.model == "tan" else _counting_ones

    def _draw(self, n_features: int) -> dict[str, Any]:
        self.__dict__.pop("root_order_", None)  # of a fit with another model
        if self._choice.model != "tan":
            return {}
        return {"root_order_": random_source(self.random_state).permutation(n_features)}

    def _learn(self) -> _Learned:
        choice, counts, hierarchy = self._choice, self.counts_, self.hierarchy_
        is_hip = choice.selection == "hip"
        levels = (
            np.zeros(counts.n_features, np.int32) if is_hip else relevance_levels(counts, self.weight_unit_)
        )
        selector = _kernel.Selector(kernel_relations(hierarchy), choice.selection, levels, choice.n_features)
        if choice.model != "tan":
            return _Learned(choice, selector, levels, None)
        if not hasattr(self, "root_order_"):
            raise ValueError(
                "model was changed to 'tan' after fit, which did not count pairs of features; call fit again"
            )
        # The selection uses the relations; the tree, as in TAN, does not.
        ranking = EdgeRanking(counts, Hierarchy.unrelated(hierarchy.features))
        ranking.prepare()
        return _Learned(choice, selector, levels, ranking)

    @property
    def _learned(self) -> _Learned:
        """The selection and the model, rebuilt if one of their parameters has changed."""
        learned: _Learned = super()._learned
        if learned.choice != self._choice:
            learned = self._structure = self._learn()
        return learned

    # ------------------------------------------------------------------------------------------ predicting

    def _joint_log(self, rows: BinaryRows) -> NDArray[np.float64]:
        learned, log_prior = self._learned, self._log_prior()
        if learned.ranking is None:
            return _kernel.selected_joint_log(
                learned.selector, **self._words(rows), log_prior=log_prior, **self._tables
            )
        return _kernel.selected_tree_joint_log(
            **self._tree_arguments(learned.ranking), **self._words(rows), log_prior=log_prior, **self._tables
        )

    def _score_parts(self, rows: BinaryRows) -> ScoreParts:
        words, kept, parents = self._words(rows), self._kept(rows), self._parents(rows)
        values = unpack(**words)
        return ScoreParts(
            values=values,
            parents=parents,
            factors=_kernel.tree_factors(parents, **words, **self._tables),
            base=np.tile(self._log_prior(), (rows.n_rows, 1)),
            removed=lambda row: self._removed(kept[row], values[row]),
            behind=lambda row: self._behind(values[row], parents[row]),
            has_tree=self._learned.ranking is not None,
        )

    def _state_parts(self) -> StateParts | None:
        if self._learned.ranking is not None:
            return None

        def words(rows: BinaryRows) -> StateWords:
            ones = self._words(rows)["words"]
            return self._learned.selector.select(ones), ones, ones

        d = len(self.hierarchy_)
        values = np.repeat(np.array([[0], [0], [1], [1]], dtype=np.uint8), d, axis=1)  # in each state
        alone = np.full((4, d), ROOT, dtype=np.int32)
        arguments = {**self._words(BinaryRows.from_matrix(values, None)), **self._tables}
        return StateParts(words, _kernel.tree_factors(alone, **arguments))

    def _kept(self, rows: BinaryRows) -> NDArray[np.uint8]:
        """Return which features each row keeps."""
        return unpack(self._learned.selector.select(self._words(rows)["words"]), rows.n_rows)

    def _parents(self, rows: BinaryRows) -> NDArray[np.int32]:
        """Return each row's tree. With naive Bayes, each kept feature is a separate tree."""
        ranking = self._learned.ranking
        if ranking is None:
            return np.where(self._kept(rows), ROOT, ABSENT).astype(np.int32)
        return _kernel.selected_trees(**self._tree_arguments(ranking), **self._words(rows))

    def _tree_arguments(self, ranking: EdgeRanking) -> dict[str, Any]:
        order = np.ascontiguousarray(self.root_order_, dtype=np.int64)
        return {"selector": self._learned.selector, "ranking": ranking.kernel, "root_order": order}

    def _removed(self, kept: NDArray[np.uint8], value: NDArray[np.uint8]) -> tuple[RemovedFeature, ...]:
        learned = self._learned
        return removed_features(learned.choice.selection, kept, value, self.hierarchy_, learned.levels)


class LazySelection(_SelectedFeatures):
    """A classifier that uses the features each row keeps (Wan & Freitas 2013, 2015), with odds smoothing by default.

    Odds smoothing is new in hietan. The comparison of selections in the documentation uses ``smoothing="laplace"``.

    Related features are often redundant: if a feature is 1, so are its ancestors, and if it is 0, so are its
    descendants. For the row to classify, a selection leaves out redundant features; a model of the rest classifies
    it. A feature is *relevant* if the classes differ between training rows with the feature and rows without it. R(v)
    is the sum over the classes of (P(c | x_v = 1) - P(c | x_v = 0))^2.

    The selections:

    - "hip" keeps the most specific ones and the most general zeros: a feature at 1 removes all of its ancestors, a
      feature at 0 all of its descendants.
    - "mr" keeps, of related features with the same value, the most relevant; of equally relevant ones, the most
      specific 1 and the most general 0.
    - "hip-mr" is HIP, except that a feature removes only those that are not more relevant than itself.
    - "hnb" keeps the `n_features` most relevant features that "hip-mr" leaves.
    - "rnb" keeps the `n_features` most relevant features, for every row and without the hierarchy.

    All features are judged together, on the original row, so features that are themselves removed still remove
    others. Only a row that is not closed upwards can lose all of its features; the class prior then decides.

    The models: naive Bayes, and "tan", the maximum spanning tree of the kept features by conditional mutual
    information, one tree per row. Both need only counts.

    Parameters
    ----------
    selection : {"hip", "mr", "hip-mr", "hnb", "rnb"}, default "hip"
        Which features a row keeps.
    model : {"naive-bayes", "tan"}, default "naive-bayes"
        The model that classifies a row by its kept features.
    n_features : int, default 50
        The largest number of features that "hnb" and "rnb" keep; the other selections do not use it.
    hierarchy, alpha, smoothing, binarize, class_prior, class_weight, random_state, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    classes_, class_count_, class_weight_, weight_unit_, counts_, hierarchy_, feature_log_prob_
        As for :class:`TAN`.
    n_features_in_, feature_names_in_
        As for :class:`TAN`.
    root_order_ : array of shape (n_features,)
        As for :class:`TAN`. Only with the model "tan".

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, LazySelection
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    >>> clf = LazySelection(selection="mr", hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> clf.selected(X)  # "bird" separates the classes
    [('bird',), ('bird', 'owl'), ('animal', 'bird'), ('bird',)]
    """

    _accepted: ClassVar[Accepted] = {
        **ACCEPTED,
        "selection": (is_one_of(SELECTIONS), f"one of {', '.join(SELECTIONS)}"),
        "model": (is_one_of(MODELS), f"one of {', '.join(MODELS)}"),
        "n_features": (lambda n: is_whole(n, 1, _MOST), f"an integer above 0 (and at most {_MOST})"),
    }
    _stored_sometimes = PairBayes._stored_sometimes | {"root_order_"}

    def __init__(
        self,
        *,
        selection: str = "hip",
        model: str = "naive-bayes",
        n_features: int = 50,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "odds",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.selection = selection
        self.model = model
        self.n_features = n_features
        self.hierarchy = hierarchy
        self.alpha: float | None = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _choice(self) -> _Choice:
        return _Choice(self.selection, self.model, int(self.n_features))

    @property
    def without_hierarchy(self) -> str:  # type: ignore[override]
        """The name of the equivalent classifier without a hierarchy, or "" for RNB, which does not use a hierarchy."""
        if self.selection in ("rnb", "hnb"):
            return {"rnb": "", "hnb": "RNB"}[self.selection]
        return "a plain TAN" if self.model == "tan" else "naive Bayes"

    @available_if(lambda self: self.model == "tan")  # type: ignore[untyped-decorator]
    def trees(self, X: Any) -> list[Tree]:
        """Return the tree over each row's kept features. Only models with `model="tan"` have this method."""
        rows, names = self._read(X), self.hierarchy_.features
        _ = self._learned  # once, before there are threads

        def learn(start: int, stop: int) -> list[Tree]:
            return [Tree(parent, names) for parent in self._parents(rows.between(start, stop))]

        return [tree for chunk in map_chunks(learn, rows.n_rows, self.n_jobs) for tree in chunk]

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        right = ("root_order_" in fitted) == (self.model == "tan")
        require(right, f"the fitted attributes do not belong to the model {self.model!r:.80}")


class HIPNB(_SelectedFeatures):
    """Naive Bayes after lazy selection by HIP (Wan, Freitas & de Magalhaes 2015), with odds smoothing by default.

    Odds smoothing is new in hietan. The comparison of selections in the documentation uses ``smoothing="laplace"``.

    In the row to classify, a feature at 1 removes all of its ancestors and a feature at 0 removes all of its
    descendants, because it implies their values. All features are judged together, so features that are themselves
    removed still remove others. Naive Bayes scores the rest: the most specific ones and the most general zeros. (Only
    a row that is not closed upwards can lose all of its features; the class prior then decides.) It is a short name
    for ``LazySelection(selection="hip", model="naive-bayes")``.

    Parameters
    ----------
    hierarchy, alpha, smoothing, binarize, class_prior, class_weight, n_jobs
        As for :class:`TAN`.

    Attributes
    ----------
    classes_, class_count_, class_weight_, weight_unit_, counts_, hierarchy_, feature_log_prob_
        As for :class:`TAN`.
    n_features_in_, feature_names_in_
        As for :class:`TAN`.

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

    without_hierarchy = "naive Bayes"

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "odds",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha: float | None = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    @property
    def _choice(self) -> _Choice:
        return _Choice("hip", "naive-bayes", 1)


# ------------------------------------------------------------------------------------------ reasons


def removed_features(
    selection: str,
    kept: NDArray[np.uint8],
    value: NDArray[np.uint8],
    hierarchy: Hierarchy,
    levels: NDArray[np.int32],
) -> tuple[RemovedFeature, ...]:
    """Return the features that a row drops, each with the feature that made it redundant.

    Parameters
    ----------
    selection : str
        The selection's name.
    kept, value : arrays of shape (n_features,)
        Which features the row keeps, and their values.
    hierarchy : Hierarchy
        The hierarchy over the features.
    levels : array of shape (n_features,)
        The features' relevance as integers.
    """
    above, below = hierarchy.ancestor_matrix, hierarchy.descendant_matrix
    find = {"mr": _outranked_by, "rnb": lambda *_: None}.get(selection, _implied_by)
    last = _last_kept(kept, levels)
    found = []
    for u in np.flatnonzero(kept == 0).tolist():
        ancestors = above.indices[above.indptr[u] : above.indptr[u + 1]]
        descendants = below.indices[below.indptr[u] : below.indptr[u + 1]]
        reason = find(u, ancestors, descendants, value, levels, hierarchy.depths)
        if reason is None:
            reason = last, RemovalKind.BEYOND_THE_LAST
        found.append(RemovedFeature(u, *reason))
    return tuple(found)


_Reason = tuple[int, RemovalKind] | None
_Columns = NDArray[np.int32]


def _implied_by(
    u: int,
    ancestors: _Columns,
    descendants: _Columns,
    value: NDArray[np.uint8],
    levels: NDArray[np.int32],
    depths: NDArray[np.int64],
) -> _Reason:
    """Return the nearest relative that implies u and is at least as relevant.

    For HIP, all features are equally relevant.
    """
    ones = descendants[(value[descendants] == 1) & (levels[descendants] >= levels[u])]
    if ones.size:
        return int(ones[np.argmin(depths[ones])]), RemovalKind.IMPLIED_BY_DESCENDANT
    zeros = ancestors[(value[ancestors] == 0) & (levels[ancestors] >= levels[u])]
    return (int(zeros[np.argmax(depths[zeros])]), RemovalKind.IMPLIED_BY_ANCESTOR) if zeros.size else None


def _outranked_by(
    u: int,
    ancestors: _Columns,
    descendants: _Columns,
    value: NDArray[np.uint8],
    levels: NDArray[np.int32],
    depths: NDArray[np.int64],
) -> _Reason:
    """Return the most relevant of the relatives that MR prefers to u."""
    is_one = value[u] == 1
    # Among equals, MR prefers the most specific 1 and the most general 0.
    over = levels[ancestors] - levels[u] >= np.where((value[ancestors] == 0) & ~is_one, 0, 1)
    under = levels[descendants] - levels[u] >= np.where((value[descendants] == 1) & is_one, 0, 1)
    # A relative with the other value competes only on the side with equal values in a closed row.
    over &= is_one | (value[ancestors] == 0)
    under &= ~is_one | (value[descendants] == 1)
    above, below = ancestors[over], descendants[under]
    best = np.concatenate([above, below])
    by = int(best[np.argmax(levels[best])])
    kind = RemovalKind.OUTRANKED_BY_ANCESTOR if by in above else RemovalKind.OUTRANKED_BY_DESCENDANT
    return by, kind


def _last_kept(kept: NDArray[np.uint8], levels: NDArray[np.int32]) -> int:
    """Return the least relevant kept feature, or the last one if several tie. Return -1 if no feature is kept."""
    columns = np.flatnonzero(kept)
    return (
        -1 if not columns.size else int(columns[np.flatnonzero(levels[columns] == levels[columns].min())[-1]])
    )
