"""HieBAN against the floor of the TAN family, and at scale against scikit-learn's naive Bayes.

HieBAN counts no pairs, so the floor is more than it needs. At scale, a fit that includes the check of the hierarchy is
compared with one that has no hierarchy to check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_limits

from _data import load
from _methods import new
from _timing import Case, Part, alternate, ratio_figures, ratio_table
from bench_tan import floor
from hietan import HIPNB, Hierarchy
from hietan.datasets import make_hierarchical_classification

ROWS, FEATURES, ONES = 1_000_000, 100_000, 30


def report(rounds: int = 20) -> Part:
    X, y, hierarchy, sentence = load()
    with threadpool_limits(1):
        cases = [floor(X, y), *_cases(X, y, hierarchy)]
        timings = alternate(cases, rounds)
    text = "\n\n".join(
        [
            "## HieBAN: time",
            f"{sentence}. Times are medians of {rounds} alternating rounds in one thread. The floor is the same as for "
            "the TAN family: one product per class.",
            ratio_table(cases, timings),
        ]
    )
    return Part(text, ratio_figures(cases, timings))


def report_scale(rounds: int = 3) -> Part:
    data = make_hierarchical_classification(ROWS, FEATURES, density=ONES / FEATURES, random_state=0)
    X, y = data.X, data.y
    with threadpool_limits(1):
        cases = [
            Case("scikit-learn's BernoulliNB fit", lambda _: BernoulliNB().fit(X, y)),
            Case("HieBAN fit, large", lambda _: new("HieBAN", data.hierarchy).fit(X, y), target=5),
            Case("HIP+NB fit, large", lambda _: HIPNB(hierarchy=data.hierarchy).fit(X, y), target=5),
            Case(
                "HieBAN predict, large",
                lambda model: model.predict(X),
                lambda: new("HieBAN", data.hierarchy).fit(X, y),
            ),
        ]
        timings = alternate(cases, rounds)
    text = "\n\n".join(
        [
            f"## HieBAN and HIP: {ROWS:,} rows, {FEATURES:,} features, {ONES} ones per row",
            "The data are synthetic rows in a CSR matrix of bytes. Fits include the check that rows agree with "
            f"the hierarchy. Times are medians of {rounds} alternating rounds in one thread.",
            ratio_table(cases, timings),
        ]
    )
    return Part(text, ratio_figures(cases, timings))


def _cases(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy) -> list[Case]:
    def fit(table: Any, note: str) -> Case:
        return Case(f"HieBAN fit{note}", lambda _: new("HieBAN", hierarchy).fit(table, y), target=1)

    def predict(table: Any, note: str) -> Case:
        return Case(
            f"HieBAN predict{note}",
            lambda model: model.predict(table),
            lambda: new("HieBAN", hierarchy).fit(table, y),
            target=1,
        )

    tables = (X, ""), (sp.csr_array(X), ", sparse")
    return [
        *(fit(*table) for table in tables),
        *(predict(*table) for table in tables),
        Case(
            "HieBAN leave-one-out",
            lambda model: model.leave_one_out_joint_log_proba(X, y),
            lambda: new("HieBAN", hierarchy).fit(X, y),
        ),
        Case("HieBAN fit, alpha chosen", lambda _: new("HieBAN", hierarchy, alpha=None).fit(X, y)),
    ]


if __name__ == "__main__":
    print(report().text)
    print(report_scale().text)
