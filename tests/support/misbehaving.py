"""Estimators that misbehave where studies run them: slow, lethal, curious about threads and journeys."""

import os
import signal
import time
from pathlib import Path

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


class Kills(BernoulliNB):
    """Kills any process, except the spared one, that fits it to `n_rows` rows."""

    def __init__(self, n_rows=0, spared=0):
        super().__init__()
        self.n_rows = n_rows
        self.spared = spared

    def fit(self, X, y):
        if X.shape[0] == self.n_rows and os.getpid() != self.spared:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Traveller:
    """Stands in for a hierarchy, and writes down which process it leaves and where it arrives."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        with open(f"{self.path}-left", "a") as file:
            file.write(f"{os.getpid()}\n")
        return _arrive, (self.path,)

    def __repr__(self):
        return "Traveller()"


def _arrive(path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    return Traveller(path)
