"""Lazy selection of features: what a row keeps is judged by its own values, and a model scores what is left."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from hietan import _kernel
from hietan._runtime.parallel import map_chunks
from hietan.classifiers._base import PackedBayes
from hietan.classifiers._fitted_state import require
from hietan.classifiers._fitting import Columns, Counted, CountFunction, RowsInMemory, TrainingRows
from hietan.classifiers.checks import random_source
from hietan.classifiers.lazy._models import (
    MODELS,
    SELECTIONS,
    LazyModel,
    NearestRows,
    SelectedNaiveBayes,
    SelectedTree,
    SharedSelector,
)
from hietan.classifiers.lazy._reasons import removed_features
from hietan.classifiers.lazy._training_rows import check_numbers, check_training_rows
from hietan.explain import (
    Explanations,
    Neighbour,
    RemovedByRow,
    RemovedFeature,
    ScoreParts,
    explain_votes,
    removals,
)
from hietan.explain.labels import also_of_datasets, readable_names, row_labels
from hietan.explain.score_parts import PackedStates
from hietan.hierarchy import Hierarchy
from hietan.structure import BinaryRows, Tree, count_ones, first_violation, unpack
from hietan.structure.tree import ROOT

_MOST = 2**31 - 1  # features and neighbours: more are never there
_OF_NEAREST = frozenset({"training_words_", "training_codes_", "training_weights_", "training_numbers_"})


_F = TypeVar("_F", bound=Callable[..., Any])


def _offered_if(condition: Callable[[Any], bool]) -> Callable[[_F], _F]:
    """Offer a method only where the parameters of the model allow it."""
    offered: Callable[[_F], _F] = available_if(condition)
    return offered


def _counting_ones(
    rows: BinaryRows, codes: NDArray[np.int64], columns: Columns, n_jobs: int | None
) -> Counted:
    counts = count_ones(rows, codes, len(columns.classes))
    return Counted(counts, first_violation(rows, columns.hierarchy, n_jobs=n_jobs))


class LazySelection(PackedBayes):
    """A classifier on the features that each row keeps (Wan & Freitas 2013; Wan, Freitas & de Magalhaes 2015).

    Related features often say the same: where a feature is 1, so are its ancestors, and where it is 0, so are its
    descendants. For the row to classify, a selection leaves out what is redundant; a model of the rest classifies it.
    What makes a feature *relevant* is that the classes differ between the training rows where it is 1 and where it is
    0: R(v) is the sum over the classes of (P(c | x_v = 1) - P(c | x_v = 0))^2.

    The selections:

    - "hip" keeps the most specific ones and the most general zeros: a feature at 1 removes all its ancestors, a
      feature at 0 all its descendants.
    - "mr" keeps, of related features with the same value, the most relevant; of equally relevant ones, the most
      specific 1 and the most general 0.
    - "hip-mr" is HIP, except that a feature removes only those that are not more relevant than itself.
    - "hnb" keeps the `n_features` most relevant features that "hip-mr" leaves.
    - "rnb" keeps the `n_features` most relevant features, whatever the row and the hierarchy.

    All features are judged at once, on the row as it is, so features that are themselves removed still remove others.
    Only a row that is not closed upwards can lose all its features; the class prior then decides.

    The models: naive Bayes; "tan", the maximum spanning tree of the kept features by conditional mutual information,
    a tree per row; and "nearest", the votes of the training rows with the largest Jaccard similarity over the kept
    features (0 where neither row has a one; ties go to the earlier row). The first two need nothing but counts. The
    last keeps its training rows, so that it has no `partial_fit` and refuses Dask collections in `fit`; `explain`
    then names the neighbours.

    Parameters
    ----------
    selection : {"hip", "mr", "hip-mr", "hnb", "rnb"}, default "hip"
        Which features a row keeps.
    model : {"naive-bayes", "tan", "nearest"}, default "naive-bayes"
        What classifies the row by the features that it keeps.
    n_features : int, default 50
        How many features "hnb" and "rnb" keep, at most; the other selections do not use it.
    n_neighbors : int, default 3
        How many votes the nearest training rows have if the model is "nearest"; if there are fewer rows, one for each.
        A row with a weight has that many votes, as far as votes are left for it.
    hierarchy : Hierarchy or None, default None
        The DAG of the features. Named columns of X are matched by name, and columns that it does not know are not
        related to any other. Without names, the columns must be those of `hierarchy.features`, in that order. None
        means that no features are related.
    alpha : float, default 1.0
        Weight of the prior guess in every probability; it must be above 0.
    smoothing : {"laplace", "pooled"}, default "laplace"
        The prior guess. "laplace" is one half. "pooled" is the same conditional probability over all
        classes together, so that a value that is rare or certain favours no class.
    binarize : float or None, default 0.0
        A feature is 1 where X is above this threshold. None means that X must hold only 0 and 1.
    class_prior : array of shape (n_classes,) or None, default None
        Probabilities of the classes, in sorted order. None means that they are estimated from y.
    class_weight : {"balanced"}, dict or None, default None
        What the weights of the rows of each class are multiplied with. "balanced" gives each class the same total
        weight: n / (n_classes n_c), n_c being the weight of the rows of a class and n that of all. None means 1.
    weight_unit : float or None, default None
        A power of two such as 2**-10, to whose multiples the weights of rows are rounded, so that weighted counts are
        integers. None means 1 for weights that are whole numbers; for others, `fit` chooses it so that the total lies
        below 2^30 units. `partial_fit` and Dask collections need it for weights that are not whole numbers.
    random_state : int, RandomState instance, Generator or None, default None
        Source of the random choices of the fit. An int makes them the same in every fit.
    n_jobs : int or None, default None
        Number of threads, as in joblib. The results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        The number of training rows of each class; if they have weights, the sum of these in units of `weight_unit_`.
    weight_unit_ : float
        The unit of the counts, in rows: 1, unless rows have weights that are not whole numbers.
    counts_ : PairCounts
        The counts, which are all that is kept of the training data; the model "nearest" also keeps the rows.
    hierarchy_ : Hierarchy
        The hierarchy over the columns of X.
    feature_log_prob_ : array of shape (n_classes, n_features)
        ln P(x_v = 1 | c) of each feature by itself, as in naive Bayes; dependencies on other features are left out.
    root_order_ : array of shape (n_features,)
        A permutation of the features, drawn with `random_state`. Wherever several features could be the root, the
        first of them in this order is taken. Only with the model "tan".
    training_words_ : array of shape (ceil(n_samples / 64), n_features)
        The training rows, 64 to a word. Only with the model "nearest".
    training_codes_ : array of shape (n_samples,)
        The class of each training row, as a place in `classes_`. Only with the model "nearest".
    training_weights_ : array of shape (n_samples,)
        How often each training row counts; those of weight 0 are not kept. Only with the model "nearest".
    training_numbers_ : array of shape (n_samples,)
        The number of each training row among those that were given to `fit`. Only with the model "nearest".
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        The names of the columns of X, if all of them are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from hietan import Hierarchy, LazySelection
    >>> hierarchy = Hierarchy.from_edges([("animal", "bird"), ("bird", "owl")])
    >>> X = pd.DataFrame({"animal": [1, 1, 1, 0], "bird": [1, 1, 0, 0], "owl": [1, 0, 0, 0]})
    >>> clf = LazySelection(selection="mr", hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> clf.selected(X)  # "bird" separates the classes
    [('bird',), ('bird', 'owl'), ('animal', 'bird'), ('bird',)]
    >>> nearest = LazySelection(model="nearest", n_neighbors=1, hierarchy=hierarchy).fit(X, [1, 1, 0, 0])
    >>> nearest.explain(X)[1].neighbours
    (Neighbour(row='training row 1', label=1, common=1, either=1, votes=1.0),)
    """

    _stored_sometimes = PackedBayes._stored_sometimes | {"root_order_"} | _OF_NEAREST
    root_order_: NDArray[np.int64]
    training_words_: NDArray[np.uint64]
    training_codes_: NDArray[np.int64]
    training_weights_: NDArray[np.int32]
    training_numbers_: NDArray[np.int64]

    def __init__(
        self,
        *,
        selection: str = "hip",
        model: str = "naive-bayes",
        n_features: int = 50,
        n_neighbors: int = 3,
        hierarchy: Hierarchy | None = None,
        alpha: float = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
        class_prior: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        weight_unit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.selection = selection
        self.model = model
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.smoothing = smoothing
        self.binarize = binarize
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.weight_unit = weight_unit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def without_hierarchy(self) -> str:  # type: ignore[override]
        """What it is without a hierarchy; "" for RNB, which uses none."""
        if self.selection in ("rnb", "hnb"):
            return {"rnb": "", "hnb": "RNB"}[self.selection]
        return {"tan": "a plain TAN", "nearest": "a search for the nearest rows"}.get(
            self.model, "naive Bayes"
        )

    # The nearest rows cannot be had from counts.
    partial_fit = _offered_if(lambda self: self.model != "nearest")(PackedBayes.partial_fit)

    def selected(self, X: Any) -> list[tuple[str, ...]]:
        """The features that are kept for each row of X, in the order of the columns."""
        rows = self._read(X)
        selector, names = self._learned.selector, self.hierarchy_.features

        def select(start: int, stop: int) -> list[tuple[str, ...]]:
            kept = selector.kept(rows.words(np.arange(start, stop)), stop - start)
            return [tuple(names[v] for v in np.flatnonzero(row)) for row in kept]

        return [row for chunk in map_chunks(select, rows.n_rows, self.n_jobs) for row in chunk]

    @_offered_if(lambda self: self.model == "tan")
    def trees(self, X: Any) -> list[Tree]:
        """The tree over the kept features of each row of X; only with the model "tan"."""
        rows = self._read(X)
        model, names = self._learned, self.hierarchy_.features

        def learn(start: int, stop: int) -> list[Tree]:
            parents = model.parents(rows.words(np.arange(start, stop)), stop - start)
            return [Tree(parent, names) for parent in parents]

        return [tree for chunk in map_chunks(learn, rows.n_rows, self.n_jobs) for tree in chunk]

    @also_of_datasets
    def explain(
        self, X: Any, rows: Any = None, *, target: Any = None, term_names: Any = None
    ) -> Explanations:
        """Why each row of X is classified as it is.

        Naive Bayes and trees give contributions of the features to the log-odds of a class. The model "nearest" has
        none: its explanations (`hietan.explain.NeighbourExplanation`) name the training rows that vote.

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
        if self.model != "nearest":
            return super().explain(X, target=target, term_names=term_names)
        read = self._read(X)
        names, labels = readable_names(term_names, self.hierarchy_.features), self.classes_.tolist()
        words, n = read.words(np.arange(read.n_rows)), read.n_rows
        found, kept, values = self._learned.nearest(words, n), self._kept(words, n), unpack(words, n)
        codes, numbers = self.training_codes_, self.training_numbers_
        voters = [
            [
                Neighbour(f"training row {numbers[t]}", labels[codes[t]], common, either, vote)
                for t, common, either, votes in zip(*columns, strict=True)
                for vote in _single_votes(votes)
            ]
            for columns in zip(*(part.tolist() for part in found), strict=True)
        ]
        left_out = map(self._removed, kept, values)
        return explain_votes(
            self.predict_proba(X),
            voters,
            kept,
            [removals(r, x, self.hierarchy_.features, names) for r, x in zip(left_out, values, strict=True)],
            method=type(self).__name__,
            rows=row_labels(X, n),
            classes=labels,
            target=target,
            hierarchy=self.hierarchy_,
        )

    # The votes of the nearest rows are not sums over features.
    contributions = _offered_if(lambda self: self.model != "nearest")(PackedBayes.contributions)

    # ------------------------------------------------------------------------------------------ fitting

    @property
    def _count(self) -> CountFunction:  # type: ignore[override]
        return PackedBayes._count if self.model == "tan" else _counting_ones

    @property
    def _needs_pairs(self) -> bool:  # type: ignore[override]
        return self.model == "tan"

    def _check_source(self, *, at_once: bool) -> None:
        if self.model == "nearest" and not at_once:
            raise TypeError(
                f"{type(self).__name__}(model='nearest') takes rows in memory, because it keeps all of them: pass the "
                "result of .compute(). The models 'naive-bayes' and 'tan' need only counts, and take Dask collections"
            )

    def _draw(self, n_features: int) -> dict[str, Any]:
        for name in ("root_order_", *_OF_NEAREST):  # of a fit with another model
            self.__dict__.pop(name, None)
        if self.model != "tan":
            return {}
        return {"root_order_": random_source(self.random_state).permutation(n_features)}

    def _tune(self, rows: TrainingRows) -> None:
        if self.model != "nearest":
            return
        assert isinstance(rows, RowsInMemory)
        table = BinaryRows.from_matrix(rows.X, self.binarize)
        self.training_words_ = table.words(np.arange(table.n_rows))
        self.training_codes_ = np.searchsorted(self.classes_, rows.y).astype(np.int64)
        self.training_weights_ = np.ones(table.n_rows, dtype=np.int32) if rows.units is None else rows.units
        numbers = np.arange(table.n_rows) if rows.numbers is None else rows.numbers
        self.training_numbers_ = numbers.astype(np.int64)

    def _learn(self) -> LazyModel:
        counts, hierarchy = self.counts_, self.hierarchy_
        selector = SharedSelector(counts, hierarchy, self.selection, int(self.n_features), self.weight_unit_)
        if self.model == "naive-bayes":
            return SelectedNaiveBayes(selector)
        needed = "root_order_" if self.model == "tan" else "training_words_"
        if not hasattr(self, needed):
            raise ValueError(
                f"the model was changed to {self.model!r} after the fit, which did not keep what it needs"
            )
        if self.model == "tan":
            order = np.ascontiguousarray(self.root_order_, dtype=np.int64)
            return SelectedTree(selector, counts, hierarchy, order)
        training = self.training_words_, self.training_codes_, self.training_weights_
        return NearestRows(selector, *training, int(self.n_neighbors), self.weight_unit_)

    @property
    def _learned(self) -> Any:
        """The selection and the model; made again if a parameter that they depend on was changed since."""
        settings = (self.selection, self.model, self.n_features, self.n_neighbors)
        if self.__dict__.get("_learned_with") != settings:
            self._structure = None
            self._learned_with = settings
        return super()._learned

    # ------------------------------------------------------------------------------------------ predicting

    def _joint_log(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        tables = {**self._count_arguments(), **self._smoothing_arguments()}
        model: LazyModel = self._learned
        return model.joint_log(words, n_rows, log_prior, tables)

    def _score_parts(
        self, words: NDArray[np.uint64], n_rows: int, log_prior: NDArray[np.float64]
    ) -> ScoreParts:
        values, kept = unpack(words, n_rows), self._kept(words, n_rows)
        parents = self._learned.parents(words, n_rows)
        base = np.tile(log_prior, (n_rows, 1))
        factors = _kernel.tree_factors(
            parents, words, n_rows, **self._count_arguments(), **self._smoothing_arguments()
        )
        return ScoreParts(
            values=values,
            parents=parents,
            factors=factors,
            base=base,
            removed=RemovedByRow(n_rows, lambda row: self._removed(kept[row], values[row])),
            has_tree=self._learned.has_tree,
        )

    def _take_apart_by_state(self, X: Any) -> PackedStates | None:
        rows, model = self._read(X), self._learned
        if not isinstance(model, SelectedNaiveBayes):
            return None
        selector, d = model.selector.kernel, rows.n_features

        def words(start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
            ones = rows.words(np.arange(start, stop))
            return selector.select(ones), ones, ones

        both = np.repeat(np.array([[0], [1]], dtype=np.uint8), d, axis=1)
        values = BinaryRows.from_matrix(both, None).words(np.arange(2))
        alone = np.full((2, d), ROOT, dtype=np.int32)
        off, on = _kernel.tree_factors(
            alone, values, 2, **self._count_arguments(), **self._smoothing_arguments()
        )
        return PackedStates(words, rows.n_rows, np.stack([off, off, on, on]))

    def _kept(self, words: NDArray[np.uint64], n_rows: int) -> NDArray[np.uint8]:
        selector: SharedSelector = self._learned.selector
        return selector.kept(words, n_rows)

    def _removed(self, kept: NDArray[np.uint8], value: NDArray[np.uint8]) -> tuple[RemovedFeature, ...]:
        levels = self._learned.selector.levels
        return removed_features(self.selection, kept, value, self.hierarchy_, levels)

    # ------------------------------------------------------------------------------------------ checking

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, accepted in (("selection", SELECTIONS), ("model", MODELS)):
            if getattr(self, name) not in accepted:
                raise ValueError(f"{name} must be one of {accepted}, got {getattr(self, name)!r}")
        for name in ("n_features", "n_neighbors"):
            value = getattr(self, name)
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or not 1 <= int(value) <= _MOST:
                raise ValueError(f"{name} must be an integer above 0 (and at most {_MOST}), got {value!r}")

    def _check_fitted(self, fitted: Mapping[str, Any]) -> None:
        super()._check_fitted(fitted)
        own = {"tan": frozenset({"root_order_"}), "nearest": _OF_NEAREST}
        right = set(fitted) & ({"root_order_"} | _OF_NEAREST) == own.get(self.model, frozenset())
        require(right, f"the fitted attributes are not those of the model {self.model!r:.80}")
        if self.model == "nearest":
            check_training_rows(
                fitted["training_words_"],
                fitted["training_codes_"],
                fitted["training_weights_"],
                fitted["counts_"],
            )
            check_numbers(fitted["training_numbers_"], len(fitted["training_codes_"]))


def _single_votes(votes: float) -> list[float]:
    """The votes of a row one by one, like those of copies of the row; together, if they are not a whole number."""
    if votes.is_integer():
        return [1.0] * int(votes)
    return [votes]
