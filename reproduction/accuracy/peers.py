"""What a user would take instead of our classifiers. All accept a CSR matrix of 0 and 1 and two classes, 0 and 1.

Where a peer gets scores of its training rows from models that did not see them, it keeps them as
`out_of_sample_scores_`: they serve to choose a threshold without any further fit.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.class_weight import compute_sample_weight

Floats = NDArray[np.float64]
C_GRID = np.logspace(-3, 0, 7)
FOREST_TREES = 300
XGBOOST_TREES, XGBOOST_DEPTH, XGBOOST_RATE = 200, 4, 0.1
CATBOOST_TREES, CATBOOST_DEPTH = 200, 4


def to_dense(X: Any) -> NDArray[np.float32]:
    """The rows as an array of float32, for libraries that treat the zeros of a sparse matrix as missing."""
    return np.asarray(X.toarray(), dtype=np.float32)


def log_odds_of(probability: Floats) -> Floats:
    """ln(p / (1 - p)); infinite where p is 0 or 1."""
    with np.errstate(divide="ignore"):
        return np.log(probability) - np.log1p(-probability)


class _Peer(ClassifierMixin, BaseEstimator):
    """Two classes, 0 and 1; a subclass has `fit` and `decision_function`, the log-odds of class 1."""

    classes_ = np.array([0, 1])

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(c | x)."""
        score = self.decision_function(X)
        return -np.logaddexp(0, np.stack([score, -score], axis=1))

    def predict_proba(self, X: Any) -> Floats:
        """P(c | x)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 where the log-odds are above 0."""
        return (self.decision_function(X) > 0).astype(np.int64)


class RidgeLogistic(_Peer):
    """Balanced ridge logistic regression; C by the balanced log loss of inner stratified 5-fold cross-validation."""

    def __init__(self, C: float | None = None, random_state: int | None = None) -> None:
        self.C = C
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose C, unless it is given, then fit to all rows."""
        dense = to_dense(X).astype(np.float64)
        folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        weight, sign = compute_sample_weight("balanced", y), 2.0 * y - 1
        best = np.inf
        for C in C_GRID if self.C is None else (self.C,):
            model = LogisticRegression(C=C, class_weight="balanced", max_iter=5000)
            inner = cross_val_predict(model, dense, y, cv=folds, method="decision_function")
            loss = float(np.average(np.logaddexp(0, -sign * inner), weights=weight))
            if loss < best:
                best, self.C_, self.out_of_sample_scores_ = loss, float(C), inner
        model = LogisticRegression(C=self.C_, class_weight="balanced", max_iter=5000)
        self.model_ = model.fit(dense, y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        return np.asarray(self.model_.decision_function(to_dense(X).astype(np.float64)))


class BalancedForest(_Peer):
    """imbalanced-learn's balanced random forest, with out-of-bag scores.

    The library's own `oob_score` is not used: with replacement, a row can be in the bag once and out of it once.
    """

    def __init__(self, n_trees: int = FOREST_TREES, random_state: int | None = None) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the trees, each to as many rows of either class as the smaller class has."""
        from imblearn.ensemble import BalancedRandomForestClassifier

        self.forest_ = BalancedRandomForestClassifier(self.n_trees, random_state=self.random_state, n_jobs=1)
        self.forest_.fit(to_dense(X), y)
        return self

    def out_of_sample_scores(self, X: Any, y: Any) -> Floats:
        """For each training row, the log-odds of the trees that were not fitted to it."""
        dense = to_dense(X)
        total, trees = np.zeros(len(y)), np.zeros(len(y))
        for tree, sampler in zip(self.forest_.estimators_, self.forest_.samplers_, strict=True):
            outside = np.setdiff1d(np.arange(len(y)), sampler.sample_indices_)
            total[outside] += tree.predict_proba(dense[outside])[:, 1]
            trees[outside] += 1
        return log_odds_of(total / np.maximum(trees, 1))

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        return log_odds_of(self.forest_.predict_proba(to_dense(X))[:, 1])


class XGBoost(_Peer):
    """XGBoost with balanced classes."""

    def __init__(self, n_trees: int = XGBOOST_TREES, random_state: int | None = None) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the trees."""
        from xgboost import XGBClassifier

        self.model_ = XGBClassifier(
            n_estimators=self.n_trees,
            max_depth=XGBOOST_DEPTH,
            learning_rate=XGBOOST_RATE,
            subsample=0.8,
            colsample_bytree=0.5,
            n_jobs=1,
            random_state=self.random_state,
        )
        self.model_.fit(to_dense(X), y, sample_weight=compute_sample_weight("balanced", y))
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        return np.asarray(self.model_.predict(to_dense(X), output_margin=True), dtype=np.float64)


class CatBoost(_Peer):
    """CatBoost with balanced classes; the learning rate is its own choice."""

    def __init__(self, n_trees: int = CATBOOST_TREES, random_state: int | None = None) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the trees."""
        from catboost import CatBoostClassifier

        self.model_ = CatBoostClassifier(
            iterations=self.n_trees,
            depth=CATBOOST_DEPTH,
            rsm=0.3,
            auto_class_weights="Balanced",
            thread_count=1,
            verbose=0,
            allow_writing_files=False,
            random_seed=self.random_state,
        )
        self.model_.fit(to_dense(X), y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        return np.asarray(self.model_.predict(to_dense(X), prediction_type="RawFormulaVal"), dtype=np.float64)


class SimGIC(_Peer):
    """The k most similar training rows by simGIC (Pesquita et al. 2008), each voting with its similarity.

    simGIC(a, b) is the information content of the terms that both rows have over that of the terms that either has; the
    content of a term is -ln of its share of the training rows. A vote of weight 1 for the share of the classes keeps
    probabilities away from 0 and 1; k is chosen by the balanced leave-one-out log loss of the training rows.
    """

    k_grid = (5, 10, 20, 40)

    def fit(self, X: Any, y: Any) -> Self:
        """Weigh the terms and choose k."""
        ones = np.asarray(X.sum(axis=0)).ravel()
        self.content_ = np.where(ones > 0, -np.log(np.maximum(ones, 1) / X.shape[0]), 0.0)
        self.rows_, self.y_ = to_dense(X).astype(np.float64), np.asarray(y, dtype=np.float64)
        similarity = self._similarity(X)
        np.fill_diagonal(similarity, -1.0)  # a row is not its own neighbour
        weight, sign = compute_sample_weight("balanced", y), 2 * self.y_ - 1
        inner = {k: self._vote(similarity, k) for k in self.k_grid}
        losses = {k: np.average(np.logaddexp(0, -sign * s), weights=weight) for k, s in inner.items()}
        self.k_ = min(losses, key=losses.__getitem__)
        self.out_of_sample_scores_ = inner[self.k_]
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1; equal weights of the classes are at 0."""
        return self._vote(self._similarity(X), self.k_)

    def _similarity(self, X: Any) -> Floats:
        weighted = to_dense(X) * self.content_
        both = weighted @ self.rows_.T
        either = weighted.sum(axis=1)[:, None] + (self.rows_ @ self.content_)[None, :] - both
        return both / np.where(either > 0, either, 1.0)

    def _vote(self, similarity: Floats, k: int) -> Floats:
        nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
        votes = np.maximum(np.take_along_axis(similarity, nearest, axis=1), 0.0)
        share = self.y_.mean()
        p = ((votes * self.y_[nearest]).sum(axis=1) + share) / (votes.sum(axis=1) + 1)
        return log_odds_of(p) - log_odds_of(share)


class AnnotationCount(_Peer):
    """How much is known about a gene, and nothing else: a balanced logistic regression on ln(1 + number of ones)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit slope and intercept."""
        self.model_ = LogisticRegression(C=1e3, class_weight="balanced").fit(self._count(X), y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of class 1."""
        return np.asarray(self.model_.decision_function(self._count(X)))

    @staticmethod
    def _count(X: Any) -> Floats:
        return np.log1p(np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1, 1))
