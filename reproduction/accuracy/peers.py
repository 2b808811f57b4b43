"""Classifiers of other projects. They accept a CSR matrix of 0 and 1 and two classes, 0 and 1.

Each chooses its settings within the training rows, if it has any to choose.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid, StratifiedKFold, cross_val_predict
from sklearn.utils.class_weight import compute_sample_weight

Floats = NDArray[np.float64]
C_GRID = np.logspace(-3, 0, 7)
TREES, TRIAL_TREES = 300, 100
FOREST_GRID = {"max_features": ["sqrt", 0.1], "min_samples_leaf": [1, 3]}
XGBOOST_GRID = {"max_depth": [2, 4], "learning_rate": [0.03, 0.1]}


def to_dense(X: Any) -> NDArray[np.float32]:
    """Return the rows as float32, for libraries that treat the zeros of a sparse matrix as missing."""
    return np.asarray(X.toarray(), dtype=np.float32)


def log_odds_of(probability: Any, floor: float = 0.0) -> Floats:
    """Return ln(p / (1 - p)), with p at least `floor` away from 0 and 1."""
    p = np.clip(np.asarray(probability, dtype=np.float64), floor, 1 - floor)
    return np.log(p) - np.log1p(-p)


class _Peer(ClassifierMixin, BaseEstimator):
    """Two classes, 0 and 1; a subclass has `fit` and `decision_function`, the log-odds of class 1."""

    classes_ = np.array([0, 1])

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of class 1."""
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> Floats:
        """Return ln P(c | x)."""
        score = self.decision_function(X)
        return -np.logaddexp(0, np.stack([score, -score], axis=1))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 if the log-odds are above 0."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        """Return the tags, which say that sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RidgeLogistic(_Peer):
    """Balanced ridge logistic regression; C by the balanced log loss of five inner folds."""

    def fit(self, X: Any, y: Any) -> Self:
        """Choose C, then fit to all rows."""
        X = X.astype(np.float64)
        folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        weight, sign = compute_sample_weight("balanced", y), 2.0 * y - 1
        losses = []
        for C in C_GRID:
            model = LogisticRegression(C=C, class_weight="balanced", max_iter=5000)
            inner = cross_val_predict(model, X, y, cv=folds, method="decision_function")
            losses.append(np.average(np.logaddexp(0, -sign * inner), weights=weight))
        self.C_ = float(C_GRID[np.argmin(losses)])
        self.model_ = LogisticRegression(C=self.C_, class_weight="balanced", max_iter=5000).fit(X, y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of class 1."""
        return np.asarray(self.model_.decision_function(X.astype(np.float64)))


class _Forest(_Peer):
    """Votes of `TREES` trees; a vote of all trees counts as all but half a tree."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the trees."""
        self.model_ = self._forest(to_dense(X), y).fit(to_dense(X), y)
        return self

    def _forest(self, X: Any, y: Any) -> Any:
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of class 1."""
        return log_odds_of(self.model_.predict_proba(to_dense(X))[:, 1], 0.5 / TREES)


class Forest(_Forest):
    """The random forest of scikit-learn."""

    def _forest(self, X: Any, y: Any) -> Any:
        return RandomForestClassifier(TREES, random_state=self.random_state)


class ExtraTrees(_Forest):
    """The extremely randomised trees of scikit-learn."""

    def _forest(self, X: Any, y: Any) -> Any:
        return ExtraTreesClassifier(TREES, random_state=self.random_state)


class BalancedForest(_Forest):
    """The balanced random forest of imbalanced-learn."""

    def _forest(self, X: Any, y: Any) -> Any:
        from imblearn.ensemble import BalancedRandomForestClassifier

        return BalancedRandomForestClassifier(TREES, random_state=self.random_state)


class ChosenForest(_Forest):
    """A random forest with balanced classes and the settings of `FOREST_GRID` with the highest out-of-bag AUC."""

    def _forest(self, X: Any, y: Any) -> Any:
        best = -1.0
        for settings in ParameterGrid(FOREST_GRID):
            options = {"class_weight": "balanced", "random_state": self.random_state, **settings}
            trial = RandomForestClassifier(TRIAL_TREES, oob_score=True, **options).fit(X, y)
            auc = roc_auc_score(y, np.nan_to_num(trial.oob_decision_function_[:, 1], nan=0.5))
            if auc > best:
                best, chosen = auc, RandomForestClassifier(TREES, **options)
        return chosen


class XGBoost(_Peer):
    """XGBoost with balanced classes and the settings of `XGBOOST_GRID` with the highest AUC in three inner folds."""

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the settings, then fit to all rows."""
        from xgboost import XGBClassifier

        X, weight = to_dense(X), compute_sample_weight("balanced", y)
        folds = list(StratifiedKFold(3, shuffle=True, random_state=self.random_state).split(X, y))
        best = -1.0
        for settings in ParameterGrid(XGBOOST_GRID):
            model = XGBClassifier(
                n_estimators=200,
                subsample=0.8,
                colsample_bytree=0.5,
                n_jobs=1,
                random_state=self.random_state,
                **settings,
            )
            inner = np.empty(len(y))
            for inside, outside in folds:
                model.fit(X[inside], y[inside], sample_weight=weight[inside])
                inner[outside] = model.predict(X[outside], output_margin=True)
            auc = roc_auc_score(y, inner)
            if auc > best:
                best, self.model_ = auc, model
        self.model_.fit(X, y, sample_weight=weight)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of class 1."""
        return np.asarray(self.model_.predict(to_dense(X), output_margin=True), dtype=np.float64)


class SimGIC(_Peer):
    """The k most similar training rows by simGIC (Pesquita et al. 2008), each voting with its similarity.

    simGIC(a, b) is the information content of the terms that both rows have over that of the terms that either has; the
    content of a term is -ln of its share of the training rows. A vote of weight 1 for the class shares keeps
    probabilities away from 0 and 1; k has the lowest balanced leave-one-out log loss of the training rows.
    """

    k_grid = (5, 10, 20, 40)

    def fit(self, X: Any, y: Any) -> Self:
        """Weight the terms and choose k."""
        ones = np.asarray(X.sum(axis=0)).ravel()
        self.content_ = np.where(ones > 0, -np.log(np.maximum(ones, 1) / X.shape[0]), 0.0)
        self.rows_, self.y_ = to_dense(X).astype(np.float64), np.asarray(y, dtype=np.float64)
        similarity = self._similarity(X)
        np.fill_diagonal(similarity, -1.0)  # a row is not its own neighbour
        weight, sign = compute_sample_weight("balanced", y), 2 * self.y_ - 1
        inner = {k: self._vote(similarity, k) for k in self.k_grid}
        losses = {k: np.average(np.logaddexp(0, -sign * s), weights=weight) for k, s in inner.items()}
        self.k_ = min(losses, key=losses.__getitem__)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of class 1; equal weights of the classes are at 0."""
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
