"""A small study in a process of its own, to be killed: python study_process.py DIRECTORY."""

import sys
import time

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from hietan import HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study


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


def contents(directory):
    """All files but the times, and the lock that says who runs."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in paths
        if path.name not in ("times.csv", ".lock")
    }


def main(directory):
    from dataclasses import replace

    datasets = [
        replace(make_hierarchical_classification(80, 20, random_state=k), name=f"d{k}") for k in range(3)
    ]
    methods = {"slow": Slow(), "hie-tan-lite": HieTANLite()}
    run_study(datasets, methods, cv=5, seeds=2, n_jobs=2, output=directory)


if __name__ == "__main__":
    main(sys.argv[1])
