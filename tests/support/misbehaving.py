"""Estimators that misbehave where studies run them: slow, lethal, curious about threads and journeys."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_info


class Slow(ClassifierMixin, BaseEstimator):
    """Takes its time, so that a kill finds something under way."""

    def fit(self, X, y):
        time.sleep(0.01)
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class OneThread(BernoulliNB):
    """Refuses to fit where any pool has more than one thread."""

    def fit(self, X, y):
        numbers = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
        if not numbers or max(numbers.values()) > 1:
            raise RuntimeError(f"pools of threads: {sorted(numbers.values())}")
        return super().fit(X, y)


class KillsOnce(BernoulliNB):
    """Kills the process that fits it, the first time."""

    def __init__(self, marker=None):
        super().__init__()
        self.marker = marker

    def fit(self, X, y):
        try:
            Path(self.marker).touch(exist_ok=False)
        except FileExistsError:
            return super().fit(X, y)
        os.kill(os.getpid(), signal.SIGKILL)


class Deaf(BernoulliNB):
    """Says in a file that its process fits it, and then never ends, whatever is raised in it."""

    def __init__(self, path=None):
        super().__init__()
        self.path = path

    def fit(self, X, y):
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()}\n")
        while True:
            try:
                time.sleep(3600)
            except BaseException:
                continue


class Raises(BernoulliNB):
    """Raises an exception that usually ends a program, with one seed only."""

    def __init__(self, error=None, seed=1, random_state=None):
        super().__init__()
        self.error = error
        self.seed = seed
        self.random_state = random_state

    def fit(self, X, y):
        if self.random_state == self.seed:
            raise self.error("enough")
        return super().fit(X, y)


class Nonsense(ClassifierMixin, BaseEstimator):
    """Returns nonsense of some kind, with one seed only."""

    def __init__(self, kind="", seed=1, random_state=None):
        self.kind = kind
        self.seed = seed
        self.random_state = random_state

    def fit(self, X, y):
        self.model_ = BernoulliNB().fit(X, y)
        self.kind_ = self.kind if self.random_state == self.seed else ""
        self.classes_ = self.model_.classes_
        if self.kind_ == "other classes":
            self.classes_ = self.classes_[::-1]
        return self

    def predict(self, X):
        labels = self.model_.predict(X)
        return LABELS.get(self.kind_, np.asarray)(labels)

    def predict_proba(self, X):
        proba = self.model_.predict_proba(X)
        return PROBABILITIES.get(self.kind_, np.asarray)(proba)

    def trees(self, X):
        parents = np.full((X.shape[0], X.shape[1]), -1)
        return [Parents(row) for row in TREES.get(self.kind_, np.asarray)(parents)]


class Parents:
    """The least that is a tree."""

    def __init__(self, parent):
        self.parent = parent


def _first(value):
    """Put a value into the first place of a table or list."""

    def change(array):
        changed = array.astype(np.result_type(array, type(value)))
        changed.flat[0] = value
        return changed

    return change


LABELS = {
    "unknown label": _first(7),
    "half label": _first(0.5),
    "text labels": lambda labels: labels.astype(str),
    "label too few": lambda labels: labels[1:],
    "column of labels": lambda labels: labels[:, None],
    "lists as labels": lambda labels: [[label] for label in labels],
    # Equal to the labels of the dataset, and therefore right:
    "float labels": lambda labels: labels.astype(float),
    "object labels": lambda labels: np.array([*labels, None], dtype=object)[:-1],
    "list of labels": lambda labels: labels.tolist(),
}
EQUAL_LABELS = ["float labels", "object labels", "list of labels"]
PROBABILITIES = {
    "NaN": _first(np.nan),
    "infinity": _first(np.inf),
    "negative": _first(-0.25),
    "no sum of 1": lambda proba: proba * 1.01,
    "third column": lambda proba: np.hstack([proba, np.zeros((len(proba), 1))]),
    "row too few": lambda proba: proba[1:],
    "one column": lambda proba: proba[:, 1],
}
TREES = {
    "column too few": lambda parents: parents[:, 1:],
    "tree too few": lambda parents: parents[1:],
}
KINDS = ["other classes", *(kind for kind in LABELS if kind not in EQUAL_LABELS), *PROBABILITIES]
